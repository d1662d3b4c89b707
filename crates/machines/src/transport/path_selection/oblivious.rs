//! Oblivious spraying without repetition: a flow goes over all values, and over all of them again in another order.
//!
//! ```text
//! CHOICE uet-htsim (uec_mp.cpp): an order is the count of packets, exclusive or with a number that is drawn for each
//! round. Other reading: a random permutation per round, as NDP's sources have of paths.
//! ```

use super::declare::{Choice, Parameters, VALUES};
use super::random::Random;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// Every value once before any of them twice, each time in another order (uet-htsim: `oblivious`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values, a power of two. Flows of fewer packets than that use only some of them.
    #[schemars(extend("minimum" = 2))]
    pub values: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { values: VALUES }
    }
}

impl Parameters for Params {
    type Machine = Sequence;

    fn values(&self) -> u32 {
        self.values
    }
    fn check(&self, problems: &mut Problems) {
        problems.power_of_two("values", self.values);
    }
    fn make(&self, stream: Stream) -> Sequence {
        Sequence::new(stream, self.values)
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 8 }, Self::default()]
    }
}

/// Where one flow is in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    random: Random,
    /// Number of values already used in this round.
    at: u32,
    /// What makes this round's order.
    mask: u32,
}

impl Sequence {
    pub(super) fn new(stream: Stream, values: u32) -> Self {
        let mut random = Random::from(stream);
        Self { at: 0, mask: random.draw(values), random }
    }

    /// The value that is next.
    #[inline]
    pub(super) fn value(&self) -> u32 {
        self.at ^ self.mask
    }

    /// What makes this round's order.
    #[cfg(test)]
    pub(super) fn mask(&self) -> u32 {
        self.mask
    }

    /// It is over.
    #[inline]
    pub(super) fn advance(&mut self, values: u32) {
        self.at += 1;
        if self.at == values {
            (self.at, self.mask) = (0, self.random.draw(values));
        }
    }
}

impl Choice for Sequence {
    type Params = Params;

    #[inline]
    fn next(&mut self, p: &Params, _: Time, _: u64) -> u32 {
        let value = self.value();
        self.advance(p.values);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_once_in_a_round_and_the_next_round_has_another_order() {
        let p = Params { values: 64 };
        let mut sequence = p.make(Stream::new(1, "paths", 0));
        let mut round = || (0..64).map(|_| sequence.next(&p, Time::ZERO, 10)).collect::<Vec<_>>();
        let (first, second) = (round(), round());
        for round in [&first, &second] {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..64).collect::<Vec<_>>());
            // The n-th is n, exclusive or with the first.
            assert!(round.iter().enumerate().all(|(n, value)| *value == n as u32 ^ round[0]));
        }
        assert_ne!(first, second);
    }
}
