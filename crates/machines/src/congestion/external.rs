//! A controller whose decisions come from outside: an agent is given what was observed since its last decision
//! ([`Interval`]) and answers with a permit. It is made for reinforcement learning, where an agent acts about once per
//! round trip, not once per packet. Needs: ACKs, round trips, and a clock.
//!
//! The first decision is due at the first observation; each decision says when the next one is wanted
//! ([`Permit::wake`]). Between decisions the permit stays as it is: losses and timeouts are only observed, for the next
//! decision to answer. If no decision ever comes, the window is the initial one for ever, as that of `fixed`.

use super::{
    AckSample, Calls, CongestionControl, Feedback, Gives, Interval, Loss, Marks, Needs, Parameters, Permit,
    Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// Decided from outside, by a learning agent (`thalweg.gym`). In a run without an agent the window is the initial one
/// for ever.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = External;

    fn needs(&self) -> Needs {
        Needs {
            marks: Marks::Optional,
            round_trips: true,
            gives: Gives::Anything,
            calls: Calls::Both,
            decided: true,
            ..Needs::WINDOW
        }
    }
    fn make(&self, start: &Start) -> Result<External, Invalid> {
        Ok(External::new(start))
    }
}

/// A permit from outside, and what has been observed under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct External {
    /// In force.
    permit: Permit,
    /// Comes into force at the next tick.
    decided: Option<Permit>,
    /// `None`: nothing was observed yet.
    interval: Option<Interval>,
    /// Windows are no smaller than a segment, and no larger than this.
    mss: u64,
    max_window: Bytes,
    /// Paces are no higher.
    line_rate: Rate,
}

impl External {
    /// The initial window of `start`, at most its largest.
    pub fn new(start: &Start) -> Self {
        let (mss, max_window) = (u64::from(start.mss), start.max_window);
        let permit = Permit::window(start.initial_window.min(max_window));
        Self { permit, decided: None, interval: None, mss, max_window, line_rate: start.line_rate }
    }

    /// The interval in which something is observed now. With the first observation the first decision is due.
    #[inline]
    fn now(&mut self, now: Time) -> &mut Interval {
        let Self { permit, interval, .. } = self;
        interval.get_or_insert_with(|| {
            permit.wake = Some(now);
            Interval::first(now, *permit)
        })
    }

    /// The decision, within what a flow can do.
    fn bounded(&self, decided: Permit, now: Time) -> Permit {
        let window = decided.window.get().max(self.mss).min(self.max_window.get());
        let pace = decided.pace.map(|pace| pace.max(Rate::from_bps(1)).min(self.line_rate));
        let wake = decided.wake.map(|wake| wake.max(now + Span::from_ps(1)));
        Permit { window: Bytes::new(window), pace, wake }
    }
}

impl CongestionControl for External {
    fn on_sent(&mut self, _: Time, bytes: Bytes, in_flight: Bytes) {
        // What leaves before anything is observed is in flight when the first interval begins: see `before`.
        if let Some(interval) = &mut self.interval {
            interval.send(bytes, in_flight);
        }
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, _: Feedback<'_>) {
        let interval = self.now(now);
        if let Some(rtt) = rtt {
            interval.measure(rtt);
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        let begins = self.interval.is_none();
        let interval = self.now(ack.now);
        if begins {
            interval.before = ack.flight_before();
        }
        interval.acknowledge(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.now(loss.now).losses += 1;
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.now(loss.now).timeouts += 1;
    }
    /// A decision that fell due during the idle period is requested again.
    fn on_restart(&mut self, now: Time, _: Span) {
        if self.interval.is_some_and(|interval| interval.due) {
            self.permit.wake = Some(now);
        }
    }
    fn on_tick(&mut self, now: Time) {
        let Some(decided) = self.decided.take() else {
            self.now(now).due = true;
            self.permit.wake = None;
            return;
        };
        self.permit = self.bounded(decided, now);
        self.interval = self.interval.map(|interval| interval.next(now, self.permit));
    }
    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }
    fn interval(&self) -> Option<&Interval> {
        self.interval.as_ref()
    }
    fn on_decision(&mut self, now: Time, decided: Permit) {
        self.now(now).due = false;
        self.decided = Some(decided);
        self.permit.wake = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    fn at(us: u64, acked: u64) -> AckSample<'static> {
        AckSample { now: Time::from_us(us), in_flight: Bytes::new(9000), ..ack(acked, 0) }
    }

    fn flow() -> External {
        External::new(&Start { max_window: Bytes::new(50_000), ..start(1000, 10) })
    }

    fn decide(c: &mut External, us: u64, permit: Permit) {
        c.on_decision(Time::from_us(us), permit);
        c.on_tick(Time::from_us(us));
    }

    #[test]
    fn the_first_decision_is_due_at_the_first_ack_and_the_window_stays_until_it_comes() {
        let mut c = flow();
        assert_eq!((c.permit(), c.interval()), (Permit::window(Bytes::new(10_000)), None));
        c.on_ack(&at(20, 1000));
        assert_eq!(c.permit().wake, Some(Time::from_us(20)));
        c.on_tick(Time::from_us(20));
        assert!(c.interval().unwrap().due);
        c.on_loss(&loss(9000, 0, 9000));
        c.on_timeout(&loss(9000, 0, 9000));
        assert_eq!(c.permit(), Permit::window(Bytes::new(10_000)));
        let seen = c.interval().unwrap();
        assert_eq!((seen.losses, seen.timeouts, seen.before.get(), seen.lost().get()), (1, 1, 10_000, 0));
    }

    #[test]
    fn a_decision_is_in_force_at_its_tick_within_bounds_and_names_the_next() {
        let mut c = flow();
        c.on_ack(&at(20, 1000));
        c.on_tick(Time::from_us(20));
        let pace = Some(Rate::from_gbps(40));
        let wanted = Permit { window: Bytes::new(20_000), pace, wake: Some(Time::from_us(60)) };
        c.on_decision(Time::from_us(25), wanted);
        assert_eq!(c.permit().window, Bytes::new(10_000), "not before the tick");
        c.on_tick(Time::from_us(25));
        assert_eq!(c.permit(), Permit { pace: Some(Rate::from_gbps(10)), ..wanted });
        decide(&mut c, 60, Permit { window: Bytes::ZERO, pace: Some(Rate::ZERO), wake: Some(Time::ZERO) });
        let wake = Some(Time::from_us(60) + Span::from_ps(1));
        assert_eq!(c.permit(), Permit { window: Bytes::new(1000), pace: Some(Rate::from_bps(1)), wake });
        decide(&mut c, 70, Permit::window(Bytes::MAX));
        assert_eq!(c.permit(), Permit::window(Bytes::new(50_000)));
    }

    #[test]
    fn an_interval_counts_what_happens_in_it_and_the_next_begins_with_what_is_in_flight() {
        let mut c = flow();
        c.on_ack(&AckSample { marked: Bytes::new(500), ..at(20, 1000) });
        c.on_ack(&AckSample { rtt: Some(Span::from_us(32)), sacked: Bytes::new(2000), ..at(24, 0) });
        let seen = *c.interval().unwrap();
        assert_eq!((seen.delivered.get(), seen.marked.get(), seen.round_trips), (3000, 500, 2));
        assert_eq!((seen.rtt_mean(), seen.rtt_least), (Some(Span::from_us(24)), Some(Span::from_us(16))));
        assert_eq!((seen.srtt, seen.rtt_floor), (Span::from_us(18), Span::from_us(16))); // 16 + (32 − 16) / 8
        decide(&mut c, 24, Permit::window(Bytes::new(4000)));
        c.on_sent(Time::from_us(25), Bytes::new(1000), Bytes::new(7000));
        let next = *c.interval().unwrap();
        assert_eq!((next.since, next.delivered, next.rtt_mean()), (Time::from_us(24), Bytes::ZERO, None));
        assert_eq!(next.lost().get(), 3000, "9000 + 1000 sent, 7000 in flight");
        assert_eq!((next.srtt, next.permit.window.get()), (Span::from_us(18), 4000));
    }

    #[test]
    fn a_decision_that_is_due_is_wanted_again_after_a_silence() {
        let mut c = flow();
        c.on_restart(Time::from_us(3), Span::from_us(1));
        assert_eq!(c.permit().wake, None);
        c.on_ack(&at(20, 1000));
        c.on_tick(Time::from_us(20));
        c.on_restart(Time::from_us(50), Span::from_us(30));
        assert_eq!(c.permit().wake, Some(Time::from_us(50)));
    }
}
