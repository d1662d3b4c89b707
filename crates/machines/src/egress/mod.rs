//! A whole egress port as one machine: link, queue, header stages and the pauses of its neighbour.
//!
//! It is the reference of what a port does, written to be read. It owns no clock and no packets: its driver keeps the
//! packets ([`Packets`]), reports what arrives ([`Egress::arrive`], [`Egress::frame`]) and polls for what to send
//! ([`Egress::poll`]). A simulator may take short cuts, but its results must be those of this machine.
//!
//! Order of transmission: frames, then control packets if they have a queue of their own, then packets of the queue.
//! Nothing is sent during a transmission or before the link opens.
//!
//! Left out: orders that interrupt transmissions ([`DisciplineSpec::preemptive`]), whose end is not known when they
//! begin.

mod port;

pub use port::{Egress, EgressSpec};

use crate::pause::Posted;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet, Side};

/// Where the packets are, by handle.
pub trait Packets {
    /// A packet's headers.
    fn packet(&mut self, handle: Handle) -> &mut Packet;
    /// The same with its cold headers; called only if some stage writes headers.
    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side);
}

/// What became of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Arrived {
    /// It waits.
    Admitted,
    /// It waits, and others, listed in `out`, were discarded to make room.
    PushedOut,
    /// It waits, and one packet, this one or one that waited, was cut to its header to make room.
    Trimmed {
        /// Which.
        handle: Handle,
        /// The bytes that were cut.
        cut: u32,
    },
    /// It was dropped, possibly after others were pushed out. Its owner still has it and must discard it; the others
    /// are listed in `out`, it is not.
    Dropped,
}

/// What a port sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// A packet.
    Packet(Handle),
    /// A frame for the node at the far end.
    Frame(Posted),
}

/// What a port does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Poll {
    /// It sends. Poll again: packets that leave together are returned one by one.
    Transmit {
        /// What.
        what: Sent,
        /// When its last bit has left.
        until: Time,
        /// When it reaches the far end; `None`: it is lost on the way.
        arrives: Option<Time>,
    },
    /// Nothing before this instant, unless something arrives or changes.
    Wait(Time),
    /// Nothing until something arrives or changes: nothing waits, or all that does is paused.
    Idle,
}

/// What a port has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressTotals {
    /// Packets that were offered.
    pub arrived: u64,
    /// Packets that were sent.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were refused, pushed out or dropped as they left.
    pub dropped: u64,
    /// Packets marked CE.
    pub marked: u64,
    /// Packets cut to their headers.
    pub trimmed: u64,
    /// Frames that were sent.
    pub frames: u64,
    /// Bytes of opportunities that passed unused.
    pub unused: u64,
}

#[cfg(test)]
mod tests;
