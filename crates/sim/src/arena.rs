//! A slab for packets that hands out the slot freed last, which is still in the cache.

use serde::{Deserialize, Serialize};
use thalweg_wire::{Handle, Packet};

/// A slab of `T`; slots are reused, never returned to the allocator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arena<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

/// The packets in a network.
pub type Packets = Arena<Packet>;

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// Stores `value` and returns its slot.
    #[inline]
    pub fn insert(&mut self, value: T) -> Handle {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            return Handle(slot);
        }
        let slot = u32::try_from(self.slots.len()).expect("more than 2^32 slots");
        self.slots.push(value);
        Handle(slot)
    }

    /// Takes a slot with the value that it held before.
    #[inline]
    pub fn claim(&mut self) -> Handle
    where
        T: Default,
    {
        match self.free.pop() {
            Some(slot) => Handle(slot),
            None => self.insert(T::default()),
        }
    }

    /// The address of a slot, to be prefetched; valid or not.
    #[inline(always)]
    pub fn hint(&self, handle: Handle) -> *const T {
        self.slots.as_ptr().wrapping_add(handle.0 as usize)
    }

    /// Frees the slot; the value stays until it is overwritten.
    #[inline]
    pub fn remove(&mut self, handle: Handle) {
        self.free.push(handle.0);
    }

    /// The values stored now, in the order of their slots. Slow: meant for checks.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut stored = vec![true; self.slots.len()];
        self.free.iter().for_each(|slot| stored[*slot as usize] = false);
        self.slots.iter().zip(stored).filter_map(|(value, stored)| stored.then_some(value))
    }

    /// Values stored now.
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> std::ops::Index<Handle> for Arena<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, handle: Handle) -> &T {
        &self.slots[handle.0 as usize]
    }
}

impl<T> std::ops::IndexMut<Handle> for Arena<T> {
    #[inline(always)]
    fn index_mut(&mut self, handle: Handle) -> &mut T {
        &mut self.slots[handle.0 as usize]
    }
}
