//! Distributions of a very large number of values in little memory.

/// Bits of the mantissa that a bin keeps: 128 bins per octave, each 0.8 % wide.
const KEPT: u32 = 7;
const SHIFT: u32 = 52 - KEPT;

/// Counts per logarithmic bin. The bin of a value is the top of its bit pattern as a floating-point number: exact,
/// the same on every machine, and no logarithm is taken. Zero has a bin of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogHistogram {
    /// Bin of `counts[0]`.
    first: usize,
    counts: Vec<u64>,
    total: u64,
}

impl LogHistogram {
    /// Adds a value that is not negative.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let bin = (value.to_bits() >> SHIFT) as usize;
        self.total += 1;
        match bin.checked_sub(self.first).and_then(|i| self.counts.get_mut(i)) {
            Some(count) => *count += 1,
            None => self.widen(bin),
        }
    }

    #[cold]
    fn widen(&mut self, bin: usize) {
        if self.counts.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let more = self.first - bin;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bin;
        }
        let at = bin - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// The bins that are not empty, in order: from, to (exclusive), count.
    pub fn bins(&self) -> impl DoubleEndedIterator<Item = (f64, f64, u64)> + '_ {
        let edge = |bin: usize| f64::from_bits((bin as u64) << SHIFT);
        let full = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        full.map(move |(i, n)| (edge(self.first + i), edge(self.first + i + 1), *n))
    }

    /// The bin (from, to) of the nearest-rank quantile; none if there are no values.
    pub fn quantile_bin(&self, p: f64) -> Option<(f64, f64)> {
        let rank = (libm::ceil(p * self.total as f64) as u64).clamp(1, self.total.max(1));
        let mut below = 0;
        let (from, to, _) = self.bins().find(|(_, _, n)| {
            below += n;
            below >= rank
        })?;
        Some((from, to))
    }

    /// The nearest-rank quantile, as the middle of its bin: 0.4 % from the value at most.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.quantile_bin(p).map(|(from, to)| if from == 0.0 { 0.0 } else { (from + to) / 2.0 })
    }
}

/// Times: exact mean and extremes, and their distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Times {
    pub histogram: LogHistogram,
    sum: u128,
    max: u64,
}

impl Times {
    #[inline]
    pub fn add(&mut self, ps: u64) {
        self.histogram.add(ps as f64);
        self.sum += u128::from(ps);
        self.max = self.max.max(ps);
    }

    /// Count, mean, percentiles and largest, in microseconds.
    pub fn summary_us(&self) -> serde_json::Value {
        let n = self.histogram.total();
        if n == 0 {
            return serde_json::json!({ "count": 0 });
        }
        let us = |p: f64| self.histogram.quantile(p).map(|ps| ps / 1e6);
        serde_json::json!({
            "count": n,
            "mean": self.sum as f64 / n as f64 / 1e6,
            "p50": us(0.5),
            "p90": us(0.9),
            "p95": us(0.95),
            "p99": us(0.99),
            "p999": us(0.999),
            "max": self.max as f64 / 1e6,
        })
    }
}

/// Adds one to `counts[at]`.
pub(crate) fn count(counts: &mut Vec<u64>, at: u8) {
    let at = usize::from(at);
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_half_a_bin() {
        let mut h = LogHistogram::default();
        // Backwards, so that bins are added in front.
        (1..=100_000u32).rev().for_each(|v| h.add(f64::from(v)));
        for p in [0.001, 0.25, 0.5, 0.9, 0.999, 1.0] {
            let found = h.quantile(p).expect("values");
            assert!((found / (p * 100_000.0) - 1.0).abs() < 0.004, "{p}: {found}");
        }
        assert_eq!(h.bins().map(|(_, _, n)| n).sum::<u64>(), 100_000);
        assert!(h.bins().zip(h.bins().skip(1)).all(|(a, b)| a.1 <= b.0));
    }

    #[test]
    fn zero_has_a_bin_of_its_own() {
        let mut h = LogHistogram::default();
        h.add(5.0);
        h.add(0.0);
        h.add(0.0);
        assert_eq!(h.bins().next().map(|(from, _, n)| (from, n)), Some((0.0, 2)));
        assert_eq!((h.quantile(0.5), LogHistogram::default().quantile(0.5)), (Some(0.0), None));
    }
}
