//! A list for each of up to 4096 levels, and a bitmap of the levels that are not empty: constant time, without
//! comparisons of keys.

use super::nodes::{Key, NONE, Node};
use super::orders::{New, Sorted};
use crate::engine::tally::Tally;

/// Bits of a word of the bitmap.
const WORD: usize = 64;

/// The buckets. Keys are `least` or more.
#[derive(Clone, Debug)]
pub struct Buckets {
    least: i128,
    /// First and last of each level.
    ends: Vec<(u32, u32)>,
    /// A bit for each level that is not empty, and a bit for each of these words that is not zero.
    filled: Vec<u64>,
    words: u64,
}

impl Buckets {
    /// Buckets for this number of levels, at most 4096.
    pub fn new(least: i128, levels: u16) -> Self {
        let levels = usize::from(levels);
        Self { least, ends: vec![(NONE, NONE); levels], filled: vec![0; levels.div_ceil(WORD)], words: 0 }
    }

    fn level(&self, key: impl Key) -> usize {
        key.above(self.least)
    }
    fn lowest(&self) -> Option<usize> {
        let word = (self.words != 0).then(|| self.words.trailing_zeros() as usize)?;
        Some(word * WORD + self.filled[word].trailing_zeros() as usize)
    }
    fn highest(&self) -> Option<usize> {
        let word = (self.words != 0).then(|| WORD - 1 - self.words.leading_zeros() as usize)?;
        Some(word * WORD + WORD - 1 - self.filled[word].leading_zeros() as usize)
    }
}

impl<K: Key> Sorted<K> for Buckets {
    #[inline]
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node<K>],
        new: New<impl FnOnce() -> K>,
        _: impl FnMut(u32, u32) -> bool,
        tally: &mut T,
    ) {
        let New { at, seq, key } = new;
        let key = key();
        let level = self.level(key);
        // The latest arrival is last; only a packet whose level has changed moves further up.
        let (mut before, mut after) = (self.ends[level].1, NONE);
        while before != NONE && nodes[before as usize].seq > seq {
            tally.note_comparison();
            (before, after) = (nodes[before as usize].before, before);
        }
        let node = &mut nodes[at as usize];
        (node.key, node.seq, node.before, node.after) = (key, seq, before, after);
        if before == NONE {
            self.ends[level].0 = at;
        } else {
            nodes[before as usize].after = at;
        }
        if after == NONE {
            self.ends[level].1 = at;
        } else {
            nodes[after as usize].before = at;
        }
        self.filled[level / WORD] |= 1 << (level % WORD);
        self.words |= 1 << (level / WORD);
    }

    #[inline]
    fn remove<T: Tally>(&mut self, nodes: &mut [Node<K>], at: u32, _: &mut T) {
        let Node { key, before, after, .. } = nodes[at as usize];
        let level = self.level(key);
        if before == NONE {
            self.ends[level].0 = after;
        } else {
            nodes[before as usize].after = after;
        }
        if after == NONE {
            self.ends[level].1 = before;
        } else {
            nodes[after as usize].before = before;
        }
        if self.ends[level].0 == NONE {
            let word = level / WORD;
            self.filled[word] &= !(1 << (level % WORD));
            if self.filled[word] == 0 {
                self.words &= !(1 << word);
            }
        }
    }

    #[inline]
    fn first(&self, _: &[Node<K>], reversed: bool) -> Option<u32> {
        let level = if reversed { self.highest() } else { self.lowest() };
        level.map(|level| self.ends[level].0)
    }

    #[inline]
    fn last(&self, _: &[Node<K>], reversed: bool) -> Option<u32> {
        let level = if reversed { self.lowest() } else { self.highest() };
        level.map(|level| self.ends[level].1)
    }
}
