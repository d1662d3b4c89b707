//! A 4-ary heap of keys without removal from the middle; four children fill a cache line.

use crate::schedule::structures::heap::Key;
use serde::{Deserialize, Serialize};

const ARITY: usize = 4;

/// Smallest key first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::schedule) struct MinHeap {
    keys: Vec<Key>,
}

impl MinHeap {
    #[inline]
    pub(in crate::schedule) fn len(&self) -> usize {
        self.keys.len()
    }
    #[inline]
    pub(in crate::schedule) fn first(&self) -> Option<&Key> {
        self.keys.first()
    }
    /// The members in no useful order, to be taken out; rising keys may be put in, if it is empty.
    #[inline]
    pub(in crate::schedule) fn keys(&mut self) -> &mut Vec<Key> {
        &mut self.keys
    }

    #[inline]
    pub(in crate::schedule) fn push(&mut self, key: Key) {
        let mut at = self.keys.len();
        self.keys.push(key);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }

    #[inline]
    pub(in crate::schedule) fn pop(&mut self) -> Option<Key> {
        let key = self.keys.pop()?;
        let Some(&least) = self.keys.first() else { return Some(key) };
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let (child, which) = match self.keys.get(first..first + ARITY) {
                Some(&[a, b, c, d]) => {
                    // Without branches, because the outcome of the comparison is unpredictable.
                    let (ab, i) = if b < a { (b, 1) } else { (a, 0) };
                    let (cd, j) = if d < c { (d, 3) } else { (c, 2) };
                    if cd < ab { (cd, j) } else { (ab, i) }
                }
                _ => match self.keys.get(first..).and_then(|rest| rest.iter().zip(0..).min()) {
                    Some((&child, which)) => (child, which),
                    None => break,
                },
            };
            if key <= child {
                break;
            }
            self.keys[at] = child;
            at = first + which;
        }
        self.keys[at] = key;
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use thalweg_units::Stream;

    #[test]
    fn it_agrees_with_a_sorted_set_at_every_size() {
        for most in [1, 2, 5, 6, 21, 22, 700] {
            let (mut heap, mut model) = (MinHeap::default(), BTreeSet::new());
            let mut draw = Stream::new(most, "min heap", 0);
            for step in 0..5000u64 {
                if draw.below(9) < 5 && model.len() < most as usize {
                    let key = Key::from(draw.below(50) << 32 | step);
                    heap.push(key);
                    model.insert(key);
                } else {
                    assert_eq!(heap.pop(), model.pop_first());
                }
                assert_eq!((heap.first(), heap.len()), (model.first(), model.len()));
            }
        }
    }
}
