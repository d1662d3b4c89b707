//! Flows as families make them, before they have their places in the list of a run.

use thalweg_net::spec::{End, Predecessor};
use thalweg_units::{Rows, Span, Time};

/// The most flows that a scenario may have.
pub(crate) const MOST_FLOWS: u64 = 100_000_000;

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub src: u32,
    pub dst: u32,
    /// Payload bytes; `u64::MAX`: never ends.
    pub size: u64,
    /// When it starts; of one that follows others: how long after them.
    pub start: Time,
    /// When it stops, if it never ends otherwise.
    pub until: Option<Time>,
    /// The instant that says whether it lies in the measured window; none: when it starts is not known, and it counts.
    pub judged: Option<Time>,
    /// The number that its list gives it.
    pub listed: Option<u64>,
    /// Position of its traffic section.
    pub group: u16,
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkDraft {
    pub host: u32,
    /// The processor that it needs; none: it begins as soon as it is ready.
    pub cpu: Option<u32>,
    /// When it is ready; of one that follows others: how long after them.
    pub start: Time,
    pub lasts: Span,
    /// Position of its traffic section.
    pub group: u16,
}

/// Flows and computations in the order in which sections make them, and what each follows, by positions.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    flows: Vec<Draft>,
    /// Per flow, what it follows.
    followed: Rows<Predecessor>,
    works: Vec<WorkDraft>,
    /// Per computation, what it follows.
    followed_by_works: Rows<Predecessor>,
}

impl Drafts {
    /// A flow that starts by the clock; its position.
    pub fn push(&mut self, flow: Draft) -> usize {
        self.follow(flow, &[])
    }

    /// A flow that starts after those at these positions have arrived, which must be there; its own.
    pub fn follow(&mut self, flow: Draft, others: &[usize]) -> usize {
        self.follow_ends(flow, others.iter().map(|other| (*other, End::Received)))
    }

    /// A flow that starts after these ends of those at these positions, which must be there; its own.
    pub fn follow_ends(&mut self, flow: Draft, others: impl IntoIterator<Item = (usize, End)>) -> usize {
        self.follow_all(
            flow,
            others.into_iter().map(|(other, end)| Predecessor::Flow { flow: other.into(), end }),
        )
    }

    /// A flow that starts after all of these, by their positions, which must be there; its own.
    pub fn follow_all(&mut self, flow: Draft, others: impl IntoIterator<Item = Predecessor>) -> usize {
        self.followed.push(others);
        self.flows.push(flow);
        self.flows.len() - 1
    }

    /// A computation that is ready after all of these, by their positions, which must be there; its own among
    /// computations.
    pub fn work(&mut self, work: WorkDraft, others: impl IntoIterator<Item = Predecessor>) -> usize {
        self.followed_by_works.push(others);
        self.works.push(work);
        self.works.len() - 1
    }

    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// The flow at a position.
    pub fn at(&self, position: usize) -> &Draft {
        &self.flows[position]
    }

    /// The computations, in their order.
    pub fn works(&self) -> &[WorkDraft] {
        &self.works
    }

    /// What a computation follows, by positions.
    pub fn followed_by_work(&self, position: usize) -> &[Predecessor] {
        self.followed_by_works.row(position)
    }

    /// What a flow follows, by positions.
    pub fn followed_by(&self, position: usize) -> &[Predecessor] {
        self.followed.row(position)
    }
}
