//! ExpressPass ports: credits wait in a short queue of their own, which has priority but is rate-limited (Cho et al.,
//! SIGCOMM 2017, §3.1).
//!
//! Each credit triggers a full packet in the other direction of the link. So of a link of rate C credits take
//! C·credit/(credit + packet) at most, by a token bucket of a few credits; what finds the queue full is dropped.
//! Everything else is served in order of arrival whenever no credit may go.

use super::{Around, At, Entry, Needs, Order, Parameters, Problems};
use crate::problems::Invalid;
use crate::tokens::TokenBucket;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, Rate, Time};
use thalweg_wire::{Flags, Handle, Packet};

/// Credits first, rate-limited so that the data they trigger fits the link; all else in order of arrival (ExpressPass:
/// Cho et al., SIGCOMM 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Limit of the credit queue, in credits.
    #[schemars(range(min = 1))]
    pub credits: u32,
    /// Size of the token bucket, in credits: how many may leave back to back.
    #[schemars(range(min = 1))]
    pub burst: u32,
    /// Average size of a credit on the wire.
    pub credit: Bytes,
    /// Size on the wire of a full data packet, which a credit triggers.
    pub packet: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        // ExpressPass §3.1 and §5: eight credits, of 84 B, each for 1538 B; the authors' simulator has two in
        // its bucket.
        Self { credits: 8, burst: 2, credit: Bytes::new(84), packet: Bytes::new(1538) }
    }
}

impl Params {
    /// What credits may take of a link, so that the data that they call for fit next to those of the other direction.
    pub fn rate(&self, link: Rate) -> Rate {
        let (credit, both) = (self.credit.get(), self.credit.get().saturating_add(self.packet.get()));
        Rate::from_bps((u128::from(link.bps()) * u128::from(credit) / u128::from(both.max(1))) as u64)
    }
}

impl Parameters for Params {
    type Machine = Credits;

    fn needs(&self) -> Needs {
        Needs { holds_back: true, fixed_rate: true, fixed_back: true, ..Needs::NOTHING }
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        for (key, count) in [("credits", self.credits), ("burst", self.burst)] {
            if count == 0 {
                problems.wrong(key, "no credit would ever pass", "at least 1");
            }
        }
        let reason = |size| format!("a packet of {size} is impossible");
        problems.size("credit", self.credit, reason, "84B");
        problems.size("packet", self.packet, reason, "1538B");
    }

    fn make(&self, at: &At) -> Result<Credits, Invalid> {
        // CHOICE ExpressPass §3.1: links are alike both ways there. What the credits of this direction call for takes
        // the other one, so it is that one's rate that meters them; on a link of any rate they may take all of it.
        let rate = self.rate(at.back).min(at.rate);
        if rate == Rate::ZERO {
            return Err(Invalid::new(format!("of a link of {} nothing is left for credits", at.back)));
        }
        let bucket =
            TokenBucket::new(rate, Bytes::new(self.credit.get().saturating_mul(u64::from(self.burst))));
        let (credits, data) = (VecDeque::new(), VecDeque::new());
        Ok(Credits { limit: self.credits as usize, bucket, credits, data })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// The two queues of one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Credits {
    limit: usize,
    bucket: TokenBucket,
    credits: VecDeque<Entry>,
    data: VecDeque<Entry>,
}

impl Credits {
    /// The tokens that a credit takes: all of them, if it is larger than the bucket.
    fn tokens(&self, credit: &Entry) -> u64 {
        u64::from(credit.wire).min(self.bucket.depth())
    }

    /// When the first credit may leave.
    fn opens(&self) -> Option<Time> {
        Some(self.bucket.opens(self.tokens(self.credits.front()?)))
    }
}

impl Order for Credits {
    fn pushes_out(&self) -> bool {
        false
    }
    /// A credit finds their queue full.
    fn refuses(&self, packet: &Packet) -> bool {
        packet.flags.has(Flags::CREDIT) && self.credits.len() >= self.limit
    }
    #[inline]
    fn push(&mut self, _: Time, packet: &Packet, handle: Handle) {
        let queue = if packet.flags.has(Flags::CREDIT) { &mut self.credits } else { &mut self.data };
        queue.push_back(Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, now: Time) -> Option<Entry> {
        if let Some(tokens) = self.credits.front().map(|first| self.tokens(first))
            && self.bucket.take(now, tokens)
        {
            return self.credits.pop_front();
        }
        self.data.pop_front()
    }
    fn push_out(&mut self, _: Handle) -> Option<Entry> {
        self.data.pop_back().or_else(|| self.credits.pop_back())
    }
    #[inline]
    fn held_until(&self) -> Option<Time> {
        if self.data.is_empty() { self.opens() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::FlowId;
    use thalweg_wire::{Kind, Message, Side};

    /// At 16 Mb/s a link carries 2 B per microsecond: credits of 100 B, each for 900 B, one every 500 us.
    fn port(credits: u32) -> Credits {
        let params = Params { credits, burst: 2, credit: Bytes::new(100), packet: Bytes::new(900) };
        let rate = Rate::from_mbps(16);
        params.make(&at(rate, rate)).unwrap()
    }
    fn at(rate: Rate, back: Rate) -> At {
        At { rate, back, stream: thalweg_units::Stream::default(), preemptive: false }
    }
    const CREDIT: Message = Message::Credit { number: 1, offset: None };

    fn message(message: Message) -> Packet {
        Side::default().packet_of(message, Time::ZERO, FlowId(0), 100)
    }
    fn other(kind: Kind) -> Packet {
        Packet { kind, wire: 900, ..Packet::default() }
    }
    fn join(port: &mut Credits, at: u64, packet: Packet, n: u32) -> bool {
        let fits = !port.refuses(&packet);
        if fits {
            port.push(Time::from_us(at), &packet, Handle(n));
        }
        fits
    }
    fn pop(port: &mut Credits, at: u64) -> Option<u32> {
        port.pop(Time::from_us(at)).map(|entry| entry.handle.0)
    }

    #[test]
    fn two_credits_leave_at_once_and_then_one_whenever_a_packet_and_a_credit_have_had_the_link() {
        let mut p = port(16);
        (0..4).for_each(|n| assert!(join(&mut p, 1000, message(CREDIT), n)));
        assert_eq!([1000, 1000, 1000].map(|at| pop(&mut p, at)), [Some(0), Some(1), None]);
        assert_eq!(p.held_until(), Some(Time::from_us(1500)));
        assert_eq!([1499, 1500, 1999, 2000].map(|at| pop(&mut p, at)), [None, Some(2), None, Some(3)]);
        assert_eq!(p.held_until(), None);
    }

    #[test]
    fn a_credit_larger_than_the_bucket_leaves_whenever_that_is_full() {
        let params = Params { credits: 8, burst: 1, credit: Bytes::new(50), packet: Bytes::new(450) };
        let rate = Rate::from_mbps(16);
        let mut p = params.make(&at(rate, rate)).unwrap();
        (0..2).for_each(|n| assert!(join(&mut p, 1000, message(CREDIT), n)));
        assert_eq!([1000, 1000].map(|at| pop(&mut p, at)), [Some(0), None]);
        assert_eq!(p.held_until(), Some(Time::from_us(1250)));
        assert_eq!([1249, 1250].map(|at| pop(&mut p, at)), [None, Some(1)]);
    }

    #[test]
    fn credits_that_find_their_queue_full_are_dropped_and_data_never() {
        let mut p = port(2);
        assert_eq!([0, 1, 2].map(|n| join(&mut p, 0, message(CREDIT), n)), [true, true, false]);
        assert_eq!([3, 4, 5].map(|n| join(&mut p, 0, other(Kind::Data), n)), [true, true, true]);
    }

    #[test]
    fn data_have_the_link_while_no_credit_may_go_and_requests_acks_and_other_messages_are_data() {
        let mut p = port(16);
        join(&mut p, 0, other(Kind::Data), 10);
        join(&mut p, 0, other(Kind::Syn), 11);
        join(&mut p, 0, other(Kind::Ack), 12);
        join(&mut p, 0, message(Message::Cnp), 13);
        (0..3).for_each(|n| assert!(join(&mut p, 0, message(CREDIT), n)));
        assert_eq!(p.held_until(), None);
        let order = [0, 0, 0, 450, 500, 550, 600].map(|at| pop(&mut p, at));
        assert_eq!(order, [Some(0), Some(1), Some(10), Some(11), Some(2), Some(12), Some(13)]);
    }

    /// 1000 B at 16 Mb/s the other way are 500 us, whatever the rate of this one.
    #[test]
    fn credits_are_metered_by_the_link_that_their_data_take() {
        let params = Params { credits: 8, burst: 1, credit: Bytes::new(100), packet: Bytes::new(900) };
        for (rate, after) in
            [(Rate::from_mbps(160), 500), (Rate::from_mbps(4), 500), (Rate::from_bps(800_000), 1000)]
        {
            let mut p = params.make(&at(rate, Rate::from_mbps(16))).unwrap();
            (0..2).for_each(|n| assert!(join(&mut p, 2000, message(CREDIT), n)));
            let late = [2000, 2000 + after - 1, 2000 + after].map(|at| pop(&mut p, at));
            assert_eq!(late, [Some(0), None, Some(1)], "{rate}");
        }
    }

    /// §3.1: 84 B of 84 + 1538, so 5.18 % of the link.
    #[test]
    fn credits_take_as_much_of_a_link_as_leaves_room_for_their_data() {
        assert_eq!(Params::default().rate(Rate::from_gbps(10)), Rate::from_bps(517_879_161));
    }
}
