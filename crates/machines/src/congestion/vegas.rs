//! TCP Vegas: a window by how many segments of it wait in queues. Brakmo, O'Malley, Peterson, "TCP Vegas: New
//! Techniques for Congestion Detection and Avoidance", SIGCOMM 1994, §3.2 and §3.3, in the form in which
//! Linux and ns-3 run it: once per round trip, with the least round trip of that round. Needs: ACKs and round
//! trips; losses are NewReno's.
//!
//! Left out: §3.1, Vegas' own retransmission (the transport's affair).
//!
//! CHOICE Vegas §3.3: slow start doubles in every round trip, as Linux and ns-3 do. Other reading: in every
//! other one, so that rounds with a fixed window can be compared.

use super::newreno::NewReno;
use super::{
    AckSample, CongestionControl, Loss, Marks, Needs, Parameters, Permit, Problems, Report, Restart, Rules,
    Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// How the number of segments in queues is computed; `w` is the window, `base` the smallest round trip ever, `rtt` the
/// smallest of the round that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// w (rtt − base) / base, rounded down: Linux.
    #[default]
    Linux,
    /// w (1 − base / rtt): the paper's (Expected − Actual) · base.
    Paper,
    /// The paper's, rounded up: ns-3.
    Ns3,
}

/// TCP Vegas: a window that keeps a few segments in queues (Brakmo et al., SIGCOMM 1994; Linux).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// α: with fewer segments than this in queues the window grows.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub alpha: f64,
    /// β: with more segments than this in queues the window shrinks.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub beta: f64,
    /// γ: with more segments than this in queues slow start ends.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub gamma: f64,
    /// How the number of segments in queues is computed.
    pub difference: Difference,
}

impl Default for Params {
    fn default() -> Self {
        // Linux (tcp_vegas); the paper has 1 or 2, 3 or 4, and 1.
        Self { alpha: 2.0, beta: 4.0, gamma: 1.0, difference: Difference::default() }
    }
}

impl Parameters for Params {
    type Machine = Vegas;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Optional, round_trips: true, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        let Self { alpha, beta, gamma, .. } = *self;
        for (key, value) in [("alpha", alpha), ("beta", beta), ("gamma", gamma)] {
            if !(0.0..=1e6).contains(&value) {
                problems.wrong(key, format!("{value} is out of range"), "allowed: 0 to 1000000");
            }
        }
        if beta < alpha {
            problems.wrong("beta", format!("beta, {beta}, is below alpha, {alpha}"), "swap them");
        }
    }

    fn rules(&self) -> Rules {
        Rules::TCP
    }

    fn make(&self, start: &Start) -> Result<Vegas, Invalid> {
        Ok(Vegas::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let other = |difference| Self { difference, ..Self::default() };
        vec![other(Difference::Linux), other(Difference::Paper), other(Difference::Ns3)]
    }
}

/// Vegas' window, in whole segments except after a loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vegas {
    params: Params,
    /// cwnd and ssthresh, which losses and marks change as NewReno does.
    reno: NewReno,
    max_window: u64,
    /// BaseRTT, the least round trip since the start or the last long pause.
    base: Option<Span>,
    /// The least round trip of this round.
    least: Option<Span>,
    /// Round trips measured in it.
    samples: u32,
    /// SND.NXT when the round began: the round ends when SND.UNA reaches it.
    round_end: u64,
    /// SND.NXT at the last loss: until SND.UNA reaches it, NewReno alone changes cwnd.
    repaired: u64,
}

impl Vegas {
    fn new(start: &Start, params: Params) -> Self {
        Self {
            params,
            reno: NewReno::new(start),
            max_window: start.max_window.get(),
            base: None,
            least: None,
            samples: 0,
            round_end: 0,
            repaired: 0,
        }
    }

    /// A round begins.
    fn begin(&mut self, end: u64) {
        (self.round_end, self.least, self.samples) = (end, None, 0);
    }

    /// How many of `window` segments wait in queues.
    fn waiting(&self, window: f64, base: Span, rtt: Span) -> f64 {
        let (base, rtt) = (base.ps() as f64, rtt.ps().max(1) as f64);
        match self.params.difference {
            Difference::Linux => libm::floor(window * (rtt - base) / base.max(1.0)),
            Difference::Paper => window * (1.0 - base / rtt),
            Difference::Ns3 => window - libm::floor(window * (base / rtt)),
        }
    }

    /// The round has ended: §3.2 (avoidance), §3.3 (slow start) for `acked` bytes. A round of at most two
    /// ACKs is not evaluated, as one may have been delayed: the window grows as NewReno's.
    fn adjust(&mut self, acked: u64, used: bool) {
        let (Some(base), Some(least), true) = (self.base, self.least, self.samples > 2) else {
            if used {
                self.reno.grow(acked);
            }
            return;
        };
        let mss = u64::from(self.reno.mss);
        let window = self.reno.window / mss;
        let diff = self.waiting(window as f64, base, least);
        let slow = self.reno.window < self.reno.threshold;
        let lower = |reno: &mut NewReno, window: u64| {
            reno.window = window * mss;
            reno.threshold = reno.threshold.min(reno.window.saturating_sub(mss)).max(2 * mss);
        };
        if slow && diff > self.params.gamma {
            let target = (window as f64 * (base.ps() as f64 / least.ps() as f64)) as u64;
            lower(&mut self.reno, window.min(target.saturating_add(1)));
        } else if slow && used {
            self.reno.grow(acked);
        } else if slow {
            // A window that is not used up does not grow.
        } else if diff > self.params.beta {
            lower(&mut self.reno, window - 1);
        } else if diff < self.params.alpha && used {
            self.reno.window = (window + 1).saturating_mul(mss);
        }
        self.reno.window = self.reno.window.max(2 * mss).min(self.max_window).max(mss);
        // After a loss slow start goes back up to three quarters of what this window was.
        self.reno.threshold = self.reno.threshold.max(self.reno.window / 4 * 3);
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if let Some(rtt) = ack.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        if ack.marked > Bytes::ZERO {
            if ack.acked_to > self.reno.cut_to {
                self.repaired = ack.sent_to;
            }
            self.reno.on_ack(ack);
            return;
        }
        if ack.in_recovery || ack.acked == Bytes::ZERO {
            return;
        }
        if ack.acked_to < self.repaired {
            self.reno.on_ack(ack);
            self.begin(ack.sent_to);
        } else if ack.acked_to >= self.round_end {
            self.adjust(ack.acked.get(), ack.cwnd_limited);
            self.begin(ack.sent_to);
        } else if self.reno.window < self.reno.threshold && ack.cwnd_limited {
            self.reno.grow(ack.acked.get());
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reno.on_loss(loss);
        self.repaired = loss.sent_to;
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.reno.on_timeout(loss);
        self.repaired = loss.sent_to;
    }

    fn on_restart(&mut self, _: Time, _: Span) {
        // Linux: after an idle period the path, and so BaseRTT, may have changed.
        self.base = None;
        self.begin(0);
    }

    fn restart_from(&mut self, now: Time, restart: Restart) {
        self.reno.restart_from(now, restart);
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.reno.permit()
    }

    fn report(&self, report: &mut Report) {
        report.min_rtt(self.base.map(|base| base.ps() as f64));
    }

    fn threshold(&self) -> Bytes {
        self.reno.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    /// `window` segments of 1000 B, past slow start if `avoiding`; the round ends with the next ACK.
    fn vegas(window: u64, avoiding: bool, difference: Difference) -> Vegas {
        let mut c = Vegas::new(&start(1000, window), Params { difference, ..Params::default() });
        if avoiding {
            c.reno.threshold = 2000;
        }
        c
    }

    /// A round whose least round trip is `rtt` us, where the least ever was 1000 us, ends; the window after it.
    fn round(c: &mut Vegas, rtt: u64) -> u64 {
        let rtt = Some(Span::from_us(rtt));
        (c.base, c.least, c.samples) = (Some(Span::from_us(1000)), rtt, 2);
        c.on_ack(&AckSample { rtt, ..ack(1000, 0) });
        c.reno.window / 1000
    }

    #[test]
    fn the_window_moves_by_a_segment_towards_two_to_four_in_queues() {
        use Difference::Linux;
        // 20 segments, a base of 1000 us: 20 · 0.2 = 4 wait at 1200 us, 5 at 1250 us, 2 at 1100 us, 1 at 1050 us.
        let after = [1050, 1100, 1200, 1250].map(|rtt| round(&mut vegas(20, true, Linux), rtt));
        assert_eq!(after, [21, 20, 20, 19]);
    }

    #[test]
    fn three_readings_of_what_waits() {
        let waits = |difference| {
            let c = vegas(20, true, difference);
            c.waiting(20.0, Span::from_us(1000), Span::from_us(1230))
        };
        // 20 · 0.23 = 4.6; 20 (1 − 1/1.23) = 3.7398, of which 16 whole segments are left.
        assert_eq!(waits(Difference::Linux), 4.0);
        assert!((waits(Difference::Paper) - 3.739_837).abs() < 1e-6);
        assert_eq!(waits(Difference::Ns3), 4.0);
    }

    #[test]
    fn slow_start_ends_one_above_the_window_without_a_queue() {
        // 20 segments at 1250 us: 16 would do.
        let mut c = vegas(20, false, Difference::Linux);
        assert_eq!(round(&mut c, 1250), 17);
        assert_eq!(c.threshold(), Bytes::new(16_000));
        // One in a queue is no reason: 20 · 0.05.
        assert_eq!(round(&mut vegas(20, false, Difference::Linux), 1050), 21);
    }

    #[test]
    fn slow_start_doubles_within_a_round_and_avoidance_stands_still() {
        let mut slow = vegas(10, false, Difference::Linux);
        slow.round_end = u64::MAX;
        (0..10).for_each(|_| slow.on_ack(&ack(1000, 0)));
        assert_eq!(slow.reno.window, 20_000);
        let mut avoids = vegas(10, true, Difference::Linux);
        avoids.round_end = u64::MAX;
        (0..10).for_each(|_| avoids.on_ack(&ack(1000, 0)));
        assert_eq!(avoids.reno.window, 10_000);
    }

    #[test]
    fn two_round_trips_are_too_few_and_a_loss_is_newreno_s() {
        let mut c = vegas(10, true, Difference::Linux);
        c.base = Some(Span::from_us(10));
        c.on_ack(&ack(1000, 0)); // alone in its round: 10 + 1/10 segments
        assert_eq!(c.reno.window, 10_100);
        c.on_loss(&loss(10_000, 1_000_000, 1_010_000));
        assert_eq!((c.reno.window, c.threshold()), (5000, Bytes::new(5000)));
        c.on_ack(&AckSample { in_recovery: true, ..ack(1000, 0) });
        assert_eq!(c.reno.window, 5000);
        c.on_ack(&AckSample { rtt: Some(Span::from_ms(9)), acked_to: 1_009_999, ..ack(1000, 0) });
        assert_eq!(c.reno.window, 5200, "not repaired yet");
        c.on_timeout(&loss(5000, 1_000_000, 1_010_000));
        assert_eq!(c.permit().window, Bytes::new(1000));
    }

    #[test]
    fn a_long_pause_forgets_the_least_round_trip() {
        let mut c = vegas(10, true, Difference::Linux);
        c.on_ack(&ack(1000, 0));
        assert_eq!(c.base, Some(Span::from_us(16)));
        c.on_restart(Time::from_us(5), Span::from_us(2));
        assert_eq!(c.base, None);
    }
}
