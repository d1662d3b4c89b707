//! The sender: a request, then a packet per token (pHost, Algorithm 1).

use super::super::arrivals::Arrivals;
use super::super::counts::Counts;
use super::super::{Endpoint, Expiry, PhostSpec, PhostTimes, Reception, SenderStats, SendingEnd, Transmit};
use crate::congestion::Start;
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, FlowId, Span, Time};
use thalweg_wire::{Flags, Kind, Message, Packet, Side};

/// A token: permission to send one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Token {
    /// It expires after this.
    until: Time,
    /// Which packet.
    index: u64,
    /// Its number among the flow's, from 1.
    number: u64,
    free: bool,
}

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhostSender {
    flow: FlowId,
    size: u64,
    payload: u32,
    started: bool,
    done: bool,
    request: Request,
    tokens: VecDeque<Token>,
    sent: Arrivals,
    /// Bytes that the destination has, as far as it has reported.
    acked: u64,
    /// Lifetime of free tokens.
    free_life: Span,
    /// Lifetime of other tokens after their arrival.
    life: Span,
    /// Time without an arrival after which the request is repeated.
    retry: Span,
    counts: Counts,
}

/// What announces the flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Request {
    /// It is to be sent.
    due: bool,
    /// It has been before.
    sent: bool,
    /// It is repeated then.
    retry_at: Time,
}

impl PhostSender {
    /// A sender that has not started.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub(super) fn new(spec: &PhostSpec, flow: FlowId, size: u64, start: &Start) -> Result<Self, Invalid> {
        let refuse = |key: &'static str, why: &'static str| Err(Invalid::new(why).of("pHost").at(key));
        if spec.payload == 0 || start.mss != spec.payload {
            return refuse("payload", "payload is 0 or not what the flow was given; allowed: at least 1");
        }
        let Some(wire) = spec.payload.checked_add(spec.header).filter(|_| spec.control > 0) else {
            return refuse("payload", "a packet of no bytes, or of more than 4 GB");
        };
        if size == 0 || size == u64::MAX {
            return refuse("size", "a request names the flow's size: at least 1 byte, and an end");
        }
        if spec.window == 0 {
            return refuse("window", "window is 0: no token would ever be sent; allowed: at least 1");
        }
        let PhostTimes { spacing, life, patience, again, retry } = spec.times(start.line_rate);
        if [spacing, life, patience, again, retry].iter().any(|time| time.is_zero()) {
            return refuse("spacing", "spacing, life, patience, again or retry is 0; allowed: above");
        }
        let packets = spec.packets(size);
        let free = spec.free_of(packets);
        let all = Bytes::new(free.saturating_mul(u64::from(wire))) / start.line_rate;
        Ok(Self {
            flow,
            size,
            payload: spec.payload,
            started: false,
            done: false,
            request: Request { due: false, sent: false, retry_at: Time::MAX },
            tokens: VecDeque::new(),
            sent: Arrivals::new(packets),
            acked: 0,
            free_life: all + life,
            life,
            retry,
            counts: Counts::default(),
        })
    }

    /// The next token that has not expired.
    fn spend(&mut self, now: Time) -> Option<Token> {
        while let Some(token) = self.tokens.pop_front() {
            if token.until >= now {
                return Some(token);
            }
        }
        None
    }
}

impl Endpoint for PhostSender {
    type Spec = PhostSpec;

    fn on_packet(&mut self, spec: &PhostSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let mut reception = Reception::Taken;
        match packet.kind {
            Kind::Control => {
                let Some(&Message::Token { offset, number, missing }) = side.and_then(Side::message) else {
                    return Reception::Ignored;
                };
                let (until, index) = (now.saturating_add(self.life), offset / u64::from(spec.payload));
                self.tokens.push_back(Token { until, index, number, free: false });
                self.acked = self.acked.max(self.size.saturating_sub(missing));
            }
            Kind::Ack => {
                (self.done, self.acked) = (true, self.size);
                let rtt = now.since(packet.stamp);
                self.counts.round_trip(rtt);
                reception = Reception::RoundTrip(rtt);
            }
            Kind::Data | Kind::Syn | Kind::SynAck => return reception,
        }
        self.request.retry_at = now.saturating_add(self.retry);
        reception
    }

    fn on_timer(&mut self, _: &PhostSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.request.retry_at {
            return Expiry::Other;
        }
        (self.request.due, self.request.retry_at) = (true, Time::MAX);
        self.counts.timeouts += 1;
        Expiry::Retransmission
    }

    fn poll_transmit(
        &mut self,
        spec: &PhostSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if !self.started || self.is_done() {
            return Transmit::Idle;
        }
        let flow = self.flow;
        if std::mem::take(&mut self.request.due) {
            *packet = side.packet_of(Message::Request { size: self.size }, now, flow, spec.control);
            if std::mem::replace(&mut self.request.sent, true) {
                packet.flags.set(Flags::RETRANSMISSION);
            }
            self.request.retry_at = now.saturating_add(self.retry);
            return Transmit::Packet;
        }
        let mut flags = Flags::default();
        let Some(Token { index, number, free, .. }) = self.spend(now) else { return Transmit::Idle };
        let seq = index * u64::from(spec.payload);
        let payload = (self.size - seq).min(u64::from(spec.payload)) as u32;
        if !self.sent.insert(index) {
            flags.set(Flags::RETRANSMISSION);
            self.counts.resent += 1;
        }
        if seq + u64::from(payload) == self.size {
            flags.set(Flags::LAST);
        }
        self.counts.sent += 1;
        *side = Side::Message(Message::TokenSpent { number });
        *packet = Packet {
            stamp: now,
            seq,
            flow,
            wire: payload + spec.header,
            payload,
            kind: Kind::Data,
            class: if free { spec.free_class } else { spec.token_class },
            flags,
            side: 0,
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        let waits = self.started && !self.is_done() && self.request.retry_at != Time::MAX;
        waits.then_some(self.request.retry_at)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl SendingEnd for PhostSender {
    fn start(&mut self, spec: &PhostSpec, now: Time) {
        (self.started, self.request.due) = (true, true);
        let until = now.saturating_add(self.free_life);
        let free = 0..spec.free_of(spec.packets(self.size));
        self.tokens.extend(free.map(|index| Token { until, index, number: index + 1, free: true }));
    }

    /// Flows without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &PhostSpec, _: Time) -> u64 {
        self.size
    }

    fn remaining(&self) -> u64 {
        self.size.saturating_sub(self.sent.count().saturating_mul(u64::from(self.payload)))
    }

    fn stats(&self) -> SenderStats {
        let sent = self.sent.count().saturating_mul(u64::from(self.payload)).min(self.size);
        self.counts.stats(self.acked, sent.saturating_sub(self.acked))
    }
}
