//! The choice of data structures for the orders of a queue (M7), and structures chosen at run time.

use super::backlog::{Backlog, Links, Slab, Slot};
use super::buckets::Buckets;
use super::line::Line;
use super::nodes::{Key, Node};
use super::orders::{Apart, New, Order, Orders, Rekeyed, Shared, Sorted};
use super::ring::Ring;
use super::tree::{ByComparator, ByKey, Tree};
use crate::engine::packet::Kept;
use crate::engine::tally::Tally;
use crate::normal::Queue;
use crate::normal::rank::Rank;

/// Any structure, chosen at run time.
#[derive(Clone, Debug)]
pub enum Any {
    /// By arrival.
    Line(Line),
    /// By a key of few values.
    Buckets(Buckets),
    /// By a key.
    Keyed(Tree<ByKey>),
    /// By the comparator.
    Compared(Tree<ByComparator>),
}

impl Any {
    /// The structure for an order (M7), and whether it is used in reverse.
    pub fn of(rank: &Rank) -> (Self, bool) {
        match rank {
            Rank::Arrival { latest } => (Self::Line(Line::default()), *latest),
            Rank::Bounded { least, levels, .. } => (Self::Buckets(Buckets::new(*least, *levels)), false),
            Rank::General { .. } => (Self::Keyed(Tree::default()), false),
            Rank::Unranked => (Self::Compared(Tree::default()), false),
        }
    }
}

impl<K: Key> Sorted<K> for Any {
    #[inline]
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node<K>],
        new: New<impl FnOnce() -> K>,
        before: impl FnMut(u32, u32) -> bool,
        tally: &mut T,
    ) {
        match self {
            Self::Line(it) => it.insert(nodes, new, before, tally),
            Self::Buckets(it) => it.insert(nodes, new, before, tally),
            Self::Keyed(it) => it.insert(nodes, new, before, tally),
            Self::Compared(it) => it.insert(nodes, new, before, tally),
        }
    }
    #[inline]
    fn remove<T: Tally>(&mut self, nodes: &mut [Node<K>], at: u32, tally: &mut T) {
        match self {
            Self::Line(it) => it.remove(nodes, at, tally),
            Self::Buckets(it) => it.remove(nodes, at, tally),
            Self::Keyed(it) => it.remove(nodes, at, tally),
            Self::Compared(it) => it.remove(nodes, at, tally),
        }
    }
    #[inline]
    fn first(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32> {
        match self {
            Self::Line(it) => it.first(nodes, reversed),
            Self::Buckets(it) => it.first(nodes, reversed),
            Self::Keyed(it) => it.first(nodes, reversed),
            Self::Compared(it) => it.first(nodes, reversed),
        }
    }
    #[inline]
    fn last(&self, nodes: &[Node<K>], reversed: bool) -> Option<u32> {
        match self {
            Self::Line(it) => it.last(nodes, reversed),
            Self::Buckets(it) => it.last(nodes, reversed),
            Self::Keyed(it) => it.last(nodes, reversed),
            Self::Compared(it) => it.last(nodes, reversed),
        }
    }
}

/// How the two orders of a queue are kept.
#[derive(Clone, PartialEq, Debug)]
pub enum Plan {
    /// A ring: first come, first served, and the last packet is dropped.
    Ring,
    /// One structure for the order of processing; the order of admission is the same or its reverse.
    Shared {
        /// The kind of structure.
        rank: Rank,
        /// The order of admission is its reverse.
        admission_reversed: bool,
        /// The order of processing is its reverse.
        processing_reversed: bool,
    },
    /// A structure for each order.
    Apart {
        /// For admission.
        admission: Rank,
        /// For processing.
        processing: Rank,
    },
}

impl Plan {
    /// The plan for a queue.
    pub fn of(queue: &Queue) -> Self {
        let (admission, processing) = (&queue.admission.rank, &queue.processing.rank);
        let shared = |admission_reversed, processing_reversed| Self::Shared {
            rank: processing.clone(),
            admission_reversed,
            processing_reversed,
        };
        match (admission, processing) {
            (Rank::Arrival { latest: false }, Rank::Arrival { latest: false }) => Self::Ring,
            (Rank::Arrival { latest: admission }, Rank::Arrival { latest }) => shared(*admission, *latest),
            (Rank::Unranked, Rank::Unranked) if queue.admission.test == queue.processing.test => {
                shared(false, false)
            }
            _ => match (admission.key(), processing.key()) {
                (Some(one), Some(other)) if one == other => shared(false, false),
                (Some(one), Some(other)) if -one.clone() == *other => shared(true, false),
                _ => Self::Apart { admission: admission.clone(), processing: processing.clone() },
            },
        }
    }
}

/// Any two orders, chosen at run time. Sorting is a call, so that rings share neither code nor registers with it.
#[derive(Clone, Debug)]
pub enum AnyOrders {
    /// One structure serves both.
    Shared(Shared<Any>),
    /// One each.
    Apart(Apart<Any, Any>),
}

impl<K: Key> Orders<K> for AnyOrders {
    #[inline]
    fn are_apart(&self) -> bool {
        matches!(self, Self::Apart(_))
    }
    #[inline(never)]
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links<K>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        match self {
            Self::Shared(it) => it.insert(links, new, before, tally),
            Self::Apart(it) => it.insert(links, new, before, tally),
        }
    }
    #[inline(never)]
    fn remove<T: Tally>(&mut self, links: &mut Links<K>, at: u32, tally: &mut T) {
        match self {
            Self::Shared(it) => it.remove(links, at, tally),
            Self::Apart(it) => it.remove(links, at, tally),
        }
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
        match self {
            Self::Shared(it) => it.rekey(links, at, keys, before, tally),
            Self::Apart(it) => it.rekey(links, at, keys, before, tally),
        }
    }
    #[inline]
    fn head(&self, links: &Links<K>) -> Option<u32> {
        match self {
            Self::Shared(it) => it.head(links),
            Self::Apart(it) => it.head(links),
        }
    }
    #[inline]
    fn victim(&self, links: &Links<K>) -> Option<u32> {
        match self {
            Self::Shared(it) => it.victim(links),
            Self::Apart(it) => it.victim(links),
        }
    }
}

/// Any backlog, chosen at run time.
#[derive(Clone, Debug)]
pub enum AnyBacklog<K, P> {
    /// First come, first served.
    Ring(Ring<P>),
    /// In other orders.
    Slab(Box<Slab<AnyOrders, K, P>>),
}

impl<K, P> AnyBacklog<K, P> {
    /// An empty backlog.
    pub fn of(plan: &Plan) -> Self {
        let orders = match plan {
            Plan::Ring => return Self::Ring(Ring::default()),
            Plan::Shared { rank, admission_reversed, processing_reversed } => {
                AnyOrders::Shared(Shared::new(Any::of(rank).0, *admission_reversed, *processing_reversed))
            }
            Plan::Apart { admission, processing } => {
                let (admission, admission_reversed) = Any::of(admission);
                let (processing, processing_reversed) = Any::of(processing);
                AnyOrders::Apart(Apart::new(admission, admission_reversed, processing, processing_reversed))
            }
        };
        Self::Slab(Box::new(Slab::new(orders)))
    }
}

impl<K: Key, P: Kept> Backlog<K, P> for AnyBacklog<K, P> {
    #[inline]
    fn join<T: Tally>(
        &mut self,
        slot: Slot<P>,
        new: New<impl Fn(Order) -> K>,
        before: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    ) -> u32 {
        match self {
            Self::Ring(it) => it.join(slot, new, before, tally),
            Self::Slab(it) => it.join(slot, new, before, tally),
        }
    }
    #[inline]
    fn leave<T: Tally>(&mut self, at: u32, tally: &mut T) -> Slot<P> {
        match self {
            Self::Ring(it) => Backlog::<K, P>::leave(it, at, tally),
            Self::Slab(it) => it.leave(at, tally),
        }
    }
    fn change<T: Tally>(
        &mut self,
        at: u32,
        packet: P,
        keys: Rekeyed<K>,
        before: impl Fn(Order, &P, &P) -> bool,
        tally: &mut T,
    ) {
        match self {
            Self::Ring(it) => it.change(at, packet, keys, before, tally),
            Self::Slab(it) => it.change(at, packet, keys, before, tally),
        }
    }
    #[inline]
    fn at(&self, at: u32) -> &Slot<P> {
        match self {
            Self::Ring(it) => Backlog::<K, P>::at(it, at),
            Self::Slab(it) => it.at(at),
        }
    }
    fn places(&self) -> Vec<u32> {
        match self {
            Self::Ring(it) => Backlog::<K, P>::places(it),
            Self::Slab(it) => it.places(),
        }
    }
    #[inline(always)]
    fn head(&self) -> Option<u32> {
        match self {
            Self::Ring(it) => Backlog::<K, P>::head(it),
            Self::Slab(it) => it.head(),
        }
    }
    #[inline]
    fn victim(&self) -> Option<u32> {
        match self {
            Self::Ring(it) => Backlog::<K, P>::victim(it),
            Self::Slab(it) => it.victim(),
        }
    }
}
