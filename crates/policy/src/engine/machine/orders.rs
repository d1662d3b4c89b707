//! The two orders of a queue: which packet is served, and which is given up.

use super::buckets::Buckets;
use super::line::Line;
use super::nodes::{Links, Node};
use super::tree::{ByComparator, ByKey, Tree};
use crate::engine::tally::Tally;
use crate::normal::Queue;
use crate::normal::rank::Rank;

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
    fn head(&self, links: &Links) -> Option<u32> {
        self.processing.first(&links.processing, self.processing_reversed)
    }
    #[inline]
    fn victim(&self, links: &Links) -> Option<u32> {
        self.admission.last(&links.admission, self.admission_reversed)
    }
}

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
                (Some(one), Some(other)) if one.clone().neg() == *other => shared(true, false),
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
