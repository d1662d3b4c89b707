//! PIE as the Mahimahi emulator has it (Netravali et al., USENIX ATC 2015; `src/packet/pie_packet_queue.cc`,
//! after a draft of RFC 8033): integers in milliseconds, the gains of seconds applied to them and divided by
//! 128, 32 or 16 only. One update of 30 ms can take the probability from 0 to 1, and bursts are allowed again
//! only after a quiet time.

use super::{MS, Params};
use crate::stage::View;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// DQ_THRESHOLD, bytes.
const THRESHOLD: u64 = 16_384;

/// Its state; times in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Emulated {
    target: u64,
    update: u64,
    max_burst: u64,
    alpha: f64,
    beta: f64,
    burst: u64,
    /// Delay now, and at the last update.
    delay: u64,
    old: u64,
    /// Bytes that have left in the measurement that runs, and when it began.
    measures: Option<(u64, u64)>,
    /// Of departures, bytes per millisecond; 0: unknown.
    rate: u64,
    updated: u64,
    /// Milliseconds are counted from the first packet.
    begun: Option<Time>,
}

impl Emulated {
    pub(super) fn new(p: &Params) -> Self {
        Self {
            target: p.target.ps() / MS,
            update: (p.update().ps() / MS).max(1),
            max_burst: p.burst.ps() / MS,
            alpha: p.alpha,
            beta: p.beta,
            burst: 0,
            delay: 0,
            old: 0,
            measures: None,
            rate: 0,
            updated: 0,
            begun: None,
        }
    }

    fn ms(&mut self, now: Time) -> u64 {
        now.since(*self.begun.get_or_insert(now)).ps() / MS
    }

    pub(super) fn bursts(&self) -> bool {
        self.burst > 0
    }

    pub(super) fn is_calm(&self) -> bool {
        self.old < self.target / 2
    }

    /// A packet has left `view` behind.
    pub(super) fn on_departure(&mut self, probability: &mut f64, now: Time, view: &View) {
        let at = self.ms(now);
        let long = view.bytes >= THRESHOLD;
        if long && self.measures.is_none() {
            self.measures = Some((0, at));
        }
        if let Some((bytes, since)) = &mut self.measures {
            *bytes += u64::from(view.wire);
            let took = at - *since;
            if *bytes > THRESHOLD && took > 0 {
                let sample = *bytes / took;
                self.rate = if self.rate == 0 { sample } else { self.rate - self.rate / 8 + sample / 8 };
                self.measures = long.then_some((0, at));
                self.burst = self.burst.saturating_sub(took);
            }
        }
        self.catch_up(probability, now, view.bytes);
    }

    /// All updates that were due before `now`, with `bytes` waiting.
    pub(super) fn catch_up(&mut self, probability: &mut f64, now: Time, bytes: u64) {
        let now = self.ms(now);
        while now - self.updated > self.update {
            let before = (*probability, self.burst, self.delay, self.old);
            self.calculate(probability, bytes);
            self.updated += self.update;
            if before == (*probability, self.burst, self.delay, self.old) {
                // Nothing will change until something happens.
                self.updated += (now - self.updated).saturating_sub(1) / self.update * self.update;
            }
        }
    }

    fn calculate(&mut self, probability: &mut f64, bytes: u64) {
        self.old = self.delay;
        self.delay = bytes.checked_div(self.rate).unwrap_or(0);
        let mut decays = self.delay > 0 || bytes == 0;
        let apart = |a: u64, b: u64| a as f64 - b as f64;
        let step = self.alpha * apart(self.delay, self.target) + self.beta * apart(self.delay, self.old);
        *probability += step
            / match *probability {
                p if p < 0.01 => 128.0,
                p if p < 0.1 => 32.0,
                _ => 16.0,
            };
        decays &= *probability <= 1.0;
        *probability = probability.clamp(0.0, 1.0);
        if self.delay == 0 && self.old == 0 && decays {
            *probability *= 0.98;
        }
        self.burst = self.burst.saturating_sub(self.update);
        let quiet = *probability == 0.0 && self.delay < self.target / 2 && self.is_calm();
        if quiet && self.rate > 0 {
            (self.measures, self.rate, self.burst) = (None, 0, self.max_burst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::behind;
    use super::*;
    use thalweg_units::Span;

    fn emulated() -> Emulated {
        let (target, burst) = (Span::from_ms(50), Span::from_ms(100));
        let variant = super::super::Variant::Mahimahi;
        let p = Params { variant, target, burst, ..Params::default() };
        Emulated { begun: Some(Time::ZERO), ..Emulated::new(&p) }
    }

    #[test]
    fn an_update_or_two_take_the_probability_from_nothing_to_certainty() {
        let (mut m, mut p) = (emulated(), 0.0);
        m.rate = 1000; // 8 Mb/s
        // 100 KB are 100 ms: (0.125 · 50 + 1.25 · 100) / 128 is more than 1.
        m.catch_up(&mut p, Time::from_ms(30), 100_000);
        assert_eq!(p, 0.0, "not before the thirtieth millisecond is over");
        m.catch_up(&mut p, Time::from_ms(31), 100_000);
        assert_eq!(p, 1.0);
        // 20 KB are 20 ms: (−0.125 · 30 − 1.25 · 80) / 16.
        m.catch_up(&mut p, Time::from_ms(61), 20_000);
        assert_eq!(p, 0.0);
    }

    #[test]
    fn the_rate_is_measured_over_sixteen_kilobytes_and_averaged_over_eight() {
        let (mut m, mut p) = (emulated(), 0.0);
        // 1500 B per 2 ms.
        for n in 0..12 {
            m.on_departure(&mut p, Time::from_ms(2 * n), &behind(20, 30_000, 1500));
        }
        // Eleven packets are 16 500 B in 20 ms.
        assert_eq!(m.rate, 825);
        for n in 12..24 {
            m.on_departure(&mut p, Time::from_ms(24 + 4 * (n - 12)), &behind(20, 30_000, 1500));
        }
        // The twelfth began the next measurement at 20 ms: 16 500 B by 60 ms are 412; 825 − 103 + 51.
        assert_eq!(m.rate, 773);
    }

    #[test]
    fn bursts_are_allowed_after_a_quiet_time() {
        let (mut m, mut p) = (emulated(), 0.0);
        assert!(!m.bursts());
        m.rate = 800;
        m.catch_up(&mut p, Time::from_ms(31), 0);
        assert!(m.bursts() && m.rate == 0);
        m.catch_up(&mut p, Time::from_ms(10_000), 0);
        assert!(!m.bursts() && m.is_calm());
        assert!(m.updated < 10_000 && m.updated >= 9970, "{}", m.updated);
    }
}
