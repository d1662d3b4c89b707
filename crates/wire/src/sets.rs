//! Sets that frames carry: traffic classes, and queues of a port.

use serde::{Deserialize, Serialize};

/// Classes of IEEE 802.1Q, as a set: what a frame has a bit for each of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes(u8);

impl Classes {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// Every class.
    pub const ALL: Self = Self(u8::MAX);

    /// One class; those above 7 share its bit.
    pub fn one(class: u8) -> Self {
        Self(1 << class.min(7))
    }
    /// True if it is in the set.
    #[inline]
    pub fn has(self, class: u8) -> bool {
        self.0 >> class.min(7) & 1 == 1
    }
    /// True if nothing is.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// All of `other` are in it.
    pub fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Those that are not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// A bit for each.
    pub fn bits(self) -> u8 {
        self.0
    }
}

/// Queues of a port, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSet([u64; 4]);

impl QueueSet {
    /// Numbers are below this.
    pub const CAPACITY: u16 = 256;

    /// Adds or removes a queue; numbers from [`QueueSet::CAPACITY`] on are ignored.
    pub fn set(&mut self, queue: u16, member: bool) {
        if let Some(word) = self.0.get_mut(usize::from(queue >> 6)) {
            *word = *word & !(1 << (queue & 63)) | u64::from(member) << (queue & 63);
        }
    }
    /// True if it is in the set.
    #[inline]
    pub fn has(&self, queue: u16) -> bool {
        self.0.get(usize::from(queue >> 6)).is_some_and(|word| word >> (queue & 63) & 1 == 1)
    }
    /// True if nothing is.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
    /// 64 queues of it, from number 64 × `word` on.
    #[inline]
    pub fn word(&self, word: usize) -> u64 {
        self.0[word]
    }
    /// How many are in it.
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    /// Those that are not in `other`.
    #[inline]
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self([0, 1, 2, 3].map(|word| self.0[word] & !other.0[word]))
    }
    /// Those that are in either.
    #[inline]
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self([0, 1, 2, 3].map(|word| self.0[word] | other.0[word]))
    }
    /// Those that are in `other`, too.
    #[inline]
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        Self([0, 1, 2, 3].map(|word| self.0[word] & other.0[word]))
    }
    /// The first member from `queue` on.
    #[inline]
    pub fn next(&self, queue: u16) -> Option<u16> {
        let first = usize::from(queue >> 6);
        let beyond =
            |word: usize| self.0[word] & if word == first { u64::MAX << (queue & 63) } else { u64::MAX };
        let word = (first..4).find(|word| beyond(*word) != 0)?;
        Some(64 * word as u16 + beyond(word).trailing_zeros() as u16)
    }
    /// The member before which there are `n`.
    #[inline]
    pub fn nth(&self, n: u32) -> Option<u16> {
        let mut before = n;
        for (word, mut bits) in (0u16..).zip(self.0) {
            if before < bits.count_ones() {
                (0..before).for_each(|_| bits &= bits - 1);
                return Some(64 * word + bits.trailing_zeros() as u16);
            }
            before -= bits.count_ones();
        }
        None
    }
    /// Its members, rising.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        std::iter::successors(self.next(0), |queue| self.next(queue + 1))
    }
}

impl FromIterator<u16> for QueueSet {
    fn from_iter<I: IntoIterator<Item = u16>>(queues: I) -> Self {
        let mut set = Self::default();
        queues.into_iter().for_each(|q| set.set(q, true));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_queues_holds_256_of_them() {
        let mut set: QueueSet = [0, 63, 64, 255, 256, 9999].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
        set.set(63, false);
        set.set(63, false);
        assert!(!set.has(63) && set.has(64) && !set.has(9999) && !set.is_empty());
        assert_eq!(set.word(3), 1 << 63);
        assert_eq!((set.len(), set.next(1), set.next(65), set.next(256)), (3, Some(64), Some(255), None));
        assert_eq!([set.nth(0), set.nth(1), set.nth(2), set.nth(3)], [Some(0), Some(64), Some(255), None]);
        let low: QueueSet = (0..100).collect();
        assert!(set.within(&low).iter().eq([0, 64]) && set.without(&low).iter().eq([255]));
    }
}
