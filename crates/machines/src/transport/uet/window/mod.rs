//! The window of an Ultra Ethernet sender: how many bytes on the wire it may have in the network.
//!
//! A window is notified of every ACK, every NACK (a packet of which the header arrived) and every timeout, after the
//! sender has done its own accounts. Sizes are whole packets on the wire, headers and all. What all flows share (a
//! [`WindowSpec`]) is passed to every call: always the one that the window was made from.

mod dctcp;
mod fast;
mod fixed;
mod nscc;
mod shortest;
mod unbounded;

pub use dctcp::{DctcpSpec, DctcpWindow};
pub use fixed::{FixedSpec, FixedWindow};
pub use nscc::{Nscc, NsccSpec};
pub use unbounded::{Unbounded, UnboundedSpec};

use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Time, dispatch};

/// The window of senders, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum WindowSpec {
    /// NSCC, Ultra Ethernet's: by queueing delay and marks.
    Nscc(NsccSpec),
    /// Of a fixed size.
    Fixed(FixedSpec),
    /// By marks alone.
    Dctcp(DctcpSpec),
    /// None.
    Unbounded(UnboundedSpec),
}

/// One flow's window, statically dispatched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Window {
    /// See [`WindowSpec::Nscc`].
    Nscc(Nscc),
    /// See [`WindowSpec::Fixed`].
    Fixed(FixedWindow),
    /// See [`WindowSpec::Dctcp`].
    Dctcp(DctcpWindow),
    /// See [`WindowSpec::Unbounded`].
    Unbounded(Unbounded),
}

dispatch! {
    impl WindowSpec over [Nscc Fixed Dctcp Unbounded] {
        /// Refuses what cannot work, by name.
        ///
        /// # Errors
        /// If a number is out of range.
        pub fn check(&self) -> Result<(), Invalid>;
        /// The window of a flow that starts.
        pub fn make as make(&self, c: &Common) -> Window;
    }
}
dispatch! {
    impl Window over [Nscc Fixed Dctcp Unbounded] {
        /// Bytes on the wire that may be in the network.
        #[inline]
        pub fn size(&self) -> u64;
        /// The largest window at present.
        pub fn most(&self) -> u64;
        /// The shortest round trip so far.
        pub fn base_rtt(&self) -> Span;
        /// An ACK has come.
        #[inline]
        pub fn on_ack(&mut self, [spec: &WindowSpec], ack: &Acked);
        /// A NACK has come, of a packet that was in the network.
        pub fn on_nack(&mut self, [spec: &WindowSpec], nack: &Nacked);
        /// A packet of `bytes` has timed out.
        pub fn on_timeout(&mut self, [spec: &WindowSpec], bytes: u32);
    }
}

/// What a window needs to know of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Common {
    /// A full packet, bytes on the wire: no window is smaller.
    pub mtu: u32,
    /// Payload of a full packet, bytes.
    pub payload: u32,
    /// The sender's link.
    pub line_rate: Rate,
    /// The round trip of the longest path of the network without queues, out with full packets and back with ACKs; or
    /// of the flow's own path. A window starts from it.
    pub base_rtt: Span,
}

/// What an ACK brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// When it came.
    pub now: Time,
    /// Bytes on the wire that the receiver reports for the first time.
    pub new: u64,
    /// The round trip of the packet that drew it, if that is known for certain.
    pub rtt: Option<Sample>,
    /// That packet was marked.
    pub marked: bool,
    /// Bytes in the network after it.
    pub in_flight: u64,
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How long it was.
    pub rtt: Span,
    /// It counts for the shortest one: not that of a packet without payload.
    pub lowers_base: bool,
}

/// What a NACK brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nacked {
    /// When it came.
    pub now: Time,
    /// The packet that was trimmed, bytes on the wire.
    pub bytes: u32,
    /// Its round trip, if that may lower the shortest one.
    pub rtt: Option<Span>,
    /// It was trimmed on the last hop, and the receiver hands out credits for that: the window need not shrink.
    pub spares: bool,
    /// Bytes in the network after it.
    pub in_flight: u64,
}

#[cfg(test)]
mod replay;
#[cfg(test)]
mod tests;
