//! Whether an arriving packet is admitted, marked or dropped: decided from the queue it would join.

use crate::packet::Packet;
use thalweg_units::{Span, Time};

/// The queue that a packet arrives at, without the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting (the one being transmitted has left).
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
    /// How long the port has been idle: zero while it transmits or anything waits.
    pub idle_for: Span,
}

/// What to do with an arriving packet, its buffer's limit apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// Take it.
    Admit,
    /// Take it and set CE (only ever advised for ECN-capable packets).
    Mark,
    /// Refuse it.
    Drop,
}

/// Active queue management at arrival.
pub trait Aqm {
    /// Decides from the queue as it is before the packet joins.
    fn on_arrival(&mut self, now: Time, backlog: Backlog, packet: &Packet) -> Advice;
}
