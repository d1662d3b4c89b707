//! Homa's scheduling at a host: to which messages a receiver sends grants, and which message a sender sends next
//! (Montazeri et al., SIGCOMM 2018, §3.3 to §3.5, §3.2). The ends of a message are in [`crate::transport::homa`].
//!
//! A destination grants to the `overcommitment` messages with the fewest bytes left that are not granted to
//! the end, so that of each RTTbytes are granted and not received. A packet that comes brings its message the
//! next grant; when a message has been granted to its end, or a shorter one comes, the next grants are those
//! of the messages that are then among the first.

use super::flows::FlowSlots;
use super::{Came, End, HostAgent};
use crate::transport::{HomaSpec, Transmit};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
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

/// A message that is not granted to its end. They are ordered by the bytes left and, of equals, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Waiting {
    left: u64,
    flow: FlowId,
    slot: u32,
}

/// A host's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HomaAgent {
    incoming: FlowSlots<Incoming>,
    /// Of these, the ones not granted to the end, in their order. A packet moves its message by few places.
    waiting: Vec<Waiting>,
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
        Self { incoming: FlowSlots::new(), waiting: Vec::new(), due: VecDeque::new(), check_at: Time::MAX }
    }

    /// Extends the grant of the message at this place of the order. Returns true if it is now granted to its end.
    fn grant(&mut self, spec: &HomaSpec, place: usize) -> bool {
        let active = (self.waiting.len() as u32).min(spec.overcommitment);
        let Some(&Waiting { flow, slot, .. }) = self.waiting.get(place) else { return false };
        let Some((_, message)) = self.incoming.at(slot) else { return false };
        let to = spec.whole(message.received.saturating_add(spec.rtt_bytes), message.size);
        if to <= message.granted {
            return false;
        }
        let level = spec.scheduled_level(place as u32, active);
        (message.granted, message.level) = (to, level);
        let Incoming { size, received, .. } = *message;
        self.due.push_back(Grant { flow, to, received, level });
        if to == size {
            self.waiting.remove(place);
        }
        to == size
    }

    /// Grants to all that are among the first.
    fn grant_all(&mut self, spec: &HomaSpec) {
        let mut place = 0;
        while place < self.waiting.len().min(spec.overcommitment as usize) {
            // A message that is granted to its end leaves its place to the next.
            if !self.grant(spec, place) {
                place += 1;
            }
        }
    }

    /// The first packet of a message that needs grants has come.
    fn begins(&mut self, spec: &HomaSpec, now: Time, flow: FlowId, size: u64, received: u64) {
        if self.incoming.is_empty() {
            self.check_at = now.saturating_add(spec.resend);
        }
        let (granted, level) = (spec.unscheduled(size), spec.scheduled_level(0, 1));
        let message = Incoming { size, received, granted, level, progress_at: now };
        let slot = self.incoming.insert(flow, message);
        let new = Waiting { left: message.left(), flow, slot };
        let place = self.waiting.partition_point(|other| *other < new);
        self.waiting.insert(place, new);
        self.grant_all(spec);
    }

    /// Another packet of a message that needs grants has come.
    fn continues(&mut self, spec: &HomaSpec, now: Time, slot: u32, received: u64) {
        let Some((flow, message)) = self.incoming.at(slot) else { return };
        let before = Waiting { left: message.left(), flow, slot };
        if received > message.received {
            (message.received, message.progress_at) = (received, now);
        }
        let after = Waiting { left: message.left(), ..before };
        if message.granted < message.size
            && let Ok(place) = self.waiting.binary_search(&before)
        {
            let place = self.moves_up(place, after);
            if place < spec.overcommitment as usize && self.grant(spec, place) {
                self.grant_all(spec);
            }
        }
    }

    /// The message at this place has fewer bytes left, or as many. Returns its place now.
    fn moves_up(&mut self, place: usize, after: Waiting) -> usize {
        let mut to = place;
        while let Some(&ahead) = to.checked_sub(1).and_then(|ahead| self.waiting.get(ahead))
            && ahead > after
        {
            self.waiting[to] = ahead;
            to -= 1;
        }
        self.waiting[to] = after;
        to
    }
}

impl HostAgent for HomaAgent {
    type Spec = HomaSpec;

    fn on_over(&mut self, _: &HomaSpec, _: Time, flow: FlowId, end: End) {
        if end == End::Destination
            && let Some((slot, message)) = self.incoming.remove(flow)
            && let Ok(place) = self.waiting.binary_search(&Waiting { left: message.left(), flow, slot })
        {
            self.waiting.remove(place);
        }
    }

    fn on_packet(&mut self, spec: &HomaSpec, now: Time, came: Came<'_>) {
        if came.end == End::Destination
            && let Some(&Message::Length { size }) = came.message()
            && size > spec.unscheduled(size)
        {
            let flow = came.packet.flow;
            match self.incoming.slot(flow) {
                Some(slot) => self.continues(spec, now, slot, came.arrived),
                None => self.begins(spec, now, flow, size, came.arrived),
            }
        }
    }

    fn on_timer(&mut self, spec: &HomaSpec, now: Time) {
        if now < self.check_at {
            return;
        }
        let (mut next, due_before) = (Time::MAX, self.due.len());
        for (flow, message) in self.incoming.iter_mut() {
            if now >= message.progress_at.saturating_add(spec.resend) {
                message.progress_at = now;
                let Incoming { granted, received, level, .. } = *message;
                if granted > spec.unscheduled(message.size) {
                    self.due.push_back(Grant { flow, to: granted, received, level });
                }
            }
            next = next.min(message.progress_at.saturating_add(spec.resend));
        }
        self.due.make_contiguous()[due_before..].sort_unstable_by_key(|grant| grant.flow); // the oldest first
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
