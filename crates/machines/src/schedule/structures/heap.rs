//! An indexed 4-ary heap: any member can be removed, because its position is known.

use serde::{Deserialize, Serialize};

/// The sort key: a 64-bit value, then a 40-bit tie-breaker; the low 24 bits are the member's slot. Four keys fill a
/// cache line.
pub(in crate::schedule) type Key = u128;

const SLOT_BITS: u32 = 24;
/// Slots are below this.
pub(in crate::schedule) const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// Tie-breakers are at most this.
pub(in crate::schedule) const MAX_TIE: u64 = (1 << 40) - 1;
const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

/// The key of the member `slot` that is sorted by `value`, then by `tie`.
#[inline(always)]
pub(in crate::schedule) fn key(value: u64, tie: u64, slot: u32) -> Key {
    debug_assert!(tie <= MAX_TIE && (slot as usize) < MAX_SLOTS);
    u128::from(value) << 64 | u128::from(tie << SLOT_BITS | u64::from(slot))
}

/// The member that `key` belongs to.
#[inline(always)]
pub(in crate::schedule) fn slot(key: Key) -> u32 {
    key as u32 & (MAX_SLOTS as u32 - 1)
}

/// What `key` is sorted by first.
#[inline(always)]
pub(in crate::schedule) fn value(key: Key) -> u64 {
    (key >> 64) as u64
}

/// The same member where the order of value and tie is reversed.
#[inline(always)]
pub(in crate::schedule) fn reversed(key: Key) -> Key {
    key ^ !(MAX_SLOTS as Key - 1)
}

/// Smallest key first; a slot is in it at most once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::schedule) struct IndexedHeap {
    keys: Vec<Key>,
    place: Vec<u32>,
}

impl IndexedHeap {
    #[inline]
    pub(in crate::schedule) fn len(&self) -> usize {
        self.keys.len()
    }
    #[inline]
    pub(in crate::schedule) fn first(&self) -> Option<Key> {
        self.keys.first().copied()
    }
    #[inline]
    pub(in crate::schedule) fn contains(&self, slot: u32) -> bool {
        self.place.get(slot as usize).is_some_and(|&at| at != ABSENT)
    }
    pub(in crate::schedule) fn clear(&mut self) {
        self.keys.clear();
        self.place.fill(ABSENT);
    }

    /// Adds a member that is not in it.
    #[inline]
    pub(in crate::schedule) fn push(&mut self, key: Key) {
        let member = slot(key) as usize;
        if member >= self.place.len() {
            self.place.resize(member + 1, ABSENT);
        }
        debug_assert_eq!(self.place[member], ABSENT);
        self.keys.push(key);
        self.rise(self.keys.len() - 1, key);
    }

    /// Takes out a member that is in it.
    #[inline]
    pub(in crate::schedule) fn remove(&mut self, member: u32) {
        let at = self.place[member as usize] as usize;
        self.place[member as usize] = ABSENT;
        let Some(last) = self.keys.pop() else { return };
        if at < self.keys.len() {
            self.settle(at, last);
        }
    }

    /// Gives the first member another key, which is not below the one it has.
    #[inline]
    pub(in crate::schedule) fn replace_first(&mut self, key: Key) {
        debug_assert!(self.keys[0] <= key && slot(self.keys[0]) == slot(key));
        self.sink(0, key);
    }

    /// Adds the member of `key`, or changes its key.
    #[inline]
    pub(in crate::schedule) fn set(&mut self, key: Key) {
        match self.place.get(slot(key) as usize) {
            Some(&at) if at != ABSENT => self.settle(at as usize, key),
            _ => self.push(key),
        }
    }

    #[inline]
    fn settle(&mut self, at: usize, key: Key) {
        if at > 0 && key < self.keys[(at - 1) / ARITY] { self.rise(at, key) } else { self.sink(at, key) }
    }

    #[inline]
    fn put(&mut self, at: usize, key: Key) {
        self.keys[at] = key;
        self.place[slot(key) as usize] = at as u32;
    }

    #[inline]
    fn rise(&mut self, mut at: usize, key: Key) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.put(at, self.keys[parent]);
            at = parent;
        }
        self.put(at, key);
    }

    #[inline]
    fn sink(&mut self, mut at: usize, key: Key) {
        loop {
            let first = at * ARITY + 1;
            let children = match self.keys.get(first..) {
                None | Some([]) => break,
                Some(rest) => &rest[..rest.len().min(ARITY)],
            };
            let (mut least, mut which) = (children[0], 0);
            for (i, &child) in children.iter().enumerate().skip(1) {
                let smaller = child < least;
                least = if smaller { child } else { least };
                which = if smaller { i } else { which };
            }
            if key <= least {
                break;
            }
            self.put(at, least);
            at = first + which;
        }
        self.put(at, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use thalweg_units::Stream;

    #[test]
    fn any_member_may_leave_or_move_and_the_smallest_stays_first() {
        let (mut heap, mut model) = (IndexedHeap::default(), BTreeMap::new());
        let mut draw = Stream::new(3, "heap", 0);
        for tie in 0..20_000 {
            let member = draw.below(60) as u32;
            let next = key(draw.below(20), tie, member);
            match draw.below(3) {
                0 if model.contains_key(&member) => {
                    heap.remove(member);
                    model.remove(&member);
                }
                _ => {
                    heap.set(next);
                    model.insert(member, next);
                }
            }
            assert_eq!(heap.first(), model.values().min().copied());
            assert_eq!(heap.len(), model.len());
            assert_eq!(heap.contains(member), model.contains_key(&member));
        }
    }

    #[test]
    fn a_reversed_key_keeps_its_slot_and_sorts_the_other_way() {
        let (a, b) = (key(1, 5, 77), key(1, 6, 3));
        assert!(a < b && reversed(a) > reversed(b));
        assert_eq!((slot(reversed(a)), reversed(reversed(a))), (77, a));
    }
}
