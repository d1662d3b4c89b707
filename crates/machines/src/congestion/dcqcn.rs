//! DCQCN's reaction point: congestion notifications cut the rate by α/2, where α estimates how often they come; timers
//! and sent bytes raise it again. Zhu, Eran, Firestone, Guo, Lipshteyn, Liron, Padhye, Raindel, Yahia, Zhang,
//! "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, §3.1 "RP Algorithm", equations (1) to (4) and
//! Figure 7. Needs: notifications, from the receiver or as echoes, and ports that mark.
//!
//! Before the first notification the flow has the whole line, and neither timers nor counters exist. A timer
//! that is due when a notification comes, comes first. α is brought up to date when it is used, and the rate
//! timer rests while the rate is the line's: events for these would take time and change nothing observable.

mod hpcc;

pub use hpcc::Decrease;

use super::parts::back_off::BackOff;
use super::{
    AckSample, Calls, CongestionControl, Gives, Loss, Marks, Needs, Parameters, Paths, Permit, Problems,
    Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::notation::Counter;
use thalweg_units::{Bytes, Rate, Span, Time};

/// DCQCN: rates by congestion notifications (Zhu et al., SIGCOMM 2015).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// g: weight of the newest observation in the moving average α.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub gain: f64,
    /// F: fast recovery lasts until the timer or the byte counter has expired this often since the last cut; hyper
    /// increase begins when both have expired more often.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub fast_recovery: u32,
    /// α decays once per period of this length without a notification.
    pub alpha_timer: Span,
    /// Period of the rate-increase timer.
    pub rate_timer: Span,
    /// B: the rate also increases each time this many bytes were sent; `"none"`: by the timer alone. If not given,
    /// `10MB`, or `"none"` where `decrease` is checked.
    pub byte_counter: Option<Counter>,
    /// R_AI: step of the target rate in additive increase.
    pub additive: Rate,
    /// R_HAI: step of the target rate in hyper increase.
    pub hyper: Rate,
    /// Minimum rate.
    pub min_rate: Rate,
    /// When a notification takes effect.
    pub decrease: Decrease,
    /// A loss (NACK or timeout) halves the rate, at most once in this time (IRN §4.3.3). If not given, losses do not
    /// change the rate.
    pub back_off: Option<Span>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            gain: 0.00390625,               // 1/256, DCQCN §4
            fast_recovery: 5,               // DCQCN §3.1
            alpha_timer: Span::from_us(55), // DCQCN §3.1, §4
            rate_timer: Span::from_us(55),  // DCQCN §3.1, §4
            byte_counter: None,
            additive: Rate::from_mbps(40),  // DCQCN §4
            hyper: Rate::from_mbps(200),    // CHOICE DCQCN §4: not given; the authors' public simulator
            min_rate: Rate::from_mbps(100), // CHOICE DCQCN §4: not given; the authors' public simulator
            decrease: Decrease::AtOnce,
            back_off: None,
        }
    }
}

impl Parameters for Params {
    type Machine = Dcqcn;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Notifications, gives: Gives::Pace, calls: Calls::Both, ..Needs::WINDOW }
    }

    fn resolve(&mut self, _: &mut dyn Paths) {
        let counter = match self.decrease {
            Decrease::AtOnce => Counter::Bytes(Bytes::kb(10_000)), // DCQCN §4
            Decrease::Checked { .. } => hpcc::COUNTER,
        };
        self.byte_counter.get_or_insert(counter);
    }

    fn check(&self, line: Rate, problems: &mut Problems) {
        problems.share("gain", self.gain);
        problems.positive("alpha_timer", self.alpha_timer, "55us");
        problems.positive("rate_timer", self.rate_timer, "55us");
        let counts = match self.byte_counter {
            Some(Counter::Bytes(bytes)) => Some(bytes),
            None | Some(Counter::Off) => None,
        };
        if counts == Some(Bytes::ZERO) {
            problems.wrong("byte_counter", "0 bytes are always sent", "for example \"10MB\", or \"none\"");
        } else {
            self.decrease.check(counts.is_some(), problems);
        }
        problems.rate("min_rate", self.min_rate, line);
        if let Some(span) = self.back_off {
            problems.positive("back_off", span, "24us");
        }
    }

    fn make(&self, start: &Start) -> Result<Dcqcn, Invalid> {
        Ok(Dcqcn::new(start, *self))
    }

    /// Timers are so short that a test sequence of 200 events has many expiries.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let hasty = Self {
            gain: 1.0 / 16.0,
            fast_recovery: 2,
            alpha_timer: Span::from_us(1),
            rate_timer: Span::from_us(3),
            byte_counter: Some(Counter::Bytes(Bytes::new(5000))),
            back_off: Some(Span::from_us(5)),
            ..Self::default()
        };
        let decrease = Decrease::Checked { every: Span::from_us(4) };
        let checked = Self { fast_recovery: 1, byte_counter: None, decrease, back_off: None, ..hasty };
        vec![hasty, checked]
    }
}

/// DCQCN's rate. Rates are whole bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dcqcn {
    params: Params,
    line_rate: Rate,
    window: Bytes,
    /// R_C, the current rate.
    rate: Rate,
    /// R_T, the target rate.
    target: Rate,
    /// α, as of its last update before `alpha_at`.
    alpha: f64,
    /// When the α timer expires next; `Time::MAX`: it does not run.
    alpha_at: Time,
    /// When the rate timer expires next.
    rate_at: Time,
    /// T, rate timer expiries since the last cut.
    time_count: u32,
    /// BC, byte counter expiries since then.
    byte_count: u32,
    /// Bytes sent since the last of these.
    bytes: u64,
    /// For checked decreases: notifications since the last check.
    looks: hpcc::Looks,
    back_off: BackOff,
}

impl Dcqcn {
    /// The rate of a flow that starts.
    fn new(start: &Start, params: Params) -> Self {
        Self {
            params,
            line_rate: start.line_rate,
            window: start.max_window,
            rate: start.line_rate,
            target: start.line_rate,
            alpha: 1.0,
            alpha_at: Time::MAX,
            rate_at: Time::MAX,
            time_count: 0,
            byte_count: 0,
            bytes: 0,
            looks: hpcc::Looks::default(),
            back_off: BackOff::default(),
        }
    }

    /// B, if there is a byte counter.
    #[inline]
    fn counter(&self) -> Option<Bytes> {
        match self.params.byte_counter {
            Some(Counter::Bytes(each)) => Some(each),
            None | Some(Counter::Off) => None,
        }
    }

    /// R_C ← R_C · `factor`; timer and byte counter start anew.
    fn cut(&mut self, at: Time, factor: f64) {
        self.rate = Rate::from_bps((self.rate.bps() as f64 * factor) as u64).max(self.params.min_rate);
        (self.time_count, self.byte_count, self.bytes) = (0, 0, 0);
        self.rate_at = at.saturating_add(self.params.rate_timer);
    }

    /// The α timer's expiries up to `now`: α ← (1 − g) α, (2).
    fn age_alpha(&mut self, now: Time) {
        let (g, timer) = (self.params.gain, self.params.alpha_timer);
        while self.alpha_at <= now && self.alpha_at != Time::MAX {
            self.alpha = (1.0 - g) * self.alpha + self.looks.take_gain(g);
            self.alpha_at = self.alpha_at.saturating_add(timer);
            if self.alpha < 1e-300 && self.alpha_at <= now {
                // α has become too small to change any rate, so the remaining updates are skipped.
                let left = now.since(self.alpha_at).ps() / timer.ps();
                self.alpha_at = self.alpha_at.saturating_add(timer.saturating_mul(left));
            }
        }
    }

    /// Figure 7, after the expiry of the rate timer or of the byte counter: fast recovery, (3), in the first F of both,
    /// hyper increase beyond F of both, else additive increase, (4).
    fn increase(&mut self) {
        let f = self.params.fast_recovery;
        let time = self.time_count;
        // CHOICE DCQCN §3.1: without a byte counter, time stands for both. Other reading: the counter that
        // does not exist stays at zero, and hyper increase is never reached.
        let bytes = if self.counter().is_some() { self.byte_count } else { time };
        let step = if time.max(bytes) < f {
            Rate::ZERO
        } else if time.min(bytes) > f {
            let i = u64::from(time.min(bytes) - f);
            Rate::from_bps(self.params.hyper.bps().saturating_mul(i))
        } else {
            self.params.additive
        };
        self.climb(step);
    }

    /// R_T ← R_T + `step`, at most the line's; R_C ← (R_T + R_C)/2, rounded up, so that the line's rate is reached.
    fn climb(&mut self, step: Rate) {
        let target = self.target.bps().saturating_add(step.bps()).min(self.line_rate.bps());
        self.target = Rate::from_bps(target);
        self.rate = Rate::from_bps(target - (target - self.rate.bps()) / 2);
        if self.rate == self.line_rate {
            self.rate_at = Time::MAX; // nowhere to rise to, and a cut starts the counts anew
        }
    }

    /// The rate timer has expired at `rate_at`.
    fn on_rate_timer(&mut self) {
        self.rate_at = self.rate_at.saturating_add(self.params.rate_timer);
        if let Decrease::Checked { .. } = self.params.decrease {
            return self.climb_then_count();
        }
        self.time_count = self.time_count.saturating_add(1);
        self.increase();
    }

    /// Performs all timer expiries up to `now`. Of a rate increase and a check at the same instant, the increase comes
    /// first: its timer was set earlier.
    fn catch_up(&mut self, now: Time) {
        loop {
            let look = self.looks.due();
            let next = self.rate_at.min(look);
            if next > now || next == Time::MAX {
                break;
            }
            match self.params.decrease {
                Decrease::Checked { every } if look < self.rate_at => self.on_look(every),
                _ => self.on_rate_timer(),
            }
        }
    }

    /// Cuts the rate as a notification does, but by half and without updating α.
    fn back_off(&mut self, now: Time) {
        let Some(every) = self.params.back_off else { return };
        self.catch_up(now);
        if self.back_off.strikes(now, every) {
            self.target = self.rate;
            self.cut(now, 0.5);
        }
    }
}

impl CongestionControl for Dcqcn {
    #[inline]
    fn on_sent(&mut self, now: Time, bytes: Bytes, _in_flight: Bytes) {
        let Some(each) = self.counter() else { return };
        if self.rate_at == Time::MAX {
            return; // at the line's rate: nothing counts
        }
        self.bytes += bytes.get();
        while self.bytes >= each.get() {
            self.bytes -= each.get();
            self.catch_up(now);
            self.byte_count = self.byte_count.saturating_add(1);
            self.increase();
        }
    }

    fn on_ack(&mut self, _: &AckSample) {}

    fn on_loss(&mut self, loss: &Loss) {
        self.back_off(loss.now);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.back_off(loss.now);
    }

    fn on_notification(&mut self, now: Time) {
        self.catch_up(now);
        if let Decrease::Checked { every } = self.params.decrease {
            return self.note(now, every);
        }
        // (1): R_T ← R_C; R_C ← R_C (1 − α/2); and only then α ← (1 − g) α + g.
        self.age_alpha(now);
        self.target = self.rate;
        self.cut(now, 1.0 - self.alpha / 2.0);
        self.alpha = (1.0 - self.params.gain) * self.alpha + self.params.gain;
        self.alpha_at = now.saturating_add(self.params.alpha_timer);
    }

    fn on_tick(&mut self, now: Time) {
        self.catch_up(now);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let wake = self.rate_at.min(self.looks.due());
        Permit { window: self.window, pace: Some(self.rate), wake: (wake != Time::MAX).then_some(wake) }
    }
}

#[cfg(test)]
mod tests;
