//! The sender: the first window at once, then one packet per pull, retransmissions of NACKed packets first (§3.2).

use super::super::arrivals::Arrivals;
use super::super::counts::Counts;
use super::super::{Endpoint, Expiry, NdpSpec, Reception, SenderStats, SendingEnd, Transmit};
use super::PathCycle;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Stream, Time};
use thalweg_wire::{Flags, Kind, Message, Packet, Side};

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NdpSender {
    flow: FlowId,
    size: u64,
    payload: u32,
    started: bool,
    /// Packets that may be sent: those of the first window, and one for each pull.
    credit: u64,
    /// The highest pull number received.
    pulled: u64,
    /// ACKs and NACKs received. Each stands for an arrival, for which the receiver adds a pull.
    answers: u64,
    /// The first packet never sent.
    next: u64,
    /// NACKed, the oldest NACK first.
    again: VecDeque<u64>,
    acked: Arrivals,
    acked_bytes: u64,
    /// When a sender that has received nothing retransmits.
    retry_at: Time,
    paths: PathCycle,
    counts: Counts,
}

impl NdpSender {
    /// A sender that has not started.
    pub(super) fn new(spec: &NdpSpec, flow: FlowId, size: u64, stream: Stream) -> Self {
        Self {
            flow,
            size,
            payload: spec.payload,
            started: false,
            credit: spec.packets(size).min(u64::from(spec.window)),
            pulled: 0,
            answers: 0,
            next: 0,
            again: VecDeque::new(),
            acked: Arrivals::new(spec.packets(size)),
            acked_bytes: 0,
            retry_at: Time::MAX,
            paths: PathCycle::new(spec.paths, stream),
            counts: Counts::default(),
        }
    }

    fn payload_of(&self, index: u64) -> u32 {
        let seq = index * u64::from(self.payload);
        (self.size - seq).min(u64::from(self.payload)) as u32
    }

    /// The packet to be sent next, and whether it was sent before.
    fn take_next(&mut self) -> Option<(u64, bool)> {
        if let Some(index) = self.again.pop_front() {
            return Some((index, true));
        }
        let index = self.next;
        let first = index * u64::from(self.payload) < self.size;
        self.next += u64::from(first);
        first.then_some((index, false))
    }

    /// The packet was trimmed. A NACK that arrives after the timer has already retransmitted the packet is ignored.
    fn nacked(&mut self, index: u64) {
        if index < self.next && !self.acked.has(index) && !self.again.contains(&index) {
            self.again.push_back(index);
        }
    }

    /// Sent, and neither ACKed nor NACKed since.
    fn unanswered(&self) -> Vec<u64> {
        let of = |index: &u64| !self.acked.has(*index) && !self.again.contains(index);
        (self.acked.lowest()..self.next).filter(of).collect()
    }
}

impl Endpoint for NdpSender {
    type Spec = NdpSpec;

    fn on_packet(&mut self, spec: &NdpSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let mut reception = Reception::Taken;
        match packet.kind {
            Kind::Control => {
                let Some(&Message::Pull { number }) = side.and_then(Side::message) else {
                    return Reception::Ignored;
                };
                // Pulls carry a running number; one that was overtaken by a later one has been counted already.
                self.credit += number.saturating_sub(self.pulled);
                self.pulled = self.pulled.max(number);
            }
            Kind::Ack => {
                self.answers += 1;
                let index = packet.trigger / u64::from(spec.payload);
                if packet.flags.has(Flags::NACK) {
                    self.nacked(index);
                } else if self.acked.insert(index) {
                    self.acked_bytes += u64::from(self.payload_of(index));
                    let rtt = now.since(packet.stamp);
                    self.counts.round_trip(rtt);
                    reception = Reception::RoundTrip(rtt);
                }
            }
            Kind::Data | Kind::Syn | Kind::SynAck => return reception,
        }
        self.retry_at = now.saturating_add(spec.retry);
        reception
    }

    fn on_timer(&mut self, spec: &NdpSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.retry_at {
            return Expiry::Other;
        }
        self.counts.timeouts += 1;
        self.retry_at = now.saturating_add(spec.retry);
        let unanswered = self.unanswered();
        // Nothing is outstanding, so a pull was lost.
        self.credit += (unanswered.len() as u64).max(1);
        self.again.extend(unanswered);
        Expiry::Retransmission
    }

    fn poll_transmit(&mut self, spec: &NdpSpec, now: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        if !self.started || self.is_done() || self.credit == 0 {
            return Transmit::Idle;
        }
        let Some((index, again)) = self.take_next() else {
            // Only what has overtaken its ACK, or NACK, may be of use yet.
            self.credit = self.credit.min(self.pulled.saturating_sub(self.answers));
            return Transmit::Idle;
        };
        self.credit -= 1;
        let payload = self.payload_of(index);
        let seq = index * u64::from(spec.payload);
        let mut flags = Flags::default();
        if again {
            flags.set(Flags::RETRANSMISSION);
            self.counts.resent += 1;
        }
        if seq + u64::from(payload) == self.size {
            flags.set(Flags::LAST);
        }
        self.counts.sent += 1;
        self.retry_at = now.saturating_add(spec.retry);
        *packet = Packet {
            stamp: now,
            seq,
            flow: self.flow,
            wire: payload + spec.header,
            payload,
            kind: Kind::Data,
            route: self.paths.next(),
            flags,
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        let waits = self.started && !self.is_done() && self.retry_at != Time::MAX;
        waits.then_some(self.retry_at)
    }

    fn is_done(&self) -> bool {
        self.acked_bytes >= self.size
    }
}

impl SendingEnd for NdpSender {
    fn start(&mut self, spec: &NdpSpec, now: Time) {
        (self.started, self.retry_at) = (true, now.saturating_add(spec.retry));
    }

    /// Flows without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &NdpSpec, _: Time) -> u64 {
        self.size
    }

    fn remaining(&self) -> u64 {
        self.size.saturating_sub(self.next.saturating_mul(u64::from(self.payload)))
    }

    fn stats(&self) -> SenderStats {
        let sent = self.next.saturating_mul(u64::from(self.payload)).min(self.size);
        self.counts.stats(self.acked_bytes, sent.saturating_sub(self.acked_bytes))
    }
}
