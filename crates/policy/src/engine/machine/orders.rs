//! The two orders of a queue: which packet is served, and which is given up.

use super::nodes::{Links, Node};
use crate::engine::tally::Tally;

/// Packets sorted by key, then by arrival. Reversed: the greatest key ranks first, then the earliest.
pub trait Sorted {
    /// A packet joins, its key and number written down; `before` compares two places by the comparator.
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node],
        at: u32,
        before: impl FnMut(u32, u32) -> bool,
        tally: &mut T,
    );
    /// A packet leaves.
    fn remove<T: Tally>(&mut self, nodes: &mut [Node], at: u32, tally: &mut T);
    /// The first.
    fn first(&self, nodes: &[Node], reversed: bool) -> Option<u32>;
    /// The last.
    fn last(&self, nodes: &[Node], reversed: bool) -> Option<u32>;
}

/// One of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Which packets are worth keeping.
    Admission,
    /// Which packet is served.
    Processing,
}

/// New keys of a packet, in the orders that look at what has changed of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rekeyed {
    /// Its key for admission.
    pub admission: Option<i128>,
    /// Its key for processing.
    pub processing: Option<i128>,
}

/// Out of a structure, and in again under another key.
fn again<S: Sorted, T: Tally>(
    sorted: &mut S,
    nodes: &mut [Node],
    (at, key): (u32, i128),
    before: impl FnMut(u32, u32) -> bool,
    tally: &mut T,
) {
    tally.note_delete();
    sorted.remove(nodes, at, tally);
    nodes[at as usize].key = key;
    tally.note_insert();
    sorted.insert(nodes, at, before, tally);
}

/// Both orders of a queue.
pub trait Orders {
    /// Both are made of one structure: only the key of processing is needed.
    const SHARES: bool;
    /// A packet joins; keys are written down.
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    );
    /// A packet leaves.
    fn remove<T: Tally>(&mut self, links: &mut Links, at: u32, tally: &mut T);
    /// A packet has another place in orders of which a new key is given: the same number, in the order of arrival.
    fn rekey<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        keys: Rekeyed,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    );
    /// The packet that is served.
    fn head(&self, links: &Links) -> Option<u32>;
    /// The packet that is given up.
    fn victim(&self, links: &Links) -> Option<u32>;
    /// One structure serves both.
    fn shares(&self) -> bool {
        Self::SHARES
    }
}

/// One structure that serves both orders, each as it is or reversed.
#[derive(Clone, Debug)]
pub struct Shared<S> {
    sorted: S,
    admission_reversed: bool,
    processing_reversed: bool,
}

impl<S> Shared<S> {
    /// Of an empty structure.
    pub fn new(sorted: S, admission_reversed: bool, processing_reversed: bool) -> Self {
        Self { sorted, admission_reversed, processing_reversed }
    }
}

impl<S: Sorted> Orders for Shared<S> {
    const SHARES: bool = true;

    #[inline]
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        tally.note_insert();
        self.sorted.insert(&mut links.processing, at, |a, b| before(Order::Processing, a, b), tally);
    }
    #[inline]
    fn remove<T: Tally>(&mut self, links: &mut Links, at: u32, tally: &mut T) {
        tally.note_delete();
        self.sorted.remove(&mut links.processing, at, tally);
    }
    #[inline]
    fn rekey<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        keys: Rekeyed,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        if let Some(key) = keys.processing {
            let before = |a, b| before(Order::Processing, a, b);
            again(&mut self.sorted, &mut links.processing, (at, key), before, tally);
        }
    }
    #[inline]
    fn head(&self, links: &Links) -> Option<u32> {
        self.sorted.first(&links.processing, self.processing_reversed)
    }
    #[inline]
    fn victim(&self, links: &Links) -> Option<u32> {
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
    /// Of empty structures.
    pub fn new(admission: A, admission_reversed: bool, processing: P, processing_reversed: bool) -> Self {
        Self { admission, admission_reversed, processing, processing_reversed }
    }
}

impl<A: Sorted, P: Sorted> Orders for Apart<A, P> {
    const SHARES: bool = false;

    #[inline]
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        tally.note_insert();
        self.processing.insert(&mut links.processing, at, |a, b| before(Order::Processing, a, b), tally);
        tally.note_insert();
        self.admission.insert(&mut links.admission, at, |a, b| before(Order::Admission, a, b), tally);
    }
    #[inline]
    fn remove<T: Tally>(&mut self, links: &mut Links, at: u32, tally: &mut T) {
        tally.note_delete();
        self.processing.remove(&mut links.processing, at, tally);
        tally.note_delete();
        self.admission.remove(&mut links.admission, at, tally);
    }
    #[inline]
    fn rekey<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        keys: Rekeyed,
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
    fn head(&self, links: &Links) -> Option<u32> {
        self.processing.first(&links.processing, self.processing_reversed)
    }
    #[inline]
    fn victim(&self, links: &Links) -> Option<u32> {
        self.admission.last(&links.admission, self.admission_reversed)
    }
}
