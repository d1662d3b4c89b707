//! Flows as families make them, before they have their places in the list of a run.

use thalweg_net::spec::End;
use thalweg_units::{Rows, Time};

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

/// Flows in the order in which sections make them, and which of them each follows.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    flows: Vec<Draft>,
    /// Per flow, the positions of those that it follows, and the ends of them that it waits for.
    followed: Rows<(u32, End)>,
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
        self.followed.push(others.into_iter().map(|(other, end)| (other as u32, end)));
        self.flows.push(flow);
        self.flows.len() - 1
    }

    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// The flow at a position.
    pub fn at(&self, position: usize) -> &Draft {
        &self.flows[position]
    }

    /// The positions of those that it follows, with the ends that it waits for.
    pub fn followed_by(&self, position: usize) -> &[(u32, End)] {
        self.followed.row(position)
    }
}
