//! NSCC: network-signalled congestion control of the sender (Ultra Ethernet 1.0, §3.6.13).
//!
//! Two signals, queueing delay and marks, are read as four quadrants: without a mark the window grows, in proportion
//! to what is missing to the target delay, or, beyond that, by a constant ("fair"); with a mark and much delay it
//! shrinks, by the average delay, at most once in a round trip; with a mark and little delay the collision is a
//! local one, which another path avoids: the window stays. When packets are trimmed and little arrives, it becomes
//! what has arrived in the last round trip (*quick adapt*).
//!
//! ```text
//! CHOICE UET §3.6.13: constants and the order of the steps as in the consortium's simulator
//! (ultraethernet/uet-htsim); the specification's text was not at hand. What others who have read it do differently:
//!  - weight of the average delay 0.25 instead of 0.0125 (`weight`);
//!  - a round trip lowers the shortest one only if it is shorter by 1 us, and 1 us is put on top (`slack`);
//!  - without trimming it is the average delay that lets the window adapt quickly, with it trimmed packets alone.
//! CHOICE UET §3.6.13: in a sample of an unmarked packet with more delay than the target, a quarter of the shortest
//! round trip enters the average; a NACK enters a whole one.
//! CHOICE uet-htsim: window, average and increase are whole numbers, cut after every step. The sum of the increase is
//! 64 bits wide: there 32, which it exceeds in ordinary runs at 800 Gb/s (never in the runs that tests replay).
//! ```

use super::fast::Fast;
use super::shortest::Shortest;
use super::{Acked, Common, Nacked};
use crate::problems::{Invalid, Problems};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Time};

/// NSCC's parameters. Where a gain is in packets, a packet counts with its payload bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NsccSpec {
    /// Target queueing delay.
    pub target: Span,
    /// Initial and largest window, in bandwidth-delay products: link rate times shortest round trip.
    pub window: f64,
    /// γ: a decrease removes γ · (average delay − target) / average delay of the window.
    pub gamma: f64,
    /// A decrease leaves at least this fraction of the window.
    pub floor: f64,
    /// Weight of the newest sample in the average delay.
    pub weight: f64,
    /// Fair increase: packets per acknowledged window.
    pub fair: f64,
    /// Proportional increase: packets per acknowledged window and per second by which the delay is below the target.
    pub proportional: f64,
    /// η: packets added per period in any case.
    pub steady: f64,
    /// Fast increase: bytes per byte that is acknowledged without delay.
    pub fast: f64,
    /// Queueing delays below this count as none.
    pub low_delay: Span,
    /// Quick adapt applies only if less has arrived in the last round than the largest window divided by this.
    pub gate: u64,
    /// Quick adapt: a delay above this multiple of the target counts as a loss.
    pub quick_delay: u64,
    /// Accumulated increases are applied after this many packets,
    pub adjust_after: u32,
    /// or after this time.
    pub period: Span,
    /// A new shortest round trip must be shorter by more than this, and this is added to it.
    pub slack: Span,
}

impl NsccSpec {
    /// The defaults for a network with this base round trip and link rate; `trims`: its switches trim.
    // Gains are in proportion to what the link carries in a round trip, 1 for 100 Gb/s and 12 us.
    pub fn of(base_rtt: Span, rate: Rate, trims: bool) -> Self {
        let scale = base_rtt.ps() as f64 * rate.bps() as f64 / 8e12 / 150_000.0;
        let target = if trims { Span::from_ps(base_rtt.ps() * 3 / 4) } else { base_rtt };
        Self {
            target,
            window: 1.5,
            gamma: 0.8,
            floor: 0.5,
            weight: 0.0125,
            fair: 5.0 * scale,
            proportional: 4.0 * scale / 12e-6,
            steady: 0.15 * scale,
            fast: 0.25 * scale,
            low_delay: Span::from_us(1),
            gate: 8,
            quick_delay: 4,
            adjust_after: 8,
            period: base_rtt,
            slack: Span::ZERO,
        }
    }

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let mut problems = Problems::default();
        problems.positive("target", self.target, "7us");
        problems.share("weight", self.weight);
        problems.fraction("gamma", self.gamma);
        problems.fraction("floor", self.floor);
        let gains = [
            ("window", self.window, f64::MIN_POSITIVE),
            ("fair", self.fair, 0.0),
            ("proportional", self.proportional, 0.0),
            ("steady", self.steady, 0.0),
            ("fast", self.fast, 0.0),
        ];
        for (key, gain, least) in gains {
            if !(least..f64::INFINITY).contains(&gain) {
                problems.wrong(key, format!("{gain} is out of range"), "allowed: finite, not negative");
            }
        }
        if self.gate == 0 {
            problems.wrong("gate", "0 divides nothing", "allowed: at least 1");
        }
        problems.first("NSCC")
    }

    pub(super) fn make(&self, c: &Common) -> Nscc {
        let shortest = Shortest::new(c, self.window);
        Nscc {
            common: *c,
            shortest,
            size: shortest.clamp(c, shortest.most()),
            average: Span::ZERO,
            last_decrease: Time::ZERO,
            increase: Increase::default(),
            fast: Fast::default(),
            quick: Quick::default(),
        }
    }
}

/// One flow's window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nscc {
    common: Common,
    shortest: Shortest,
    size: u64,
    /// Average queueing delay.
    average: Span,
    last_decrease: Time,
    increase: Increase,
    fast: Fast,
    quick: Quick,
}

/// What the window is to grow by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Increase {
    /// Square bytes: divided by the window when it is added.
    sum: u64,
    /// Bytes acknowledged since it was.
    received: u64,
    /// Since when a period runs.
    last: Time,
}

impl Increase {
    #[inline]
    fn add(&mut self, square_bytes: f64) {
        self.sum = (self.sum as f64 + square_bytes) as u64;
    }
    #[inline]
    fn clear(&mut self) {
        (self.sum, self.received) = (0, 0);
    }
}

/// Quick adapt's accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Quick {
    /// Bytes that arrived in this round.
    achieved: u64,
    /// Bytes that came back, whole or trimmed, since it adapted,
    ignored: u64,
    /// and how many were in the network then: what they bring is of the window before.
    to_ignore: u64,
    /// When this round is over; zero: there was none.
    end: Time,
    /// Something was trimmed.
    triggered: bool,
}

impl Nscc {
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size
    }
    pub(super) fn most(&self) -> u64 {
        self.shortest.most()
    }
    pub(super) fn base_rtt(&self) -> Span {
        self.shortest.rtt()
    }

    pub(super) fn on_ack(&mut self, spec: &NsccSpec, ack: &Acked) {
        self.quick.achieved += ack.new;
        self.quick.ignored += ack.new;
        self.increase.received += ack.new;
        let delay = self.measure(spec, ack);
        let late = delay.ps() > spec.quick_delay * spec.target.ps();
        if self.adapts(spec, ack.now, ack.marked, late, ack.in_flight) {
            return;
        }
        match (ack.marked, delay >= spec.target) {
            (false, true) => self.fair_increase(spec, ack.new),
            (false, false) => self.proportional_increase(spec, ack.new, delay),
            (true, true) => self.multiplicative_decrease(spec, ack.now),
            (true, false) => {} // another path
        }
        self.clamp();
        self.fulfil(spec, ack.now);
        self.clamp();
    }

    pub(super) fn on_nack(&mut self, spec: &NsccSpec, nack: &Nacked) {
        if let Some(rtt) = nack.rtt {
            self.shortest.lower(&self.common, rtt, spec.slack, spec.window);
        }
        self.quick.ignored += u64::from(nack.bytes);
        self.learn(spec, self.common.base_rtt);
        self.quick.triggered = true;
        if !self.adapts(spec, nack.now, true, true, nack.in_flight) && !nack.spares {
            self.size = self.size.saturating_sub(u64::from(nack.bytes));
            self.clamp();
        }
    }

    pub(super) fn on_timeout(&mut self, _: &NsccSpec, bytes: u32) {
        self.size = self.size.saturating_sub(u64::from(bytes)).max(u64::from(self.common.mtu));
    }

    /// The queueing delay of an ACK's packet; the average, if it is not known.
    #[inline]
    fn measure(&mut self, spec: &NsccSpec, ack: &Acked) -> Span {
        let Some(sample) = ack.rtt else { return self.average };
        if sample.lowers_base {
            self.shortest.lower(&self.common, sample.rtt, spec.slack, spec.window);
        }
        let Some(delay) = self.shortest.delay(sample.rtt) else { return self.average };
        let outlier = !ack.marked && delay > spec.target;
        self.learn(spec, if outlier { self.shortest.rtt() / 4 } else { delay });
        delay
    }

    #[inline]
    fn learn(&mut self, spec: &NsccSpec, delay: Span) {
        let (old, new) = (self.average.ps() as f64, delay.ps() as f64);
        self.average = Span::from_ps((spec.weight * new + (1.0 - spec.weight) * old) as u64);
    }

    /// Quick adapt: the window becomes what has arrived; until what was in the network then has come back, signals
    /// are ignored. Whether either is so.
    #[inline]
    fn adapts(&mut self, spec: &NsccSpec, now: Time, marked: bool, bad: bool, in_flight: u64) -> bool {
        let quick = &mut self.quick;
        if quick.ignored < quick.to_ignore && marked {
            self.increase.clear();
            return true;
        }
        if now <= quick.end {
            return false;
        }
        let little = quick.achieved < self.shortest.most() / spec.gate;
        let adapts = quick.end != Time::ZERO && (quick.triggered || bad) && little;
        if adapts {
            self.size = quick.achieved.max(u64::from(self.common.mtu));
            (quick.to_ignore, quick.ignored, quick.triggered) = (in_flight, 0, false);
            self.increase.clear();
        }
        quick.achieved = 0;
        quick.end = now + self.shortest.rtt() + spec.target;
        adapts
    }

    #[inline]
    fn fair_increase(&mut self, spec: &NsccSpec, new: u64) {
        self.increase.add(spec.fair * f64::from(self.common.payload) * new as f64);
    }

    #[inline]
    fn proportional_increase(&mut self, spec: &NsccSpec, new: u64, delay: Span) {
        if delay < spec.low_delay {
            if let Some(size) = self.fast.grow(self.size, new, spec.fast) {
                self.size = size;
                return;
            }
        } else {
            self.fast.stop();
        }
        let gain = spec.proportional * f64::from(self.common.payload) / 1e12;
        self.increase.add(gain * new as f64 * (spec.target - delay).ps() as f64);
    }

    #[inline]
    fn multiplicative_decrease(&mut self, spec: &NsccSpec, now: Time) {
        self.fast.stop();
        if self.average > spec.target && now.since(self.last_decrease) > self.shortest.rtt() {
            let excess = (self.average - spec.target) / self.average;
            self.size = (self.size as f64 * (1.0 - spec.gamma * excess).max(spec.floor)) as u64;
            self.last_decrease = now;
        }
    }

    /// Adds what increases have summed up, if it is time.
    #[inline]
    fn fulfil(&mut self, spec: &NsccSpec, now: Time) {
        let enough = u64::from(spec.adjust_after) * u64::from(self.common.mtu);
        let passed = now.since(self.increase.last);
        if self.increase.received <= enough && passed <= spec.period {
            return;
        }
        self.size += self.increase.sum / self.size;
        if passed >= spec.period {
            self.size = (self.size as f64 + spec.steady * f64::from(self.common.payload)) as u64;
            self.increase.last = now;
        }
        self.increase.clear();
    }

    #[inline]
    fn clamp(&mut self) {
        self.size = self.shortest.clamp(&self.common, self.size);
    }

    /// What a trace shows after a step: shortest round trip, average delay, sum of increases, largest window, window
    /// before and after it.
    #[cfg(test)]
    pub(super) fn row(&self, before: u64) -> [u64; 6] {
        let (base, average) = (self.shortest.rtt().ps(), self.average.ps());
        [base, average, self.increase.sum, self.shortest.most(), before, self.size]
    }
}
