//! Which packets of a flow have arrived.

use crate::steps::steps;
use serde::{Deserialize, Serialize};

/// A bit for each packet, and the lowest that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Arrivals {
    words: Vec<u64>,
    packets: u64,
    lowest: u64,
    count: u64,
}

impl Arrivals {
    /// None of `packets` has arrived.
    pub fn new(packets: u64) -> Self {
        Self { words: vec![0; packets.div_ceil(64) as usize], packets, lowest: 0, count: 0 }
    }

    pub fn has(&self, index: u64) -> bool {
        self.words.get((index / 64) as usize).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// A packet has arrived. Returns false if it had arrived before, or if there is no such packet.
    pub fn insert(&mut self, index: u64) -> bool {
        if index >= self.packets || self.has(index) {
            return false;
        }
        self.words[(index / 64) as usize] |= 1 << (index % 64);
        self.count += 1;
        while self.has(self.lowest) {
            self.lowest += 1;
        }
        true
    }

    /// All before this one have arrived.
    pub fn lowest(&self) -> u64 {
        self.lowest
    }

    /// The first that is missing from `from` on, else from the beginning.
    pub fn missing(&self, from: u64) -> Option<u64> {
        let from = from.max(self.lowest);
        self.first_missing(from).or_else(|| self.first_missing(self.lowest).filter(|at| *at < from))
    }

    /// The first that is missing from `from` on, a word at a time.
    fn first_missing(&self, from: u64) -> Option<u64> {
        let mut at = from;
        while at < self.packets {
            let run = (self.words[(at / 64) as usize] >> (at % 64)).trailing_ones();
            at += u64::from(run);
            if u64::from(run) < 64 - (at - u64::from(run)) % 64 {
                break;
            }
            steps(1);
        }
        (at < self.packets).then_some(at)
    }

    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_searched_from_a_place_on_and_then_from_the_beginning() {
        let mut arrivals = Arrivals::new(130);
        let new: Vec<bool> = [0, 1, 3, 1, 129, 130].map(|i| arrivals.insert(i)).into();
        assert_eq!(new, [true, true, true, false, true, false]);
        assert_eq!((arrivals.lowest(), arrivals.count()), (2, 4));
        assert_eq!([0, 3, 129].map(|from| arrivals.missing(from)), [Some(2), Some(4), Some(2)]);
        for i in 0..130 {
            arrivals.insert(i);
        }
        assert!(arrivals.count() == 130 && arrivals.missing(0).is_none());
    }
}
