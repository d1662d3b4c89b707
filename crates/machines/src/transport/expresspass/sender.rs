//! The sender: a credit request, a packet per credit, a credit stop.

use super::super::counts::Counts;
use super::super::{Endpoint, Expiry, ExpressPassSpec, Reception, SenderStats, SendingEnd, Transmit};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Flags, Kind, Message, Packet, Side};

/// A credit: permission to send one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Credit {
    number: u64,
    /// When it left its destination.
    sent_at: Time,
    /// The first byte of the packet that it is for, if that was lost; `None`: the next one.
    offset: Option<u64>,
}

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExpressPassSender {
    flow: FlowId,
    size: u64,
    /// The next message to the destination.
    pending: Option<CreditMessage>,
    /// The last message sent.
    last: Option<CreditMessage>,
    retry_at: Time,
    credits: VecDeque<Credit>,
    /// The first byte never sent.
    sent_to: u64,
    done: bool,
    /// Credits that came when there was nothing to send.
    wasted: u64,
    counts: Counts,
}

/// What a source sends to its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum CreditMessage {
    /// CREDIT_REQUEST.
    Request,
    /// CREDIT_STOP.
    Stop,
}

impl ExpressPassSender {
    /// A sender that has not started.
    pub(super) fn new(_: &ExpressPassSpec, flow: FlowId, size: u64) -> Self {
        Self {
            flow,
            size,
            pending: None,
            last: None,
            retry_at: Time::MAX,
            credits: VecDeque::new(),
            sent_to: 0,
            done: false,
            wasted: 0,
            counts: Counts::default(),
        }
    }

    /// A request or a stop, in a packet of its own.
    fn announce(
        &mut self,
        spec: &ExpressPassSpec,
        now: Time,
        wish: CreditMessage,
        side: &mut Side,
    ) -> Packet {
        let size = self.size;
        let message = match wish {
            CreditMessage::Request => Message::CreditRequest { size },
            CreditMessage::Stop => Message::CreditStop { size },
        };
        let mut packet = side.packet_of(message, now, self.flow, spec.control);
        if self.last.replace(wish) == Some(wish) {
            packet.flags.set(Flags::RETRANSMISSION);
        }
        self.retry_at = now.saturating_add(spec.retry);
        packet
    }

    /// The packet that the credit is spent on: its first byte, and whether it was sent before. `None`: the credit is
    /// wasted.
    fn spend(&mut self, offset: Option<u64>) -> Option<(u64, bool)> {
        match offset {
            Some(lost) => (lost < self.sent_to).then_some((lost, true)),
            None => (self.sent_to < self.size).then_some((self.sent_to, false)),
        }
    }
}

impl Endpoint for ExpressPassSender {
    type Spec = ExpressPassSpec;

    fn on_packet(
        &mut self,
        spec: &ExpressPassSpec,
        now: Time,
        packet: &Packet,
        side: Option<&Side>,
    ) -> Reception {
        match packet.kind {
            Kind::Control => {
                let Some(&Message::Credit { number, offset }) = side.and_then(Side::message) else {
                    return Reception::Ignored;
                };
                if self.done {
                    self.wasted += 1;
                    return Reception::Taken;
                }
                self.credits.push_back(Credit { number, sent_at: packet.stamp, offset });
                // A credit for what was never sent, of which nothing is left, is no sign that the stop has arrived.
                if offset.is_some() || self.sent_to < self.size {
                    self.retry_at = now.saturating_add(spec.retry);
                }
            }
            Kind::Ack => {
                self.done = true;
                let rtt = now.since(packet.stamp);
                self.counts.round_trip(rtt);
                return Reception::RoundTrip(rtt);
            }
            Kind::Data | Kind::Syn | Kind::SynAck => {}
        }
        Reception::Taken
    }

    fn on_timer(&mut self, _: &ExpressPassSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.retry_at {
            return Expiry::Other;
        }
        self.pending =
            Some(if self.sent_to < self.size { CreditMessage::Request } else { CreditMessage::Stop });
        self.retry_at = Time::MAX;
        self.counts.timeouts += 1;
        Expiry::Retransmission
    }

    fn poll_transmit(
        &mut self,
        spec: &ExpressPassSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if self.is_done() {
            return Transmit::Idle;
        }
        if let Some(pending) = self.pending.take() {
            *packet = self.announce(spec, now, pending, side);
            return Transmit::Packet;
        }
        while let Some(Credit { number, sent_at, offset }) = self.credits.pop_front() {
            let Some((seq, again)) = self.spend(offset) else {
                self.wasted += 1;
                continue;
            };
            let payload = (self.size - seq).min(u64::from(spec.payload)) as u32;
            let end = seq + u64::from(payload);
            let mut flags = Flags::default();
            if again {
                flags.set(Flags::RETRANSMISSION);
                self.counts.resent += 1;
            }
            if end == self.size {
                flags.set(Flags::LAST);
            }
            if !again && end == self.size {
                self.pending = Some(CreditMessage::Stop);
            }
            self.sent_to = self.sent_to.max(end);
            self.counts.sent += 1;
            *side = Side::Message(Message::CreditSpent { number, sent_at });
            *packet = Packet {
                stamp: now,
                seq,
                flow: self.flow,
                wire: payload + spec.header,
                payload,
                kind: Kind::Data,
                flags,
                side: 0,
                ..Packet::default()
            };
            return Transmit::Packet;
        }
        Transmit::Idle
    }

    fn timer(&self) -> Option<Time> {
        (!self.is_done() && self.retry_at != Time::MAX).then_some(self.retry_at)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl SendingEnd for ExpressPassSender {
    fn start(&mut self, _: &ExpressPassSpec, _: Time) {
        self.pending = Some(CreditMessage::Request);
    }

    /// Flows without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &ExpressPassSpec, _: Time) -> u64 {
        self.size
    }

    fn remaining(&self) -> u64 {
        self.size.saturating_sub(self.sent_to)
    }

    fn stats(&self) -> SenderStats {
        // Nothing is acknowledged before the end; all that was sent counts as arrived unless it is sent again.
        let acked = if self.done { self.size } else { 0 };
        SenderStats {
            wasted_credits: self.wasted,
            ..self.counts.stats(acked, self.sent_to - acked.min(self.sent_to))
        }
    }
}
