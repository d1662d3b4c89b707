//! The receiver: it sends credits at the rate that feedback sets, and one ACK when everything has arrived.

use super::super::collector::Collector;
use super::super::{Endpoint, Expiry, ExpressPassSpec, ReceivingEnd, Reception, Transmit};
use super::feedback::Feedback;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span, Stream, Time};
use thalweg_wire::{Message, Packet, Side};

/// The destination's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExpressPassReceiver {
    flow: FlowId,
    all: Collector,
    stream: Stream,
    /// Since the request.
    feedback: Option<Feedback>,
    /// The next credit leaves then.
    next_at: Time,
    /// Numbers of credits so far.
    credits: u64,
    /// The sender has sent everything: credits now name missing packets, from this byte on.
    repairs: Option<u64>,
}

impl ExpressPassReceiver {
    /// Expects `size` bytes.
    pub(super) fn new(spec: &ExpressPassSpec, flow: FlowId, size: u64, stream: Stream) -> Self {
        let all = Collector::new(flow, size, spec.payload);
        Self { flow, all, stream, feedback: None, next_at: Time::MAX, credits: 0, repairs: None }
    }

    /// The rate of its credits.
    pub fn feedback(&self) -> Option<&Feedback> {
        self.feedback.as_ref()
    }

    /// Which packet the next credit is for; `None`: the next one.
    fn wanted(&mut self, spec: &ExpressPassSpec) -> Option<u64> {
        let from = self.repairs?;
        let missing = self.all.missing(from).unwrap_or(0);
        self.repairs = Some(missing + u64::from(spec.payload));
        Some(missing)
    }

    /// The next credit's size and the gap behind it.
    fn draw(&mut self, spec: &ExpressPassSpec, gap: f64) -> (u32, Span) {
        let sizes = u64::from(spec.credit_max - spec.credit_min) + 1;
        let wire = spec.credit_min + if sizes > 1 { self.stream.below(sizes) as u32 } else { 0 };
        let jitter = if spec.jitter > 0.0 { spec.jitter * (2.0 * self.stream.unit() - 1.0) } else { 0.0 };
        (wire, Span::from_ps((gap * (1.0 + jitter)) as u64))
    }
}

impl Endpoint for ExpressPassReceiver {
    type Spec = ExpressPassSpec;

    fn on_packet(
        &mut self,
        spec: &ExpressPassSpec,
        now: Time,
        packet: &Packet,
        side: Option<&Side>,
    ) -> Reception {
        self.all.take(packet);
        match side.and_then(Side::message) {
            Some(Message::CreditStop { .. }) => {
                self.repairs.get_or_insert(0);
            }
            Some(Message::CreditRequest { .. }) if self.feedback.is_none() => {
                self.feedback = Some(Feedback::new(spec, now));
                self.next_at = now;
            }
            Some(Message::CreditSpent { number, sent_at }) => {
                if let Some(feedback) = &mut self.feedback {
                    feedback.answered(*number, now.since(*sent_at));
                }
            }
            _ => {}
        }
        Reception::Taken
    }

    fn on_timer(&mut self, _: &ExpressPassSpec, _: Time) -> Expiry {
        Expiry::Other
    }

    fn poll_transmit(
        &mut self,
        spec: &ExpressPassSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if let Some(ack) = self.all.ack(spec.control) {
            *packet = ack;
            return Transmit::Packet;
        }
        if self.is_done() || now < self.next_at {
            return Transmit::Idle;
        }
        let Some(feedback) = &mut self.feedback else { return Transmit::Idle };
        feedback.update(spec, now);
        let gap = feedback.gap(spec);
        let (wire, gap) = self.draw(spec, gap);
        self.next_at = now.saturating_add(gap.max(Span::from_ps(1)));
        self.credits += 1;
        let credit = Message::Credit { number: self.credits, offset: self.wanted(spec) };
        *packet = side.packet_of(credit, now, self.flow, wire);
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        (!self.is_done() && self.next_at != Time::MAX).then_some(self.next_at)
    }

    fn is_done(&self) -> bool {
        self.all.has_all()
    }
}

impl ReceivingEnd for ExpressPassReceiver {
    fn resize(&mut self, size: u64) {
        self.all.resize(size);
    }
    fn received(&self) -> u64 {
        self.all.in_order()
    }
    fn unique_bytes(&self) -> u64 {
        self.all.bytes()
    }
}
