//! The source's end: a request, a packet per credit, a stop.

use super::super::counts::Counts;
use super::super::{Endpoint, Expiry, ExpressPassSpec, Heard, SenderStats, SendingEnd, Transmit};
use crate::packet::{Flags, Kind, Packet, Side};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};

/// Leave to send one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Credit {
    number: u64,
    /// When it left its destination.
    left_at: i64,
    /// The first byte of the packet that it is for, if that was lost; `u64::MAX`: the next one.
    wanted: u64,
}

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExpressPassSender {
    flow: FlowId,
    size: u64,
    /// What is to be said: that credits are wanted, or no more.
    says: Option<Says>,
    /// Something was said before.
    said: Option<Says>,
    retry_at: Time,
    credits: VecDeque<Credit>,
    /// The first byte never sent.
    sent_to: u64,
    done: bool,
    /// Credits that came when there was nothing to send.
    wasted: u64,
    counts: Counts,
}

/// What a source says to its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Says {
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
            says: None,
            said: None,
            retry_at: Time::MAX,
            credits: VecDeque::new(),
            sent_to: 0,
            done: false,
            wasted: 0,
            counts: Counts::default(),
        }
    }

    /// What is to be said goes as a request does: a stop is one that is the last.
    fn say(&mut self, spec: &ExpressPassSpec, now: Time, says: Says, packet: &mut Packet) {
        let mut flags = Flags::default();
        if says == Says::Stop {
            flags.set(Flags::LAST);
        }
        if self.said.replace(says) == Some(says) {
            flags.set(Flags::RETRANSMISSION);
        }
        self.retry_at = now.saturating_add(spec.retry);
        let (seq, flow, wire) = (self.size, self.flow, spec.control);
        *packet = Packet { stamp: now, seq, flow, wire, kind: Kind::Syn, flags, ..Packet::default() };
    }

    /// The credit's packet: its first byte, and whether it was sent before. Nothing: it is wasted.
    fn spend(&mut self, wanted: u64) -> Option<(u64, bool)> {
        if wanted < self.sent_to {
            return Some((wanted, true));
        }
        (wanted == u64::MAX && self.sent_to < self.size).then_some((self.sent_to, false))
    }
}

impl Endpoint for ExpressPassSender {
    type Spec = ExpressPassSpec;

    fn on_packet(&mut self, spec: &ExpressPassSpec, now: Time, packet: &Packet, _: Option<&Side>) -> Heard {
        let mut heard = Heard::default();
        match packet.kind {
            Kind::Control if self.done => self.wasted += 1,
            Kind::Control => {
                let Packet { echo: number, rank: left_at, seq: wanted, .. } = *packet;
                self.credits.push_back(Credit { number, left_at, wanted });
                self.retry_at = now.saturating_add(spec.retry);
            }
            Kind::Ack => {
                self.done = true;
                let rtt = now.since(packet.stamp);
                self.counts.round_trip(rtt);
                heard.round_trip = Some(rtt);
            }
            Kind::Data | Kind::Syn | Kind::SynAck => {}
        }
        heard
    }

    fn on_timer(&mut self, _: &ExpressPassSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.retry_at {
            return Expiry::Other;
        }
        self.says = Some(if self.sent_to < self.size { Says::Request } else { Says::Stop });
        self.retry_at = Time::MAX;
        self.counts.timeouts += 1;
        Expiry::Retransmission
    }

    fn poll_transmit(
        &mut self,
        spec: &ExpressPassSpec,
        now: Time,
        packet: &mut Packet,
        _: &mut Side,
    ) -> Transmit {
        if self.is_done() {
            return Transmit::Idle;
        }
        if let Some(says) = self.says.take() {
            self.say(spec, now, says, packet);
            return Transmit::Packet;
        }
        while let Some(Credit { number, left_at, wanted }) = self.credits.pop_front() {
            let Some((seq, again)) = self.spend(wanted) else {
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
                self.says = Some(Says::Stop);
            }
            self.sent_to = self.sent_to.max(end);
            self.counts.sent += 1;
            // The destination is told which credit is answered, and when that left it.
            *packet = Packet {
                stamp: now,
                seq,
                echo: number,
                rank: left_at,
                flow: self.flow,
                wire: payload + spec.header,
                payload,
                kind: Kind::Data,
                flags,
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
        self.says = Some(Says::Request);
    }

    /// Flows without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &ExpressPassSpec, _: Time) -> u64 {
        self.size
    }

    fn stats(&self) -> SenderStats {
        // What was sent arrives, but for what is sent again: nothing says so before the end.
        let acked = if self.done { self.size } else { 0 };
        SenderStats {
            wasted_credits: self.wasted,
            ..self.counts.stats(acked, self.sent_to - acked.min(self.sent_to))
        }
    }
}
