//! The sender: unscheduled packets at once, the rest as granted (§3.2).

use super::super::counts::Counts;
use super::super::{Endpoint, Expiry, HomaSpec, Reception, SenderStats, SendingEnd, Transmit};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Flags, Kind, Message, Packet, Side};

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HomaSender {
    flow: FlowId,
    size: u64,
    started: bool,
    done: bool,
    /// The first byte never sent.
    sent_to: u64,
    /// Bytes below this one may be sent.
    granted: u64,
    /// The level of scheduled packets, as the last grant states.
    level: u8,
    /// To be sent again: from, to.
    again: Option<(u64, u64)>,
    /// Bytes that the destination has, as far as it has reported.
    acked: u64,
    /// When a sender that has received nothing sends its first packet again.
    retry_at: Time,
    counts: Counts,
}

impl HomaSender {
    /// A sender that has not started.
    pub(super) fn new(spec: &HomaSpec, flow: FlowId, size: u64) -> Self {
        Self {
            flow,
            size,
            started: false,
            done: false,
            sent_to: 0,
            granted: spec.unscheduled(size),
            level: spec.scheduled_level(0, 1),
            again: None,
            acked: 0,
            retry_at: Time::MAX,
            counts: Counts::default(),
        }
    }

    /// The first byte of the next packet, and whether it was sent before.
    fn next(&mut self, spec: &HomaSpec) -> Option<(u64, bool)> {
        if let Some((from, to)) = self.again {
            let behind = from + u64::from(spec.payload);
            self.again = (behind < to).then_some((behind, to));
            return Some((from, true));
        }
        let seq = self.sent_to;
        (seq < self.granted).then_some((seq, false))
    }
}

impl Endpoint for HomaSender {
    type Spec = HomaSpec;

    fn on_packet(&mut self, spec: &HomaSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let mut reception = Reception::Taken;
        match packet.kind {
            Kind::Control => match side.and_then(Side::message) {
                // Data that was not sent yet is not a retransmission: it is sent in order.
                Some(&Message::Resend { from, to }) => {
                    let to = to.min(self.sent_to);
                    if from < to && self.again.is_none() {
                        self.again = Some((from, to));
                    }
                }
                Some(&Message::Grant { offset, received, level }) => {
                    // Grants may overtake each other where packets are sprayed.
                    if offset >= self.granted {
                        (self.granted, self.level) = (offset.min(self.size), level);
                    }
                    self.acked = self.acked.max(received);
                }
                _ => return Reception::Ignored,
            },
            Kind::Ack => {
                (self.done, self.acked) = (true, self.size);
                let rtt = now.since(packet.stamp);
                self.counts.round_trip(rtt);
                reception = Reception::RoundTrip(rtt);
            }
            Kind::Data | Kind::Syn | Kind::SynAck => return reception,
        }
        self.retry_at = now.saturating_add(spec.resend);
        reception
    }

    fn on_timer(&mut self, spec: &HomaSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.retry_at {
            return Expiry::Other;
        }
        self.retry_at = now.saturating_add(spec.resend);
        self.counts.timeouts += 1;
        // Unless nothing of it has left yet: others go first.
        if self.sent_to > 0 && self.again.is_none() {
            self.again = Some((0, 1));
        }
        Expiry::Retransmission
    }

    fn poll_transmit(
        &mut self,
        spec: &HomaSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if !self.started || self.is_done() {
            return Transmit::Idle;
        }
        let Some((seq, again)) = self.next(spec) else { return Transmit::Idle };
        let payload = (self.size - seq).min(u64::from(spec.payload)) as u32;
        let end = seq + u64::from(payload);
        let mut flags = Flags::default();
        let class = if again {
            flags.set(Flags::RETRANSMISSION);
            self.counts.resent += 1;
            0
        } else {
            self.sent_to = end;
            if seq < spec.unscheduled(self.size) { spec.unscheduled_level(self.size) } else { self.level }
        };
        if end == self.size {
            flags.set(Flags::LAST);
        }
        self.counts.sent += 1;
        self.retry_at = now.saturating_add(spec.resend);
        *side = Side::Message(Message::Length { size: self.size });
        *packet = Packet {
            stamp: now,
            seq,
            flow: self.flow,
            wire: payload + spec.header,
            payload,
            kind: Kind::Data,
            class,
            flags,
            side: 0,
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        let waits = self.started && !self.is_done() && self.retry_at != Time::MAX;
        waits.then_some(self.retry_at)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl SendingEnd for HomaSender {
    fn start(&mut self, spec: &HomaSpec, now: Time) {
        (self.started, self.retry_at) = (true, now.saturating_add(spec.resend));
    }

    /// Messages without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &HomaSpec, _: Time) -> u64 {
        self.size
    }

    fn remaining(&self) -> u64 {
        self.size - self.sent_to
    }

    fn stats(&self) -> SenderStats {
        self.counts.stats(self.acked, self.sent_to.saturating_sub(self.acked))
    }
}
