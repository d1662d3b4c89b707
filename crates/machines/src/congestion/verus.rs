//! Verus: it chooses a target delay and looks up the window for it in a profile of observed delay by window. Zaki,
//! Pötsch, Chen, Subramanian, Görg, "Adaptive Congestion Control for Unpredictable Cellular Networks", SIGCOMM 2015,
//! §4, with the constants of the authors' published sender (yzaki/verus). Needs: round trips.
//!
//! Every epoch (5 ms) the target delay moves by a step, down if delays have grown and up if not; the profile gives the
//! window for it, and the epoch sends what is missing to that window. The profile is a smooth curve through what was
//! seen (`profile`).
//!
//! ```text
//! CHOICE Verus §4.4: a loss is what the transport finds lost, by its own rule; the authors' sender waits 150
//! ms for a hole to fill.
//! CHOICE Verus §4: a timeout is the transport's, too, and begins slow start anew.
//! CHOICE Verus §4.2: the window by which a packet left is that of the instant which its ACK's time stamp names.
//! CHOICE Verus §4: what an epoch could not send is not made up for in the next one.
//! ```

mod delays;
mod profile;

use super::{AckSample, Calls, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Problems, Start};
use crate::problems::Invalid;
use delays::Delays;
use profile::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, Rate, Span, Time};

/// Verus: looks up the window for its target delay in a delay profile (Zaki et al., SIGCOMM 2015).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// ε: the epoch, after which the window is set anew.
    pub epoch: Span,
    /// R: if the delay is above this multiple of the minimum, the target delay falls even if delays do not grow.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 1000.0))]
    pub ratio: f64,
    /// Multiplicative decrease: a loss sets the window to this fraction of the one with which the packet was sent.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decrease: f64,
    /// Period after which the profile's curve is fitted anew.
    pub refit: Span,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            epoch: Span::from_ms(5),   // Verus §5.3
            ratio: 6.0,                // Verus §5.3: 2, 4 or 6; the authors' sender has 6
            decrease: 0.7,             // the authors' sender; the paper has 0.5
            refit: Span::from_secs(1), // Verus §5.3
        }
    }
}

impl Parameters for Params {
    type Machine = Verus;

    fn needs(&self) -> Needs {
        Needs { round_trips: true, gives: Gives::OwnWindow, calls: Calls::Both, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        problems.positive("epoch", self.epoch, "5ms");
        problems.positive("refit", self.refit, "1s");
        if !(self.ratio > 1.0 && self.ratio <= 1000.0) {
            problems.wrong(
                "ratio",
                format!("{} is out of range", self.ratio),
                "allowed: above 1, at most 1000",
            );
        }
        if !(self.decrease > 0.0 && self.decrease < 1.0) {
            problems.wrong(
                "decrease",
                format!("{} is out of range", self.decrease),
                "allowed: above 0, below 1",
            );
        }
    }

    fn make(&self, start: &Start) -> Result<Verus, Invalid> {
        Ok(Verus::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { epoch: Span::from_us(2), refit: Span::from_us(20), ..Self::default() }, Self::default()]
    }
}

/// The authors' sender. δ1 and δ2, ms.
const STEPS: (f64, f64) = (1.0, 2.0);
/// Slow start ends at so long a delay, ms.
const SLOW_START_ENDS: f64 = 500.0;
/// What is wanted after slow start, of the largest that R allows.
const AFTER_SLOW_START: f64 = 0.75;
/// Delays that differ by less are the same, ms.
const SAME: f64 = 1e-4;
/// Nothing fits at the least delay, and nearly nothing is in flight: the path has become longer. By so much, ms.
const LONGER: f64 = 10.0;

/// The phases of Verus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    SlowStart,
    /// After a loss, or slow start, until a packet of the smaller window is acknowledged.
    Repair {
        /// It ended slow start: the wanted delay does not fall meanwhile.
        starting: bool,
    },
    Normal,
}

/// Verus' window, segments; milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verus {
    params: Params,
    mss: u64,
    max_window: u64,
    phase: Phase,
    /// W.
    window: f64,
    /// The window up to which slow start goes on without delays, after a timeout.
    regains: f64,
    profile: Profile,
    /// Which window was in force from when on, the oldest first: as far back as packets are in flight.
    windows: VecDeque<(Time, u32)>,
    delays: Delays,
    /// D_est: the target delay.
    wanted: f64,
    /// The next epoch; `None` in slow start. When the curve is drawn next.
    tick: Option<Time>,
    refit: Time,
    /// Bytes in flight, and what may yet be sent in this epoch.
    in_flight: u64,
    credit: u64,
    permit: Permit,
}

impl Verus {
    fn new(start: &Start, params: Params) -> Self {
        let mut v = Self {
            params,
            mss: u64::from(start.mss),
            max_window: start.max_window.get().max(u64::from(start.mss)),
            phase: Phase::SlowStart,
            window: 1.0,
            regains: 1.0,
            profile: Profile::default(),
            windows: VecDeque::new(),
            delays: Delays::new(None),
            wanted: 0.0,
            tick: None,
            refit: Time::ZERO,
            in_flight: 0,
            credit: 0,
            permit: Permit::default(),
        };
        v.set_permit();
        v
    }

    /// Everything from the beginning, as after a timeout, when no window brings the delay that is wanted, or
    /// too little is known for a curve (less than five windows); what is in flight stays there.
    fn restart(&mut self) {
        self.phase = Phase::SlowStart;
        (self.window, self.profile) = (1.0, Profile::default());
        self.delays = Delays::new(self.delays.last_ack);
        (self.wanted, self.tick, self.credit) = (0.0, None, 0);
    }

    // ---- What ACKs report -----------------------------------------------------------------------------

    /// The window by which the packet left at that instant.
    fn sent_by(&mut self, sent: Time) -> u32 {
        while self.windows.get(1).is_some_and(|next| next.0 <= sent) {
            self.windows.pop_front();
        }
        self.windows.front().map_or(1, |(_, window)| *window)
    }

    /// A packet that left by window `by` took so long; `used`: the window was used up (RFC 9002 §7.8), which §4 takes
    /// for granted of a sender that always has data.
    fn observe(&mut self, now: Time, delay: f64, by: u32, used: bool) {
        self.delays.least = self.delays.least.min(delay);
        if self.phase == Phase::SlowStart && delay > SLOW_START_ENDS {
            self.decrease(now, by, true);
        }
        if matches!(self.phase, Phase::Repair { .. }) && f64::from(by) <= self.window {
            (self.phase, self.delays.epoch_max) = (Phase::Normal, None);
        }
        self.delays.observe(now, delay);
        match self.phase {
            Phase::SlowStart => {
                self.profile.see(by, delay);
                self.window += if used { 1.0 } else { 0.0 };
            }
            Phase::Normal => self.profile.see(by, delay),
            Phase::Repair { .. } => {
                // §4.4: nothing of this is put into the profile.
                self.window += if used { 1.0 / self.window } else { 0.0 };
                if let Some(delay) = self.profile.delay(self.window) {
                    self.wanted = self.wanted.min(delay);
                }
            }
        }
    }

    /// §4.4: a packet that left by window `by` was lost, or took too long in slow start.
    fn decrease(&mut self, now: Time, by: u32, too_long: bool) {
        self.window = (self.params.decrease * f64::from(by)).max(1.0);
        if self.phase == Phase::SlowStart {
            self.wanted = AFTER_SLOW_START * self.delays.least() * self.params.ratio;
            self.phase = Phase::Repair { starting: true };
            self.refit = now.saturating_add(self.params.refit);
            self.tick = Some(now.saturating_add(self.params.epoch));
            if !self.profile.draw() {
                self.restart();
            }
        } else if !too_long {
            self.phase = Phase::Repair { starting: false };
            if let Some(delay) = self.profile.delay(self.window) {
                self.wanted = self.wanted.min(delay).max(self.delays.least());
            }
        }
    }

    // ---- An epoch, §4.2 and §4.3 ------------------------------------------------------------------------

    fn epoch(&mut self, now: Time) {
        let (last, max) = self.delays.end_epoch(now);
        let least = self.delays.least();
        let mut stops = false;
        if last > self.params.ratio * least {
            if self.phase != (Phase::Repair { starting: true }) {
                self.wanted = (self.wanted - STEPS.1).max(least);
                if self.wanted <= least {
                    if self.in_flight < 2 * self.mss {
                        self.delays.least = least + LONGER;
                    } else {
                        stops = true;
                    }
                }
            }
        } else if max - last > SAME {
            self.wanted = (self.wanted - STEPS.0).max(least);
        } else {
            self.wanted += STEPS.1;
        }
        let Some(window) = self.profile.window(self.wanted) else {
            self.restart();
            return;
        };
        self.window = window.max(1.0);
        self.delays.smooth(last, max);
        self.credit = if stops { 0 } else { self.to_send() };
    }

    /// S_i, equation 5: what brings what is in flight to the window within the epochs of a round trip.
    fn to_send(&self) -> u64 {
        let n = libm::ceil(self.delays.mean / (self.params.epoch.secs() * 1e3));
        let in_flight = self.in_flight as f64 / self.mss as f64;
        let send =
            if n > 1.0 { self.window + in_flight * (2.0 - n) / (n - 1.0) } else { self.window - in_flight };
        send.clamp(0.0, 1e9) as u64 * self.mss
    }

    fn set_permit(&mut self) {
        let segments = self.window as u64;
        let window = match self.phase {
            Phase::SlowStart => segments * self.mss,
            Phase::Repair { .. } | Phase::Normal => self.in_flight + self.credit,
        };
        let window = Bytes::new(window.clamp(self.mss, self.max_window));
        self.permit = Permit { window, pace: None, wake: self.tick };
    }
}

impl CongestionControl for Verus {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.in_flight = in_flight.get();
        self.credit = self.credit.saturating_sub(bytes.get());
        let by = self.window as u32;
        if self.windows.back().is_none_or(|(_, window)| *window != by) {
            self.windows.push_back((now, by));
        }
        self.set_permit();
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.in_flight = ack.in_flight.get();
        let packets = ((ack.acked + ack.sacked).get() / self.mss).max(1);
        if let Some(rtt) = ack.rtt {
            let sent = Time::from_ps(ack.now.ps().saturating_sub(rtt.ps()));
            let by = self.sent_by(sent);
            (0..packets).for_each(|_| self.observe(ack.now, rtt.secs() * 1e3, by, ack.cwnd_limited));
        } else if self.phase == Phase::SlowStart && ack.cwnd_limited {
            // CHOICE Verus §4.4: the authors' packets carry time stamps, so that those that are sent again have delays,
            // too. Without (RFC 6298 §3) slow start goes on by them up to what a loss would have left of the window.
            // Other readings: it does not, and a window of one packet repairs all that was lost before a timeout; or
            // without bound, which fills queues whose delay is not seen.
            self.window = (self.window + packets as f64).min(self.regains.max(self.window));
        }
        self.set_permit();
    }

    fn on_loss(&mut self, loss: &Loss) {
        let by = self.windows.front().map_or(self.window as u32, |(_, window)| *window);
        self.decrease(loss.now, by, false);
        self.set_permit();
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.in_flight = 0;
        self.regains = self.params.decrease * self.window;
        self.restart();
        self.set_permit();
    }

    fn on_tick(&mut self, now: Time) {
        let Some(tick) = self.tick.filter(|tick| *tick <= now) else { return };
        let mut next = tick.saturating_add(self.params.epoch);
        if next <= now {
            next = now.saturating_add(self.params.epoch);
        }
        self.tick = Some(next);
        let known = now < self.refit || self.profile.draw();
        if now >= self.refit {
            self.refit = now.saturating_add(self.params.refit);
        }
        if known {
            self.epoch(now)
        } else {
            self.restart()
        }
        self.set_permit();
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }
}

#[cfg(test)]
mod tests;
