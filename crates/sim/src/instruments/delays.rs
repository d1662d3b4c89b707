//! How long data packets waited on their way: exact counts, mean and largest; percentiles from counts per logarithmic
//! bin.

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Number of bits below a value's highest one that its bin keeps: 128 bins per octave, each 0.8 % wide.
const KEPT: u32 = 7;

/// The distribution of delays. It uses integers only, so results are the same on every machine, and merging is
/// exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delays {
    /// Per bin: bins of one picosecond up to 2^7, then 2^7 bins per octave.
    bins: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

/// A value's bin: its highest bit and the [`KEPT`] bits below.
#[inline]
const fn bin_of(ps: u64) -> usize {
    let octave = (ps | 1 << KEPT).ilog2() - KEPT;
    ((octave as usize) << KEPT) + (ps >> octave) as usize
}

/// The smallest value of a bin.
const fn from_of(bin: usize) -> u64 {
    let octave = (bin >> KEPT).saturating_sub(1);
    ((bin - (octave << KEPT)) as u64) << octave
}

impl Delays {
    /// Counts a packet.
    #[inline]
    pub fn add(&mut self, delay: Span) {
        let bin = bin_of(delay.ps());
        self.count += 1;
        self.sum += u128::from(delay.ps());
        self.max = self.max.max(delay.ps());
        match self.bins.get_mut(bin) {
            Some(count) => *count += 1,
            None => self.widen(bin),
        }
    }

    #[cold]
    fn widen(&mut self, bin: usize) {
        self.bins.resize(bin + 1, 0);
        self.bins[bin] += 1;
    }

    /// Adds the counts of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.bins.resize(self.bins.len().max(other.bins.len()), 0);
        self.bins.iter_mut().zip(&other.bins).for_each(|(mine, more)| *mine += more);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Number of packets.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean delay; `None` without packets.
    pub fn mean(&self) -> Option<Span> {
        let mean = self.sum.checked_div(u128::from(self.count))?;
        u64::try_from(mean).ok().map(Span::from_ps)
    }

    /// Largest delay; `None` without packets.
    pub fn max(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_ps(self.max))
    }

    /// The nearest-rank quantile of `p` thousandths, as the middle of its bin: within 0.4 % of the value.
    pub fn permille(&self, p: u64) -> Option<Span> {
        let rank = (u128::from(self.count) * u128::from(p)).div_ceil(1000).max(1);
        let mut below = 0u128;
        let bin = self.bins.iter().position(|n| {
            below += u128::from(*n);
            below >= rank
        })?;
        let (from, last) = (from_of(bin), from_of(bin + 1) - 1);
        // No value exceeds the largest.
        Some(Span::from_ps((from + (last - from).div_ceil(2)).min(self.max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_one_another_and_hold_their_values() {
        for bin in 0..20 << KEPT {
            assert_eq!((bin_of(from_of(bin)), bin_of(from_of(bin + 1) - 1)), (bin, bin));
        }
        assert_eq!((bin_of(0), bin_of(127), bin_of(128), bin_of(256), bin_of(257)), (0, 127, 128, 256, 256));
    }

    #[test]
    fn the_percentiles_of_a_hundred_thousand_delays_are_within_half_a_bin() {
        let mut d = Delays::default();
        (1..=100_000u64).rev().for_each(|us| d.add(Span::from_us(us)));
        for (p, us) in [(1, 100.0), (500, 50_000.0), (950, 95_000.0), (999, 99_900.0), (1000, 100_000.0)] {
            let found = d.permille(p).expect("values").ps() as f64 * 1e-6;
            assert!((found / us - 1.0).abs() < 0.004, "{p}: {found}");
        }
        assert_eq!((d.count(), d.mean()), (100_000, Some(Span::from_ps(50_000_500_000))));
    }

    #[test]
    fn one_delay_is_all_of_its_percentiles_and_none_has_none() {
        let mut d = Delays::default();
        assert_eq!((d.mean(), d.max(), d.permille(500)), (None, None, None));
        d.add(Span::ZERO);
        assert_eq!((d.permille(500), d.max()), (Some(Span::ZERO), Some(Span::ZERO)));
    }

    #[test]
    fn merged_distributions_are_that_of_all_values() {
        let (mut a, mut b, mut both) = (Delays::default(), Delays::default(), Delays::default());
        for us in 1..100 {
            if us % 3 == 0 { &mut a } else { &mut b }.add(Span::from_us(us));
            both.add(Span::from_us(us));
        }
        a.merge(&b);
        assert_eq!(a, both);
    }
}
