//! Samples of every 10 ms, for as long as they may be needed.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One tick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sample {
    /// R, B/s.
    pub(super) received: f64,
    /// The rate that the mode's controller wanted, B/s.
    pub(super) base: f64,
    /// The last round trip, s.
    pub(super) rtt: f64,
}

/// The last samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    samples: VecDeque<Sample>,
    most: usize,
}

impl History {
    /// Of so many samples.
    pub(super) fn new(most: usize) -> Self {
        Self { samples: VecDeque::with_capacity(most), most }
    }

    pub(super) fn push(&mut self, sample: Sample) {
        if self.samples.len() == self.most {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    pub(super) fn clear(&mut self) {
        self.samples.clear();
    }

    /// Mean of `of` over the `count` samples before the last `back`; over the oldest `count` if there are not as
    /// many. `None`: there are none.
    pub(super) fn mean(&self, back: usize, count: usize, of: impl Fn(&Sample) -> f64) -> Option<f64> {
        let end = self.samples.len().saturating_sub(back).max(count.min(self.samples.len()));
        let from = end.saturating_sub(count);
        (end > from).then(|| self.samples.range(from..end).map(of).sum::<f64>() / (end - from) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_what_was_before() {
        let mut h = History::new(10);
        assert_eq!(h.mean(5, 2, |s| s.base), None);
        (0..4).for_each(|n| h.push(Sample { received: 0.0, base: f64::from(n), rtt: 0.0 }));
        assert_eq!(h.mean(5, 2, |s| s.base), Some(0.5), "the oldest two");
        (4..14).for_each(|n| h.push(Sample { received: 0.0, base: f64::from(n), rtt: 0.0 }));
        assert_eq!(h.mean(5, 2, |s| s.base), Some(7.5), "7 and 8, before the last five");
        assert_eq!(h.mean(0, 3, |s| s.base), Some(12.0));
    }
}
