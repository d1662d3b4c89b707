//! Data that a receiver holds above a gap: ranges of bytes, sorted, and linked in the order of their last change, in
//! which RFC 2018 §4 requires SACK blocks to be reported. A segment costs a binary search and the ranges that it joins,
//! however many gaps there are.

use crate::steps::steps;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// No range.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Range {
    start: u64,
    end: u64,
    /// The ranges that changed just after and just before this one.
    newer: u32,
    older: u32,
}

/// Disjoint ranges that do not touch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ranges {
    /// The start of each range, ascending, and its index in `all`.
    sorted: VecDeque<(u64, u32)>,
    /// The ranges; free slots are reused.
    all: Vec<Range>,
    free: Vec<u32>,
    newest: u32,
    bytes: u64,
}

impl Default for Ranges {
    fn default() -> Self {
        Self { sorted: VecDeque::new(), all: Vec::new(), free: Vec::new(), newest: NONE, bytes: 0 }
    }
}

impl Ranges {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Bytes of all.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most recently changed first.
    pub(super) fn recent(&self) -> impl Iterator<Item = (u64, u64)> {
        let get = |at: u32| (at != NONE).then(|| self.all[at as usize]);
        std::iter::successors(get(self.newest), move |range| get(range.older))
            .map(|range| (range.start, range.end))
    }

    /// Whether all of `[start, end)` is held.
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        let after = self.sorted.partition_point(|range| range.0 <= start);
        after > 0 && end <= self.all[self.sorted[after - 1].1 as usize].end
    }

    /// `[start, end)` has arrived: it is merged with ranges that it overlaps or touches.
    pub(super) fn insert(&mut self, mut start: u64, mut end: u64) {
        let mut first = self.sorted.partition_point(|range| range.0 < start);
        if first > 0 && self.all[self.sorted[first - 1].1 as usize].end >= start {
            first -= 1;
        }
        let mut last = first;
        while let Some(&(begins, at)) = self.sorted.get(last).filter(|range| range.0 <= end) {
            (start, end) = (start.min(begins), end.max(self.all[at as usize].end));
            self.remove(at);
            last += 1;
        }
        let at = self.add(start, end);
        if first == last {
            steps(first.min(self.sorted.len() - first) / 64); // what has to make room
            self.sorted.insert(first, (start, at));
        } else {
            self.sorted[first] = (start, at);
            if last > first + 1 {
                steps(first.min(self.sorted.len() - first) / 64);
                self.sorted.drain(first + 1..last);
            }
        }
    }

    /// Everything up to `next` has arrived. Removes ranges that this reaches and returns where the next gap begins.
    pub(super) fn absorb(&mut self, mut next: u64) -> u64 {
        while let Some(&(_, at)) = self.sorted.front().filter(|range| range.0 <= next) {
            next = next.max(self.all[at as usize].end);
            self.remove(at);
            self.sorted.pop_front();
        }
        next
    }

    /// Adds a range as the newest and returns its index.
    fn add(&mut self, start: u64, end: u64) -> u32 {
        let range = Range { start, end, newer: NONE, older: self.newest };
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at as usize] = range;
                at
            }
            None => {
                self.all.push(range);
                self.all.len() as u32 - 1
            }
        };
        if range.older != NONE {
            self.all[range.older as usize].newer = at;
        }
        self.newest = at;
        self.bytes += end - start;
        at
    }

    /// Unlinks a range; its entry in `sorted` stays.
    fn remove(&mut self, at: u32) {
        steps(1);
        let Range { start, end, newer, older } = self.all[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.all[newer as usize].older = older,
        }
        if older != NONE {
            self.all[older as usize].newer = newer;
        }
        self.free.push(at);
        self.bytes -= end - start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A list that is searched from end to end.
        #[test]
        fn they_are_a_list_whose_last_change_comes_first(
            steps in prop::collection::vec((0u64..200, 1u64..30, prop::bool::weighted(0.1)), 1..80),
        ) {
            let (mut ranges, mut list) = (Ranges::default(), Vec::<(u64, u64)>::new());
            for (at, len, absorbs) in steps {
                if absorbs {
                    let mut next = at;
                    while let Some(i) = list.iter().position(|r| r.0 <= next) {
                        next = next.max(list.remove(i).1);
                    }
                    prop_assert_eq!(ranges.absorb(at), next);
                } else {
                    let (mut start, mut end) = (at, at + len);
                    list.retain(|&(s, e)| {
                        let apart = e < start || end < s;
                        if !apart {
                            (start, end) = (start.min(s), end.max(e));
                        }
                        apart
                    });
                    list.insert(0, (start, end));
                    ranges.insert(at, at + len);
                }
                prop_assert_eq!(ranges.recent().collect::<Vec<_>>(), list.clone());
                prop_assert_eq!(ranges.bytes(), list.iter().map(|r| r.1 - r.0).sum::<u64>());
                prop_assert_eq!(ranges.is_empty(), list.is_empty());
                for probe in 0..40 {
                    let (from, to) = (probe * 6, probe * 6 + len);
                    prop_assert_eq!(ranges.holds(from, to), list.iter().any(|r| r.0 <= from && to <= r.1));
                }
            }
        }
    }
}
