//! CUBIC: a window by a cubic function of the time since the last congestion event. RFC 9438 (Xu, Ha, Rhee,
//! Goel, Eggert, 2023), section by section; slow start ends by HyStart++ (RFC 9406, in `hystart`). Needs:
//! ACKs and round trips. Windows are counted in segments, as there; time in seconds.
//!
//! Left out: §4.9's undo of a spurious decrease (the transports here do not report spurious losses).

mod hystart;

use super::{
    AckSample, CongestionControl, Loss, Marks, Needs, Parameters, Permit, Problems, Restart, Rule, Rules,
    Start,
};
use crate::problems::Invalid;
use hystart::HyStart;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// CUBIC: a window by a cubic function of the time since the last loss (RFC 9438).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// C, segments per second cubed: scales how fast the window grows away from its last maximum.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
    pub c: f64,
    /// β_cubic: the fraction of the window that remains after a loss.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub beta: f64,
    /// Fast convergence (§4.7): a flow whose maximum has fallen lowers it further, to release bandwidth to new flows.
    pub fast_convergence: bool,
    /// Reno-friendly region (§4.3): the window is never below what Reno's would be.
    pub reno_friendly: bool,
    /// HyStart++ (RFC 9406): slow start ends when round trips grow, before the queue overflows.
    pub hystart: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            c: 0.4,    // RFC 9438 §5.1
            beta: 0.7, // RFC 9438 §4.6
            fast_convergence: true,
            reno_friendly: true,
            hystart: true, // RFC 9438 §4.10
        }
    }
}

impl Parameters for Params {
    type Machine = Cubic;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Optional, round_trips: true, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        if !(self.c > 0.0 && self.c <= 1e6) {
            problems.wrong("c", format!("{} is out of range", self.c), "allowed: above 0, at most 1000000");
        }
        if !(self.beta > 0.0 && self.beta < 1.0) {
            problems.wrong("beta", format!("{} is out of range", self.beta), "allowed: above 0, below 1");
        }
    }

    fn rules(&self) -> Rules {
        Rules { silence_stops_clock: Rule::Kept, ..Rules::TCP }
    }

    fn make(&self, start: &Start) -> Result<Cubic, Invalid> {
        Ok(Cubic::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let plain = Self { fast_convergence: false, reno_friendly: false, hystart: false, ..Self::default() };
        // So steep that a test sequence of microseconds follows the curve.
        let steep = Self { c: 1e6, beta: 0.2, ..Self::default() };
        vec![Self::default(), plain, steep]
    }
}

/// A congestion avoidance stage (§4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Epoch {
    /// t: how long the stage has lasted, without the times in which the window was not used up (§4.2, §5.8).
    lasted: Span,
    /// The instant up to which t has been counted.
    counted: Time,
    /// K, seconds: the time from the beginning of the stage until W_cubic reaches W_max.
    k: f64,
    /// W_est: the window that Reno would have by now (§4.3).
    w_est: f64,
}

/// CUBIC's window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cubic {
    params: Params,
    mss: u32,
    /// cwnd.
    cwnd: f64,
    /// ssthresh; infinite: none yet.
    ssthresh: f64,
    /// cwnd_prior, the window before the last decrease.
    cwnd_prior: f64,
    /// W_max; `None`: there was no congestion event since a timeout or the start, K is 0 and W_max the window
    /// with which the stage begins (§4.8, §4.10).
    w_max: Option<f64>,
    /// `None`: the stage begins with the next ACK outside slow start and repair.
    epoch: Option<Epoch>,
    hystart: Option<HyStart>,
    max_window: f64,
    /// Smoothed round trip, seconds.
    srtt: f64,
    /// SND.NXT at the last reduction: marks of data below it belong to a window that was already reduced.
    cut_to: u64,
    /// SND.UNA at the last timeout.
    timed_out: Option<u64>,
}

fn seconds(span: Span) -> f64 {
    span.ps() as f64 * 1e-12
}

impl Cubic {
    /// The window of a flow that starts.
    pub(super) fn new(start: &Start, params: Params) -> Self {
        let segments = |bytes: Bytes| match bytes {
            Bytes::MAX => f64::INFINITY,
            bytes => bytes.get() as f64 / f64::from(start.mss),
        };
        let max_window = segments(start.max_window).max(1.0);
        Self {
            params,
            mss: start.mss,
            cwnd: segments(start.initial_window).clamp(1.0, max_window),
            ssthresh: segments(start.initial_threshold),
            cwnd_prior: 0.0,
            w_max: None,
            epoch: None,
            hystart: params.hystart.then(HyStart::default),
            max_window,
            srtt: seconds(start.base_rtt),
            cut_to: 0,
            timed_out: None,
        }
    }

    /// Limits the window to `bytes`: another window is in force (ABC).
    pub(super) fn cap(&mut self, bytes: f64) {
        self.cwnd = self.cwnd.min((bytes / f64::from(self.mss)).max(1.0));
    }

    /// Continues with this window in congestion avoidance: a new stage begins (§4.10).
    pub(super) fn take_up(&mut self, bytes: u64) {
        self.cwnd = (bytes as f64 / f64::from(self.mss)).clamp(1.0, self.max_window);
        self.ssthresh = self.cwnd;
        self.cwnd_prior = self.cwnd;
        (self.w_max, self.epoch, self.hystart) = (None, None, None);
    }

    /// W_cubic(t) = C (t − K)³ + W_max, equation (1).
    fn w_cubic(&self, t: f64, k: f64, w_max: f64) -> f64 {
        let from_k = t - k;
        self.params.c * (from_k * from_k * from_k) + w_max
    }

    /// The stage begins: K = ∛((W_max − cwnd_epoch) / C), equation (2).
    fn begin(&mut self, now: Time) -> Epoch {
        let w_max = *self.w_max.get_or_insert(self.cwnd);
        // §4.8: beyond W_max already, K is 0.
        let k = libm::cbrt(((w_max - self.cwnd) / self.params.c).max(0.0));
        Epoch { lasted: Span::ZERO, counted: now, k, w_est: self.cwnd }
    }

    /// Congestion avoidance for `acked` segments (§4.2 to §4.5).
    fn avoid(&mut self, now: Time, acked: f64) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(now),
        };
        let w_max = self.w_max.unwrap_or(self.cwnd);
        epoch.lasted += now.since(epoch.counted);
        epoch.counted = now;
        let t = seconds(epoch.lasted);
        // §4.3: α_cubic = 3 (1 − β) / (1 + β) until the window of before, then Reno's 1; equation (4).
        let beta = self.params.beta;
        let alpha = if epoch.w_est < self.cwnd_prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.w_est += alpha * acked / self.cwnd;
        self.epoch = Some(epoch);
        if self.params.reno_friendly && self.w_cubic(t, epoch.k, w_max) < epoch.w_est {
            // CHOICE RFC 9438 §4.3: an ACK does not lower the window, as in Linux. Other reading: cwnd is W_est,
            // which is less than it after a window that grew by the curve.
            self.cwnd = self.cwnd.max(epoch.w_est);
            return;
        }
        // §4.2: target is W_cubic(t + RTT) within [cwnd, 1.5 cwnd]; §4.4, §4.5: a window of ACKs reaches it.
        // CHOICE RFC 9438 §4.4: an ACK counts by the segments it acknowledges. Other reading: every ACK the same, which
        // halves growth under delayed ACKs.
        let target = self.w_cubic(t + self.srtt, epoch.k, w_max).clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd += (target - self.cwnd) / self.cwnd * acked.min(self.cwnd);
    }

    /// Slow start (§4.10): the window that `acked` segments make, and whether it is over. HyStart++
    /// is given round trips whose window was not used up, too.
    fn slow_start(&mut self, ack: &AckSample, acked: f64) {
        let acked = if ack.cwnd_limited { acked } else { 0.0 };
        match &mut self.hystart {
            Some(hystart) => {
                self.cwnd += hystart.growth(acked);
                if hystart.on_ack(ack) {
                    // §4.10: slow start ended without a loss, so the threshold is the window itself.
                    self.ssthresh = self.cwnd;
                    self.cwnd_prior = self.cwnd;
                    self.hystart = None;
                }
            }
            // RFC 5681 §3.1 (2): min(N, SMSS).
            // CHOICE RFC 9438 §4.10: as the RFC it names, so delayed ACKs halve slow start, as they do
            // NewReno's. Other reading: RFC 3465 with L = 2, two segments per ACK, or HyStart++'s eight (RFC
            // 9406 §4.3), which count while `hystart` is on.
            None => self.cwnd += acked.min(1.0),
        }
    }

    /// Multiplicative decrease (§4.6) with `flight` bytes out, and fast convergence (§4.7).
    // CHOICE RFC 9438 §4.6: flight_size, but no more than the window: what limited transmit sent beyond it
    // does not count (RFC 5681 §3.2), nor what was SACKed or is lost. Other reading: all that is not
    // cumulatively acknowledged. W_max is of the window, not of the flight (§4.7); a window that is not used
    // up does not grow, so the two are not far apart.
    fn decrease(&mut self, flight: Bytes, least: f64) {
        let flight = (flight.get() as f64 / f64::from(self.mss)).min(self.cwnd);
        let beta = self.params.beta;
        self.cwnd_prior = self.cwnd;
        self.w_max = Some(match self.w_max {
            Some(w_max) if self.cwnd < w_max && self.params.fast_convergence => {
                self.cwnd * (1.0 + beta) / 2.0
            }
            _ => self.cwnd,
        });
        let reduced = flight * beta;
        self.cwnd = reduced.max(least).min(self.max_window);
        self.ssthresh = reduced.max(2.0);
        self.epoch = None;
        self.hystart = None; // RFC 9406 §4.3: for the first slow start only
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.srtt += (seconds(rtt) - self.srtt) / 8.0;
        }
        if ack.marked > Bytes::ZERO && ack.acked_to > self.cut_to {
            // §4.6: a mark as a loss, but down to one segment (RFC 3168 §6.1.2).
            self.decrease(ack.flight_before(), 1.0);
            self.cut_to = ack.sent_to;
            return;
        }
        let acked = ack.acked.get() as f64 / f64::from(self.mss);
        if ack.in_recovery || ack.marked > Bytes::ZERO || acked == 0.0 {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.slow_start(ack, acked);
        } else if !ack.cwnd_limited {
            // §5.8: no growth, and the time does not count.
            if let Some(epoch) = &mut self.epoch {
                epoch.counted = ack.now;
            }
        } else {
            self.avoid(ack.now, acked);
        }
        self.cwnd = self.cwnd.min(self.max_window);
    }

    // CHOICE RFC 9438 §4.9: no decrease is undone; the transports here do not report spurious losses (RFC
    // 5682, RFC 3522).
    fn on_loss(&mut self, loss: &Loss) {
        // RFC 3168 §6.1.2: a mark of the same window of data has cut it already.
        if loss.acked_to < self.cut_to {
            return;
        }
        self.decrease(loss.in_flight, 2.0);
        self.cut_to = loss.sent_to;
    }

    fn on_timeout(&mut self, loss: &Loss) {
        // §4.8: as a loss, but for the window itself; the stage that follows slow start begins at its own window.
        // ssthresh and W_max are kept if this segment has already been resent by the timer (RFC 5681 §3.1, below (4)):
        // another expiry brings no new information.
        if self.timed_out != Some(loss.acked_to) {
            self.decrease(loss.in_flight, 2.0);
        }
        self.timed_out = Some(loss.acked_to);
        self.cwnd = 1.0;
        (self.w_max, self.epoch) = (None, None);
        self.cut_to = loss.sent_to;
    }

    fn on_restart(&mut self, now: Time, idle: Span) {
        // §4.2: time in which nothing was sent does not count.
        if let Some(epoch) = &mut self.epoch {
            epoch.counted = epoch.counted.saturating_add(idle).min(now);
        }
    }

    fn restart_from(&mut self, _: Time, restart: Restart) {
        if restart.keeps_threshold {
            self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
        }
        let window = (restart.window.get() as f64 / f64::from(self.mss)).max(1.0);
        if window < self.cwnd {
            // CHOICE RFC 9438 §4.2: what becomes of the stage after RFC 5681 §4.1 is not stated. A new one begins
            // where slow start ends, towards the W_max there was. Other reading: the old curve goes on, which
            // would lift the window back within round trips.
            self.cwnd = window;
            self.epoch = None;
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        // At least a whole segment, and no rounding beyond the largest window: every controller must hold to that.
        Permit::window(Bytes::new((self.cwnd.max(1.0) * f64::from(self.mss)) as u64))
    }

    fn threshold(&self) -> Bytes {
        Bytes::new((self.ssthresh * f64::from(self.mss)) as u64)
    }
}

#[cfg(test)]
mod tests;
