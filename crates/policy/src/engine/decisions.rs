//! All decisions of a policy in whole numbers, with constants substituted: the input of all compilers.

use super::machine::any::Plan;
use crate::normal::expression::{BufferField, Place, PortField, QueueField};
use crate::normal::integer::{Fraction, Int, IntTest};
use crate::normal::rank::Rank;
use crate::normal::{Action, Case, Comparator, Policy, Select, State};
use crate::syntax::tree::SizeUnit;

/// An order of packets or of queues.
#[derive(Clone, PartialEq, Debug)]
pub struct Ordering {
    /// How it can be implemented.
    pub rank: Rank,
    /// The comparator.
    pub test: IntTest,
}

impl Ordering {
    fn of(order: &Comparator) -> Self {
        Self { rank: order.rank.clone(), test: IntTest::of(&order.test, &|_| None) }
    }
    /// The key, if there is one, by which entries are sorted.
    pub fn key(&self) -> Option<Int> {
        self.rank.key().cloned()
    }
}

/// A case of a hook, and the new values of states by its actions.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    /// The condition.
    pub test: IntTest,
    /// For each action, the new state if it is a `modify`.
    pub values: Vec<Option<Fraction>>,
}

/// The decisions of a queue.
#[derive(Clone, PartialEq, Debug)]
pub struct OfQueue {
    /// How its packets are kept.
    pub plan: Plan,
    /// Its sizes are counted in packets.
    pub counts_packets: bool,
    /// Order of admission.
    pub admission: Ordering,
    /// Order of processing.
    pub processing: Ordering,
    /// Cases on congestion.
    pub congestion: Vec<Decided>,
    /// Cases after admission.
    pub admitted: Vec<Decided>,
}

/// The decisions of a buffer or a port.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OfOwner {
    /// Order of its queues.
    pub order: Option<Ordering>,
    /// Cases on congestion.
    pub congestion: Vec<Decided>,
    /// Cases after admission, or after scheduling.
    pub after: Vec<Decided>,
    /// The queue that a packet joins.
    pub select: Option<Int>,
}

/// All decisions of a policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Decisions {
    /// By queue.
    pub queues: Vec<OfQueue>,
    /// By buffer.
    pub buffers: Vec<OfOwner>,
    /// By port.
    pub ports: Vec<OfOwner>,
}

impl Decisions {
    /// The decisions of a policy.
    pub fn of(policy: &Policy) -> Self {
        let queues = (0..policy.queues().len()).map(|nth| of_queue(policy, nth)).collect();
        let buffers = (0..policy.buffers().len()).map(|nth| of_buffer(policy, nth)).collect();
        let ports = (0..policy.ports().len()).map(|nth| of_port(policy, nth)).collect();
        Self { queues, buffers, ports }
    }
}

fn decided(cases: &[Case], known: &dyn Fn(Place) -> Option<i64>) -> Vec<Decided> {
    let value = |action: &Action| match action {
        Action::Modify(_, value) => Some(Fraction::of(value, known)),
        _ => None,
    };
    let case = |case: &Case| Decided {
        test: IntTest::of(&case.test, known),
        values: case.actions.iter().map(value).collect(),
    };
    cases.iter().map(case).collect()
}

fn of_queue(policy: &Policy, nth: usize) -> OfQueue {
    let queue = &policy.queues()[nth];
    let unchanged = |state, value: i64| (!policy.changes(state)).then_some(value);
    let known = |place: Place| match place {
        Place::Queue(_, QueueField::Size) => Some(queue.size),
        Place::Queue(_, QueueField::AdmState) => unchanged(State::QueueAdm, queue.states.adm),
        Place::Queue(_, QueueField::SchedState) => unchanged(State::QueueSched, queue.states.sched),
        Place::Buffer(BufferField::Size) => queue.buffer.map(|buffer| policy.buffers()[buffer].size),
        _ => None,
    };
    OfQueue {
        plan: Plan::of(queue),
        counts_packets: queue.unit == SizeUnit::Packets,
        admission: Ordering::of(&queue.admission),
        processing: Ordering::of(&queue.processing),
        congestion: decided(&queue.congestion, &known),
        admitted: decided(&queue.admitted, &known),
    }
}

fn of_buffer(policy: &Policy, nth: usize) -> OfOwner {
    let buffer = &policy.buffers()[nth];
    let known = |place: Place| match place {
        Place::Buffer(BufferField::Size) => Some(buffer.size),
        Place::Buffer(BufferField::AdmState) if !policy.changes(State::BufferAdm) => Some(buffer.adm_state),
        _ => None,
    };
    OfOwner {
        order: buffer.order.as_ref().map(Ordering::of),
        congestion: decided(&buffer.congestion, &known),
        after: decided(&buffer.admitted, &known),
        select: None,
    }
}

fn of_port(policy: &Policy, nth: usize) -> OfOwner {
    let port = &policy.ports()[nth];
    let known = |place: Place| match place {
        Place::Port(PortField::Rate) => port.rate.kbps(),
        Place::Port(PortField::SchedState) if !policy.changes(State::PortSched) => Some(port.sched_state),
        _ => None,
    };
    let select = match &port.select {
        Some(Select::By(amount)) => Some(Fraction::of(amount, &known).over),
        Some(Select::Random) | None => None,
    };
    OfOwner {
        order: port.order.as_ref().map(Ordering::of),
        congestion: Vec::new(),
        after: decided(&port.scheduled, &known),
        select,
    }
}
