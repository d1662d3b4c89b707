//! Histograms of durations: the width of each bin is at most 1/32 of its durations.

use serde::{Deserialize, Serialize};

/// Number of bins per doubling.
const STEPS: u64 = 32;

/// A histogram of durations in ns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Shown", into = "Shown")]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        // Allocated completely, so that counting allocates nothing.
        Self { counts: vec![0; bucket(u64::MAX) + 1], total: 0, max: 0 }
    }
}

/// The bin of a duration: below 32 ns one bin for each ns, above 32 bins for each doubling.
fn bucket(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let shift = u64::from(ns.ilog2()) - 5;
    (shift * STEPS + (ns >> shift)) as usize
}

/// The longest duration of a bin.
fn last(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    let lead = u128::from(bucket - shift * STEPS + 1) << shift;
    (lead - 1).min(u128::from(u64::MAX)) as u64
}

impl Histogram {
    /// Counts a duration.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.counts[bucket(ns)] += 1;
        self.total += 1;
        self.max = self.max.max(ns);
    }

    /// Number of durations.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The longest duration, ns.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The duration in ns that this share of them does not exceed, rounded up by at most 1/32; 0 if there are none.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return last(at).min(self.max);
            }
        }
        self.max
    }

    /// Removes all counts.
    pub fn clear(&mut self) {
        if self.total > 0 {
            self.counts.fill(0);
        }
        (self.total, self.max) = (0, 0);
    }

    /// The bins that are not empty: the longest duration, ns, and the count.
    pub fn rows(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| (last(at), *count))
    }
}

/// The form for readers and plots.
#[derive(Serialize, Deserialize)]
struct Shown {
    total: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
    max_ns: u64,
    /// Longest duration of each bin in ns, and its count.
    counts: Vec<(u64, u64)>,
}

impl From<Histogram> for Shown {
    fn from(times: Histogram) -> Self {
        Self {
            total: times.total,
            p50_ns: times.quantile(0.5),
            p90_ns: times.quantile(0.9),
            p99_ns: times.quantile(0.99),
            p999_ns: times.quantile(0.999),
            max_ns: times.max,
            counts: times.rows().collect(),
        }
    }
}

impl From<Shown> for Histogram {
    fn from(shown: Shown) -> Self {
        let mut times = Self { total: shown.total, max: shown.max_ns, ..Self::default() };
        shown.counts.iter().for_each(|(ns, count)| times.counts[bucket(*ns)] += count);
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_one_counter_that_is_at_most_a_thirty_second_of_it_wide() {
        for ns in (0..5000).chain([u64::MAX / 3, u64::MAX - 1, u64::MAX]) {
            let at = bucket(ns);
            let before = if at == 0 { 0 } else { last(at - 1) };
            assert!(ns <= last(at) && (at == 0 || ns > before), "{ns}");
            assert!(last(at) - before <= (ns / 31).max(1), "{ns}: {before} to {}", last(at));
        }
    }

    #[test]
    fn quantiles_of_one_to_a_hundred_microseconds() {
        let mut times = Histogram::default();
        assert_eq!(times.quantile(0.99), 0);
        (1..=100).for_each(|us| times.add(us * 1000));
        assert_eq!((times.total(), times.max(), times.quantile(1.0)), (100, 100_000, 100_000));
        for (share, exact) in [(0.5, 50_000), (0.9, 90_000), (0.99, 99_000)] {
            let found = times.quantile(share);
            assert!((exact..=exact + exact / 31).contains(&found), "{share}: {found}");
        }
        assert_eq!(times.rows().map(|(_, count)| count).sum::<u64>(), 100);
        times.clear();
        assert_eq!(times, Histogram::default());
    }
}
