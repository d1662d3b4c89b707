//! The parts of a port's state, in the order of its cache lines.

use crate::port::Lane;
use serde::{Deserialize, Serialize};
use thalweg_machines::stage::StageMachine;
use thalweg_units::{NodeId, Span, Time};

/// What waits at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Waiting {
    /// Bytes of the packets waiting.
    pub bytes: u64,
    /// Packets waiting. Express: those of the ring that have not begun transmission. On demand: those of its queue
    /// (copied, so that reading them costs no cache miss).
    pub packets: u32,
    /// Express: number of packets at the head of the ring that no longer wait.
    pub(crate) started: u32,
}

/// What is at the far end of a port's wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FarEnd {
    /// A switch.
    Switch,
    /// A host.
    Host,
    /// Another part of the network ([`crate::parts`]).
    Part,
}

/// The kind of a port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Mode {
    /// How the port is simulated.
    pub lane: Lane,
    /// What its wire leads to.
    pub far_end: FarEnd,
    /// Cut-through: the far end may forward a packet before all of it has arrived.
    pub(super) cuts: bool,
    /// On demand: a packet that should go first preempts the running transmission.
    pub preemptive: bool,
    /// On demand: see [`crate::fabric`], gated ports.
    pub gated: bool,
}

/// What the bypass slot holds: see [`super::Port::bypass`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Bypass {
    /// All that waits is in the queue.
    Empty,
    /// The only packet that waits; the queue does not know of it.
    Single,
    /// A control packet that goes first whatever comes; the queue only counts it.
    Control,
}

/// The state of a port's next decision (on demand).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct State {
    /// A decision is pending: at an event, or at the end of this instant.
    pub tx_pending: bool,
    /// Every end of a transmission has an event, because the queue is observed in between.
    pub eager: bool,
    /// What the bypass slot holds.
    pub(crate) bypass: Bypass,
}

/// Transmission and propagation times.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Timing {
    /// Transmission time per byte, ps; [`SLOW`](super::SLOW): not a whole number, so the serializer computes it.
    pub(super) ps_per_byte: u64,
    /// Propagation delay.
    pub delay: Span,
}

/// How much may wait, and the longest queue so far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Limits {
    /// Express: limit of the bytes waiting. On demand: the largest packet that may wait in the bypass slot.
    pub bytes: u64,
    /// Express: limit of the packets waiting.
    pub packets: u32,
    /// See [`super::PortTotals::max_queue`], and [`Overflow::max_queue`].
    pub max_queue: u32,
}

/// Counters of what was put on the wire.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Sent {
    /// See [`super::PortTotals::packets`].
    pub packets: u64,
    /// See [`super::PortTotals::bytes`].
    pub bytes: u64,
}

/// Counters of waiting times.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Waited {
    /// Lower half of [`super::PortTotals::waited`].
    pub total: u64,
    /// On demand: since when the queue has had its length.
    pub since: Time,
}

/// Counters that have outgrown their place in the cache line that every booking touches.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Overflow {
    /// Upper half of [`Waited::total`].
    pub waited: u64,
    /// The longest queue, if it has exceeded 4 GiB.
    pub max_queue: u64,
}

/// The place of a port in the network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The node at the far end.
    pub peer: NodeId,
    /// The switch whose shared memory it uses, or [`NO_SWITCH`]: it has memory of its own.
    pool: u32,
    /// The switch that it belongs to, or [`NO_SWITCH`]: it belongs to a host.
    switch: u32,
    /// Its number among the ports of that switch.
    pub number: u8,
    /// It belongs to a host.
    pub from_host: bool,
    /// Gated: it belongs to a NIC that pulls packets from its host's flows.
    pub pulls: bool,
    /// Cut-through: number of bytes after which the far end may forward.
    pub(super) cut_header: u32,
}

/// In [`Place`]: no switch.
const NO_SWITCH: u32 = u32::MAX;

impl Place {
    /// A port that leads to the node `peer`; its switch is not known yet.
    pub(super) fn before(peer: NodeId) -> Self {
        let (pool, switch) = (NO_SWITCH, NO_SWITCH);
        Self { peer, pool, switch, number: 0, from_host: false, pulls: false, cut_header: 0 }
    }

    /// The switch that it belongs to; `None`: it belongs to a host.
    #[inline(always)]
    pub fn switch(&self) -> Option<usize> {
        (self.switch != NO_SWITCH).then_some(self.switch as usize)
    }

    /// Its switch, and its number among the ports of that switch.
    #[inline(always)]
    pub fn at_switch(&self) -> Option<(usize, usize)> {
        Some((self.switch()?, usize::from(self.number)))
    }

    /// The switch whose shared memory it uses; `None`: it has memory of its own.
    #[inline(always)]
    pub fn pool(&self) -> Option<usize> {
        (self.pool != NO_SWITCH).then_some(self.pool as usize)
    }

    /// It is the port `number` of this switch.
    pub fn set_switch(&mut self, switch: u32, number: u8) {
        (self.switch, self.number) = (switch, number);
    }

    /// It uses the shared memory of this switch.
    pub fn share_memory(&mut self, switch: u32) {
        self.pool = switch;
    }
}

/// What packets rarely touch: counters of drops and marks, and the queue management of express ports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cold {
    /// See [`super::PortTotals::dropped`].
    pub dropped: u64,
    /// See [`super::PortTotals::marked`].
    pub marked: u64,
    /// Express: active queue management.
    pub stage: StageMachine,
    /// Counters that have outgrown their place.
    pub overflow: Overflow,
}
