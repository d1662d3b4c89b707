//! NimbusCC: an elasticity detector that switches between two controllers, one that competes and one that keeps delays
//! low. Goyal, "Congestion Control in Highly Variable Networks" (MIT, 2022), chapter 4; what the text leaves open as in
//! the authors' published implementation (nimbus 0.4.1 over CCP). Pulses, the estimate of the cross traffic and the
//! detector are in [`crate::elasticity`], for any controller. Needs: round trips, delivery rates, pacing, a clock.
//! Draws random numbers to elect a pulser (`coordination`).
//!
//! Everything is paced: the window is twice the pace times the round trip, so that it does not limit the flow. Rates
//! are bytes per second on the wire.
//!
//! CHOICE §4.7: 10 ms between ticks, as the thesis; the published implementation has 5 ms and gains for that.
//! CHOICE §4.4.1: the pulse is evaluated at every packet that leaves, not at every tick.
//! CHOICE: a flow begins as its first mode does, slow start from the initial window included. Other reading (the
//! published implementation): 16 Mb/s for a second.
//! CHOICE: no sample is taken while the application has nothing to send, and a second of silence empties the windows:
//! nothing is stated of either.

mod capacity;
mod competitive;
mod coordination;
mod delay;
mod history;
mod measured;
mod params;
mod seen;

use super::{
    AckSample, Calls, CongestionControl, Feedback, Gives, Invalid, Loss, Needs, Parameters, Permit, Problems,
    Report, Start,
};
use crate::elasticity::{Detector, Reading, Verdict, pulse};
use competitive::Competitive;
use coordination::{Coordination, Role, Sight};
use delay::Delay;
use history::{History, Sample};
use measured::{Measured, Segment};
pub use params::{DetectorParams, Mode, Params};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// Between ticks (§4.7).
const TICK: Span = Span::from_ms(10);
/// Least rate, as a part of µ̂ (the published implementation).
const FLOOR: f64 = 0.05;
/// The window, of what a round trip holds (the published implementation), and the least one, segments.
const WINDOW: f64 = 2.0;
const LEAST: f64 = 4.0;
/// A silence that empties the windows.
const SILENCE: Span = Span::from_secs(1);

impl Parameters for Params {
    type Machine = Nimbus;

    fn needs(&self) -> Needs {
        Needs {
            round_trips: true,
            delivery: true,
            gives: Gives::PaceAndOwnWindow,
            calls: Calls::Both,
            ..Needs::WINDOW
        }
    }

    fn check(&self, line: Rate, problems: &mut Problems) {
        params::check(self, line, problems);
    }

    fn make(&self, start: &Start) -> Result<Nimbus, Invalid> {
        Ok(Nimbus::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        params::variants()
    }
}

/// What cannot be exceeded: the sender's line, B/s on the wire, and the transport's window, payload bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Most {
    rate: f64,
    window: f64,
}

/// NimbusCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nimbus {
    params: Params,
    measured: Measured,
    most: Most,
    /// When it began, which is when the pulse does; `None`: it has not.
    began: Option<Time>,
    next: Time,
    history: History,
    detector: Detector,
    reading: Option<Reading>,
    mode: Mode,
    switched: Option<Time>,
    competitive: Competitive,
    delay: Delay,
    coordination: Option<Box<Coordination>>,
    /// What the mode's controller wants, and what is sent.
    base: f64,
    rate: f64,
}

impl Nimbus {
    fn new(start: &Start, params: Params) -> Self {
        let line = start.line_rate.bps() as f64 / 8.0;
        let watch = params.watch();
        // History must reach back over the detector's window and one pulse before it.
        let remembered = usize::from(watch.window) + pulse_samples(&params);
        let coordination =
            params.coordination.then(|| Box::new(Coordination::new(&params, TICK.secs(), start.stream)));
        let mut made = Self {
            params,
            measured: Measured::new(start, &params),
            most: Most { rate: line, window: start.max_window.get().min(1 << 50) as f64 },
            began: None,
            next: Time::MAX,
            history: History::new(remembered),
            detector: Detector::new(watch),
            reading: None,
            mode: params.initial,
            switched: None,
            competitive: Competitive::new(start, &params),
            delay: Delay::new(&params),
            coordination,
            base: 0.0,
            rate: 0.0,
        };
        made.base = made.competing_rate();
        made.rate = made.base.min(line);
        made
    }

    /// The flow begins with its first packet.
    fn begin(&mut self, now: Time) {
        if self.began.is_none() {
            (self.began, self.next) = (Some(now), now.saturating_add(TICK));
        }
    }

    fn is_pulser(&self) -> bool {
        self.coordination.as_ref().is_none_or(|c| c.role() == Role::Pulser)
    }

    /// The competitive window in a round trip.
    fn competing_rate(&self) -> f64 {
        let rtt = if self.is_pulser() { self.measured.path.last } else { self.measured.path.smoothed };
        self.competitive.window() as f64 * self.measured.segment().overhead / rtt
    }

    /// Sets the sending rate: the base rate plus the pulse (§4.3.4), at least a twentieth of the link.
    fn set_rate(&mut self, now: Time) {
        let mu = self.measured.mu();
        let (true, Some(began)) = (self.is_pulser(), self.began) else { return };
        let phase = self.params.pulses(self.mode) * now.since(began).secs();
        let peak = self.params.pulse * mu;
        self.rate = (self.base + peak * pulse(phase)).max(FLOOR * mu).min(self.most.rate);
    }

    /// A tick: samples are recorded, the mode's controller sets the base rate, the detector chooses the mode.
    fn tick(&mut self, now: Time) {
        self.measured.on_tick();
        let measures = self.measured.counts();
        if measures {
            let (cross, received) = (self.measured.cross(), self.measured.flight().received);
            let rtt = self.measured.path.last;
            self.detector.push(cross, received, rtt);
            self.history.push(Sample { received, base: self.base, rtt });
        }
        self.steer(now);
        self.measured.begin();
        if measures {
            self.decide(now);
        }
        if let Some(watcher) = self.coordination.as_mut().filter(|c| c.role() == Role::Watcher) {
            self.rate = watcher.smooth(self.base).min(self.most.rate);
        }
        self.set_rate(now);
    }

    /// The mode's controller sets the base rate.
    fn steer(&mut self, now: Time) {
        let wanted = match self.mode {
            Mode::Competitive => self.competing_rate(),
            // Before anything is measured the rate is that of competitive mode.
            Mode::Delay if self.measured.flight().received == 0.0 => self.competing_rate(),
            Mode::Delay => self.delay.on_tick(&self.measured.seen(now)),
        };
        self.base = wanted.max(FLOOR * self.measured.mu());
    }

    fn decide(&mut self, now: Time) {
        let mu = self.measured.mu();
        let followed = self.follow(mu);
        let to = if self.is_pulser() {
            self.reading = self.detector.evaluate(self.params.pulses(self.mode), mu);
            self.reading.map(|reading| match reading.verdict {
                Verdict::Elastic => Mode::Competitive,
                Verdict::Inelastic => Mode::Delay,
            })
        } else {
            self.reading = None;
            followed
        };
        if let Some(to) = to.filter(|to| self.params.switching && *to != self.mode) {
            self.switch(now, to);
        }
    }

    /// For a watcher: the mode into which it follows its pulser, if any.
    fn follow(&mut self, mu: f64) -> Option<Mode> {
        let coordination = self.coordination.as_mut()?;
        let lines = self.detector.is_full().then(|| self.detector.lines(coordination.pulsers()));
        coordination.on_tick(&Sight {
            mode: self.mode,
            received: self.measured.flight().received,
            mu,
            cross: self.detector.mean_cross(),
            lines,
            window: self.detector.seconds(),
            tick: TICK.secs(),
        })
    }

    /// §4.4.1. The switch to competitive mode is immediate and restores the earlier rate; the switch to delay mode
    /// waits until the detector's window holds samples of one mode only.
    fn switch(&mut self, now: Time, to: Mode) {
        match to {
            Mode::Competitive => {
                let back = self.detector.samples();
                let pulse = pulse_samples(&self.params);
                let rate = match self.params.restores() {
                    params::Restores::Rate => self.history.mean(back, pulse, |s| s.base),
                    params::Restores::Received => self.history.mean(back, pulse, |s| s.received),
                };
                let rate = rate.unwrap_or(self.base);
                self.competitive
                    .take_up((rate * self.measured.path.last / self.measured.segment().overhead) as u64);
                self.base = self.competing_rate();
            }
            Mode::Delay => {
                if self.switched.is_some_and(|at| now.since(at) < self.params.hold) {
                    return;
                }
                let quarter = self.detector.samples() / 4;
                let mean = self.history.mean(0, quarter, |s| s.rtt).unwrap_or(self.measured.path.last);
                self.delay.enter(&self.measured.seen(now), self.base, mean);
            }
        }
        (self.mode, self.switched) = (to, Some(now));
    }
}

/// Ticks of a pulse.
fn pulse_samples(params: &Params) -> usize {
    libm::round(1.0 / (params.frequency * TICK.secs())) as usize
}

impl CongestionControl for Nimbus {
    fn on_open(&mut self, now: Time, rtt: Option<Span>, _: Feedback<'_>) {
        if let Some(rtt) = rtt {
            self.measured.on_open(rtt);
        }
        self.begin(now);
        self.base = self.competing_rate();
        self.set_rate(now);
    }

    fn on_sent(&mut self, now: Time, _: Bytes, _: Bytes) {
        self.begin(now);
        self.set_rate(now);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.measured.on_ack(ack);
        if self.mode == Mode::Competitive {
            self.competitive.on_ack(ack);
            self.base = self.competing_rate().max(FLOOR * self.measured.mu());
            self.set_rate(ack.now);
        }
    }

    /// A loss cuts the competitive window in either mode, but the rate only in competitive mode.
    fn on_loss(&mut self, loss: &Loss) {
        let least = Span::from_secs_f64(self.measured.path.least());
        self.competitive.on_loss(loss, least);
        if self.mode == Mode::Competitive {
            self.base = self.competing_rate().max(FLOOR * self.measured.mu());
            self.set_rate(loss.now);
        }
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.on_loss(loss);
    }

    fn on_restart(&mut self, now: Time, idle: Span) {
        if idle > SILENCE {
            self.detector.clear();
            self.history.clear();
        }
        self.set_rate(now);
    }

    fn on_tick(&mut self, now: Time) {
        if now < self.next {
            return;
        }
        self.tick(now);
        // Ticks that were missed are skipped.
        let passed = now.since(self.next).ps() / TICK.ps() + 1;
        self.next = self.next.saturating_add(TICK.saturating_mul(passed));
    }

    #[inline]
    fn permit(&self) -> Permit {
        let Segment { mss, overhead } = self.measured.segment();
        let flight = WINDOW * self.rate * self.measured.path.last / overhead;
        let window = flight.max(LEAST * mss).min(self.most.window).max(mss);
        let pace = Rate::from_bps(((self.rate * 8.0) as u64).max(1));
        let wake = self.began.map(|_| self.next);
        Permit { window: Bytes::new(window as u64), pace: Some(pace), wake }
    }

    fn report(&self, report: &mut Report) {
        self.measured.report(report);
        let flag = |is: bool| f64::from(u8::from(is));
        let eta = "how elastic the cross traffic is (equation 4.3); null: not evaluated yet, or a watcher";
        report.add("eta", "", eta, self.reading.map(|reading| reading.eta));
        let elastic = "1: the detector takes the cross traffic for elastic; null: not evaluated";
        report.add(
            "elastic",
            "",
            elastic,
            self.reading.map(|reading| flag(reading.verdict == Verdict::Elastic)),
        );
        let competes = "1: it competes with flows that fill queues; 0: it keeps delays low";
        report.add("competes", "", competes, flag(self.mode == Mode::Competitive));
        report.add("pulses", "", "1: it pulses; 0: it watches one that does", flag(self.is_pulser()));
        report.add("base_rate", "b/s", "rate on the wire, without the pulse", 8.0 * self.base);
    }
}

#[cfg(test)]
mod tests;
