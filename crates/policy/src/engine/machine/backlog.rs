//! The packets that wait in a queue.

use super::nodes::{Key, NONE, Node};
use super::orders::{New, Order, Orders, Rekeyed};
use crate::engine::packet::Kept;
use crate::engine::tally::Tally;
use thalweg_wire::Handle;

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
pub struct Slot<P> {
    /// The fields of the packet that are kept.
    pub packet: P,
    /// The packet.
    pub handle: Handle,
}

/// All packets of a queue in its two orders. A packet is identified by its place until it leaves.
pub trait Backlog<K: Key, P: Kept> {
    /// A packet joins and gets a place. `before` is the comparator of an order.
    fn join<T: Tally>(
        &mut self,
        slot: Slot<P>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    ) -> u32;
    /// A packet leaves.
    fn leave<T: Tally>(&mut self, at: u32, tally: &mut T) -> Slot<P>;
    /// The fields of a packet change, and its keys in some orders. Its arrival number stays.
    fn change<T: Tally>(
        &mut self,
        at: u32,
        packet: P,
        keys: Rekeyed<K>,
        before: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    );
    /// The entry at a place.
    fn at(&self, at: u32) -> &Slot<P>;
    /// All places where a packet waits, in the order of arrival.
    fn places(&self) -> Vec<u32>;
    /// The packet that would be served.
    fn head(&self) -> Option<u32>;
    /// The packet that would be dropped.
    fn victim(&self) -> Option<u32>;
}

/// Packets in a slab, linked in their orders. The place of a packet that has left is reused.
#[derive(Clone, Debug)]
pub struct Slab<O, K, P> {
    slots: Vec<Slot<P>>,
    free: Vec<u32>,
    links: Links<K>,
    orders: O,
}

/// Links of all places, for each order. (If one structure serves both orders, only the first is used.)
#[derive(Clone, Debug)]
pub struct Links<K> {
    /// Of the order of processing.
    pub processing: Vec<Node<K>>,
    /// Of the order of admission.
    pub admission: Vec<Node<K>>,
}

impl<O, K, P> Slab<O, K, P> {
    /// A backlog with these orders, which are empty.
    pub fn new(orders: O) -> Self {
        let links = Links { processing: Vec::new(), admission: Vec::new() };
        Self { slots: Vec::new(), free: Vec::new(), links, orders }
    }
}

impl<O: Orders<K>, K: Key, P: Kept> Slab<O, K, P> {
    #[inline]
    fn place(&mut self, slot: Slot<P>) -> u32 {
        if let Some(at) = self.free.pop() {
            self.slots[at as usize] = slot;
            return at;
        }
        let at = self.slots.len() as u32;
        debug_assert_ne!(at, NONE);
        self.slots.push(slot);
        self.links.processing.push(Node::FREE);
        if self.orders.are_apart() {
            self.links.admission.push(Node::FREE);
        }
        at
    }
}

impl<O: Orders<K>, K: Key, P: Kept> Backlog<K, P> for Slab<O, K, P> {
    #[inline]
    fn join<T: Tally>(
        &mut self,
        slot: Slot<P>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    ) -> u32 {
        let at = self.place(slot);
        let slots = &self.slots;
        let before =
            |order, a: u32, b: u32| before(order, &slots[a as usize].packet, &slots[b as usize].packet);
        self.orders.insert(&mut self.links, New { at, ..new }, before, tally);
        at
    }

    #[inline]
    fn leave<T: Tally>(&mut self, at: u32, tally: &mut T) -> Slot<P> {
        self.orders.remove(&mut self.links, at, tally);
        self.free.push(at);
        self.slots[at as usize]
    }

    fn change<T: Tally>(
        &mut self,
        at: u32,
        packet: P,
        keys: Rekeyed<K>,
        before: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    ) {
        self.slots[at as usize].packet = packet;
        let slots = &self.slots;
        let before =
            |order, a: u32, b: u32| before(order, &slots[a as usize].packet, &slots[b as usize].packet);
        self.orders.rekey(&mut self.links, at, keys, before, tally);
    }

    #[inline]
    fn at(&self, at: u32) -> &Slot<P> {
        &self.slots[at as usize]
    }
    fn places(&self) -> Vec<u32> {
        let mut taken = vec![true; self.slots.len()];
        self.free.iter().for_each(|at| taken[*at as usize] = false);
        let mut places: Vec<u32> = (0..).zip(taken).filter_map(|(at, taken)| taken.then_some(at)).collect();
        places.sort_unstable_by_key(|at| self.links.processing[*at as usize].seq);
        places
    }
    #[inline]
    fn head(&self) -> Option<u32> {
        self.orders.head(&self.links)
    }
    #[inline]
    fn victim(&self) -> Option<u32> {
        self.orders.victim(&self.links)
    }
}
