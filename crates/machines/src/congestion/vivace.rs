//! PCC Vivace: a sender that tries rates, computes the utility of each, and follows the gradient. Dong, Meng, Zarchy,
//! Arslan, Gilad, Godfrey, Schapira, "PCC Vivace: Online-Learning Congestion Control", NSDI 2018, in its latency form
//! and with the rules of the authors' module for Linux (PCCproject/PCC-Kernel, branch vivace), which is what others
//! have measured. Needs: round trips, pacing.
//!
//! A rate is tried for a *monitor interval* (MI). Which packets belong to it is counted: what was sent less
//! what is in flight has been answered for, delivered or lost, and an MI is over when all that was sent in it
//! has been. While its last packets are on their way the sender goes on at the rate it has.
//!
//! ```text
//! CHOICE Vivace §4 (the module): the rate that wins a probe, with its utility in the second pair, is what the
//! next interval, of the same rate, is compared with. There is no gradient between them, so that a probe is
//! followed by the least step upwards, whichever won. Other reading: the gradient between winner and loser.
//! CHOICE Vivace §4 (the module): every step down is followed by a probe around the rate that it leads to. The
//! module means to probe where the direction changes, but never writes down the last one, and compares with
//! upwards. Other reading: steps down go on as steps up do.
//! CHOICE Vivace §4 (the module): an MI in which nothing could be counted (one ACK answered for all of it) is
//! tried again by a probe; there it has the least of all utilities. So is one that the application did not
//! fill, for its rate was not tried (the module does not look).
//! CHOICE Vivace §4 (the module): after a timeout one segment at a time until an ACK comes (as Linux in its
//! loss state), then a probe.
//! ```

mod intervals;
mod steps;

use super::{AckSample, Calls, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Problems, Start};
use crate::problems::Invalid;
use intervals::{Totals, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steps::Steps;
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// PCC Vivace: tries rates and follows the gradient of its utility; latency form (Dong et al., NSDI 2018).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The utility function.
    pub utility: Utility,
    /// Weight of the round-trip gradient (seconds per second) in the utility.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub latency: f64,
    /// Weight of the loss ratio in the utility. If not given, 11 with `linear` and 11.35 with `published`.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub loss: Option<f64>,
    /// ε: relative distance of the probed rates above and below the rate.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 0.5))]
    pub probe: f64,
    /// θ: change of the payload rate per unit of the utility's gradient.
    pub step: Rate,
    /// Initial payload rate; at most the line rate.
    pub initial_rate: Rate,
}

/// The utility function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Utility {
    /// The rate itself, less the penalties (the authors' module for Linux).
    #[default]
    Linear,
    /// The rate in Mb/s to the power of 0.9, less the penalties (Vivace §3, equation 2).
    Published,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            utility: Utility::Linear,
            latency: 900.0, // Vivace §3, and the module
            loss: None,
            probe: 0.05,                             // Vivace §4
            step: Rate::from_bps(25_000 * 8),        // the module
            initial_rate: Rate::from_bps(4_194_304), // the module: 512 KiB/s
        }
    }
}

impl Params {
    /// The weight of losses.
    fn loss_weight(&self) -> f64 {
        self.loss.unwrap_or(match self.utility {
            Utility::Linear => 11.0,     // the module
            Utility::Published => 11.35, // Vivace §3
        })
    }
}

impl Parameters for Params {
    type Machine = Vivace;

    fn needs(&self) -> Needs {
        Needs { round_trips: true, gives: Gives::PaceAndOwnWindow, calls: Calls::Sent, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        let weights = [("latency", self.latency), ("loss", self.loss_weight())];
        for (key, weight) in weights.into_iter().filter(|(_, w)| !(0.0..=1e6).contains(w)) {
            problems.wrong(key, format!("{weight} is out of range"), "allowed: 0 to 1000000");
        }
        if !(self.probe > 0.0 && self.probe <= 0.5) {
            problems.wrong(
                "probe",
                format!("{} is out of range", self.probe),
                "allowed: above 0, at most 0.5",
            );
        }
        for (key, rate) in [("step", self.step), ("initial_rate", self.initial_rate)] {
            if rate == Rate::ZERO {
                problems.wrong(key, "a rate of 0bps changes nothing", "write a rate above zero");
            }
        }
    }

    fn make(&self, start: &Start) -> Result<Vivace, Invalid> {
        Ok(Vivace::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let quick = Self { initial_rate: Rate::from_gbps(5), step: Rate::from_mbps(500), ..Self::default() };
        vec![Self::default(), Self { utility: Utility::Published, probe: 0.2, ..quick }]
    }
}

/// The module's constants. Starting: the rate grows by this.
const STARTS: f64 = 1.5;
/// Between rates that differ by less than this fraction no gradient is computed.
const APART: f64 = 0.02;
/// Least packets per round trip, and window.
const LEAST_RATE: f64 = 2.0;
const LEAST_WINDOW: f64 = 4.0;

/// What the intervals are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Starting,
    /// Four MIs: two pairs of a higher and a lower rate.
    Probing,
    Moving,
}

/// Vivace's rate; bytes of payload, seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vivace {
    params: Params,
    stream: Stream,
    mss: f64,
    /// Bytes on the wire per byte of payload.
    wire: f64,
    line: Rate,
    max_window: f64,
    mode: Mode,
    rate: f64,
    /// The previous rate and its utility.
    last: Option<(f64, f64)>,
    trial: Trial,
    steps: Steps,
    totals: Totals,
    /// The timer has expired, and no ACK has come since.
    silent: bool,
    permit: Permit,
}

impl Vivace {
    fn new(start: &Start, params: Params) -> Self {
        let mss = f64::from(start.mss);
        let wire = f64::from(start.mss + start.header) / mss;
        let most = start.line_rate.bps() as f64 / 8.0 / wire;
        let srtt = if start.base_rtt.is_zero() { 1e-3 } else { start.base_rtt.secs() };
        let mut v = Self {
            params,
            stream: start.stream,
            mss,
            wire,
            line: start.line_rate,
            max_window: start.max_window.get().min(1 << 50) as f64,
            mode: Mode::Starting,
            rate: (params.initial_rate.bps() as f64 / 8.0).min(most),
            last: None,
            trial: Trial::default(),
            steps: Steps::new(),
            totals: Totals { srtt, sent: 0, answered: 0, delivered: 0 },
            silent: false,
            permit: Permit::default(),
        };
        v.trial = Trial::one(v.rate);
        v.set_permit();
        v
    }

    /// Limits a rate to the line's, and to at least two packets per round trip.
    fn bounded(&self, rate: f64) -> f64 {
        let most = self.line.bps() as f64 / 8.0 / self.wire;
        rate.max(LEAST_RATE * self.mss / self.totals.srtt).min(most)
    }

    // ---- Monitor intervals ----------------------------------------------------------------------------

    /// The rates that are tried next, the first of them from now on.
    fn begin(&mut self, now: Time) {
        self.trial = match self.mode {
            Mode::Probing => {
                let high = self.bounded(self.rate * (1.0 + self.params.probe));
                let low = self.bounded(self.rate * (1.0 - self.params.probe));
                let mut pair = || if self.stream.below(2) == 0 { [low, high] } else { [high, low] };
                let ([a, b], [c, d]) = (pair(), pair());
                Trial::two_pairs([a, b, c, d])
            }
            Mode::Starting | Mode::Moving => Trial::one(self.rate),
        };
        self.trial.open(now, self.totals.sent);
        self.set_permit();
    }

    fn check_end(&mut self, now: Time) {
        if self.trial.check_end(now, self.mss, &self.totals) {
            self.set_permit();
        }
    }

    // ---- Rate control, §4 -----------------------------------------------------------------------------

    /// All intervals of the trial have been evaluated.
    fn decide(&mut self) {
        let mut worth = [0.0; 4];
        for (worth, one) in worth.iter_mut().zip(self.trial.all()) {
            let Some(u) = one.utility else {
                self.mode = Mode::Probing;
                return;
            };
            *worth = u;
        }
        match self.mode {
            Mode::Starting => self.keep_starting(worth[0]),
            Mode::Probing => self.conclude(worth),
            Mode::Moving => self.climb(worth[0]),
        }
        self.rate = self.bounded(self.rate);
    }

    /// §4.1: the starting phase goes on while the utility rises.
    fn keep_starting(&mut self, worth: f64) {
        match self.last {
            Some((rate, before)) if worth <= before => (self.rate, self.mode) = (rate, Mode::Probing),
            _ => (self.last, self.rate) = (Some((self.rate, worth)), self.rate * STARTS),
        }
    }

    /// §4.2: both pairs must agree; otherwise once more.
    fn conclude(&mut self, worth: [f64; 4]) {
        let rate = |n: usize| self.trial.intervals[n].rate;
        // Of each pair, which one did better.
        let [first, second] = [0, 2].map(|pair| if worth[pair] > worth[pair + 1] { pair } else { pair + 1 });
        if rate(first) == rate(second) {
            self.last = Some((rate(second), worth[second]));
            (self.mode, self.rate) = (Mode::Moving, rate(second));
        }
    }

    /// §4.3: a step along the gradient; another one if that was upwards.
    fn climb(&mut self, worth: f64) {
        let Some((last, before)) = self.last else { return };
        let gone = self.rate - last;
        let near = gone.abs() < APART * self.rate;
        let gradient = if near { 0.0 } else { (worth - before) / gone };
        let theta = self.params.step.bps() as f64 / 8.0;
        let step = self.steps.next(theta * gradient, self.rate, gone);
        (self.last, self.rate) = (Some((self.rate, worth)), self.rate + step);
        if step < 0.0 {
            self.mode = Mode::Probing;
        }
    }

    fn set_permit(&mut self) {
        let rate = self.trial.rate().unwrap_or(self.rate);
        let window =
            (2.0 * rate * self.totals.srtt).max(LEAST_WINDOW * self.mss).min(self.max_window).max(self.mss);
        let pace = Rate::from_bps(((rate * 8.0 * self.wire) as u64).clamp(1, self.line.bps()));
        let window = if self.silent { self.mss } else { window };
        self.permit = Permit { window: Bytes::new(window as u64), pace: Some(pace), wake: None };
    }
}

/// The utility of `rate` (B/s), given the growth of round trips per second and the loss ratio.
fn worth(params: &Params, rate: f64, inflation: f64, loss: f64) -> f64 {
    let penalty = params.latency * inflation + params.loss_weight() * loss;
    match params.utility {
        Utility::Linear => rate - rate * penalty,
        Utility::Published => {
            // In Mb/s, as are the rates that gradients are taken over; back to B/s for both.
            let x = rate * 8e-6;
            (libm::pow(x, 0.9) - x * penalty) / 8e-6
        }
    }
}

impl CongestionControl for Vivace {
    fn on_sent(&mut self, now: Time, bytes: Bytes, _: Bytes) {
        self.totals.sent += bytes.get();
        self.check_end(now);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if let Some(rtt) = ack.rtt {
            let first = self.totals.delivered == 0;
            self.totals.srtt =
                if first { rtt.secs() } else { self.totals.srtt + (rtt.secs() - self.totals.srtt) / 8.0 };
        }
        self.totals.delivered += (ack.acked + ack.sacked).get();
        self.totals.answered = self.totals.answered.max(self.totals.sent.saturating_sub(ack.in_flight.get()));
        if std::mem::take(&mut self.silent) {
            self.mode = Mode::Probing;
            self.begin(ack.now);
        }
        // Whether its pace is used depends on the application alone.
        if ack.app_limited {
            self.trial.starve();
        }
        self.check_end(ack.now);
        let starting = self.mode == Mode::Starting;
        if self.trial.observe(&self.params, ack.now, self.mss, &self.totals, starting) {
            self.decide();
            self.begin(ack.now);
        }
        self.set_permit();
    }

    fn on_loss(&mut self, _: &Loss) {
        // Counted, as every loss is, in the interval whose packet it was.
    }

    fn on_timeout(&mut self, _: &Loss) {
        (self.silent, self.trial) = (true, Trial::default());
        self.set_permit();
    }

    fn on_restart(&mut self, _: Time, _: Span) {
        self.trial.starve();
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }
}

#[cfg(test)]
mod tests;
