//! First come, first served, and the last packet is dropped: a ring without links or keys. (If the latest is served
//! first, packets that arrived at the same instant must be distinguished, which [`Line`](super::line::Line) does.)

use super::backlog::{Backlog, Slot};
use super::nodes::Key;
use super::orders::{New, Order, Rekeyed};
use crate::engine::packet::Kept;
use crate::engine::tally::Tally;
use std::collections::VecDeque;

/// See the module.
#[derive(Clone, Debug)]
pub struct Ring<P> {
    slots: VecDeque<Slot<P>>,
    /// The place of the first packet.
    first: u32,
}

impl<P> Default for Ring<P> {
    fn default() -> Self {
        Self { slots: VecDeque::new(), first: 0 }
    }
}

impl<P> Ring<P> {
    #[inline]
    fn index(&self, at: u32) -> usize {
        at.wrapping_sub(self.first) as usize
    }

    /// Removes any packet but the first. Not inlined, because most packets are served.
    #[inline(never)]
    fn take_out(&mut self, at: u32) -> Option<Slot<P>> {
        let index = self.index(at);
        if index + 1 == self.slots.len() { self.slots.pop_back() } else { self.slots.remove(index) }
    }
}

impl<K: Key, P: Kept> Backlog<K, P> for Ring<P> {
    #[inline]
    fn join<T: Tally>(
        &mut self,
        slot: Slot<P>,
        _: New<impl Fn(Order) -> K>,
        _: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    ) -> u32 {
        tally.note_insert();
        let at = self.first.wrapping_add(self.slots.len() as u32);
        self.slots.push_back(slot);
        at
    }

    /// Heads and victims are at the ends. If another packet is removed, those behind it change their places.
    #[inline]
    fn leave<T: Tally>(&mut self, at: u32, tally: &mut T) -> Slot<P> {
        tally.note_delete();
        let left = if at == self.first {
            self.first = self.first.wrapping_add(1);
            self.slots.pop_front()
        } else {
            self.take_out(at)
        };
        left.expect("its place is that of a packet")
    }

    fn change<T: Tally>(
        &mut self,
        at: u32,
        packet: P,
        _: Rekeyed<K>,
        _: impl Fn(Order, &P, &P) -> bool,
        _: &mut T,
    ) {
        let index = self.index(at);
        self.slots[index].packet = packet;
    }

    #[inline]
    fn at(&self, at: u32) -> &Slot<P> {
        &self.slots[self.index(at)]
    }
    fn places(&self) -> Vec<u32> {
        (0..self.slots.len() as u32).map(|nth| self.first.wrapping_add(nth)).collect()
    }
    #[inline]
    fn head(&self) -> Option<u32> {
        (!self.slots.is_empty()).then_some(self.first)
    }
    #[inline]
    fn victim(&self) -> Option<u32> {
        (!self.slots.is_empty()).then(|| self.first.wrapping_add(self.slots.len() as u32 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::Handle;

    type Of = Ring<u32>;

    impl Kept for u32 {
        fn of(packet: &crate::Stored) -> Self {
            packet.size
        }
        fn packet(&self) -> crate::Stored {
            crate::Stored { size: *self, ..crate::Stored::NOTHING }
        }
    }

    fn join(ring: &mut Of, handle: u32) -> u32 {
        let new = New { at: 0, seq: 0, key: |_| 0i64 };
        ring.join(Slot { packet: 1, handle: Handle(handle) }, new, |_, _, _| false, &mut ())
    }

    fn leave(ring: &mut Of, at: u32) -> u32 {
        Backlog::<i64, u32>::leave(ring, at, &mut ()).handle.0
    }

    #[test]
    fn places_go_on_past_the_last_number_and_packets_leave_from_either_end_or_between() {
        let mut ring = Of { first: u32::MAX - 1, ..Of::default() };
        let places: Vec<u32> = (0..5).map(|handle| join(&mut ring, handle)).collect();
        assert_eq!(places, [u32::MAX - 1, u32::MAX, 0, 1, 2]);
        assert_eq!(Backlog::<i64, u32>::places(&ring), places);
        assert_eq!(Backlog::<i64, u32>::victim(&ring), Some(2));
        // From the last to the first, because packets behind a removed one change their places.
        assert_eq!([leave(&mut ring, 2), leave(&mut ring, 0), leave(&mut ring, u32::MAX - 1)], [4, 2, 0]);
        assert_eq!(Backlog::<i64, u32>::head(&ring), Some(u32::MAX));
        let left = [leave(&mut ring, u32::MAX), leave(&mut ring, 0)];
        assert_eq!((left, Backlog::<i64, u32>::head(&ring)), ([1, 3], None));
    }
}
