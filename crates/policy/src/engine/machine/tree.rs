//! A balanced tree (Adelson-Velsky and Landis 1962) whose nodes are the places of packets, so that a packet is removed
//! without a search, and nothing is rebuilt. Sorted by key, or by a comparator without a key, then by arrival.

use super::nodes::{Key, NONE, Node};
use super::orders::{New, Sorted};
use crate::engine::tally::Tally;
use std::marker::PhantomData;

/// How the tree is sorted: by the key, or by the comparator.
pub trait By: Clone + std::fmt::Debug {
    /// True if the comparator itself is needed.
    const COMPARES: bool;
}
/// By the key.
#[derive(Clone, Copy, Debug)]
pub struct ByKey;
/// By the comparator.
#[derive(Clone, Copy, Debug)]
pub struct ByComparator;
impl By for ByKey {
    const COMPARES: bool = false;
}
impl By for ByComparator {
    const COMPARES: bool = true;
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Tree<B> {
    root: u32,
    by: PhantomData<B>,
}

impl<B> Default for Tree<B> {
    fn default() -> Self {
        Self { root: NONE, by: PhantomData }
    }
}

fn height<K: Key>(nodes: &[Node<K>], at: u32) -> u32 {
    if at == NONE { 0 } else { nodes[at as usize].height }
}

fn set_above<K: Key>(nodes: &mut [Node<K>], of: u32, above: u32) {
    if of != NONE {
        nodes[of as usize].above = above;
    }
}

fn measure<K: Key>(nodes: &mut [Node<K>], at: u32) {
    let Node { before, after, .. } = nodes[at as usize];
    nodes[at as usize].height = 1 + height(nodes, before).max(height(nodes, after));
}

impl<B: By> Tree<B> {
    /// Puts `new` in the place of `old` below `above`.
    fn replace<K: Key>(&mut self, nodes: &mut [Node<K>], above: u32, old: u32, new: u32) {
        if above == NONE {
            self.root = new;
        } else if nodes[above as usize].before == old {
            nodes[above as usize].before = new;
        } else {
            nodes[above as usize].after = new;
        }
        set_above(nodes, new, above);
    }

    /// Rotates left: the right child moves up. Returns it.
    fn turn_left<K: Key>(&mut self, nodes: &mut [Node<K>], at: u32) -> u32 {
        let Node { after: up, above, .. } = nodes[at as usize];
        let inner = nodes[up as usize].before;
        self.replace(nodes, above, at, up);
        nodes[up as usize].before = at;
        nodes[at as usize].above = up;
        nodes[at as usize].after = inner;
        set_above(nodes, inner, at);
        measure(nodes, at);
        measure(nodes, up);
        up
    }

    /// Rotates right: the left child moves up. Returns it.
    fn turn_right<K: Key>(&mut self, nodes: &mut [Node<K>], at: u32) -> u32 {
        let Node { before: up, above, .. } = nodes[at as usize];
        let inner = nodes[up as usize].after;
        self.replace(nodes, above, at, up);
        nodes[up as usize].after = at;
        nodes[at as usize].above = up;
        nodes[at as usize].before = inner;
        set_above(nodes, inner, at);
        measure(nodes, at);
        measure(nodes, up);
        up
    }

    /// Restores the balance from this node up.
    fn settle<K: Key>(&mut self, nodes: &mut [Node<K>], mut at: u32) {
        while at != NONE {
            let old = nodes[at as usize].height;
            let Node { before, after, .. } = nodes[at as usize];
            let (left, right) = (height(nodes, before), height(nodes, after));
            if left > right + 1 {
                let Node { before: outer, after: inner, .. } = nodes[before as usize];
                if height(nodes, inner) > height(nodes, outer) {
                    self.turn_left(nodes, before);
                }
                at = self.turn_right(nodes, at);
            } else if right > left + 1 {
                let Node { before: inner, after: outer, .. } = nodes[after as usize];
                if height(nodes, inner) > height(nodes, outer) {
                    self.turn_right(nodes, after);
                }
                at = self.turn_left(nodes, at);
            } else {
                measure(nodes, at);
                if nodes[at as usize].height == old && old != 0 {
                    return;
                }
            }
            at = nodes[at as usize].above;
        }
    }

    fn outermost<K: Key>(&self, nodes: &[Node<K>], side: fn(&Node<K>) -> u32) -> Option<u32> {
        let mut at = (self.root != NONE).then_some(self.root)?;
        loop {
            let next = side(&nodes[at as usize]);
            if next == NONE {
                return Some(at);
            }
            at = next;
        }
    }

    /// The earliest arrival among those with the largest key (`after`), or the latest among those with the smallest
    /// key.
    fn end_of_group<K: Key>(
        &self,
        nodes: &[Node<K>],
        outermost: u32,
        toward: fn(&Node<K>) -> u32,
        away: fn(&Node<K>) -> u32,
    ) -> u32 {
        let key = nodes[outermost as usize].key;
        let (mut at, mut best) = (self.root, outermost);
        while at != NONE {
            let node = &nodes[at as usize];
            // Equal keys are adjacent at the outer end: the innermost of them is searched.
            if node.key == key {
                best = at;
                at = away(node);
            } else {
                at = toward(node);
            }
        }
        best
    }
}

impl<K: Key, B: By> Sorted<K> for Tree<B> {
    #[inline]
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node<K>],
        new: New<impl FnOnce() -> K>,
        mut before: impl FnMut(u32, u32) -> bool,
        tally: &mut T,
    ) {
        let New { at, seq, key } = new;
        let key = key();
        let (mut above, mut next, mut left) = (NONE, self.root, false);
        while next != NONE {
            tally.note_comparison();
            let node = &nodes[next as usize];
            left = if B::COMPARES {
                before(at, next) || node.seq > seq && !before(next, at)
            } else {
                (key, seq) < (node.key, node.seq)
            };
            above = next;
            next = if left { node.before } else { node.after };
        }
        let node = &mut nodes[at as usize];
        *node = Node { key, seq, before: NONE, after: NONE, above, height: 1 };
        if above == NONE {
            self.root = at;
        } else if left {
            nodes[above as usize].before = at;
        } else {
            nodes[above as usize].after = at;
        }
        self.settle(nodes, above);
    }

    #[inline]
    fn remove<T: Tally>(&mut self, nodes: &mut [Node<K>], at: u32, _: &mut T) {
        let Node { before, after, above, .. } = nodes[at as usize];
        if before == NONE || after == NONE {
            self.replace(nodes, above, at, if before == NONE { after } else { before });
            return self.settle(nodes, above);
        }
        // Its successor, which has no left child, takes its place.
        let mut next = after;
        while nodes[next as usize].before != NONE {
            next = nodes[next as usize].before;
        }
        let mut from = nodes[next as usize].above;
        if from == at {
            from = next;
        } else {
            let inner = nodes[next as usize].after;
            nodes[from as usize].before = inner;
            set_above(nodes, inner, from);
            nodes[next as usize].after = after;
            set_above(nodes, after, next);
        }
        self.replace(nodes, above, at, next);
        nodes[next as usize].before = before;
        set_above(nodes, before, next);
        // Its height is that of its old place; it is computed on the way up.
        nodes[next as usize].height = 0;
        self.settle(nodes, from);
        if from != next {
            self.settle(nodes, next);
        }
    }

    #[inline]
    fn first(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32> {
        if !reversed {
            return self.outermost(nodes, |node| node.before);
        }
        let outer = self.outermost(nodes, |node| node.after)?;
        Some(self.end_of_group(nodes, outer, |node| node.after, |node| node.before))
    }

    #[inline]
    fn last(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32> {
        if !reversed {
            return self.outermost(nodes, |node| node.after);
        }
        let outer = self.outermost(nodes, |node| node.before)?;
        Some(self.end_of_group(nodes, outer, |node| node.before, |node| node.after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks links, balance and order. Returns the height of the subtree.
    fn checked(nodes: &[Node<i128>], at: u32, above: u32, seen: &mut Vec<u32>) -> u32 {
        if at == NONE {
            return 0;
        }
        let node = nodes[at as usize];
        assert_eq!(node.above, above);
        let left = checked(nodes, node.before, at, seen);
        seen.push(at);
        let right = checked(nodes, node.after, at, seen);
        assert!(left.abs_diff(right) <= 1, "balanced");
        assert_eq!(node.height, 1 + left.max(right));
        node.height
    }

    proptest! {
        #[test]
        fn it_stays_balanced_and_sorted_whatever_comes_and_goes(
            steps in proptest::collection::vec((any::<bool>(), 0i128..6, any::<usize>()), 1..200)
        ) {
            let (mut tree, mut nodes, mut inside) = (Tree::<ByKey>::default(), Vec::<Node<i128>>::new(), Vec::<u32>::new());
            for (seq, (joins, key, which)) in steps.into_iter().enumerate() {
                if joins || inside.is_empty() {
                    let at = nodes.len() as u32;
                    nodes.push(Node::FREE);
                    tree.insert(&mut nodes, New { at, seq: seq as u64, key: || key }, |_, _| false, &mut ());
                    inside.push(at);
                } else {
                    let at = inside.swap_remove(which % inside.len());
                    tree.remove(&mut nodes, at, &mut ());
                }
                let mut seen = Vec::new();
                checked(&nodes, tree.root, NONE, &mut seen);
                let mut sorted = inside.clone();
                sorted.sort_by_key(|at| (nodes[*at as usize].key, nodes[*at as usize].seq));
                prop_assert_eq!(&seen, &sorted);
                let by = |at: &u32| (-nodes[*at as usize].key, nodes[*at as usize].seq);
                prop_assert_eq!(tree.first(&nodes, true), inside.iter().copied().min_by_key(by));
                prop_assert_eq!(tree.last(&nodes, true), inside.iter().copied().max_by_key(by));
            }
        }
    }
}
