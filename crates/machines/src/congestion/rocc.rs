//! RoCC's reaction point: the smallest fair rate of any congestion point, doubled each time no message comes for a
//! while.
//!
//! Menikkumbura, Purdue University 2022, §3.3.5 and Algorithm 2; Taheri et al., CoNEXT 2020. The rate itself
//! comes from the network ([`crate::point::rocc`]); where hosts compute it (§3.3.6), this is where.
//!
//! Before the first message the flow has the whole line and no limiter. What a message states takes effect
//! after the NIC's reaction delay, in the order in which messages came; one that is ignored leaves the timer
//! alone.
//!
//! ```text
//! CHOICE RoCC §3.3.5: the timer's period is not published. Five updates of the congestion point, 200 us at T =
//! 40 us: a flow that is not in the queue at one tick, or two, does not double for that.
//! CHOICE RoCC §3.3.5 (Algorithm 2): a limiter above the line is removed when its queue is empty; at a rate
//! no less than the line's it holds nothing back, so it always is. Other reading: the timer stays dead while
//! something waits.
//! CHOICE RoCC §3.3.5 (Algorithm 2): of a message that takes effect at the instant at which the timer
//! expires, the message comes first.
//! CHOICE RoCC §3.3.6: messages that carry F do not carry Q_old. At a host's first of a point the queue has not moved.
//! Other reading: it was empty, and what stands counts as its growth.
//! CHOICE RoCC §3.5: a new rate also moves the departure that the old one had planned: what is left to wait
//! is rescaled.
//! ```

pub mod law;

use super::{
    AckSample, Calls, CongestionControl, Gives, Loss, Messages, Needs, Parameters, Permit, Problems, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, PortId, Rate, Span, Time};
use thalweg_wire::{Notice, NoticeBody, QueueReport};

/// RoCC: the fair rate that switches compute (Taheri et al., CoNEXT 2020). Needs the congestion point `rocc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The rate doubles each time this passes without a message that sets it.
    pub recovery: Span,
    /// Reaction delay of the NIC: from a message's arrival until it takes effect.
    pub reaction: Span,
}

impl Default for Params {
    fn default() -> Self {
        Self { recovery: Span::from_us(200), reaction: Span::from_us(15) } // the latter: RoCC §3.5
    }
}

impl Parameters for Params {
    type Machine = Rocc;

    fn needs(&self) -> Needs {
        Needs {
            messages: Messages::FairRate,
            gives: Gives::Pace,
            moves_departures: true,
            calls: Calls::Ticks,
            ..Needs::WINDOW
        }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        problems.positive("recovery", self.recovery, "200us");
    }

    fn make(&self, start: &Start) -> Result<Rocc, Invalid> {
        Ok(Rocc {
            params: *self,
            line_rate: start.line_rate,
            window: start.max_window,
            limiter: Limiter::Open,
            pending: VecDeque::new(),
            own: Vec::new(),
            rate: start.line_rate,
            wake: Time::MAX,
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let (recovery, reaction) = (Span::from_us(3), Span::from_us(2));
        vec![Self { recovery, reaction }, Self { recovery, reaction: Span::ZERO }]
    }
}

/// The rate limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Limiter {
    /// Line rate, until the first message.
    Open,
    /// R_cur, which may be above the line; CP_cur; and when the timer expires.
    Held { rate: Rate, by: PortId, recover_at: Time },
}

/// The rate that a host integrates of one congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Own {
    point: PortId,
    fair: i64,
    /// Q_old.
    old: i64,
}

/// RoCC's rate at a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rocc {
    params: Params,
    /// R_max.
    line_rate: Rate,
    window: Bytes,
    limiter: Limiter,
    /// Messages that have come and not taken effect yet, with when they do.
    pending: VecDeque<(Time, PortId, Rate)>,
    /// Where hosts compute: of every point that has reported.
    own: Vec<Own>,
    /// What follows from these, cached because it is read several times per packet: the rate, and when
    /// something happens next.
    rate: Rate,
    wake: Time,
}

impl Rocc {
    /// Algorithm 2, lines 1 to 3: the rate is taken if it is smaller, or if it comes from the point that set the
    /// present rate.
    fn observe(&mut self, now: Time, point: PortId, rate: Rate) {
        let counts = match self.limiter {
            Limiter::Open => rate <= self.line_rate,
            Limiter::Held { rate: current, by, .. } => rate <= current || by == point,
        };
        if counts {
            let recover_at = now.saturating_add(self.params.recovery);
            self.limiter = Limiter::Held { rate, by: point, recover_at };
        }
    }

    /// Lines 4 and 5: the timer has expired.
    fn recover(&mut self, at: Time) {
        let Limiter::Held { rate, by, .. } = self.limiter else { return };
        self.limiter = if rate > self.line_rate {
            Limiter::Open
        } else {
            let rate = Rate::from_bps(rate.bps().saturating_mul(2));
            Limiter::Held { rate, by, recover_at: at.saturating_add(self.params.recovery) }
        };
    }

    /// All that was due up to `now`, in order.
    fn catch_up(&mut self, now: Time) {
        loop {
            let message = self.pending.front().map_or(Time::MAX, |(at, ..)| *at);
            let timer = self.expiry();
            self.wake = message.min(timer);
            if self.wake > now || self.wake == Time::MAX {
                break;
            }
            match self.pending.front().copied() {
                Some((at, point, rate)) if at <= timer => {
                    self.pending.pop_front();
                    self.observe(at, point, rate);
                }
                _ => self.recover(timer),
            }
        }
        self.rate = match self.limiter {
            Limiter::Open => self.line_rate,
            Limiter::Held { rate, .. } => rate.min(self.line_rate),
        };
    }

    fn expiry(&self) -> Time {
        match self.limiter {
            Limiter::Open => Time::MAX,
            Limiter::Held { recover_at, .. } => recover_at,
        }
    }

    /// §3.3.6: lines 2 to 5 of Algorithm 1 at the host, for every point on its own. At the first report of a point it
    /// starts from that point's initial values, or from the rate that is carried.
    fn compute(&mut self, point: PortId, report: &QueueReport) -> Rate {
        let queue = i64::from(report.queue);
        let at = self.own.iter().position(|own| own.point == point).unwrap_or_else(|| {
            let old = if report.fair.is_some() { queue } else { 0 };
            self.own.push(Own { point, fair: report.law.max, old });
            self.own.len() - 1
        });
        let own = &mut self.own[at];
        (own.fair, _) = law::update(&report.law, report.fair.unwrap_or(own.fair), queue, own.old);
        own.old = queue;
        Rate::from_bps(law::rate(&report.law, own.fair))
    }
}

impl CongestionControl for Rocc {
    fn on_ack(&mut self, _: &AckSample<'_>) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}

    fn on_notice(&mut self, now: Time, notice: &Notice) {
        let point = notice.point;
        let rate = match &notice.body {
            NoticeBody::FairRate(rate) => *rate,
            NoticeBody::Queue(report) => self.compute(point, report),
            _ => return, // not RoCC
        };
        self.pending.push_back((now.saturating_add(self.params.reaction), point, rate));
        self.catch_up(now);
    }

    fn on_tick(&mut self, now: Time) {
        self.catch_up(now);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let wake = (self.wake != Time::MAX).then_some(self.wake);
        Permit { window: self.window, pace: Some(self.rate), wake }
    }
}

#[cfg(test)]
mod tests {
    use super::law::at_40_gbps;
    use super::*;

    const US: fn(u64) -> Time = Time::from_us;
    const A: PortId = PortId(1);
    const B: PortId = PortId(2);

    fn flow(reaction: u64) -> Rocc {
        let params = Params { reaction: Span::from_us(reaction), ..Params::default() };
        let start = Start { line_rate: Rate::from_gbps(40), max_window: Bytes::MAX, ..Start::default() };
        params.make(&start).unwrap()
    }
    fn gbps(c: &Rocc) -> f64 {
        c.permit().pace.unwrap().bps() as f64 / 1e9
    }
    fn reported(c: &mut Rocc, us: u64, point: PortId, mbps: u64) {
        c.on_notice(US(us), &Notice { point, body: NoticeBody::FairRate(Rate::from_mbps(mbps)) });
    }

    #[test]
    fn a_message_takes_effect_15_us_after_it_came() {
        let mut c = flow(15);
        reported(&mut c, 100, A, 4000);
        assert_eq!((gbps(&c), c.permit().wake), (40.0, Some(US(115))));
        c.on_tick(US(115));
        assert_eq!((gbps(&c), c.permit().wake), (4.0, Some(US(315))));
    }

    #[test]
    fn the_smallest_rate_counts_and_its_point_may_raise_it_until_another_is_smaller() {
        let mut c = flow(0);
        reported(&mut c, 0, A, 5000);
        reported(&mut c, 1, B, 6000);
        assert_eq!((gbps(&c), c.permit().wake), (5.0, Some(US(200))), "ignored: the timer is untouched");
        reported(&mut c, 10, A, 5500);
        reported(&mut c, 20, A, 7000);
        assert_eq!((gbps(&c), c.permit().wake), (7.0, Some(US(220))));
        reported(&mut c, 30, B, 6000);
        assert_eq!(gbps(&c), 6.0, "B's is the smaller now");
        reported(&mut c, 40, A, 6500);
        assert_eq!(gbps(&c), 6.0);
    }

    #[test]
    fn in_silence_the_rate_doubles_past_the_line_and_then_the_limiter_is_gone() {
        let mut c = flow(0);
        reported(&mut c, 0, A, 6000);
        for (us, expected) in [(200, 12.0), (400, 24.0), (600, 40.0)] {
            c.on_tick(US(us));
            assert_eq!(gbps(&c), expected, "at {us} us");
        }
        assert_eq!(c.permit().wake, Some(US(800)), "48 Gb/s: above the line");
        c.on_tick(US(800));
        assert_eq!((gbps(&c), c.permit().wake), (40.0, None));
        // S7: ceil(log2(40/6)) = 3 periods, and one more.
        reported(&mut c, 900, B, 41_000);
        assert_eq!(c.permit().wake, None, "more than the line does not bring a limiter");
    }

    #[test]
    fn a_host_that_computes_by_itself_goes_on_from_its_own_rate() {
        let law = at_40_gbps();
        let mut c = flow(0);
        let report = |queue| Notice {
            point: A,
            body: NoticeBody::Queue(QueueReport { queue, tick: 0, fair: None, law }),
        };
        c.on_notice(US(0), &report(350)); // 4000 − 0.3 · 100 − 1.5 · 350 = 3445
        assert_eq!(gbps(&c), 34.45);
        c.on_notice(US(40), &report(350)); // − 0.3 · 100
        assert_eq!(gbps(&c), 34.15);
    }

    #[test]
    fn a_host_computes_for_every_point_on_its_own() {
        let law = at_40_gbps();
        let rates = |points: &[PortId]| {
            let mut c = flow(0);
            let mut last = Rate::ZERO;
            for (us, queue) in [(0, 350), (40, 340), (80, 345), (120, 330)] {
                for &point in points {
                    let queue = if point == A { queue } else { 300 };
                    last = c.compute(point, &QueueReport { queue, tick: us as u8, fair: None, law });
                }
            }
            last
        };
        assert_eq!(rates(&[B, A]), rates(&[A]));
    }

    /// Q = 350, as before: −0.3 · 100 alone.
    #[test]
    fn where_the_rate_is_carried_a_queue_that_stands_is_no_growth() {
        let law = at_40_gbps();
        let fair = Some(law.max);
        let rate = flow(0).compute(A, &QueueReport { queue: 350, tick: 0, fair, law });
        assert_eq!(rate.bps(), 39_700_000_000);
    }
}
