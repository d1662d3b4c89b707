//! All decisions of a policy in whole numbers, with what does not change put in: what is compiled, whatever into.

use super::machine::any::Plan;
use crate::normal::expression::{BufferField, Place, PortField, QueueField};
use crate::normal::integer::{Fraction, Int, IntTest};
use crate::normal::rank::Rank;
use crate::normal::{Action, Case, Comparator, Policy, Select, State};
use crate::syntax::tree::SizeUnit;

/// An order of packets or of queues.
#[derive(Clone, PartialEq, Debug)]
pub struct Ordering {
    /// How it can be kept.
    pub rank: Rank,
    /// The comparator.
    pub test: IntTest,
}

impl Ordering {
    fn of(order: &Comparator) -> Self {
        Self { rank: order.rank.clone(), test: IntTest::of(&order.test, &|_| None) }
    }
    /// The key, if there is one, of what is first.
    pub fn key(&self) -> Option<Int> {
        self.rank.key().cloned()
    }
}

/// A case of a hook, and what its actions set states to.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    /// When.
    pub test: IntTest,
    /// For each action, the new state if it is a `modify`.
    pub values: Vec<Option<Fraction>>,
}

/// A queue's.
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
    /// On congestion.
    pub congestion: Vec<Decided>,
    /// After admission.
    pub admitted: Vec<Decided>,
}

/// A buffer's or a port's.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OfOwner {
    /// Order of its queues.
    pub order: Option<Ordering>,
    /// On congestion.
    pub congestion: Vec<Decided>,
    /// After admission, or after scheduling.
    pub after: Vec<Decided>,
    /// Which queue a packet chooses.
    pub select: Option<Int>,
}

/// All of them.
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
    /// Of a policy.
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
