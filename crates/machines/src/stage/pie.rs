//! PIE: proportional integral controller enhanced. Pan, Natarajan, Baker, White, RFC 8033, 2017: packets are
//! dropped as they arrive with a probability that follows the queueing delay and its trend. §4, with the
//! queueing delay of the last packet that left (§4.2's time stamps), and of §5 ECN (§5.1), the cap of the
//! adjustment (§5.5) and derandomisation (§5.4) as options. Names and numbers are those of the RFC. The
//! Mahimahi emulator's arithmetic is in `pie/mahimahi.rs`.
//!
//! ```text
//! CHOICE RFC 8033 §5.2: delay is that of the last packet that left, by its time stamp, and zero once nothing
//! waits. Other reading: the queue divided by an estimated rate of departures, for hardware without time
//! stamps.
//! CHOICE RFC 8033 §5.3: PIE is always on. Other reading: it turns itself on when a third of the buffer is
//! used, and off again.
//! CHOICE RFC 8033 §5.4: what is dropped because the buffer is full does not start the accumulated
//! probability anew, as a stage is not notified of it.
//! CHOICE RFC 8033 §5.1: at mark_ecnth itself packets are dropped. Other reading: marked, as in Linux.
//! ```
//!
//! The probability is brought up to date, for all updates that were due, before anything that depends on it
//! happens: no timers.

mod mahimahi;

use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::problems::Invalid;
use mahimahi::Emulated;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Which implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// RFC 8033.
    #[default]
    Rfc8033,
    /// The Mahimahi emulator's: delays and rates in whole milliseconds, to which gains meant for seconds are applied,
    /// and a delay estimated from the departure rate. In effect it drops everything or nothing.
    Mahimahi,
}

/// PIE: drops as packets arrive, with a probability that follows the queueing delay and its trend (RFC 8033).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which implementation.
    pub variant: Variant,
    /// QDELAY_REF: target queueing delay.
    pub target: Span,
    /// T_UPDATE: interval between updates of the probability. If not given, 15 ms (the emulator's: 30 ms).
    pub update: Option<Span>,
    /// MAX_BURST: burst allowance, the time for which a queue that was short may be long without drops.
    pub burst: Span,
    /// alpha, per second: integral gain, the weight of the delay's distance from the target.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub alpha: f64,
    /// beta, per second: proportional gain, the weight of the delay's change since the last update.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub beta: f64,
    /// MEAN_PKTSIZE: nothing is dropped while at most two packets of this size wait (the emulator's: fewer than two).
    pub mean_packet: Bytes,
    /// A probability of 0.1 or more rises by at most 0.02 per update (§5.5).
    pub gradual: bool,
    /// Derandomisation (§5.4): no drop before the probabilities since the last one add up to 0.85, and always a drop
    /// from 8.5 on.
    pub derandomize: bool,
    /// Marks ECN-capable packets instead of dropping them. If not given, it does so if a transport is ECN-capable.
    pub ecn: Option<bool>,
    /// mark_ecnth: at or above this drop probability ECN-capable packets are dropped, too (§5.1).
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub ecn_threshold: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            target: Span::from_ms(15), // RFC 8033 §4.2
            update: None,
            burst: Span::from_ms(150), // RFC 8033 §4.4
            alpha: 0.125,              // RFC 8033 §4.2
            beta: 1.25,
            mean_packet: Bytes::new(1500), // one full Ethernet payload
            gradual: true,
            derandomize: false,
            ecn: None,
            ecn_threshold: 0.1, // RFC 8033 §5.1
        }
    }
}

impl Params {
    fn update(&self) -> Span {
        let usual = match self.variant {
            Variant::Rfc8033 => Span::from_ms(15), // RFC 8033 §4.2
            Variant::Mahimahi => Span::from_ms(30),
        };
        self.update.unwrap_or(usual)
    }
}

impl Parameters for Params {
    type Machine = Pie;

    fn acts(&self) -> Acts {
        if self.ecn == Some(false) { Acts::Drops } else { Acts::MarksOrDrops }
    }

    fn resolve(&mut self, ecn_capable: bool) {
        self.update = Some(self.update());
        self.ecn.get_or_insert(ecn_capable && self.variant == Variant::Rfc8033);
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        problems.positive("target", self.target, "15ms");
        problems.positive("update", self.update(), "15ms");
        for (key, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(0.0..=1000.0).contains(&value) {
                problems.wrong(key, format!("{value} is out of range"), "allowed: 0 to 1000");
            }
        }
        problems.fraction("ecn_threshold", self.ecn_threshold);
        let size = |size| format!("a packet of {size} is impossible");
        problems.size("mean_packet", self.mean_packet, size, "1500B");
        if self.ecn == Some(true) && !at.ecn_capable {
            let why = "no transport is ECN-capable, packets are dropped";
            problems.useless("ecn", why, "write false, or `transport.ecn = \"classic\"`");
        }
        if self.variant == Variant::Mahimahi {
            let why = "the emulator's PIE has no such rule";
            for (key, set) in [("ecn", self.ecn == Some(true)), ("derandomize", self.derandomize)] {
                if set {
                    problems.useless(key, why, "write false, or `variant = \"rfc8033\"`");
                }
            }
            for (key, span) in [("target", self.target), ("update", self.update()), ("burst", self.burst)] {
                if span.ps() % MS != 0 {
                    problems.wrong(
                        key,
                        "the emulator's PIE counts whole milliseconds",
                        "for example \"30ms\"",
                    );
                }
            }
        }
    }

    fn make(&self, stream: Stream, _: Rate) -> Result<Pie, Invalid> {
        let law = match self.variant {
            Variant::Rfc8033 => Law::Rfc(Rfc::new(self)),
            Variant::Mahimahi => Law::Emulated(Emulated::new(self)),
        };
        Ok(Pie { p: *self, law, probability: 0.0, accumulated: 0.0, stream })
    }

    /// Times are so short that test sequences of microseconds see drops.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self {
            target: Span::from_us(1),
            update: Some(Span::from_us(2)),
            burst: Span::from_us(4),
            alpha: 1000.0,
            beta: 1000.0,
            mean_packet: Bytes::new(500),
            ..Self::default()
        };
        let gentle = Self { ecn: Some(true), derandomize: true, gradual: false, ..short };
        let emulated = Self {
            variant: Variant::Mahimahi,
            target: Span::from_ms(1),
            update: Some(Span::from_ms(1)),
            burst: Span::from_ms(1),
            ecn: Some(false),
            ..short
        };
        vec![Self { ecn: Some(false), ..short }, gentle, emulated]
    }
}

const MS: u64 = 1_000_000_000;

/// PIE at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pie {
    p: Params,
    law: Law,
    /// drop_prob_.
    probability: f64,
    /// accu_prob_.
    accumulated: f64,
    stream: Stream,
}

/// How the probability changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Law {
    Rfc(Rfc),
    Emulated(Emulated),
}

/// RFC 8033's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Rfc {
    update: Span,
    /// When the next update is due; `None`: nothing has come yet.
    next: Option<Time>,
    /// current_qdelay_ as of now: what the last packet that left had waited, nothing if it left nothing behind.
    delay: Span,
    /// qdelay_old_.
    old: Span,
    /// burst_allowance_.
    burst: Span,
}

impl Rfc {
    fn new(p: &Params) -> Self {
        Self { update: p.update(), next: None, delay: Span::ZERO, old: Span::ZERO, burst: p.burst }
    }

    /// All updates that were due up to `now`.
    // CHOICE RFC 8033 §4.2: the clock of updates begins with the port's first packet, so that results do not
    // depend on when that is.
    fn catch_up(&mut self, p: &Params, probability: &mut f64, now: Time) {
        let mut next = self.next.unwrap_or(now.saturating_add(self.update));
        while next <= now {
            let before = (*probability, self.burst);
            self.calculate(p, probability);
            next = next.saturating_add(self.update);
            let rests = self.delay.is_zero() && self.old.is_zero() && before == (*probability, self.burst);
            if rests && next <= now {
                // Nothing changes until the next event.
                let missed = now.since(next).ps() / self.update.ps() + 1;
                next = next.saturating_add(self.update.saturating_mul(missed));
            }
        }
        self.next = Some(next);
    }

    /// §4.2 and §4.4, step 2.
    fn calculate(&mut self, p: &Params, probability: &mut f64) {
        let (delay, old) = (self.delay.secs(), self.old.secs());
        let mut step = p.alpha * (delay - p.target.secs()) + p.beta * (delay - old);
        step /= match *probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        if p.gradual && *probability >= 0.1 {
            step = step.min(0.02);
        }
        *probability += step;
        if self.delay.is_zero() && self.old.is_zero() {
            *probability *= 0.98;
        }
        *probability = probability.clamp(0.0, 1.0);
        let short = |span: Span| span < p.target / 2;
        if *probability == 0.0 && short(self.delay) && short(self.old) {
            self.burst = p.burst;
        }
        self.burst = self.burst.saturating_sub(self.update);
        self.old = self.delay;
    }
}

impl Pie {
    fn catch_up(&mut self, now: Time, bytes: u64) {
        match &mut self.law {
            Law::Rfc(law) => law.catch_up(&self.p, &mut self.probability, now),
            Law::Emulated(law) => law.catch_up(&mut self.probability, now, bytes),
        }
    }

    /// drop_early() (§4.1, §5.4) for a packet that finds `bytes` waiting.
    fn drops(&mut self, bytes: u64) -> bool {
        let couple = 2 * self.p.mean_packet.get();
        let (bursts, calm, short) = match &self.law {
            Law::Rfc(law) => (!law.burst.is_zero(), law.old < self.p.target / 2, bytes <= couple),
            Law::Emulated(law) => (law.bursts(), law.is_calm(), bytes < couple),
        };
        if bursts || (calm && self.probability < 0.2) || short {
            return false;
        }
        if self.p.derandomize {
            self.accumulated =
                if self.probability == 0.0 { 0.0 } else { self.accumulated + self.probability };
            if self.accumulated < 0.85 {
                return false;
            }
        }
        let certain = self.p.derandomize && self.accumulated >= 8.5;
        let drops = certain || (self.probability > 0.0 && self.stream.unit() < self.probability);
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }
}

impl HeaderStage for Pie {
    fn needs(&self) -> Needs {
        Needs { departures: true, wait: self.p.variant == Variant::Rfc8033, ..Needs::default() }
    }

    fn on_arrival(&mut self, now: Time, view: &View, packet: &Packet) -> Arrival {
        self.catch_up(now, view.bytes);
        if !self.drops(view.bytes) {
            Arrival::Admit
        } else if self.p.ecn == Some(true)
            && packet.ecn != Ecn::NotEct
            && self.probability < self.p.ecn_threshold
        {
            Arrival::Mark
        } else {
            Arrival::Drop
        }
    }

    fn on_departure(&mut self, now: Time, view: &View, _packet: Leaving) -> Leave {
        match &mut self.law {
            Law::Rfc(law) => {
                law.catch_up(&self.p, &mut self.probability, now);
                law.delay = if view.packets == 0 { Span::ZERO } else { view.waited };
            }
            Law::Emulated(law) => law.on_departure(&mut self.probability, now, view),
        }
        Leave::Pass
    }
}

#[cfg(test)]
mod tests;
