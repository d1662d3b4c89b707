//! Which packets above a moving head have arrived: a ring of 64-bit words (IRN §4.5.2). Every operation
//! touches each word at most once.

use serde::{Deserialize, Serialize};

/// Bits `0, 1, ...` above a head that only moves up. Takes no memory until the first bit is set; grows by
/// doubling (with BDP-FC never beyond the cap).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bitmap {
    /// As many as a power of two, or none.
    words: Vec<u64>,
    /// Where bit 0 is in the ring.
    head: u32,
    /// One more than the highest set bit; 0: none is set.
    top: u32,
    ones: u32,
}

#[cfg(test)]
thread_local! {
    /// Words read or written, for the bound on work.
    pub(super) static TOUCHED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

#[inline(always)]
fn touch() {
    #[cfg(test)]
    TOUCHED.set(TOUCHED.get() + 1);
}

impl Bitmap {
    /// No bit is set.
    pub const fn new() -> Self {
        Self { words: Vec::new(), head: 0, top: 0, ones: 0 }
    }

    /// Bits it can hold without growing.
    pub fn capacity(&self) -> u32 {
        self.words.len() as u32 * 64
    }

    /// How many are set.
    #[inline]
    pub fn ones(&self) -> u32 {
        self.ones
    }

    /// One more than the highest set bit; 0 if none is.
    #[inline]
    pub fn top(&self) -> u32 {
        self.top
    }

    /// Whether bit `i` is set.
    #[inline]
    pub fn get(&self, i: u32) -> bool {
        i < self.top && {
            let (word, bit) = self.place(i);
            touch();
            self.words[word] >> bit & 1 == 1
        }
    }

    /// Sets bit `i`; true if it was not set.
    pub fn set(&mut self, i: u32) -> bool {
        if i >= self.capacity() {
            self.grow(i);
        }
        let (word, bit) = self.place(i);
        touch();
        let fresh = self.words[word] >> bit & 1 == 0;
        self.words[word] |= 1 << bit;
        self.ones += u32::from(fresh);
        self.top = self.top.max(i + 1);
        fresh
    }

    /// Clears bit `i`; true if it was set.
    pub fn clear_bit(&mut self, i: u32) -> bool {
        if i >= self.top {
            return false;
        }
        let (word, bit) = self.place(i);
        let set = self.words[word] >> bit & 1 == 1;
        self.words[word] &= !(1 << bit);
        self.ones -= u32::from(set);
        if i + 1 == self.top {
            self.top = self.end_of_ones(i);
        } else {
            touch();
        }
        set
    }

    /// Clears the lowest bit that is set, and returns it.
    pub fn take_lowest(&mut self) -> Option<u32> {
        let mut i = 0;
        while i < self.top {
            let (word, bit) = self.place(i);
            touch();
            let ahead = self.words[word] >> bit;
            if ahead != 0 {
                let run = ahead.trailing_zeros();
                self.words[word] &= !(1 << (bit + run));
                self.ones -= 1;
                if self.ones == 0 {
                    self.top = 0;
                }
                return Some(i + run);
            }
            i += 64 - bit;
        }
        None
    }

    /// One more than the highest bit set, of which all are at most bit `last`; 0 if none is.
    fn end_of_ones(&self, last: u32) -> u32 {
        let mut end = last + 1;
        while self.ones > 0 && end > 0 {
            let (word, bit) = self.place(end - 1);
            touch();
            let below = self.words[word] << (63 - bit);
            if below != 0 {
                return end - below.leading_zeros();
            }
            end = end.saturating_sub(bit + 1);
        }
        0
    }

    /// Moves the head up by `n`; how many of the bits that fell out were set.
    pub fn shift(&mut self, n: u32) -> u32 {
        if self.top == 0 {
            return 0; // wherever the head stands
        }
        let (mut i, end, before) = (0, n.min(self.top), self.ones);
        while i < end {
            let (word, bit) = self.place(i);
            let len = (64 - bit).min(end - i);
            let mask = u64::MAX >> (64 - len) << bit;
            touch();
            self.ones -= (self.words[word] & mask).count_ones();
            self.words[word] &= !mask;
            i += len;
        }
        self.top -= end;
        self.head = self.head.wrapping_add(n) & (self.capacity() - 1);
        before - self.ones
    }

    /// The lowest bit from `from` on that is not set.
    pub fn lowest_zero(&self, from: u32) -> u32 {
        let mut i = from;
        while i < self.top {
            let (word, bit) = self.place(i);
            touch();
            let run = (self.words[word] >> bit).trailing_ones();
            i += run;
            if run < 64 - bit {
                break;
            }
        }
        i.min(self.top.max(from)) // a full ring runs on into itself
    }

    /// The lowest bit from `from` on that is not set while a higher one is: a hole.
    #[inline]
    pub fn lowest_zero_below_a_one(&self, from: u32) -> Option<u32> {
        Some(self.lowest_zero(from)).filter(|&i| i < self.top)
    }

    /// Whether a bit above bit `i` is set.
    #[cfg(test)]
    pub fn any_above(&self, i: u32) -> bool {
        self.top > i.saturating_add(1)
    }

    /// Forgets every bit; keeps the memory.
    pub fn clear(&mut self) {
        self.shift(self.top);
    }

    /// Word and bit in it.
    #[inline(always)]
    fn place(&self, i: u32) -> (usize, u32) {
        let at = self.head.wrapping_add(i) & (self.capacity() - 1);
        ((at / 64) as usize, at % 64)
    }

    /// Makes room for bit `i`: bit 0 moves to the start of a larger ring.
    #[cold]
    fn grow(&mut self, i: u32) {
        let mut words = vec![0; (i as usize / 64 + 1).next_power_of_two().max(2)];
        for (word, from) in words.iter_mut().zip((0..self.top).step_by(64)) {
            *word = self.chunk(from);
        }
        (self.words, self.head) = (words, 0);
    }

    /// Bits `from` to `from + 63`, of which some is set or below one that is.
    fn chunk(&self, from: u32) -> u64 {
        let (word, bit) = self.place(from);
        touch();
        let low = self.words[word] >> bit;
        if bit == 0 {
            return low;
        }
        touch();
        low | self.words[(word + 1) % self.words.len()] << (64 - bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Clone, Debug)]
    enum Step {
        Set(u32),
        Shift(u32),
        Clear,
        ClearBit(u32),
        TakeLowest,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u32..400).prop_map(Step::Set),
            3 => (0u32..70).prop_map(Step::Shift),
            1 => (0u32..1000).prop_map(Step::Shift),
            1 => Just(Step::Clear),
            3 => (0u32..400).prop_map(Step::ClearBit),
            3 => Just(Step::TakeLowest),
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers_above_a_moving_head(steps in prop::collection::vec(step(), 0..200), probe in 0u32..450) {
            let (mut map, mut naive) = (Bitmap::new(), BTreeSet::new());
            for step in steps {
                match step {
                    Step::Set(i) => prop_assert_eq!(map.set(i), naive.insert(i)),
                    Step::Shift(n) => {
                        let gone = naive.iter().filter(|i| **i < n).count() as u32;
                        naive = naive.iter().filter(|i| **i >= n).map(|i| i - n).collect();
                        prop_assert_eq!(map.shift(n), gone);
                    }
                    Step::Clear => {
                        map.clear();
                        naive.clear();
                    }
                    Step::ClearBit(i) => prop_assert_eq!(map.clear_bit(i), naive.remove(&i)),
                    Step::TakeLowest => prop_assert_eq!(map.take_lowest(), naive.pop_first()),
                }
                prop_assert_eq!(map.ones() as usize, naive.len());
                prop_assert_eq!(map.top(), naive.last().map_or(0, |i| i + 1));
                prop_assert_eq!(map.get(probe), naive.contains(&probe));
                prop_assert_eq!(map.any_above(probe), naive.iter().any(|i| *i > probe));
                let zero = (probe..).find(|i| !naive.contains(i)).unwrap();
                prop_assert_eq!(map.lowest_zero(probe), zero);
                let hole = naive.last().filter(|last| zero < **last).map(|_| zero);
                prop_assert_eq!(map.lowest_zero_below_a_one(probe), hole);
            }
        }
    }

    #[test]
    fn no_operation_touches_a_word_twice() {
        for bits in [128, 320] {
            let mut map = Bitmap::new();
            (0..bits).for_each(|i| {
                map.set(i);
            });
            map.shift(37); // the head in the middle of a word: that word counts as two
            (bits - 37..bits).for_each(|i| {
                map.set(i);
            });
            let most = bits.div_ceil(64) + 1;
            let work = |f: &mut dyn FnMut()| {
                TOUCHED.set(0);
                f();
                TOUCHED.get()
            };
            assert!(work(&mut || assert_eq!(map.lowest_zero(0), bits)) <= most);
            assert!(work(&mut || assert_eq!(map.clone().shift(bits), bits)) <= most);
            assert_eq!(work(&mut || assert!(!map.any_above(bits - 1))), 0);
            let mut ends = Bitmap::new();
            assert!([0, 1, bits - 1].into_iter().all(|i| ends.set(i)));
            assert!(work(&mut || assert!(ends.clear_bit(bits - 1) && ends.top() == 2)) <= most);
            ends.set(bits - 1);
            assert!(work(&mut || assert!(ends.clear_bit(0) && ends.clear_bit(1))) <= 2);
            assert!(work(&mut || assert_eq!(ends.take_lowest(), Some(bits - 1))) <= most);
        }
    }

    #[test]
    fn it_takes_no_memory_before_the_first_bit_and_two_words_for_a_cap_of_110() {
        let mut map = Bitmap::new();
        map.shift(1 << 20);
        assert_eq!(map.capacity(), 0);
        map.set(109);
        assert_eq!(map.capacity(), 128);
        map.set(275);
        assert_eq!(map.capacity(), 512);
        assert!(map.get(109) && map.get(275) && map.ones() == 2);
    }
}
