//! Flows and computations as families make them, before they are sorted into the list of a run.

use thalweg_net::spec::{Edge, End, Predecessor};
use thalweg_units::{Rows, Span, Time};

/// Largest number of direct predecessors where others have the same. If many wait for the same long list, following a
/// computation that stands for all of it saves the lists.
pub(super) const MOST_FOLLOWED: usize = 4;

/// Largest number of flows of a scenario.
pub(crate) const MOST_FLOWS: u64 = 100_000_000;

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub src: u32,
    pub dst: u32,
    /// Payload bytes; `u64::MAX`: never ends.
    pub size: u64,
    /// When the flow starts; if it follows others, the pause after them.
    pub start: Time,
    /// When the flow stops, if it has no end of its own.
    pub until: Option<Time>,
    /// The time by which the flow is inside or outside the measured window. `None`: its start is not known in advance,
    /// and it is measured.
    pub judged: Option<Time>,
    /// The number of the flow in its list.
    pub listed: Option<u64>,
    /// Position of its traffic section.
    pub group: u16,
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkDraft {
    pub host: u32,
    /// The processor of the host on which it runs; `None`: it begins as soon as it is ready.
    pub cpu: Option<u32>,
    /// When the computation is ready; if it follows others, the pause after them.
    pub start: Time,
    pub lasts: Span,
    /// Position of its traffic section.
    pub group: u16,
}

/// Flows and computations in the order in which sections make them, with those that each follows, by position.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    flows: Vec<Draft>,
    /// The predecessors of each flow.
    followed: Rows<Predecessor>,
    works: Vec<WorkDraft>,
    /// The predecessors of each computation.
    followed_by_works: Rows<Predecessor>,
}

impl Drafts {
    /// Adds a flow that starts at a given time. Returns its position.
    pub fn push(&mut self, flow: Draft) -> usize {
        self.follow(flow, &[])
    }

    /// Adds a flow that starts after the flows at these positions have arrived; they must exist. Returns its position.
    pub fn follow(&mut self, flow: Draft, others: &[usize]) -> usize {
        self.follow_ends(flow, others.iter().map(|other| (*other, End::Received)))
    }

    /// Adds a flow that starts after these ends of the flows at these positions; they must exist. Returns its position.
    pub fn follow_ends(&mut self, flow: Draft, others: impl IntoIterator<Item = (usize, End)>) -> usize {
        self.follow_all(
            flow,
            others.into_iter().map(|(other, end)| Predecessor::Flow { flow: other.into(), end }),
        )
    }

    /// Adds a flow that starts after all of these, given by positions that must exist. Returns its position.
    pub fn follow_all(&mut self, flow: Draft, others: impl IntoIterator<Item = Predecessor>) -> usize {
        self.followed.push(others);
        self.flows.push(flow);
        self.flows.len() - 1
    }

    /// Adds a computation that is ready after all of these, given by positions that must exist. Returns its position
    /// among computations.
    pub fn work(&mut self, work: WorkDraft, others: impl IntoIterator<Item = Predecessor>) -> usize {
        self.followed_by_works.push(others);
        self.works.push(work);
        self.works.len() - 1
    }

    /// What comes when the last of the flows at these positions has arrived: they themselves or, if they are more than
    /// [`MOST_FOLLOWED`], `stand_in`, which then follows them all and takes no time.
    pub fn last_of(&mut self, stand_in: WorkDraft, flows: &[usize]) -> Vec<Predecessor> {
        let arrived = flows.iter().map(|flow| Predecessor::Flow { flow: (*flow).into(), end: End::Received });
        if flows.len() <= MOST_FOLLOWED {
            return arrived.collect();
        }
        vec![Predecessor::Work { work: self.work(stand_in, arrived).into(), edge: Edge::Ended }]
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

    /// The predecessors of a computation, by position.
    pub fn followed_by_work(&self, position: usize) -> &[Predecessor] {
        self.followed_by_works.row(position)
    }

    /// The predecessors of a flow, by position.
    pub fn followed_by(&self, position: usize) -> &[Predecessor] {
        self.followed.row(position)
    }
}
