//! Latency of decisions: a histogram whose steps are an eighth of a doubling, so that a percentile is at most 12 % too
//! large.

/// Steps per doubling.
const STEPS: u64 = 8;

/// Counts of durations in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Latency {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Self { counts: vec![0; (64 * STEPS) as usize], total: 0 }
    }
}

/// The step of a duration, and the longest duration of that step.
fn step(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let doublings = u64::from(ns.ilog2()) - 3;
    ((doublings + 1) * STEPS + (ns >> doublings) - STEPS) as usize
}

fn longest(step: usize) -> u64 {
    let (doublings, part) = (step as u64 / STEPS, step as u64 % STEPS);
    if doublings == 0 { part } else { ((STEPS + part + 1) << (doublings - 1)).wrapping_sub(1) }
}

impl Latency {
    pub(super) fn add(&mut self, ns: u64) {
        self.counts[step(ns)] += 1;
        self.total += 1;
    }

    /// The duration in ns that this share does not exceed; `None` if there are none.
    pub(super) fn percentile(&self, share: f64) -> Option<u64> {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        self.counts
            .iter()
            .position(|count| {
                seen += count;
                seen >= wanted
            })
            .map(longest)
            .filter(|_| self.total > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_falls_into_the_step_that_ends_after_it() {
        for ns in (0..5000).chain([1 << 20, 123_456_789, u64::MAX / 2, u64::MAX]) {
            let ends = longest(step(ns));
            assert!(ends >= ns && ends - ns <= ns / 8, "{ns}: {ends}");
        }
    }

    #[test]
    fn percentiles_are_those_of_what_was_added() {
        let mut latency = Latency::default();
        assert_eq!(latency.percentile(0.5), None);
        (1..=100).for_each(|n| latency.add(n * 1000));
        let near = |share, ns: u64| {
            let found = latency.percentile(share).unwrap();
            assert!(found >= ns && found <= ns + ns / 8, "{share}: {found}");
        };
        near(0.5, 50_000);
        near(0.99, 99_000);
        near(1.0, 100_000);
    }
}
