//! Homa's scheduling at a host: to which messages a receiver sends grants, and which message a sender sends next
//! (Montazeri et al., SIGCOMM 2018, §3.3 to §3.5, §3.2). The ends of a message are in [`crate::transport::homa`].
//!
//! A destination grants to the `overcommitment` messages with the fewest bytes left that are not granted to
//! the end, so that of each RTTbytes are granted and not received. A packet that comes brings its message the
//! next grant; when a message has been granted to its end, or a shorter one comes, the next grants are those
//! of the messages that are then among the first.

use super::{Came, End, HostAgent};
use crate::transport::{HomaSpec, Transmit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_units::{FlowId, Rate, Time};
use thalweg_wire::{Message, Packet, Side};

/// A message that ends here and needs grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Incoming {
    size: u64,
    received: u64,
    granted: u64,
    /// The level of its last grant.
    level: u8,
    /// When a packet last brought new data, or the last grant was repeated.
    progress_at: Time,
}

impl Incoming {
    fn left(&self) -> u64 {
        self.size - self.received
    }
}

/// A grant to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Grant {
    flow: FlowId,
    to: u64,
    received: u64,
    level: u8,
}

/// A host's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HomaAgent {
    incoming: BTreeMap<FlowId, Incoming>,
    /// Of these, the ones not granted to the end: fewest bytes left first, of equals the oldest.
    waiting: BTreeSet<(u64, FlowId)>,
    due: VecDeque<Grant>,
    /// When to look next for messages without progress.
    check_at: Time,
}

impl HomaAgent {
    /// Of a host.
    pub(super) fn new(spec: &HomaSpec, _: Rate) -> Self {
        Self::of(spec)
    }

    /// Of any host: grants are not paced.
    pub(crate) fn of(_: &HomaSpec) -> Self {
        let (incoming, waiting) = (BTreeMap::new(), BTreeSet::new());
        Self { incoming, waiting, due: VecDeque::new(), check_at: Time::MAX }
    }

    /// Extends the grant of the message at this place of the order. Returns true if it is now granted to its end.
    fn grant(&mut self, spec: &HomaSpec, flow: FlowId, place: u32) -> bool {
        let active = (self.waiting.len() as u32).min(spec.overcommitment);
        let Some(message) = self.incoming.get_mut(&flow) else { return false };
        let to = spec.whole(message.received.saturating_add(spec.rtt_bytes), message.size);
        if to <= message.granted {
            return false;
        }
        let level = spec.scheduled_level(place, active);
        (message.granted, message.level) = (to, level);
        let Incoming { size, received, .. } = *message;
        self.due.push_back(Grant { flow, to, received, level });
        to == size && self.waiting.remove(&(size - received, flow))
    }

    /// Grants to all that are among the first.
    fn grant_all(&mut self, spec: &HomaSpec) {
        let mut place = 0;
        while place < spec.overcommitment
            && let Some((_, flow)) = self.waiting.iter().nth(place as usize).copied()
        {
            // A message that is granted to its end leaves its place to the next.
            if !self.grant(spec, flow, place) {
                place += 1;
            }
        }
    }

    /// A packet of a message that needs grants has come.
    fn came(&mut self, spec: &HomaSpec, now: Time, flow: FlowId, size: u64, received: u64) {
        if self.incoming.is_empty() {
            self.check_at = now.saturating_add(spec.resend);
        }
        let fresh = Incoming {
            size,
            received: 0,
            granted: spec.unscheduled(size),
            level: spec.scheduled_level(0, 1),
            progress_at: now,
        };
        let known = self.incoming.contains_key(&flow);
        let message = self.incoming.entry(flow).or_insert(fresh);
        let waits = message.granted < size;
        let before = (message.left(), flow);
        if received > message.received {
            (message.received, message.progress_at) = (received, now);
        }
        let after = (message.left(), flow);
        if !waits {
            return;
        }
        if !known {
            self.waiting.insert(after);
            return self.grant_all(spec);
        }
        self.waiting.remove(&before);
        self.waiting.insert(after);
        let first = self.waiting.iter().take(spec.overcommitment as usize);
        let place = first.into_iter().position(|(_, other)| *other == flow);
        if place.is_some_and(|place| self.grant(spec, flow, place as u32)) {
            self.grant_all(spec);
        }
    }
}

impl HostAgent for HomaAgent {
    type Spec = HomaSpec;

    fn on_over(&mut self, _: &HomaSpec, _: Time, flow: FlowId, end: End) {
        if end == End::Destination
            && let Some(message) = self.incoming.remove(&flow)
        {
            self.waiting.remove(&(message.left(), flow));
        }
    }

    fn on_packet(&mut self, spec: &HomaSpec, now: Time, came: Came<'_>) {
        if came.end == End::Destination
            && let Some(&Message::Length { size }) = came.message()
            && size > spec.unscheduled(size)
        {
            self.came(spec, now, came.packet.flow, size, came.arrived);
        }
    }

    fn on_timer(&mut self, spec: &HomaSpec, now: Time) {
        if now < self.check_at {
            return;
        }
        let mut next = Time::MAX;
        for (flow, message) in &mut self.incoming {
            if now >= message.progress_at.saturating_add(spec.resend) {
                message.progress_at = now;
                let Incoming { granted, received, level, .. } = *message;
                if granted > spec.unscheduled(message.size) {
                    self.due.push_back(Grant { flow: *flow, to: granted, received, level });
                }
            }
            next = next.min(message.progress_at.saturating_add(spec.resend));
        }
        self.check_at = next;
    }

    fn poll_transmit(
        &mut self,
        spec: &HomaSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        let Some(Grant { flow, to, received, level }) = self.due.pop_front() else { return Transmit::Idle };
        let grant = Message::Grant { offset: to, received, level };
        *packet = side.packet_of(grant, now, flow, spec.control);
        Transmit::Packet
    }

    fn timer(&self, _: &HomaSpec) -> Option<Time> {
        (!self.incoming.is_empty()).then_some(self.check_at)
    }

    /// Shortest remaining first (§3.2).
    fn rank(&self, _: FlowId, left: u64) -> u64 {
        left
    }
}

#[cfg(test)]
mod tests;
