//! The packet numbers that a receiver has.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// All numbers below `expected`, and some above.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Numbers {
    expected: u64,
    /// Bits of 64 numbers each, those of `expected` first.
    words: VecDeque<u64>,
    above: u64,
}

impl Numbers {
    /// The lowest that is missing.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// Some above the lowest that is missing have come.
    pub fn has_gap(&self) -> bool {
        self.above > 0
    }

    pub fn has(&self, number: u64) -> bool {
        number < self.expected || self.word(number / 64) >> (number % 64) & 1 == 1
    }

    fn word(&self, at: u64) -> u64 {
        let first = self.expected / 64;
        at.checked_sub(first).and_then(|place| self.words.get(place as usize)).copied().unwrap_or(0)
    }

    /// A number has arrived. Returns false if it had before.
    pub fn insert(&mut self, number: u64) -> bool {
        if self.has(number) {
            return false;
        }
        let place = (number / 64 - self.expected / 64) as usize;
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        self.words[place] |= 1 << (number % 64);
        self.above += 1;
        while self.word(self.expected / 64) >> (self.expected % 64) & 1 == 1 {
            self.expected += 1;
            self.above -= 1;
            if self.expected.is_multiple_of(64) {
                self.words.pop_front();
            }
        }
        true
    }

    /// A bit for each of the 64 numbers from `base` on that has come.
    pub fn bits(&self, base: u64) -> u64 {
        let (word, shift) = (base / 64, base % 64);
        let low = self.known(word) >> shift;
        let high = if shift == 0 { 0 } else { self.known(word + 1) << (64 - shift) };
        low | high
    }

    /// The word at a place, with all below the lowest that is missing.
    fn known(&self, at: u64) -> u64 {
        let (first, bit) = (self.expected / 64, self.expected % 64);
        match at.cmp(&first) {
            std::cmp::Ordering::Less => u64::MAX,
            std::cmp::Ordering::Equal => self.word(at) | ((1 << bit) - 1),
            std::cmp::Ordering::Greater => self.word(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use thalweg_units::Stream;

    /// Next to a set, in random orders with repetitions.
    #[test]
    fn it_is_a_set_whose_beginning_is_one_number() {
        let mut stream = Stream::new(1, "numbers", 0);
        for _ in 0..200 {
            let (mut numbers, mut set) = (Numbers::default(), BTreeSet::new());
            for step in 0..400 {
                let number = stream.below(step / 2 + 70);
                assert_eq!(numbers.insert(number), set.insert(number));
                let expected = (0..).find(|n| !set.contains(n)).expect("one is missing");
                assert_eq!(numbers.expected(), expected);
                assert_eq!(numbers.has_gap(), set.iter().any(|n| *n > expected));
                let base = stream.below(300);
                let bits = (0..64).filter(|i| set.contains(&(base + i))).fold(0, |bits, i| bits | 1 << i);
                assert_eq!(numbers.bits(base), bits);
                assert!((0..300).all(|n| numbers.has(n) == set.contains(&n)));
            }
        }
    }
}
