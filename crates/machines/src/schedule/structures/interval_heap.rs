//! A double-ended priority queue in one array. van Leeuwen & Wood, "Interval Heaps", The Computer Journal 36(3), 1993.
//!
//! Node i of an implicit binary tree is the pair (a[2i], a[2i+1]), smaller one first, and the interval of every node
//! contains those of its children: the first halves are a min-heap, the second halves a max-heap. If the number of
//! members is odd, the last node is a single one. Members have no index, so moving them costs nothing extra.

use serde::{Deserialize, Serialize};

/// Removes the smallest or the largest member in O(log n).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct IntervalHeap<T> {
    at: Vec<T>,
}

impl<T> Default for IntervalHeap<T> {
    fn default() -> Self {
        Self { at: Vec::new() }
    }
}

impl<T: Copy + Ord> IntervalHeap<T> {
    #[inline]
    pub(in crate::schedule) fn len(&self) -> usize {
        self.at.len()
    }
    #[inline]
    pub(in crate::schedule) fn min(&self) -> Option<&T> {
        self.at.first()
    }
    #[inline]
    pub(in crate::schedule) fn max(&self) -> Option<&T> {
        self.at.get(1).or(self.at.first())
    }

    /// Puts everything into `falling`, sorted from large to small.
    pub(in crate::schedule) fn drain_sorted(&mut self, falling: &mut Vec<T>) {
        falling.append(&mut self.at);
        falling.sort_unstable_by(|a, b| b.cmp(a));
    }

    #[inline]
    pub(in crate::schedule) fn push(&mut self, new: T) {
        let n = self.at.len();
        self.at.push(new);
        if n % 2 == 1 {
            // Second of its node.
            if new < self.at[n - 1] {
                self.at[n] = self.at[n - 1];
                self.rise_min(n - 1, new);
            } else {
                self.rise_max(n, new);
            }
        } else if n > 0 {
            // Alone in its node: it may be outside its parent's interval on either side.
            let parent = parent(n);
            if new < self.at[parent] { self.rise_min(n, new) } else { self.rise_max(n, new) }
        }
    }

    #[inline]
    pub(in crate::schedule) fn pop_min(&mut self) -> Option<T> {
        let last = self.at.pop()?;
        let Some(&min) = self.at.first() else { return Some(last) };
        self.sink_min(last);
        Some(min)
    }

    pub(in crate::schedule) fn pop_max(&mut self) -> Option<T> {
        let last = self.at.pop()?;
        let max = match self.at.len() {
            0 | 1 => return Some(last),
            _ => self.at[1],
        };
        self.sink_max(last);
        Some(max)
    }

    /// `new` for the place `at`, the first of its node, or one further up.
    #[inline]
    fn rise_min(&mut self, mut at: usize, new: T) {
        while at > 1 && new < self.at[parent(at)] {
            self.at[at] = self.at[parent(at)];
            at = parent(at);
        }
        self.at[at] = new;
    }

    /// `new` for the place `at`, the second of its node (or the only one), or one further up.
    #[inline]
    fn rise_max(&mut self, mut at: usize, new: T) {
        while at > 1 && new > self.at[parent(at) + 1] {
            self.at[at] = self.at[parent(at) + 1];
            at = parent(at) + 1;
        }
        self.at[at] = new;
    }

    /// The root has lost its smaller one; `new` replaces it.
    #[inline]
    fn sink_min(&mut self, mut new: T) {
        let (mut node, n) = (0, self.at.len());
        loop {
            if node + 1 < n && new > self.at[node + 1] {
                std::mem::swap(&mut new, &mut self.at[node + 1]);
            }
            let mut child = 2 * node + 2;
            if child >= n {
                break;
            }
            child += if child + 2 < n && self.at[child + 2] < self.at[child] { 2 } else { 0 };
            if new <= self.at[child] {
                break;
            }
            self.at[node] = self.at[child];
            node = child;
        }
        self.at[node] = new;
    }

    /// The root has lost its larger one; `new` replaces it.
    fn sink_max(&mut self, mut new: T) {
        let (mut node, n) = (0, self.at.len());
        // The second of a node, or the only one.
        let second = |node: usize| if node + 1 < n { node + 1 } else { node };
        loop {
            if node + 1 < n && new < self.at[node] {
                std::mem::swap(&mut new, &mut self.at[node]);
            }
            let mut child = 2 * node + 2;
            if child >= n {
                break;
            }
            if child + 2 < n && self.at[second(child + 2)] > self.at[second(child)] {
                child += 2;
            }
            if new >= self.at[second(child)] {
                break;
            }
            self.at[second(node)] = self.at[second(child)];
            node = child;
        }
        self.at[second(node)] = new;
    }
}

/// First place of the node above the one of place `at`.
#[inline(always)]
fn parent(at: usize) -> usize {
    (at / 2 - 1) / 2 * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use thalweg_units::Stream;

    #[test]
    fn both_ends_agree_with_a_sorted_set_at_every_size() {
        for most in [1, 2, 3, 4, 5, 9, 40, 700] {
            let (mut heap, mut model) = (IntervalHeap::default(), BTreeSet::new());
            let mut draw = Stream::new(most, "interval heap", 0);
            for step in 0..6000u64 {
                match draw.below(8) {
                    0..=3 if model.len() < most as usize => {
                        let new = (draw.below(50), step);
                        heap.push(new);
                        model.insert(new);
                    }
                    4 | 5 => assert_eq!(heap.pop_max(), model.pop_last()),
                    _ => assert_eq!(heap.pop_min(), model.pop_first()),
                }
                assert_eq!((heap.min(), heap.max()), (model.first(), model.last()), "{step}");
                assert_eq!(heap.len(), model.len());
                if draw.below(50) == 0 {
                    let mut sorted = vec![];
                    heap.drain_sorted(&mut sorted);
                    assert!(sorted.iter().eq(model.iter().rev()));
                    sorted.into_iter().for_each(|key| heap.push(key));
                }
            }
        }
    }
}
