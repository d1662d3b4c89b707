//! The responder's 2-bitmap (§4.4.3): two bits for each packet at or above the next one expected.
//!
//! | arrived | and is | first bitmap | second bitmap |
//! |---|---|---|---|
//! | no | | 0 | 0 |
//! | yes | neither | 1 | 0 |
//! | yes | the last of its message | 0 | 1 |
//! | yes | also the end of a Receive WQE | 1 | 1 |
//!
//! A ring of word pairs; an operation touches each pair once, but for the one in which the ring's head falls.

/// What a packet does when everything before it has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Nothing.
    Part,
    /// MSN rises.
    Last,
    /// MSN rises and a Receive WQE expires.
    Completion,
}

/// What the bitmap counted in the packets that it passed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// Bits of the second bitmap: by how much MSN rises.
    pub messages: u32,
    /// Bits set in both: Receive WQEs that expire.
    pub completions: u32,
}

/// Arrivals, by distance from the next packet expected.
#[derive(Clone, Debug)]
pub struct Bitmap2 {
    /// Both bitmaps' words, as many pairs as a power of two.
    pairs: Vec<[u64; 2]>,
    /// Where distance 0 is.
    head: u32,
}

#[cfg(test)]
thread_local! {
    /// Pairs of words read or written.
    static TOUCHED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

impl Bitmap2 {
    /// Room for at least `cap` packets, nothing arrived.
    pub fn new(cap: u32) -> Self {
        let pairs = cap.div_ceil(64).max(1).next_power_of_two();
        Self { pairs: vec![[0; 2]; pairs as usize], head: 0 }
    }

    /// Packets that it has room for.
    pub fn capacity(&self) -> u32 {
        self.pairs.len() as u32 * 64
    }

    /// Words that one operation touches at most.
    pub fn words_bound(&self) -> u32 {
        2 * (self.pairs.len() as u32 + 1)
    }

    /// What arrived at distance `d`, if anything. `d` must be below the capacity.
    #[inline]
    pub fn get(&self, d: u32) -> Option<Class> {
        let (at, bit) = self.locate(d);
        let [one, two] = self.pair(at).map(|word| word >> bit & 1 == 1);
        match (one, two) {
            (false, false) => None,
            (true, false) => Some(Class::Part),
            (false, true) => Some(Class::Last),
            (true, true) => Some(Class::Completion),
        }
    }

    /// A packet arrived at distance `d`, below the capacity.
    #[inline]
    pub fn set(&mut self, d: u32, class: Class) {
        let (at, bit) = self.locate(d);
        let _ = self.pair(at);
        self.pairs[at][0] |= u64::from(class != Class::Last) << bit;
        self.pairs[at][1] |= u64::from(class != Class::Part) << bit;
    }

    /// As if what arrived at distance `d` had not.
    pub fn unset(&mut self, d: u32) {
        let (at, bit) = self.locate(d);
        for word in &mut self.pairs[at] {
            *word &= !(1 << bit);
        }
    }

    /// The lowest distance at which nothing has arrived: that many can be passed over.
    #[inline]
    pub fn run(&self) -> u32 {
        self.find(|[one, two]| !(one | two)).unwrap_or(self.capacity())
    }

    /// The lowest distance at which a Receive WQE ends.
    #[inline]
    pub fn completion(&self) -> Option<u32> {
        self.find(|[one, two]| one & two)
    }

    /// The next packet expected is `n` further on: everything passed over must have arrived. `n` is at most
    /// the capacity.
    #[inline]
    pub fn advance(&mut self, n: u32) -> Passed {
        let mut passed = Passed::default();
        let mut d = 0;
        while d < n {
            let (at, bit) = self.locate(d);
            let length = (64 - bit).min(n - d);
            let mask = u64::MAX >> (64 - length) << bit;
            let [one, two] = self.pair(at).map(|word| word & mask);
            passed.messages += two.count_ones();
            passed.completions += (one & two).count_ones();
            self.pairs[at].iter_mut().for_each(|word| *word &= !mask);
            d += length;
        }
        self.head = (self.head + n) & (self.capacity() - 1);
        passed
    }

    /// The lowest distance whose bit is set in what `look` makes of a pair of words.
    #[inline]
    fn find(&self, look: impl Fn([u64; 2]) -> u64) -> Option<u32> {
        let mut d = 0;
        while d < self.capacity() {
            let (at, bit) = self.locate(d);
            let found = look(self.pair(at)) >> bit;
            let length = (64 - bit).min(self.capacity() - d);
            let ahead = found.trailing_zeros();
            if ahead < length {
                return Some(d + ahead);
            }
            d += length;
        }
        None
    }

    #[inline]
    fn pair(&self, at: usize) -> [u64; 2] {
        #[cfg(test)]
        TOUCHED.set(TOUCHED.get() + 1);
        self.pairs[at]
    }

    #[inline]
    fn locate(&self, d: u32) -> (usize, u32) {
        debug_assert!(d < self.capacity());
        let at = (self.head + d) & (self.capacity() - 1);
        ((at / 64) as usize, at % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use thalweg_units::Stream;

    #[test]
    fn it_is_a_list_of_classes_above_a_moving_head() {
        for seed in 0..300 {
            let mut r = Stream::new(seed, "bitmap2", 0);
            let mut map = Bitmap2::new(1 + r.below(300) as u32);
            let capacity = map.capacity();
            let mut naive: VecDeque<Option<Class>> = vec![None; capacity as usize].into();
            for _ in 0..200 {
                let d = r.below(u64::from(capacity)) as u32;
                if naive[d as usize].is_none() {
                    let class = [Class::Part, Class::Last, Class::Completion][r.below(3) as usize];
                    naive[d as usize] = Some(class);
                    map.set(d, class);
                } else if r.below(20) == 0 {
                    naive[d as usize] = None;
                    map.unset(d);
                }
                let probe = r.below(u64::from(capacity)) as u32;
                assert_eq!(map.get(probe), naive[probe as usize]);
                let run = naive.iter().take_while(|c| c.is_some()).count() as u32;
                assert_eq!(map.run(), run);
                let completion = naive.iter().position(|c| *c == Some(Class::Completion));
                assert_eq!(map.completion(), completion.map(|d| d as u32));
                if r.below(3) == 0 {
                    let n = r.below(u64::from(run) + 1) as usize;
                    let gone: Vec<_> = naive.drain(..n).flatten().collect();
                    naive.resize(capacity as usize, None);
                    let messages = gone.iter().filter(|c| **c != Class::Part).count() as u32;
                    let completions = gone.iter().filter(|c| **c == Class::Completion).count() as u32;
                    assert_eq!(map.advance(n as u32), Passed { messages, completions });
                }
            }
        }
    }

    #[test]
    fn no_operation_exceeds_its_declared_words() {
        for cap in [110, 275] {
            let mut map = Bitmap2::new(cap);
            let all = map.capacity();
            (0..37).for_each(|d| map.set(d, Class::Part));
            map.advance(37); // the head in the middle of a word
            (0..all).for_each(|d| map.set(d, if d + 1 == all { Class::Completion } else { Class::Part }));
            let words = |work: &dyn Fn()| {
                TOUCHED.set(0);
                work();
                2 * TOUCHED.get()
            };
            assert_eq!(words(&|| assert_eq!(map.run(), all)), map.words_bound());
            assert_eq!(words(&|| assert_eq!(map.completion(), Some(all - 1))), map.words_bound());
            assert_eq!(words(&|| assert_eq!(map.clone().advance(all).completions, 1)), map.words_bound());
            assert_eq!(words(&|| map.clone().set(5, Class::Part)), 2);
        }
    }
}
