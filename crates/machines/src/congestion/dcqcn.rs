//! DCQCN's reaction point: a rate, cut by congestion notifications in proportion to how often they come, and recovered by
//! time and by bytes sent. Zhu, Eran, Firestone, Guo, Lipshteyn, Liron, Padhye, Raindel, Yahia, Zhang, "Congestion Control
//! for Large-Scale RDMA Deployments", SIGCOMM 2015, §3.1 "RP Algorithm", equations (1) to (4) and Figure 7. Needs:
//! notifications, from the receiver or as echoes, and ports that mark.
//!
//! Before the first notification the flow has the whole line, and neither timers nor counters exist. A timer that is due
//! when a notification comes, comes first. α is brought up to date when it is used, and the rate timer rests while the
//! rate is the line's: both would change nothing that anybody sees, and cost an event each time.

use super::{AckSample, CongestionControl, DcqcnDecrease, DcqcnSpec, Loss, Permit, Start};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// DCQCN's rate. Rates are whole bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dcqcn {
    spec: DcqcnSpec,
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
    /// Checked: the next look at the rate.
    check_at: Time,
    /// Checked: notified since the last look.
    notified: bool,
    /// Checked: notified since the last update of α.
    alpha_notified: bool,
    /// A loss backs off again from here on.
    back_off_at: Time,
}

impl Dcqcn {
    /// The rate of a flow that starts.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub fn new(start: &Start, spec: DcqcnSpec) -> Result<Self, String> {
        let DcqcnSpec { gain, alpha_timer, rate_timer, byte_counter, min_rate, decrease, .. } = spec;
        if !(gain > 0.0 && gain <= 1.0) {
            return Err(format!("dcqcn: gain is {gain}, allowed: above 0, at most 1"));
        }
        for (key, timer) in [("alpha_timer", alpha_timer), ("rate_timer", rate_timer)] {
            if timer.is_zero() {
                return Err(format!("dcqcn: {key} is 0s, allowed: above 0"));
            }
        }
        if byte_counter == Some(Bytes::ZERO) {
            return Err("dcqcn: byte_counter is 0B, allowed: above 0, or none".into());
        }
        if min_rate == Rate::ZERO || min_rate > start.line_rate {
            let line = start.line_rate;
            return Err(format!(
                "dcqcn: min_rate is {min_rate}, allowed: above 0, at most the line's {line}"
            ));
        }
        if let DcqcnDecrease::Checked { every } = decrease {
            if every.is_zero() {
                return Err("dcqcn: the time between checks is 0s, allowed: above 0".into());
            }
            if byte_counter.is_some() {
                return Err("dcqcn: with checked decreases the rate rises by time alone: byte_counter \
                            must be none"
                    .into());
            }
        }
        Ok(Self {
            spec,
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
            check_at: Time::MAX,
            notified: false,
            alpha_notified: false,
            back_off_at: Time::ZERO,
        })
    }

    /// R_C ← R_C · `factor`; what counts towards an increase starts anew.
    fn cut(&mut self, at: Time, factor: f64) {
        self.rate = Rate::from_bps((self.rate.bps() as f64 * factor) as u64).max(self.spec.min_rate);
        (self.time_count, self.byte_count, self.bytes) = (0, 0, 0);
        self.rate_at = at.saturating_add(self.spec.rate_timer);
    }

    /// The α timer's expiries up to `now`: α ← (1 − g) α, (2); checked, α ← (1 − g) α + g if notified since the last.
    fn age_alpha(&mut self, now: Time) {
        let (g, timer) = (self.spec.gain, self.spec.alpha_timer);
        while self.alpha_at <= now && self.alpha_at != Time::MAX {
            let heard = if std::mem::take(&mut self.alpha_notified) { g } else { 0.0 };
            self.alpha = (1.0 - g) * self.alpha + heard;
            self.alpha_at = self.alpha_at.saturating_add(timer);
            if self.alpha < 1e-300 && self.alpha_at <= now {
                // Nothing that is added to or taken from can tell it from zero: no need to count on.
                let left = now.since(self.alpha_at).ps() / timer.ps();
                self.alpha_at = self.alpha_at.saturating_add(timer.saturating_mul(left));
            }
        }
    }

    /// Figure 7, after the expiry of the rate timer or of the byte counter: fast recovery, (3), in the first F of both,
    /// hyper increase beyond F of both, else additive increase, (4).
    fn increase(&mut self) {
        let f = self.spec.fast_recovery;
        let time = self.time_count;
        // CHOICE dcqcn: without a byte counter, time stands for both. Other reading: the counter that does not exist
        // stays at zero, and hyper increase is never reached.
        let bytes = if self.spec.byte_counter.is_some() { self.byte_count } else { time };
        let step = if time.max(bytes) < f {
            Rate::ZERO
        } else if time.min(bytes) > f {
            let i = u64::from(time.min(bytes) - f);
            Rate::from_bps(self.spec.hyper.bps().saturating_mul(i))
        } else {
            self.spec.additive
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
        self.rate_at = self.rate_at.saturating_add(self.spec.rate_timer);
        match self.spec.decrease {
            DcqcnDecrease::AtOnce => {
                self.time_count = self.time_count.saturating_add(1);
                self.increase();
            }
            DcqcnDecrease::Checked { .. } => {
                // That simulator counts after the increase, and its hyper increase does not grow.
                let step = match self.time_count.cmp(&self.spec.fast_recovery) {
                    std::cmp::Ordering::Less => Rate::ZERO,
                    std::cmp::Ordering::Equal => self.spec.additive,
                    std::cmp::Ordering::Greater => self.spec.hyper,
                };
                self.climb(step);
                self.time_count = self.time_count.saturating_add(1);
            }
        }
    }

    /// Checked: a look at the rate at `check_at`, after a notification.
    fn on_check(&mut self, every: Span) {
        let at = self.check_at;
        self.age_alpha(at);
        self.notified = false;
        if self.time_count > 0 {
            self.target = self.rate;
        }
        self.cut(at, 1.0 - self.alpha / 2.0);
        self.check_at = at.saturating_add(every);
    }

    /// Everything that is due up to `now`. Of a rise and a look at the same instant, the rise comes first: its timer was
    /// set earlier.
    fn catch_up(&mut self, now: Time) {
        loop {
            let check = if self.notified { self.check_at } else { Time::MAX };
            let next = self.rate_at.min(check);
            if next > now || next == Time::MAX {
                break;
            }
            match self.spec.decrease {
                DcqcnDecrease::Checked { every } if check < self.rate_at => self.on_check(every),
                _ => self.on_rate_timer(),
            }
        }
    }

    /// CHOICE irn, "explicitly backing off on losses": half the rate, at most once per round trip, and recovered from as
    /// after a notification, which α hears nothing of.
    fn back_off(&mut self, now: Time) {
        let Some(every) = self.spec.back_off else { return };
        self.catch_up(now);
        if now >= self.back_off_at {
            self.back_off_at = now.saturating_add(every);
            self.target = self.rate;
            self.cut(now, 0.5);
        }
    }
}

impl CongestionControl for Dcqcn {
    #[inline]
    fn on_sent(&mut self, now: Time, bytes: Bytes, _in_flight: Bytes) {
        let Some(each) = self.spec.byte_counter else { return };
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
        match self.spec.decrease {
            // (1): R_T ← R_C; R_C ← R_C (1 − α/2); and only then α ← (1 − g) α + g.
            DcqcnDecrease::AtOnce => {
                self.age_alpha(now);
                self.target = self.rate;
                self.cut(now, 1.0 - self.alpha / 2.0);
                self.alpha = (1.0 - self.spec.gain) * self.alpha + self.spec.gain;
                self.alpha_at = now.saturating_add(self.spec.alpha_timer);
            }
            DcqcnDecrease::Checked { every } => {
                if self.check_at == Time::MAX {
                    self.alpha_at = now.saturating_add(self.spec.alpha_timer);
                    // A nanosecond behind, so that α's update comes first.
                    self.check_at = now.saturating_add(every).saturating_add(Span::from_ns(1));
                    self.target = self.rate;
                } else {
                    self.age_alpha(now);
                    self.alpha_notified = true;
                    if self.check_at <= now {
                        // Looks that found nothing.
                        let missed = now.since(self.check_at).ps() / every.ps() + 1;
                        self.check_at = self.check_at.saturating_add(every.saturating_mul(missed));
                    }
                }
                self.notified = true;
            }
        }
    }

    fn on_tick(&mut self, now: Time) {
        self.catch_up(now);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let check = if self.notified { self.check_at } else { Time::MAX };
        let wake = self.rate_at.min(check);
        Permit { window: self.window, pace: Some(self.rate), wake: (wake != Time::MAX).then_some(wake) }
    }
}

#[cfg(test)]
mod tests;
