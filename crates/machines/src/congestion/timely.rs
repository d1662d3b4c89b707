//! TIMELY: a rate by the gradient of round-trip times. Mittal, Lam, Dukkipati, Blem, Wassel, Ghobadi, Vahdat, Wang,
//! Wetherall, Zats, "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, Algorithm 1;
//! §3.3.3 and §3.4 of Mittal's dissertation. Needs: round trips without the segment's own time on the wire.
//!
//! With T_low = T_high the queue's size is controlled, not its gradient (§3.3.4). Hyper-active increase is in
//! `timely/hyper.rs`; `Variant::Patched`, another paper's middle band, in `timely/patched.rs`; how the HPCC
//! authors' simulator differs, in `timely/hpcc.rs`.
//!
//! CHOICE TIMELY, Algorithm 1: the paper does not say what the first sample does (it is stored; with
//! `use_first_sample` it is an update with a difference of 0, as in the authors' published snippet), by how much
//! a rate may fall at once and how far (`max_decrease`, `min_rate`), nor what a pause does: after 10 minRTT
//! without anything to send, the rate stays and the next sample is a first one (`reset_after_idle`).

mod hpcc;
mod hyper;
mod patched;

pub use hyper::{Count, Hyper};
pub use patched::Variant;

use super::parts::back_off::BackOff;
use super::{AckSample, CongestionControl, Gives, Loss, Needs, Parameters, Paths, Permit, Problems, Start};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// TIMELY: rates by the gradient of round trips (Mittal et al., SIGCOMM 2015).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-renamed" = { "first_counts": "use_first_sample", "forgets": "reset_after_idle" }))]
pub struct Params {
    /// Which equations.
    pub variant: Variant,
    /// Initial rate as a fraction of the line rate.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub initial_share: f64,
    /// T_low: with round trips below this the rate always increases.
    pub t_low: Span,
    /// T_high: with round trips above this the rate always decreases. Equal to `t_low`, it controls the queue's size
    /// instead of the gradient (§3.3.4).
    pub t_high: Span,
    /// minRTT: by this fixed time the gradient is normalised. If not given, the propagation round trip of the longest
    /// path.
    pub min_rtt: Option<Span>,
    /// α: EWMA weight of the newest round-trip difference.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub alpha: f64,
    /// β: multiplicative decrease factor.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub beta: f64,
    /// δ: additive increase step.
    pub additive: Rate,
    /// Hyper-active increase.
    pub hyper: Hyper,
    /// Upper bound of the normalised gradient. Algorithm 1 has none; IRN's study uses 1.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gradient_cap: Option<f64>,
    /// Updates that follow each other more closely than `min_rtt` are scaled in proportion (§3.4).
    pub scale_updates: bool,
    /// One update per round trip (the HPCC authors' simulator).
    pub once_per_round: bool,
    /// The first sample, and the first after a reset, is an update with a difference of 0 (the authors' published
    /// snippet). Otherwise it is only stored.
    pub use_first_sample: bool,
    /// After an idle period of ten `min_rtt` the next sample is treated as a first one. Algorithm 1 as printed has no
    /// such rule.
    // CHOICE TIMELY §3.3: what a pause does is not published.
    pub reset_after_idle: bool,
    /// The rate does not increase while the application uses no more than 80 % of it (§3.4). IRN's study, whose flows
    /// always have data, has no such rule.
    pub idle_holds: bool,
    /// A decrease is at most this fraction of the rate.
    // CHOICE TIMELY §3.3: the paper has no such bound; the authors' published snippet has.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub max_decrease: f64,
    /// Minimum rate.
    pub min_rate: Rate,
    /// A loss (NACK or timeout) halves the rate, at most once in this time (IRN §4.3.3). If not given, losses do not
    /// change the rate.
    pub back_off: Option<Span>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            variant: Variant::Original,
            initial_share: 1.0, // CHOICE TIMELY §3.3: line rate; IRN §4.3.1 has every flow start so
            t_low: Span::from_us(50), // TIMELY §3.5
            t_high: Span::from_us(500), // TIMELY §3.5
            min_rtt: None,
            alpha: 0.875, // CHOICE TIMELY §3.5: not in the paper; the value of the analyses that followed it
            beta: 0.8,    // TIMELY §3.5
            additive: Rate::from_mbps(10), // TIMELY §3.5
            hyper: Hyper::default(),
            gradient_cap: None,
            scale_updates: true,
            once_per_round: false,
            use_first_sample: false,
            reset_after_idle: true,
            idle_holds: true, // TIMELY §3.4
            max_decrease: 0.5,
            min_rate: Rate::from_mbps(10), // CHOICE TIMELY §3.3: without a floor recovery takes seconds
            back_off: None,
        }
    }
}

impl Parameters for Params {
    type Machine = Timely;

    fn needs(&self) -> Needs {
        Needs { round_trips: true, segments: true, gives: Gives::Pace, ..Needs::WINDOW }
    }

    fn resolve(&mut self, paths: &mut dyn Paths) {
        self.min_rtt.get_or_insert_with(|| paths.propagation());
    }

    fn check(&self, line: Rate, problems: &mut Problems) {
        let Self { initial_share, alpha, beta, max_decrease, hyper, .. } = *self;
        for (key, value) in [
            ("initial_share", initial_share),
            ("alpha", alpha),
            ("beta", beta),
            ("max_decrease", max_decrease),
        ] {
            problems.share(key, value);
        }
        if self.gradient_cap.is_some_and(|cap| cap.is_nan() || cap <= 0.0) {
            problems.wrong("gradient_cap", "a gradient of 0 changes nothing", "allowed: above 0");
        }
        self.variant.check(problems);
        problems.positive("t_high", self.t_high, "500us");
        if self.t_high < self.t_low {
            let reason = format!("T_high, {}, is below T_low, {}", self.t_high, self.t_low);
            problems.wrong("t_high", reason, "swap them");
        }
        if let Some(min_rtt) = self.min_rtt {
            problems.positive("min_rtt", min_rtt, "20us");
        }
        hyper.check(problems);
        problems.rate("min_rate", self.min_rate, line);
        if let Some(span) = self.back_off {
            problems.positive("back_off", span, "24us");
        }
    }

    fn make(&self, start: &Start) -> Result<Timely, Invalid> {
        Ok(Timely::new(start, *self))
    }

    /// Thresholds between which all round trips of the test sequences lie (20 us and more).
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let narrow = Self {
            initial_share: 0.5,
            t_low: Span::from_us(10),
            t_high: Span::from_us(100),
            min_rtt: Some(Span::from_us(20)),
            back_off: Some(Span::from_us(20)),
            ..Self::default()
        };
        let other = Self {
            variant: Variant::Patched { rtt_ref: Span::from_us(20) },
            once_per_round: true,
            use_first_sample: true,
            reset_after_idle: false,
            scale_updates: false,
            back_off: None,
            ..narrow
        };
        vec![narrow, other]
    }
}

/// TIMELY's rate. Rates are whole bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timely {
    params: Params,
    /// minRTT.
    min_rtt: Span,
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
    /// Once per round: see `hpcc`.
    round_end: u64,
    back_off: BackOff,
}

/// A sample in the terms of the equations.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Picoseconds.
    rtt: f64,
    /// new_rtt_diff, picoseconds.
    difference: f64,
    /// Normalised gradient.
    gradient: f64,
    /// f: the scale of this update (`scale_updates`).
    share: f64,
}

impl Timely {
    /// The rate of a flow that starts.
    fn new(start: &Start, params: Params) -> Self {
        let min_rtt = params.min_rtt.unwrap_or(start.base_rtt);
        let rate = Rate::from_bps((start.line_rate.bps() as f64 * params.initial_share) as u64);
        Self {
            params,
            min_rtt,
            line_rate: start.line_rate,
            window: start.max_window,
            rate: rate.max(params.min_rate),
            prev_rtt: None,
            rtt_diff: 0.0,
            in_a_row: 0,
            updated: Time::ZERO,
            round_end: 0,
            back_off: BackOff::default(),
        }
    }

    /// Steps 1 to 12 at a completion event. `limited`: by the application, so the rate must not rise.
    fn on_sample(&mut self, now: Time, rtt: Span, limited: bool) {
        let p = self.params;
        let (prev_rtt, since) = match self.prev_rtt.replace(rtt) {
            Some(prev_rtt) => (prev_rtt, now.since(self.updated)),
            None if p.use_first_sample => (rtt, self.min_rtt),
            None => {
                self.updated = now;
                return;
            }
        };
        let (min_rtt, rtt) = (self.min_rtt.ps() as f64, rtt.ps() as f64);
        let difference = rtt - prev_rtt.ps() as f64;
        self.rtt_diff = (1.0 - p.alpha) * self.rtt_diff + p.alpha * difference;
        let gradient = self.rtt_diff / min_rtt;
        let share = if p.scale_updates { (since.ps() as f64 / min_rtt).min(1.0) } else { 1.0 };
        self.updated = now;
        let old = self.rate.bps() as f64;
        let sample = Sample { rtt, difference, gradient, share };
        self.count_before(sample);
        let new = self.equation(old, sample);
        self.count_behind(sample); // the HPCC authors' simulator
        let new = if limited { new.min(old) } else { new };
        self.set(new.max(old * (1.0 - p.max_decrease)));
    }

    /// Above T_high, or at it where no band of gradients lies below it.
    fn is_high(&self, rtt: f64) -> bool {
        rtt > self.params.t_high.ps() as f64 || self.params.t_low == self.params.t_high
    }

    /// Algorithm 1's four cases: the new rate.
    fn equation(&self, rate: f64, sample: Sample) -> f64 {
        let (p, Sample { rtt, gradient, share, .. }) = (&self.params, sample);
        if rtt < p.t_low.ps() as f64 {
            rate + share * self.step(p.hyper.below_t_low)
        } else if self.is_high(rtt) {
            rate * (1.0 - share * p.beta * (1.0 - p.t_high.ps() as f64 / rtt))
        } else if let Variant::Patched { rtt_ref } = p.variant {
            self.patched(rate, rtt_ref.ps() as f64, sample)
        } else if gradient <= 0.0 {
            rate + share * self.step(true)
        } else {
            let gradient = gradient.min(p.gradient_cap.unwrap_or(f64::INFINITY));
            rate * (1.0 - share * p.beta * gradient)
        }
    }

    fn set(&mut self, rate: f64) {
        self.rate = Rate::from_bps(rate as u64).clamp(self.params.min_rate, self.line_rate);
    }

    fn back_off(&mut self, now: Time) {
        let Some(every) = self.params.back_off else { return };
        if self.back_off.strikes(now, every) {
            self.set(self.rate.bps() as f64 / 2.0);
        }
    }
}

impl CongestionControl for Timely {
    fn on_ack(&mut self, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        if self.params.once_per_round && !self.opens_round(ack) {
            return; // the HPCC authors' simulator
        }
        self.on_sample(ack.now, rtt, ack.app_limited && self.params.idle_holds);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.back_off(loss.now);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.back_off(loss.now);
    }

    fn on_restart(&mut self, _now: Time, idle: Span) {
        if self.params.reset_after_idle && idle > self.min_rtt.saturating_mul(10) {
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
