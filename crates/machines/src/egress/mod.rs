//! An egress port, whole: a link, a queue, header stages and what its neighbour has paused, as one machine.
//!
//! The reference of what a port does, written to be read. It owns no clock and no packets: its driver
//! keeps the packets ([`Packets`]), reports what arrives ([`Egress::arrive`], [`Egress::frame`]) and polls
//! for what to send ([`Egress::poll`]). A simulator may do the same in fewer steps; then its results must be
//! those of this machine.
//!
//! What goes first: frames, then control packets where they have a lane of their own, then what the queue
//! gives. A port sends nothing while it transmits, and begins nothing before its link opens.
//!
//! Not here: orders that interrupt transmissions ([`DisciplineSpec::preemptive`]), whose ends are not known
//! as they begin.

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
        /// By so many bytes.
        cut: u32,
    },
    /// It was refused, or became a victim itself after others had; its owner still has it and must discard
    /// it. It is not listed in `out`, they are.
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
