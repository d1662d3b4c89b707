//! Which structures keep the orders of a queue (M7), and structures that are chosen at run time.

use super::buckets::Buckets;
use super::line::Line;
use super::nodes::{Links, Node};
use super::orders::{Apart, Order, Orders, Rekeyed, Shared, Sorted};
use super::tree::{ByComparator, ByKey, Tree};
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
    /// The structure of an order (M7), and whether it is reversed.
    pub fn of(rank: &Rank) -> (Self, bool) {
        match rank {
            Rank::Arrival { latest } => (Self::Line(Line::default()), *latest),
            Rank::Bounded { least, levels, .. } => (Self::Buckets(Buckets::new(*least, *levels)), false),
            Rank::General { .. } => (Self::Keyed(Tree::default()), false),
            Rank::Unranked => (Self::Compared(Tree::default()), false),
        }
    }
}

impl Sorted for Any {
    #[inline]
    fn insert<T: Tally>(
        &mut self,
        nodes: &mut [Node],
        at: u32,
        before: impl FnMut(u32, u32) -> bool,
        tally: &mut T,
    ) {
        match self {
            Self::Line(it) => it.insert(nodes, at, before, tally),
            Self::Buckets(it) => it.insert(nodes, at, before, tally),
            Self::Keyed(it) => it.insert(nodes, at, before, tally),
            Self::Compared(it) => it.insert(nodes, at, before, tally),
        }
    }
    #[inline]
    fn remove<T: Tally>(&mut self, nodes: &mut [Node], at: u32, tally: &mut T) {
        match self {
            Self::Line(it) => it.remove(nodes, at, tally),
            Self::Buckets(it) => it.remove(nodes, at, tally),
            Self::Keyed(it) => it.remove(nodes, at, tally),
            Self::Compared(it) => it.remove(nodes, at, tally),
        }
    }
    #[inline]
    fn first(&self, nodes: &[Node], reversed: bool) -> Option<u32> {
        match self {
            Self::Line(it) => it.first(nodes, reversed),
            Self::Buckets(it) => it.first(nodes, reversed),
            Self::Keyed(it) => it.first(nodes, reversed),
            Self::Compared(it) => it.first(nodes, reversed),
        }
    }
    #[inline]
    fn last(&self, nodes: &[Node], reversed: bool) -> Option<u32> {
        match self {
            Self::Line(it) => it.last(nodes, reversed),
            Self::Buckets(it) => it.last(nodes, reversed),
            Self::Keyed(it) => it.last(nodes, reversed),
            Self::Compared(it) => it.last(nodes, reversed),
        }
    }
}

/// How a queue's two orders are kept.
#[derive(Clone, PartialEq, Debug)]
pub enum Plan {
    /// By one structure for the order of processing, of which the other is the same or the reverse.
    Shared {
        /// Which.
        rank: Rank,
        /// Whether the order of admission is its reverse.
        admission_reversed: bool,
        /// Whether the order of processing is.
        processing_reversed: bool,
    },
    /// By one each.
    Apart {
        /// For admission.
        admission: Rank,
        /// For processing.
        processing: Rank,
    },
}

impl Plan {
    /// Of a queue.
    pub fn of(queue: &Queue) -> Self {
        let (admission, processing) = (&queue.admission.rank, &queue.processing.rank);
        let shared = |admission_reversed, processing_reversed| Self::Shared {
            rank: processing.clone(),
            admission_reversed,
            processing_reversed,
        };
        match (admission, processing) {
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

/// Any two orders, chosen at run time.
#[derive(Clone, Debug)]
pub enum AnyOrders {
    /// One structure serves both.
    Shared(Shared<Any>),
    /// One each.
    Apart(Apart<Any, Any>),
}

impl AnyOrders {
    /// Empty ones.
    pub fn of(plan: &Plan) -> Self {
        match plan {
            Plan::Shared { rank, admission_reversed, processing_reversed } => {
                Self::Shared(Shared::new(Any::of(rank).0, *admission_reversed, *processing_reversed))
            }
            Plan::Apart { admission, processing } => {
                let (admission, admission_reversed) = Any::of(admission);
                let (processing, processing_reversed) = Any::of(processing);
                Self::Apart(Apart::new(admission, admission_reversed, processing, processing_reversed))
            }
        }
    }
}

impl Orders for AnyOrders {
    const SHARES: bool = false;

    #[inline]
    fn shares(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
    #[inline]
    fn insert<T: Tally>(
        &mut self,
        links: &mut Links,
        at: u32,
        before: impl Fn(Order, u32, u32) -> bool,
        tally: &mut T,
    ) {
        match self {
            Self::Shared(it) => it.insert(links, at, before, tally),
            Self::Apart(it) => it.insert(links, at, before, tally),
        }
    }
    #[inline]
    fn remove<T: Tally>(&mut self, links: &mut Links, at: u32, tally: &mut T) {
        match self {
            Self::Shared(it) => it.remove(links, at, tally),
            Self::Apart(it) => it.remove(links, at, tally),
        }
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
        match self {
            Self::Shared(it) => it.rekey(links, at, keys, before, tally),
            Self::Apart(it) => it.rekey(links, at, keys, before, tally),
        }
    }
    #[inline]
    fn head(&self, links: &Links) -> Option<u32> {
        match self {
            Self::Shared(it) => it.head(links),
            Self::Apart(it) => it.head(links),
        }
    }
    #[inline]
    fn victim(&self, links: &Links) -> Option<u32> {
        match self {
            Self::Shared(it) => it.victim(links),
            Self::Apart(it) => it.victim(links),
        }
    }
}
