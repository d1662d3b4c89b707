//! The source's end: a request, free packets, then a packet per token (pHost, Algorithm 1).

use super::super::{Endpoint, Expiry, Heard, SenderStats, SendingEnd, TokenSpec, Transmit};
use super::arrivals::Arrivals;
use crate::congestion::Start;
use crate::packet::{Flags, Kind, Packet, Side};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, FlowId, Span, Time};

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TokenSender {
    flow: FlowId,
    size: u64,
    payload: u32,
    packets: u64,
    started: bool,
    request: Request,
    /// The next packet never sent.
    next: u64,
    /// So many more may leave without tokens.
    free: u64,
    /// When each token is worth nothing any more.
    tokens: VecDeque<Time>,
    acked: Arrivals,
    /// Where the search for a packet to send again goes on.
    again: u64,
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

/// For [`SenderStats`].
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Counts {
    sent: u64,
    resent: u64,
    silences: u64,
    rtt_sum: Span,
    rtt_samples: u32,
}

impl TokenSender {
    /// A sender that has not started.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub(super) fn new(spec: &TokenSpec, flow: FlowId, size: u64, start: &Start) -> Result<Self, String> {
        let refuse = |what: &str| Err(format!("tokens: {what}"));
        if spec.payload == 0 || start.mss != spec.payload {
            return refuse("payload is 0 or not what the flow was told; allowed: at least 1");
        }
        if spec.payload.checked_add(spec.header).is_none() || spec.control == 0 {
            return refuse("a packet of no bytes, or of more than 4 GB");
        }
        if size == 0 || size == u64::MAX {
            return refuse("a request names the flow's size: at least 1 byte, and an end");
        }
        if spec.window == 0 {
            return refuse("window is 0: no token would ever be sent; allowed: at least 1");
        }
        if spec.life.is_zero() || spec.patience.is_zero() || spec.retry.is_zero() {
            return refuse("life, patience or retry is 0; allowed: above");
        }
        let packets = size.div_ceil(u64::from(spec.payload));
        Ok(Self {
            flow,
            size,
            payload: spec.payload,
            packets,
            started: false,
            request: Request { due: false, sent: false, retry_at: Time::MAX },
            next: 0,
            free: packets.min(u64::from(spec.free)),
            tokens: VecDeque::new(),
            acked: Arrivals::new(packets),
            again: 0,
            counts: Counts::default(),
        })
    }

    /// Which packet leaves now, and as what class, if there is leave for one.
    fn choose(&mut self, spec: &TokenSpec, now: Time) -> Option<(u64, u8)> {
        while self.tokens.front().is_some_and(|end| *end < now) {
            self.tokens.pop_front();
        }
        // CHOICE pHost: tokens, which age, before free packets, which do not. Other reading: free ones first, at the cost
        // of the tokens that come meanwhile.
        if self.tokens.is_empty() {
            let free = self.free > 0 && self.next < self.packets;
            self.free -= u64::from(free);
            return free.then_some((self.next, spec.free_class));
        }
        let index = if self.next < self.packets { self.next } else { self.acked.missing(self.again)? };
        self.tokens.pop_front();
        Some((index, spec.token_class))
    }
}

impl Endpoint for TokenSender {
    type Spec = TokenSpec;

    fn on_packet(&mut self, spec: &TokenSpec, now: Time, packet: &Packet, _: Option<&Side>) -> Heard {
        let mut heard = Heard::default();
        match packet.kind {
            Kind::Control => self.tokens.push_back(now.saturating_add(spec.life)),
            Kind::Ack => {
                let payload = u64::from(spec.payload);
                for index in self.acked.lowest()..packet.seq.div_ceil(payload) {
                    self.acked.insert(index);
                }
                self.acked.insert(packet.echo / payload);
                let rtt = now.since(packet.stamp);
                self.counts.rtt_sum += rtt;
                self.counts.rtt_samples = self.counts.rtt_samples.saturating_add(1);
                heard.round_trip = Some(rtt);
            }
            Kind::Data | Kind::Syn | Kind::SynAck => return heard,
        }
        self.request.retry_at = now.saturating_add(spec.retry);
        heard
    }

    fn on_timer(&mut self, _: &TokenSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.request.retry_at {
            return Expiry::Other;
        }
        (self.request.due, self.request.retry_at) = (true, Time::MAX);
        self.counts.silences += 1;
        Expiry::Retransmission
    }

    fn poll_transmit(&mut self, spec: &TokenSpec, now: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        if !self.started || self.is_done() {
            return Transmit::Idle;
        }
        if std::mem::take(&mut self.request.due) {
            let mut flags = Flags::default();
            if std::mem::replace(&mut self.request.sent, true) {
                flags.set(Flags::RETRANSMISSION);
            }
            self.request.retry_at = now.saturating_add(spec.retry);
            let (flow, wire) = (self.flow, spec.control);
            // The request says how long the flow is.
            *packet = Packet {
                stamp: now,
                seq: self.size,
                flow,
                wire,
                kind: Kind::Syn,
                flags,
                ..Packet::default()
            };
            return Transmit::Packet;
        }
        let Some((index, class)) = self.choose(spec, now) else { return Transmit::Idle };
        let seq = index * u64::from(spec.payload);
        let payload = (self.size - seq).min(u64::from(spec.payload)) as u32;
        let mut flags = Flags::default();
        if index < self.next {
            flags.set(Flags::RETRANSMISSION);
            self.again = index + 1;
            self.counts.resent += 1;
        } else {
            self.next = index + 1;
        }
        if seq + u64::from(payload) == self.size {
            flags.set(Flags::LAST);
        }
        self.counts.sent += 1;
        *packet = Packet {
            stamp: now,
            seq,
            flow: self.flow,
            wire: payload + spec.header,
            payload,
            kind: Kind::Data,
            class,
            flags,
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        let waits = self.started && !self.is_done() && self.request.retry_at != Time::MAX;
        waits.then_some(self.request.retry_at)
    }

    fn is_done(&self) -> bool {
        self.acked.is_full()
    }
}

impl SendingEnd for TokenSender {
    fn start(&mut self, _: &TokenSpec, _: Time) {
        (self.started, self.request.due) = (true, true);
    }

    /// Flows without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &TokenSpec, _: Time) -> u64 {
        self.size
    }

    fn stats(&self) -> SenderStats {
        let bytes = |packets: u64| packets * u64::from(self.payload);
        SenderStats {
            acked_bytes: bytes(self.acked.lowest()).min(self.size),
            sent_packets: self.counts.sent,
            retransmitted_packets: self.counts.resent,
            timeouts: self.counts.silences,
            window: Bytes::MAX,
            threshold: Bytes::MAX,
            in_flight: Bytes::new(bytes(self.next.saturating_sub(self.acked.count()))),
            rtt_sum: self.counts.rtt_sum,
            rtt_samples: self.counts.rtt_samples,
            ..SenderStats::default()
        }
    }
}
