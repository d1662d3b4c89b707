//! Some bins of the discrete Fourier transform of a sliding window. Rectangular, as the thesis wants it: the
//! window holds whole periods of the pulse, and a taper would spread its line into the guard band. The mean needs no
//! subtraction: it is in bin 0 alone.
//!
//! X[k] = Σ v_i e^(−2πj·k·i/N) over the last N samples, with i counted from the first sample ever: a sample that
//! joins and the one that it pushes out have the same factor, so a step costs one multiplication per bin and
//! errors of rounding do not grow by it. The magnitudes are those of any other origin.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A band of frequencies, Hz; which of its ends belong to it is up to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
}

impl Band {
    /// The frequencies between both ends.
    pub const fn new(from: f64, to: f64) -> Self {
        Self { from, to }
    }
}

/// Magnitudes of neighbouring bins over the last N samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// Distance of samples, s.
    spacing: f64,
    /// First bin that is kept.
    first: usize,
    /// X, real and imaginary, of the bins from there on.
    bins: Vec<(f64, f64)>,
    /// cos and −sin of 2πi/N.
    turns: Vec<(f64, f64)>,
    /// The last N samples; the next one takes the place of the oldest.
    samples: Vec<f64>,
    next: usize,
    seen: u64,
}

impl Spectrum {
    /// Of `window` samples (N) that are `spacing` seconds apart; all bins from the last at or below `band.from`
    /// to the first at or above `band.to`.
    ///
    /// # Panics
    /// If the band is not between 0 Hz and half the sampling rate.
    pub fn new(window: usize, spacing: f64, band: Band) -> Self {
        let resolution = 1.0 / (window as f64 * spacing);
        let first = libm::floor(band.from / resolution + ROUNDING) as usize;
        let last = libm::ceil(band.to / resolution - ROUNDING) as usize;
        assert!(first > 0 && first <= last && 2 * last < window, "no band of a window of {window} samples");
        let turn = |i: usize| 2.0 * PI * i as f64 / window as f64;
        Self {
            spacing,
            first,
            bins: vec![(0.0, 0.0); last - first + 1],
            turns: (0..window).map(|i| (libm::cos(turn(i)), -libm::sin(turn(i)))).collect(),
            samples: vec![0.0; window],
            next: 0,
            seen: 0,
        }
    }

    /// The next sample.
    pub fn push(&mut self, sample: f64) {
        let change = sample - std::mem::replace(&mut self.samples[self.next], sample);
        let n = self.samples.len();
        let mut turn = self.first * self.next % n;
        for (re, im) in &mut self.bins {
            let (cos, sin) = self.turns[turn];
            *re += change * cos;
            *im += change * sin;
            turn += self.next;
            turn -= if turn >= n { n } else { 0 };
        }
        self.next = if self.next + 1 == n { 0 } else { self.next + 1 };
        self.seen += 1;
    }

    /// N samples have come.
    pub fn is_full(&self) -> bool {
        self.seen >= self.samples.len() as u64
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.bins.fill((0.0, 0.0));
        self.samples.fill(0.0);
        (self.next, self.seen) = (0, 0);
    }

    /// The last `count` samples, newest first; fewer if fewer have come.
    pub fn recent(&self, count: usize) -> impl Iterator<Item = f64> {
        let n = self.samples.len();
        let count = count.min(n).min(self.seen as usize);
        (1..=count).map(move |back| self.samples[(self.next + n - back) % n])
    }

    /// Hz between bins.
    pub fn resolution(&self) -> f64 {
        1.0 / (self.samples.len() as f64 * self.spacing)
    }

    /// |X| of the bin nearest to `frequency`, Hz.
    pub fn at(&self, frequency: f64) -> f64 {
        let bin = libm::round(frequency / self.resolution()) as usize;
        self.magnitude(bin)
    }

    /// The largest |X| of the bins strictly within `band`.
    pub fn within(&self, band: Band) -> f64 {
        let df = self.resolution();
        let from = libm::floor(band.from / df + ROUNDING) as usize + 1;
        let to = libm::ceil(band.to / df - ROUNDING) as usize;
        (from..to).map(|bin| self.magnitude(bin)).fold(0.0, f64::max)
    }

    /// The largest |X| from the last bin at or below `band.from` to the last at or below `band.to`: the search for
    /// peaks of the published implementation.
    pub fn peak(&self, band: Band) -> f64 {
        let df = self.resolution();
        let from = libm::floor(band.from / df + ROUNDING) as usize;
        let to = libm::floor(band.to / df + ROUNDING) as usize;
        (from..=to).map(|bin| self.magnitude(bin)).fold(0.0, f64::max)
    }

    /// The largest |X| of the bins above `band.from` up to the last at or below `band.to`.
    pub fn above(&self, band: Band) -> f64 {
        let df = self.resolution();
        let from = libm::floor(band.from / df + ROUNDING) as usize + 1;
        let to = libm::floor(band.to / df + ROUNDING) as usize;
        (from..=to).map(|bin| self.magnitude(bin)).fold(0.0, f64::max)
    }

    fn magnitude(&self, bin: usize) -> f64 {
        let kept = bin.checked_sub(self.first).and_then(|at| self.bins.get(at));
        debug_assert!(kept.is_some(), "bin {bin} is not kept");
        kept.map_or(0.0, |(re, im)| libm::sqrt(re * re + im * im))
    }
}

/// A frequency that is a bin but for the last bits of a division is that bin.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition.
    fn direct(samples: &[f64], bin: usize) -> f64 {
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let turn = |i: usize| 2.0 * PI * (bin * i) as f64 / n;
        let part =
            |f: fn(f64) -> f64| samples.iter().enumerate().map(|(i, v)| (v - mean) * f(turn(i))).sum::<f64>();
        libm::hypot(part(libm::cos), part(libm::sin))
    }

    /// Noise by a linear congruence.
    fn noise(n: usize) -> Vec<f64> {
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 * 0.5
        };
        (0..n).map(|_| draw()).collect()
    }

    #[test]
    fn a_sliding_window_has_the_magnitudes_of_its_definition() {
        let samples = noise(36_000);
        let mut s = Spectrum::new(500, 0.01, Band::new(4.5, 9.5));
        for (i, v) in samples.iter().enumerate() {
            s.push(*v);
            if [499, 500, 777, 12_345, 35_999].contains(&i) {
                for bin in [23, 25, 26, 47] {
                    let expected = direct(&samples[i - 499..=i], bin);
                    let found = s.magnitude(bin);
                    assert!((found - expected).abs() < 1e-9 * expected, "{i} {bin}: {found} {expected}");
                }
            }
        }
        assert!(s.is_full() && s.resolution() == 0.2);
    }

    #[test]
    fn a_line_on_a_bin_is_in_no_other() {
        let mut s = Spectrum::new(500, 0.01, Band::new(4.5, 9.5));
        (0..700).for_each(|i| s.push(1e7 + 3.0 * libm::sin(2.0 * PI * 5.0 * f64::from(i) * 0.01)));
        assert!((s.at(5.0) - 750.0).abs() < 1e-3, "{}", s.at(5.0));
        assert!(s.within(Band::new(5.5, 9.5)) < 1e-3);
    }

    /// Bins of 0.2 Hz; each holds its number.
    #[test]
    fn which_ends_of_a_band_belong_to_it() {
        let mut s = Spectrum::new(500, 0.01, Band::new(4.5, 9.5));
        (0..s.bins.len()).for_each(|at| s.bins[at] = ((at + s.first) as f64, 0.0));
        assert_eq!((s.first, s.bins.len()), (22, 27));
        // 5.6 to 9.4 Hz: twenty bins.
        assert_eq!(s.within(Band::new(5.5, 9.5)), 47.0);
        assert_eq!(s.within(Band::new(5.0, 5.4)), 26.0, "neither 25 nor 27");
        assert_eq!(s.peak(Band::new(4.5, 5.5)), 27.0);
        assert_eq!(s.above(Band::new(5.4, 5.6)), 28.0, "27 not, 28 yes");
        assert_eq!(s.at(5.0), 25.0);
    }

    #[test]
    fn the_last_samples_come_newest_first_and_none_after_it_was_cleared() {
        let mut s = Spectrum::new(8, 0.01, Band::new(13.0, 30.0));
        (0..10).for_each(|i| s.push(f64::from(i)));
        assert_eq!(s.recent(3).collect::<Vec<_>>(), [9.0, 8.0, 7.0]);
        assert_eq!(s.recent(100).count(), 8);
        s.clear();
        assert_eq!((s.recent(3).count(), s.is_full(), s.magnitude(2)), (0, false, 0.0));
    }
}
