//! Queues and schedulers: which packet an output port sends next, and which one it drops when its buffer is full.
//!
//! A [`Discipline`] is the whole of an output queue: *admission* (tail drop, marking, push-out; see [`crate::stage`])
//! and *order* (FIFO, fair queueing, ranks, priorities). It keeps [`Handle`]s; the packets themselves stay with its
//! driver, such as the simulator or the emulator.
//!
//! The occupancy never includes the packet being transmitted, which left the queue at `dequeue`.
//!
//! Every other file, with its folder if it has one, is one order (`rank` the two by remaining bytes and size):
//! `contract` has what an order declares and what a queue must do, `structures` the heaps, lists and tables within.

mod contract;
mod rank;
mod structures;

// One file each of the list below.
pub mod ads;
pub mod bfc;
pub mod custom;
pub mod drr;
pub mod dualpi2;
pub mod expresspass;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod input_round_robin;
pub mod lifo;
pub mod liftable;
pub mod lstf;
pub mod max_min;
pub mod ndp;
pub mod parity;
pub mod pifo;
pub mod policy;
pub mod priority;
pub mod random;
pub mod round_robin;
pub mod sjf;
pub mod srpt;
pub mod zombie_list;

pub(crate) use structures::flow_table::FlowTable;

pub use contract::capabilities::{ByInput, HopByHop, Pausable, Pipeline, Preemptible, Searchable};
pub use contract::declare::{Around, At, Key, Machine, Manages, Needs, Parameters, Paused, QUEUE};
pub use contract::discipline::{Discipline, Limit, Served, Verdict};
pub use contract::entry::Entry;
pub use contract::managed::Managed;
pub use contract::order::{Order, OutputQueue};
pub use contract::spec::DisciplineSpec;
pub use policy::Programmed;
pub use structures::lanes::FairOverflow;
pub use structures::sojourn::Sojourn;
use structures::two_queues::TwoQueues;
pub use structures::two_queues::Weights;

use crate::kinds::kinds;
use crate::problems::{Invalid, Mistake, Problems};
use crate::stage::StageSpec;
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

// The one list. Each order has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// Order of service.
    // What happens on overflow is part of it, since it decides the victim.
    pub enum OrderSpec;
    /// Any output queue, statically dispatched. All are boxed, so that four handles fit into a cache line.
    pub enum Queue {
        fifo: Fifo(Box<Managed<fifo::Fifo>>), "fifo";
        drr: Drr(Box<Managed<drr::Drr>>), "drr";
        fq: Fq(Box<Managed<fq::Fq>>), "fq";
        priority: Priority(Box<Managed<priority::Priority>>), "priority";
        sjf: Sjf(Box<Managed<rank::Rank>>), "sjf";
        srpt: Srpt(Box<Managed<rank::Rank>>), "srpt";
        ads: Ads(Box<Managed<ads::Ads>>), "ads";
        lifo: Lifo(Box<Managed<lifo::Lifo>>), "lifo";
        random: Random(Box<Managed<random::Random>>), "random";
        lstf: Lstf(Box<Managed<pifo::Pifo>>), "lstf";
        pifo: Pifo(Box<Managed<pifo::Pifo>>), "pifo";
        round_robin: RoundRobin(Box<Managed<round_robin::RoundRobin>>), "round-robin";
        fq_codel: FqCodel(Box<Managed<fq_codel::FqCodel>>), "fq-codel";
        input_round_robin: InputRoundRobin(Box<Managed<input_round_robin::InputRoundRobin>>), "input-round-robin";
        parity: Parity(Box<Managed<parity::Parity>>), "parity";
        bfc: Bfc(Box<Managed<bfc::Bfc>>), "bfc";
        liftable: Liftable(Box<Managed<liftable::Liftable>>), "liftable";
        expresspass: ExpressPass(Box<Managed<expresspass::Credits>>), "expresspass";
        ndp: Ndp(Box<ndp::Trimming>), "ndp";
        max_min: MaxMin(Box<TwoQueues<max_min::MaxMin>>), "max-min";
        zombie_list: ZombieList(Box<TwoQueues<zombie_list::ZombieList>>), "zombie-list";
        dualpi2: DualPi2(Box<Managed<dualpi2::DualPi2>>), "dualpi2";
        policy: Policy(Box<policy::Programmed>), "policy";
        custom: Custom(Box<custom::Limited>), "custom";
    }

    impl OrderSpec {
        /// See [`Parameters::needs`].
        pub fn needs(&self) -> Needs;
        fn check(&self, at: &Around, problems: &mut Problems);
        /// See [`Parameters::table`].
        pub fn table(&self) -> Option<(&'static str, &str)>;
        /// See [`Parameters::fill`].
        pub fn fill(&mut self, numbers: &[u64]);
        /// See [`Parameters::files`].
        pub fn files(&self) -> Vec<(String, String)>;
        /// See [`Parameters::read`].
        pub fn read(&mut self, texts: &[String]);
        /// See [`Parameters::mistakes`].
        pub fn mistakes(&self) -> Vec<(String, bool, Mistake)>;
        /// See [`Parameters::ports`].
        pub fn ports(&self) -> Vec<(String, u32)>;
        /// See [`Parameters::settle`].
        pub fn settle(&mut self, port: u32);
        /// See [`Parameters::memory`].
        pub fn memory(&self, packets_per_second: f64) -> f64;
        fn queue as queue(&self, limit: Limit, stage: &StageSpec, at: &At) -> Result<Queue, Invalid>;
    }

    impl OutputQueue for Queue {
        #[inline]
        fn serve(
            &mut self,
            now: Time,
            out: &mut Vec<Handle>,
            look: impl FnOnce(Handle) -> Entry,
        ) -> Option<(Entry, bool)>;
        #[inline]
        fn upcoming(&self) -> Option<Handle>;
        fn head(&self) -> Option<Handle>;
        fn bypass_limit(&self) -> u64;
        #[inline]
        fn reserve(&mut self, wire: u32) -> bool;
        #[inline]
        fn cancel_reserve(&mut self, wire: u32);
        #[inline]
        fn note_bypass(&mut self, input: u8);
        fn by_input(&self) -> Option<&dyn ByInput>;
        fn by_input_mut(&mut self) -> Option<&mut dyn ByInput>;
    }

    impl Discipline for Queue {
        #[inline]
        fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict;
        #[inline]
        fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served>;
        fn preempt(&mut self, now: Time) -> bool;
        fn pausable(&self) -> Option<&dyn Pausable>;
        fn pausable_mut(&mut self) -> Option<&mut dyn Pausable>;
        #[inline]
        fn hop_by_hop(&self) -> Option<&dyn HopByHop>;
        fn pipeline(&self) -> Option<&dyn Pipeline>;
        fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32>;
        fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, out: &mut Vec<Handle>);
        fn push_out(&mut self, now: Time, arriving: Handle, out: &mut Vec<Handle>) -> bool;
        fn held_until(&self) -> Option<Time>;
        fn take_notified(&mut self, see: &mut dyn FnMut(Handle));
        #[inline]
        fn header(&self) -> u32;
        #[inline]
        fn packets(&self) -> u32;
        #[inline]
        fn bytes(&self) -> u64;
        #[inline]
        fn wake(&self) -> Option<Time>;
        fn on_tick(&mut self, now: Time);
        #[inline]
        fn on_idle(&mut self, at: Time);
    }
}

impl Queue {
    /// The FIFO with its escape queue, if packets can be lifted from one to the other.
    #[inline]
    pub fn liftable(&self) -> Option<&liftable::Liftable> {
        if let Self::Liftable(queue) = self { Some(queue.order()) } else { None }
    }
    /// Likewise, to move packets, or to take them out with [`Managed::give_up`].
    pub fn liftable_mut(&mut self) -> Option<&mut Managed<liftable::Liftable>> {
        if let Self::Liftable(queue) = self { Some(queue) } else { None }
    }
    /// A policy, if it is one that all ports of a switch may run together.
    pub fn programmed_mut(&mut self) -> Option<&mut policy::Programmed> {
        if let Self::Policy(queue) = self { Some(queue) } else { None }
    }
}

#[cfg(test)]
pub(crate) mod tests;
