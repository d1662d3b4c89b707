//! TIMELY: a rate by the gradient of round-trip times. Mittal, Lam, Dukkipati, Blem, Wassel, Ghobadi, Vahdat, Wang,
//! Wetherall, Zats, "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, Algorithm 1; §3.3.3 and §3.4 of
//! Mittal's dissertation. Needs: round trips without the segment's own time on the wire.
//!
//! With T_low = T_high the queue's size is controlled, not its gradient (§3.3.4). `Patched` is Algorithm 2 of Zhu, Ghobadi,
//! Misra, Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
//!
//! CHOICE timely, Algorithm 1: the paper does not say what the first sample does (it is stored; with `first_counts` it is an
//! update with a difference of 0, as in the authors' published snippet), by how much a rate may fall at once and how far
//! (`max_decrease`, `min_rate`), nor what a pause does: after 10 minRTT without anything to send, the rate stays and the next
//! sample is a first one (`forgets`).

use super::{AckSample, CongestionControl, Loss, Permit, Start, TimelyCount, TimelySpec, TimelyVariant};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// TIMELY's rate. Rates are whole bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timely {
    spec: TimelySpec,
    line_rate: Rate,
    window: Bytes,
    rate: Rate,
    /// prev_rtt, once there is one.
    prev_rtt: Option<Span>,
    /// rtt_diff, the average of differences, picoseconds.
    rtt_diff: f64,
    /// Updates in a row that count towards hyper-active increase.
    in_a_row: u32,
    /// The last update, or first sample.
    updated: Time,
    /// Once per round: the next update is at an ACK beyond this byte.
    round_end: u64,
    /// A loss backs off again from here on.
    back_off_at: Time,
}

/// A sample, as the equations want it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Picoseconds.
    rtt: f64,
    /// Normalised gradient.
    gradient: f64,
    /// f: how much of a whole update this one is.
    share: f64,
}

impl Timely {
    /// The rate of a flow that starts.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub fn new(start: &Start, spec: TimelySpec) -> Result<Self, String> {
        let TimelySpec { initial_share, alpha, beta, max_decrease, gradient_cap, .. } = spec;
        let shares = [
            ("initial_share", initial_share),
            ("alpha", alpha),
            ("beta", beta),
            ("max_decrease", max_decrease),
        ];
        for (key, value) in shares {
            if !(value > 0.0 && value <= 1.0) {
                return Err(format!("timely: {key} is {value}, allowed: above 0, at most 1"));
            }
        }
        if gradient_cap.is_some_and(|cap| cap.is_nan() || cap <= 0.0) {
            return Err("timely: gradient_cap must be above 0".into());
        }
        for (key, span) in [("min_rtt", spec.min_rtt), ("t_high", spec.t_high)] {
            if span.is_zero() {
                return Err(format!("timely: {key} is 0s, allowed: above 0"));
            }
        }
        if spec.t_low > spec.t_high {
            return Err(format!("timely: t_low is {}, allowed: at most t_high, {}", spec.t_low, spec.t_high));
        }
        if matches!(spec.variant, TimelyVariant::Patched { rtt_ref } if rtt_ref.is_zero()) {
            return Err("timely: rtt_ref is 0s, allowed: above 0".into());
        }
        if spec.min_rate == Rate::ZERO || spec.min_rate > start.line_rate {
            let (min, line) = (spec.min_rate, start.line_rate);
            return Err(format!("timely: min_rate is {min}, allowed: above 0, at most the line's {line}"));
        }
        let rate = Rate::from_bps((start.line_rate.bps() as f64 * initial_share) as u64);
        Ok(Self {
            spec,
            line_rate: start.line_rate,
            window: start.max_window,
            rate: rate.max(spec.min_rate),
            prev_rtt: None,
            rtt_diff: 0.0,
            in_a_row: 0,
            updated: Time::ZERO,
            round_end: 0,
            back_off_at: Time::ZERO,
        })
    }

    /// Steps 1 to 12 at a completion event. `limited`: by the application, so the rate must not rise.
    fn on_sample(&mut self, now: Time, rtt: Span, limited: bool) {
        let p = self.spec;
        let (prev_rtt, since) = match self.prev_rtt.replace(rtt) {
            Some(prev_rtt) => (prev_rtt, now.since(self.updated)),
            None if p.first_counts => (rtt, p.min_rtt),
            None => {
                self.updated = now;
                return;
            }
        };
        let (min_rtt, rtt) = (p.min_rtt.ps() as f64, rtt.ps() as f64);
        let difference = rtt - prev_rtt.ps() as f64;
        self.rtt_diff = (1.0 - p.alpha) * self.rtt_diff + p.alpha * difference;
        let gradient = self.rtt_diff / min_rtt;
        let share = if p.scale_updates { (since.ps() as f64 / min_rtt).min(1.0) } else { 1.0 };
        self.updated = now;
        match p.hyper.count {
            TimelyCount::Gradient => self.count(gradient < 0.0),
            TimelyCount::Difference => self.count(difference < 0.0),
            TimelyCount::Increase => {}
        }
        let old = self.rate.bps() as f64;
        let new = self.equation(old, Sample { rtt, gradient, share });
        if p.hyper.count == TimelyCount::Increase {
            self.count(self.raises(Sample { rtt, gradient, share }));
        }
        let new = if limited { new.min(old) } else { new };
        self.set(new.max(old * (1.0 - p.max_decrease)));
    }

    /// One more update in a row that counts, or none.
    fn count(&mut self, counts: bool) {
        self.in_a_row = if counts { self.in_a_row.saturating_add(1) } else { 0 };
    }

    /// The additive step: δ, or the hyper-active one.
    fn step(&self, may_be_hyper: bool) -> f64 {
        let hyper = self.spec.hyper;
        let begun = hyper.after > 0 && self.in_a_row >= hyper.after;
        let step = if begun && may_be_hyper { hyper.step } else { self.spec.additive };
        step.bps() as f64
    }

    /// Above T_high, or at it where no band of gradients lies below it.
    fn is_high(&self, rtt: f64) -> bool {
        rtt > self.spec.t_high.ps() as f64 || self.spec.t_low == self.spec.t_high
    }

    /// The sample is one of those that Algorithm 1 increases at.
    fn raises(&self, Sample { rtt, gradient, .. }: Sample) -> bool {
        rtt < self.spec.t_low.ps() as f64 || !self.is_high(rtt) && gradient <= 0.0
    }

    /// Algorithm 1's four cases: the new rate.
    fn equation(&self, rate: f64, sample: Sample) -> f64 {
        let (p, Sample { rtt, gradient, share }) = (&self.spec, sample);
        if rtt < p.t_low.ps() as f64 {
            rate + share * self.step(p.hyper.below_t_low)
        } else if self.is_high(rtt) {
            rate * (1.0 - share * p.beta * (1.0 - p.t_high.ps() as f64 / rtt))
        } else if let TimelyVariant::Patched { rtt_ref } = p.variant {
            self.patched(rate, rtt_ref.ps() as f64, sample)
        } else if gradient <= 0.0 {
            rate + share * self.step(true)
        } else {
            let gradient = gradient.min(p.gradient_cap.unwrap_or(f64::INFINITY));
            rate * (1.0 - share * p.beta * gradient)
        }
    }

    /// Between the thresholds, "patched": additive increase and a decrease by the distance from RTT_ref, weighted by the
    /// gradient (CoNEXT 2016, Algorithm 2, equation for w(g)); no hyper-active increase.
    fn patched(&self, rate: f64, rtt_ref: f64, Sample { rtt, gradient, share }: Sample) -> f64 {
        let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0); // 0 up to -1/4, 1 from 1/4 on
        let error = (rtt - rtt_ref) / rtt_ref;
        let delta = self.spec.additive.bps() as f64;
        share * delta * (1.0 - weight) + rate * (1.0 - share * self.spec.beta * weight * error)
    }

    fn set(&mut self, rate: f64) {
        self.rate = Rate::from_bps(rate as u64).clamp(self.spec.min_rate, self.line_rate);
    }

    /// CHOICE irn, "explicitly backing off on losses": half the rate, at most once per round trip.
    fn back_off(&mut self, now: Time) {
        let Some(every) = self.spec.back_off else { return };
        if now >= self.back_off_at {
            self.back_off_at = now.saturating_add(every);
            self.set(self.rate.bps() as f64 / 2.0);
        }
    }
}

impl CongestionControl for Timely {
    fn on_ack(&mut self, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        if self.spec.once_per_round {
            if ack.acked_to <= self.round_end {
                return;
            }
            self.round_end = ack.sent_to;
        }
        self.on_sample(ack.now, rtt, ack.app_limited);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.back_off(loss.now);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.back_off(loss.now);
    }

    fn on_restart(&mut self, _now: Time, idle: Span) {
        if self.spec.forgets && idle > self.spec.min_rtt.saturating_mul(10) {
            self.prev_rtt = None;
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit { pace: Some(self.rate), ..Permit::window(self.window) }
    }
}

#[cfg(test)]
mod tests;
