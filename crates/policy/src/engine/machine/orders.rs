//! The two orders of a queue: which packet is served, and which is dropped.

use super::backlog::Links;
use super::nodes::{Key, Node};
use crate::engine::tally::Tally;

/// A packet that joins an order.
#[derive(Clone, Copy, Debug)]
pub struct New<F> {
    /// Its place, once it has one.
    pub at: u32,
    /// Its number in the order of arrival.
    pub seq: u64,
    /// Its key, computed if needed.
    pub key: F,
}

impl<K, F: Fn(Order) -> K> New<F> {
    /// With its key in this order.
    #[inline]
    fn of(&self, order: Order) -> New<impl FnOnce() -> K + use<'_, K, F>> {
        New { at: self.at, seq: self.seq, key: move || (self.key)(order) }
    }
}

/// Packets sorted by key, then by arrival. In reverse, the largest key ranks first, then the earliest arrival.
pub trait Sorted<K: Key> {
    /// A packet joins; `before` compares two places by the comparator.
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node<K>],
        new: New<impl FnOnce() -> K>,
        before: impl FnMut(u32, u32) -> bool,
        tally: &mut T,
    );
    /// A packet leaves.
    fn remove<T: Tally>(&mut self, nodes: &mut [Node<K>], at: u32, tally: &mut T);
    /// The first.
    fn first(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32>;
    /// The last.
    fn last(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32>;
}

/// An order of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Which packets are worth keeping.
    Admission,
    /// Which packet is served.
    Processing,
}

/// New keys of a packet in the orders whose keys depend on the changed field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rekeyed<K> {
    /// Its key for admission.
    pub admission: Option<K>,
    /// Its key for processing.
    pub processing: Option<K>,
}

/// Removes an entry and inserts it again with another key.
fn again<K: Key, S: Sorted<K>, T: Tally>(
    sorted: &mut S,
    nodes: &mut [Node<K>],
    (at, key): (u32, K),
    before: impl FnMut(u32, u32) -> bool,
    tally: &mut T,
) {
    tally.note_delete();
    sorted.remove(nodes, at, tally);
    tally.note_insert();
    sorted.insert(nodes, New { at, seq: nodes[at as usize].seq, key: || key }, before, tally);
}

/// Both orders of a queue.
pub trait Orders<K: Key> {
    /// True if each order has a structure of its own.
    fn are_apart(&self) -> bool;
    /// A packet joins.
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    );
    /// A packet leaves.
    fn remove<T: Tally>(&mut self, links: &mut Links<K>, at: u32, tally: &mut T);
    /// Moves a packet to another place in the orders for which a new key is given. Its arrival number stays.
    fn rekey<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        at: u32,
        keys: Rekeyed<K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    );
    /// The packet that would be served.
    fn head(&self, links: &Links<K>) -> Option<u32>;
    /// The packet that would be dropped.
    fn victim(&self, links: &Links<K>) -> Option<u32>;
}

/// One structure for both orders, each of which may be its reverse.
#[derive(Clone, Debug)]
pub struct Shared<S> {
    sorted: S,
    admission_reversed: bool,
    processing_reversed: bool,
}

impl<S> Shared<S> {
    /// From an empty structure.
    pub fn new(sorted: S, admission_reversed: bool, processing_reversed: bool) -> Self {
        Self { sorted, admission_reversed, processing_reversed }
    }
}

impl<K: Key, S: Sorted<K>> Orders<K> for Shared<S> {
    #[inline]
    fn are_apart(&self) -> bool {
        false
    }

    #[inline]
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        tally.note_insert();
        let before = |a, b| before(Order::Processing, a, b);
        self.sorted.insert(&mut links.processing, new.of(Order::Processing), before, tally);
    }
    #[inline]
    fn remove<T: Tally>(&mut self, links: &mut Links<K>, at: u32, tally: &mut T) {
        tally.note_delete();
        self.sorted.remove(&mut links.processing, at, tally);
    }
    #[inline]
    fn rekey<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        at: u32,
        keys: Rekeyed<K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        if let Some(key) = keys.processing {
            let before = |a, b| before(Order::Processing, a, b);
            again(&mut self.sorted, &mut links.processing, (at, key), before, tally);
        }
    }
    #[inline]
    fn head(&self, links: &Links<K>) -> Option<u32> {
        self.sorted.first(&links.processing, self.processing_reversed)
    }
    #[inline]
    fn victim(&self, links: &Links<K>) -> Option<u32> {
        self.sorted.last(&links.processing, self.admission_reversed)
    }
}

/// A structure for each order.
#[derive(Clone, Debug)]
pub struct Apart<A, P> {
    admission: A,
    admission_reversed: bool,
    processing: P,
    processing_reversed: bool,
}

impl<A, P> Apart<A, P> {
    /// From empty structures.
    pub fn new(admission: A, admission_reversed: bool, processing: P, processing_reversed: bool) -> Self {
        Self { admission, admission_reversed, processing, processing_reversed }
    }
}

impl<K: Key, A: Sorted<K>, P: Sorted<K>> Orders<K> for Apart<A, P> {
    #[inline]
    fn are_apart(&self) -> bool {
        true
    }

    #[inline]
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        let (urgent, worth) = (|a, b| before(Order::Processing, a, b), |a, b| before(Order::Admission, a, b));
        tally.note_insert();
        self.processing.insert(&mut links.processing, new.of(Order::Processing), urgent, tally);
        tally.note_insert();
        self.admission.insert(&mut links.admission, new.of(Order::Admission), worth, tally);
    }
    #[inline]
    fn remove<T: Tally>(&mut self, links: &mut Links<K>, at: u32, tally: &mut T) {
        tally.note_delete();
        self.processing.remove(&mut links.processing, at, tally);
        tally.note_delete();
        self.admission.remove(&mut links.admission, at, tally);
    }
    #[inline]
    fn rekey<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        at: u32,
        keys: Rekeyed<K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        if let Some(key) = keys.processing {
            let before = |a, b| before(Order::Processing, a, b);
            again(&mut self.processing, &mut links.processing, (at, key), before, tally);
        }
        if let Some(key) = keys.admission {
            let before = |a, b| before(Order::Admission, a, b);
            again(&mut self.admission, &mut links.admission, (at, key), before, tally);
        }
    }
    #[inline]
    fn head(&self, links: &Links<K>) -> Option<u32> {
        self.processing.first(&links.processing, self.processing_reversed)
    }
    #[inline]
    fn victim(&self, links: &Links<K>) -> Option<u32> {
        self.admission.last(&links.admission, self.admission_reversed)
    }
}
