//! Buffer sharing: how the output ports of a switch share its memory, and which packets are dropped or pushed out.
//!
//! A port's own limit belongs to its queue ([`crate::schedule::Limit`]); memory accounted by ingress is in
//! [`crate::buffer`]. Here all ports of a switch share one memory ([`Pool`]). A policy is given the arriving packet and
//! a view of what the ports hold ([`Memory`]), and returns its decision ([`Admission`]).

mod declare;
mod pool;

// One file each of the list below.
pub mod complete;
pub mod dynamic;
pub mod longest_queue;
pub mod partition;

pub use declare::{Needs, Overflow, Parameters};
pub use pool::Pool;

use crate::kinds::kinds;
use crate::problems::Problems;
use thalweg_units::PortId;

// The one list. Each policy has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// How ports share memory.
    pub enum SharingSpec;
    /// The policy of a switch, statically dispatched.
    pub enum SharingMachine {
        complete: Complete(complete::Params), "complete";
        dynamic: Dynamic(dynamic::Params), "dynamic";
        partition: Partition(partition::Params), "partition";
        longest_queue: LongestQueue(longest_queue::LongestQueue), "longest-queue";
    }

    impl SharingSpec {
        /// See [`Parameters::needs`].
        pub fn needs(&self) -> Needs;
        /// See [`Parameters::admits_all`].
        pub fn admits_all(&self, total: u64, ports: u64, each: u64) -> bool;
        /// See [`Parameters::least`].
        pub fn least(&self, packet: u64, ports: u64) -> u64;
        /// See [`Parameters::most`].
        pub fn most(&self, total: u64, ports: u64, packet: u64) -> u64;
        fn check(&self, problems: &mut Problems);
        /// The policy of a switch, from parameters that were checked.
        pub fn make as make(&self) -> SharingMachine;
    }

    impl Sharing for SharingMachine {
        #[inline]
        fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission;
    }
}

impl SharingSpec {
    /// What is wrong with its parameters.
    pub fn problems(&self) -> Vec<crate::problems::Problem> {
        Problems::found(|problems| self.check(problems))
    }
}

/// A packet arrives at a switch, and its port has been chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Which port.
    pub port: PortId,
    /// Bytes that wait there, without it.
    pub waiting: u64,
    /// Its bytes on the wire.
    pub wire: u32,
    /// Its bytes without payload, if it can be trimmed.
    pub header: Option<u32>,
}

/// The decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// There is memory for it.
    Keep,
    /// It is dropped.
    Drop,
    /// First the queue of this port pushes out a packet, the one that its order would drop; this may be the arriving
    /// packet if it is for that port. Then the policy is called again.
    PushOut(PortId),
    /// Its payload is cut off, and its header admitted.
    Trim,
}

/// The memory of a switch as a policy sees it. Packets being transmitted have left it.
pub trait Memory {
    /// Bytes in all.
    fn total(&self) -> u64;
    /// Bytes that wait at all ports.
    fn used(&self) -> u64;
    /// Ports that share it.
    fn ports(&self) -> usize;
    /// The `nth` of them, and the bytes that wait there.
    fn port(&self, nth: usize) -> (PortId, u64);
    /// Bytes that are free.
    fn free(&self) -> u64 {
        self.total() - self.used()
    }
}

/// A sharing policy.
///
/// ```
/// use thalweg_machines::sharing::{Admission, Arriving, Memory, Sharing};
/// use thalweg_units::PortId;
///
/// /// Half of the memory is for the first port.
/// struct Favour;
///
/// impl Sharing for Favour {
///     fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission {
///         let (first, _) = memory.port(0);
///         let reserve = if arriving.port == first { 0 } else { memory.total() / 2 };
///         let fits = u64::from(arriving.wire) + reserve <= memory.free();
///         if fits { Admission::Keep } else { Admission::Drop }
///     }
/// }
///
/// /// Two ports of 10 KB in all; what waits at each.
/// struct Switch([u64; 2]);
///
/// impl Memory for Switch {
///     fn total(&self) -> u64 {
///         10_000
///     }
///     fn used(&self) -> u64 {
///         self.0.iter().sum()
///     }
///     fn ports(&self) -> usize {
///         2
///     }
///     fn port(&self, nth: usize) -> (PortId, u64) {
///         (PortId(nth as u32), self.0[nth])
///     }
/// }
///
/// let arriving = |port| Arriving { port: PortId(port), waiting: 0, wire: 1500, header: None };
/// let memory = Switch([0, 4500]);
/// assert_eq!(Favour.admit(&memory, &arriving(1)), Admission::Drop);
/// assert_eq!(Favour.admit(&memory, &arriving(0)), Admission::Keep);
/// ```
pub trait Sharing {
    /// May this packet join its port?
    fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission;
}

#[cfg(test)]
mod tests;
