//! A list in the order of arrival: constant time, with comparisons of arrival times only.

use super::nodes::{Key, NONE, Node};
use super::orders::{New, Sorted};
use crate::engine::tally::Tally;

/// Packets from the earliest to the latest. Packets with the same arrival time form a group, whose first and last are
/// linked to each other (`above`): latest first means the first of the last group.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    first: u32,
    last: u32,
}

impl Default for Line {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

fn some(at: u32) -> Option<u32> {
    (at != NONE).then_some(at)
}

impl<K: Key> Sorted<K> for Line {
    #[inline]
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node<K>],
        new: New<impl FnOnce() -> K>,
        _: impl FnMut(u32, u32) -> bool,
        _: &mut T,
    ) {
        let (at, last) = (new.at, self.last);
        let node = &mut nodes[at as usize];
        (node.key, node.seq) = ((new.key)(), new.seq);
        (node.before, node.after, node.above) = (last, NONE, at);
        self.last = at;
        if last == NONE {
            self.first = at;
            return;
        }
        let key = node.key;
        nodes[last as usize].after = at;
        if nodes[last as usize].key == key {
            // The last packet of a group points to its first.
            let first = nodes[last as usize].above;
            nodes[at as usize].above = first;
            nodes[first as usize].above = at;
        }
    }

    #[inline]
    fn remove<T: Tally>(&mut self, nodes: &mut [Node<K>], at: u32, _: &mut T) {
        let Node { key, before, after, above, .. } = nodes[at as usize];
        if above != at {
            let begins = before == NONE || nodes[before as usize].key != key;
            let ends = after == NONE || nodes[after as usize].key != key;
            if begins {
                nodes[after as usize].above = above;
                nodes[above as usize].above = after;
            } else if ends {
                nodes[before as usize].above = above;
                nodes[above as usize].above = before;
            }
        }
        if before == NONE {
            self.first = after;
        } else {
            nodes[before as usize].after = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            nodes[after as usize].before = before;
        }
    }

    #[inline]
    fn first(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32> {
        if reversed { some(self.last).map(|last| nodes[last as usize].above) } else { some(self.first) }
    }

    #[inline]
    fn last(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32> {
        if reversed { some(self.first).map(|first| nodes[first as usize].above) } else { some(self.last) }
    }
}
