//! Elastic or not: a line at the pulse's frequency in the spectrum of the cross traffic. Goyal 2022, §4.3.3 and
//! §4.3.4, equation 4.3: η is the magnitude at the pulse's frequency against the largest of its neighbours, up to
//! its second harmonic. Guards against what a metric of ratios cannot tell are those of the authors' published
//! implementation, but for the last (§4.6 requires it and gives no test).

use super::spectrum::{Band, Spectrum};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Where the spectrum is looked at, and what η means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetectorSpec {
    /// N, samples.
    pub window: u16,
    /// Distance of samples, s.
    pub spacing: f64,
    /// The lowest and the highest frequency of pulses, Hz.
    pub pulses: Band,
    /// ε: distance of the neighbours' band above the pulse's frequency, Hz.
    pub guard_band: f64,
    /// The line is the largest bin within half a hertz of the pulse's frequency, for windows that do not hold
    /// whole periods. Otherwise its own bin.
    pub search: bool,
    /// The cross traffic's samples are moved by two of the sender's round trips, as long as they were then.
    pub align: bool,
    /// What a new η counts, of the smoothed one; 1: it is not smoothed.
    pub gain: f64,
    /// From this η on traffic is elastic.
    pub elastic_from: f64,
    /// Below this η it is not; in between it is what it was.
    pub inelastic_below: f64,
    /// What η is not believed in.
    pub guards: Guards,
}

/// What η is not believed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guards {
    /// G1: cross traffic of less than a tenth of the link is none. With smoothing: one of more than nine tenths pushes
    /// towards elastic.
    pub little: bool,
    /// G2: a response of less than a quarter of the sender's own line is too small to be one.
    pub faint: bool,
    /// G3: where the sender's own pulse does not arrive, the traffic may well be elastic.
    pub hidden: bool,
    /// G4: with less than a twelfth of the link the pulse cannot be sent (§4.6): elastic.
    pub share: bool,
}

impl Guards {
    /// None of them.
    pub const NONE: Self = Self { little: false, faint: false, hidden: false, share: false };
}

impl DetectorSpec {
    /// As the thesis has it: five seconds, so that 5 Hz is a bin; no smoothing; two.
    pub const PAPER: Self = Self {
        window: 500,                 // §4.3.4: T_FFT = 5 s, statistics every 10 ms
        spacing: 0.01,               // §4.7
        pulses: Band::new(5.0, 5.0), // §4.3.3
        guard_band: 0.5,             // §4.3.3
        search: false,
        align: false,
        gain: 1.0,
        elastic_from: 2.0, // §4.3.4
        inelastic_below: 2.0,
        guards: Guards { little: true, faint: true, hidden: false, share: true },
    };

    /// As the authors' published implementation has it; needed where several flows take part.
    // CHOICE: it reports every 5 ms and weighs a new η with 0.01; here samples and decisions are 10 ms apart, so 0.02.
    pub const ARTIFACT: Self = Self {
        window: 512,
        spacing: 0.01,
        pulses: Band::new(5.0, 6.0), // §4.4.2
        guard_band: 1.5,
        search: true,
        align: true,
        gain: 0.02,
        elastic_from: 2.25,
        inelastic_below: 2.0,
        guards: Guards { little: true, faint: true, hidden: true, share: true },
    };

    /// The bands that are looked at, both ends included.
    fn kept(&self) -> Band {
        Band::new(self.pulses.from - HALF, 2.0 * self.pulses.to - HALF)
    }
}

/// Half the width of the search for a line, and the distance that neighbours keep from the second harmonic, Hz.
const HALF: f64 = 0.5;
/// G1: parts of the link.
const LITTLE: f64 = 0.1;
const NEARLY_ALL: f64 = 0.9;
/// G1, where it pushes: an η that is elastic beyond doubt.
const SURELY: f64 = 6.0;
/// G2: part of the sender's own line, and the largest η of a response that is fainter.
const FAINT: f64 = 0.25;
const FAINT_ETA: f64 = 3.0;
/// G3: the sender's own line against its neighbours, and the η that is believed in instead.
const HIDDEN: f64 = 2.0;
const HIDDEN_ETA: f64 = 3.0;
/// G4: part of the link (§4.6), and the time constant over which it is measured, s.
const SHARE: f64 = 1.0 / 12.0;
const SHARE_OVER: f64 = 1.0;
/// What a quotient by nothing is.
const MOST: f64 = 1e6;
/// Samples by which those that are to be aligned are late: a second, for two round trips.
const LATE: usize = 100;

/// What the cross traffic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Some of it takes the bandwidth that is left.
    Elastic,
    /// None of it does.
    Inelastic,
}

/// An evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// η, after G2.
    pub eta: f64,
    /// η as it is decided upon: smoothed, if it is, with what G1 and G3 add.
    pub smoothed: f64,
    /// Mean of ẑ over the last quarter of the window, B/s.
    pub cross: f64,
    /// |Z| and |R| at the pulse's frequency, samples × B/s: several pulsers show in their quotient (§4.4.2).
    pub line: (f64, f64),
    /// The decision.
    pub verdict: Verdict,
}

/// A window of ẑ and R, and what it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detector {
    spec: DetectorSpec,
    cross: Spectrum,
    received: Spectrum,
    /// ẑ, R and the round trip (s) of the last second, oldest first, where they are to be aligned.
    late: VecDeque<(f64, f64, f64)>,
    /// R over the last second.
    share: f64,
    smoothed: f64,
    verdict: Verdict,
}

impl Detector {
    /// An empty window; until it decides, traffic is elastic.
    pub fn new(spec: DetectorSpec) -> Self {
        let window = usize::from(spec.window);
        let spectrum = Spectrum::new(window, spec.spacing, spec.kept());
        Self {
            spec,
            cross: spectrum.clone(),
            received: spectrum,
            late: VecDeque::new(),
            share: 0.0,
            smoothed: 1.0,
            verdict: Verdict::Elastic,
        }
    }

    /// A sample: ẑ and R in B/s, and the round trip in seconds.
    pub fn push(&mut self, cross: f64, received: f64, rtt: f64) {
        self.share += (received - self.share) * (self.spec.spacing / SHARE_OVER);
        if !self.spec.align {
            self.cross.push(cross);
            self.received.push(received);
            return;
        }
        self.late.push_back((cross, received, rtt));
        if self.late.len() > LATE {
            let lag = 2 * libm::floor(self.late[0].2 / self.spec.spacing).clamp(0.0, LATE as f64) as usize;
            self.cross.push(self.late[lag.min(LATE)].0);
            self.received.push(self.late[0].1);
            self.late.pop_front();
        }
    }

    /// Begins anew: what was sent since was not the controller's doing.
    pub fn clear(&mut self) {
        self.cross.clear();
        self.received.clear();
        self.late.clear();
    }

    /// N.
    pub fn samples(&self) -> usize {
        usize::from(self.spec.window)
    }

    /// The window's length, s.
    pub fn seconds(&self) -> f64 {
        f64::from(self.spec.window) * self.spec.spacing
    }

    /// The largest |Z| and |R| in a band.
    pub fn lines(&self, band: Band) -> (f64, f64) {
        (self.cross.above(band), self.received.above(band))
    }

    /// The window holds N samples.
    pub fn is_full(&self) -> bool {
        self.cross.is_full()
    }

    /// Mean of ẑ over the last quarter of the window, B/s.
    pub fn mean_cross(&self) -> f64 {
        let quarter = usize::from(self.spec.window) / 4;
        let (sum, count) = self.cross.recent(quarter).fold((0.0, 0.0), |(sum, n), z| (sum + z, n + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// Evaluates the window for pulses of `frequency` Hz at a link of `mu` B/s; `None` before it is full.
    pub fn evaluate(&mut self, frequency: f64, mu: f64) -> Option<Reading> {
        if !self.is_full() {
            return None;
        }
        let around = Band::new(frequency - HALF, frequency + HALF);
        let line = if self.spec.search { self.cross.peak(around) } else { self.cross.at(frequency) };
        let own = self.received.peak(around);
        let mut eta = quotient(line, self.neighbours(&self.cross, frequency));
        let cross = self.mean_cross();
        let guards = self.spec.guards;
        if guards.faint && line < FAINT * own {
            eta = eta.min(FAINT_ETA) * (line / (FAINT * own)).min(1.0);
        }
        self.smoothed += (eta - self.smoothed) * self.spec.gain;
        let smooths = self.spec.gain < 1.0;
        if guards.little && smooths && cross > NEARLY_ALL * mu {
            self.smoothed += (SURELY - self.smoothed) * self.spec.gain;
        }
        if guards.hidden && quotient(own, self.neighbours(&self.received, frequency)) < HIDDEN {
            self.smoothed += (HIDDEN_ETA - self.smoothed) * self.spec.gain;
        }
        self.verdict = if guards.little && cross < LITTLE * mu {
            self.smoothed = if smooths { 0.0 } else { self.smoothed };
            Verdict::Inelastic
        } else if (guards.share && self.share < SHARE * mu) || self.smoothed >= self.spec.elastic_from {
            Verdict::Elastic
        } else if self.smoothed < self.spec.inelastic_below {
            Verdict::Inelastic
        } else {
            self.verdict
        };
        let (smoothed, verdict) = (self.smoothed, self.verdict);
        Some(Reading { eta, smoothed, cross, line: (line, own), verdict })
    }

    /// The largest magnitude between the guard band and the second harmonic.
    // CHOICE §4.3.3: without a search both ends are open, as equation 4.3 has it; with one the upper end belongs to it,
    // as in the published implementation.
    fn neighbours(&self, of: &Spectrum, frequency: f64) -> f64 {
        let band = Band::new(frequency + self.spec.guard_band, 2.0 * frequency - HALF);
        if self.spec.search { of.above(band) } else { of.within(band) }
    }
}

fn quotient(line: f64, neighbours: f64) -> f64 {
    if line > 0.0 { (line / neighbours.max(f64::MIN_POSITIVE)).min(MOST) } else { 0.0 }
}

#[cfg(test)]
mod tests;
