//! The ring buffer of a wire: a power of two of slots, in 24 bytes of its port's first cache line.

use crate::port::flying::Flying;
use serde::{Deserialize, Serialize};

/// Packets in the order of their arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Flying>", into = "Vec<Flying>")]
pub struct Ring {
    /// A power of two of slots, or none.
    slots: Box<[Flying]>,
    /// Slot of the first packet, modulo the number of slots.
    head: u32,
    len: u32,
}

impl Ring {
    #[inline(always)]
    fn slot(&self, index: u32) -> usize {
        self.head.wrapping_add(index) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Number of packets.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is no packet.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The packet behind `index` others.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Option<&Flying> {
        if index < self.len { self.slots.get(self.slot(index)) } else { None }
    }

    /// The first packet.
    #[inline(always)]
    pub fn front(&self) -> Option<&Flying> {
        self.get(0)
    }

    /// The last packet.
    #[inline(always)]
    pub fn back(&self) -> Option<&Flying> {
        self.get(self.len.wrapping_sub(1))
    }

    /// Appends a packet.
    #[inline(always)]
    pub fn push_back(&mut self, flying: Flying) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len);
        self.slots[slot] = flying;
        self.len += 1;
    }

    /// Inserts a packet by its arrival, behind those that arrive at the same instant. Returns how many precede it.
    pub fn insert(&mut self, flying: Flying) -> u32 {
        self.push_back(flying);
        let mut index = self.len - 1;
        while index > 0 {
            let (here, before) = (self.slot(index), self.slot(index - 1));
            if self.slots[before].arrive <= flying.arrive {
                break;
            }
            self.slots.swap(here, before);
            index -= 1;
        }
        index
    }

    /// Takes the first packet.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<Flying> {
        let first = *self.front()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(first)
    }

    /// Takes the last packet.
    pub fn pop_back(&mut self) -> Option<Flying> {
        let last = *self.back()?;
        self.len -= 1;
        Some(last)
    }

    /// Removes the first `packets` packets, or all if there are fewer.
    pub fn skip(&mut self, packets: u32) {
        let packets = packets.min(self.len);
        self.head = self.head.wrapping_add(packets);
        self.len -= packets;
    }

    /// The address of the slot for the next packet, to be prefetched.
    #[inline(always)]
    pub fn end(&self) -> *const Flying {
        self.slots.as_ptr().wrapping_add(self.slot(self.len))
    }

    /// All packets, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &Flying> {
        (0..self.len).map(|index| &self.slots[self.slot(index)])
    }

    /// Doubles the number of slots.
    #[cold]
    fn grow(&mut self) {
        let room = (2 * self.slots.len()).max(4);
        let mut slots = Vec::with_capacity(room);
        slots.extend(self.iter().copied());
        slots.resize(room, Flying::EMPTY);
        (self.slots, self.head) = (slots.into(), 0);
    }
}

impl From<Vec<Flying>> for Ring {
    fn from(packets: Vec<Flying>) -> Self {
        let mut ring = Self::default();
        packets.into_iter().for_each(|flying| ring.push_back(flying));
        ring
    }
}

impl From<Ring> for Vec<Flying> {
    fn from(ring: Ring) -> Self {
        ring.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use thalweg_units::Time;
    use thalweg_wire::Handle;

    proptest! {
        #[test]
        fn insertion_sorts_by_arrival_and_is_stable(arrivals in proptest::collection::vec(0u64..20, 0..60), head: u32) {
            let mut ring = Ring { head, ..Ring::default() };
            let mut sorted: Vec<Flying> = Vec::new();
            for (number, at) in arrivals.into_iter().enumerate() {
                let flying = Flying { handle: Handle(number as u32), arrive: Time::from_ps(at), ..Flying::EMPTY };
                let place = sorted.partition_point(|f| f.arrive <= flying.arrive);
                sorted.insert(place, flying);
                prop_assert_eq!(ring.insert(flying) as usize, place);
                prop_assert!(ring.iter().eq(&sorted));
            }
        }

        #[test]
        fn it_is_a_queue(steps in proptest::collection::vec(0u32..9, 0..400), head: u32) {
            let mut ring = Ring { head, ..Ring::default() };
            let mut queue = VecDeque::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0 => prop_assert_eq!(ring.pop_front(), queue.pop_front()),
                    1 => prop_assert_eq!(ring.pop_back(), queue.pop_back()),
                    2 => {
                        ring.skip(3);
                        queue.drain(..queue.len().min(3));
                    }
                    _ => {
                        let flying = Flying { handle: Handle(number as u32), ..Flying::EMPTY };
                        ring.push_back(flying);
                        queue.push_back(flying);
                    }
                }
                prop_assert_eq!(ring.len() as usize, queue.len());
                prop_assert_eq!(ring.front(), queue.front());
                prop_assert!(ring.iter().eq(&queue));
                prop_assert_eq!(ring.get(2), queue.get(2));
                prop_assert!(ring.get(ring.len()).is_none());
            }
        }
    }
}
