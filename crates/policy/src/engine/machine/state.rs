//! The state of queues, buffers and ports in a machine.

use super::rules::{BufferView, PortView};
use super::tournament::{SEARCHED, Tournament};
use crate::normal::expression::{PacketField, Place};
use crate::normal::{Action, Case, Comparator, Policy, Port, Select, States, Wire};
use crate::syntax::tree::SizeUnit;
use thalweg_units::Stream;

/// The actions of each case of a hook.
pub type Actions = Vec<Vec<Action>>;

/// A queue.
#[derive(Clone, Debug)]
pub struct QueueState<B> {
    /// Its packets.
    pub backlog: B,
    /// Its size, in its own unit.
    pub size: i64,
    /// Its states.
    pub states: States,
    /// Waiting packets and bytes, including those of an earlier policy.
    pub waiting: (u32, u64),
    /// Packets and bytes of an earlier policy.
    pub held: (u32, u64),
    /// Properties that do not change.
    pub fixed: QueueFixed,
    /// Random stream for its congestion hook.
    pub draws: Stream,
}

/// Properties of a queue that do not change.
#[derive(Clone, Debug)]
pub struct QueueFixed {
    /// Its port, and the number of the queue there.
    pub port: (usize, usize),
    /// Its buffer, and the number of the queue there.
    pub buffer: Option<(usize, usize)>,
    /// Actions on congestion.
    pub congestion: Actions,
    /// Actions after admission.
    pub admitted: Actions,
    /// Which orders depend on the remaining processing.
    pub follows: Follows,
}

/// Which orders depend on the remaining processing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follows {
    /// The order of admission.
    pub admission: bool,
    /// The order of processing.
    pub processing: bool,
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct BufferState {
    /// The fields for rules.
    pub view: BufferView,
    /// True if sizes are counted in packets.
    pub in_packets: bool,
    /// Its queues.
    pub queues: Vec<usize>,
    /// How the last queue is found; `None`: it is the queue of the arriving packet.
    pub order: Option<Search>,
    /// Actions on congestion.
    pub congestion: Actions,
    /// Actions after admission.
    pub admitted: Actions,
    /// Random stream for its congestion hook.
    pub draws: Stream,
}

/// A port.
#[derive(Clone, Debug)]
pub struct PortState {
    /// The fields for rules.
    pub view: PortView,
    /// Its queues.
    pub queues: Vec<usize>,
    /// How the first queue is found; `None`: it is the first that is not empty.
    pub order: Option<Search>,
    /// Actions after scheduling.
    pub scheduled: Actions,
    /// The choice of the queue that a packet joins.
    pub select: Option<Select>,
    /// See [`Port::catches_up`].
    pub catches_up: bool,
    /// The queues that packets enter next.
    pub wire: Option<Wire>,
    /// Random stream for its choice of queue.
    pub draws: Stream,
}

/// How one of several queues is found.
#[derive(Clone, Debug)]
pub enum Search {
    /// By comparing them one by one.
    Each,
    /// By stored keys.
    Kept(Tournament),
}

impl Search {
    fn of(order: Option<&Comparator>, queues: usize, in_turn: bool) -> Option<Self> {
        let order = order?;
        let kept = queues > SEARCHED && !in_turn && order.rank.key().is_some();
        Some(if kept { Self::Kept(Tournament::new(queues)) } else { Self::Each })
    }
}

fn follows(order: &Comparator) -> bool {
    let mut found = false;
    let mut see = |place| found |= matches!(place, Place::Packet(_, PacketField::Processing));
    order.test.places(&mut see);
    found
}

fn actions(cases: &[Case]) -> Actions {
    cases.iter().map(|case| case.actions.clone()).collect()
}

fn number(list: &[usize], of: usize) -> usize {
    list.iter().position(|one| *one == of).unwrap_or(0)
}

/// Queues, empty.
pub fn queues<B>(policy: &Policy, backlog: impl Fn(usize) -> B, seed: u64) -> Vec<QueueState<B>> {
    let make = |(nth, queue): (usize, &crate::normal::Queue)| QueueState {
        backlog: backlog(nth),
        size: queue.size,
        states: queue.states,
        waiting: (0, 0),
        held: (0, 0),
        fixed: QueueFixed {
            port: (queue.port, number(&policy.ports()[queue.port].queues, nth)),
            buffer: queue.buffer.map(|buffer| (buffer, number(&policy.buffers()[buffer].queues, nth))),
            congestion: actions(&queue.congestion),
            admitted: actions(&queue.admitted),
            follows: Follows { admission: follows(&queue.admission), processing: follows(&queue.processing) },
        },
        draws: Stream::new(seed, "policy queue", nth as u64),
    };
    policy.queues().iter().enumerate().map(make).collect()
}

/// Buffers, empty.
pub fn buffers(policy: &Policy, seed: u64) -> Vec<BufferState> {
    let make = |(nth, buffer): (usize, &crate::normal::Buffer)| BufferState {
        view: BufferView { size: buffer.size, curr_size: 0, adm_state: buffer.adm_state },
        in_packets: buffer.unit == SizeUnit::Packets,
        queues: buffer.queues.clone(),
        order: Search::of(buffer.order.as_ref(), buffer.queues.len(), false),
        congestion: actions(&buffer.congestion),
        admitted: actions(&buffer.admitted),
        draws: Stream::new(seed, "policy buffer", nth as u64),
    };
    policy.buffers().iter().enumerate().map(make).collect()
}

/// Ports, idle.
pub fn ports(policy: &Policy, seed: u64) -> Vec<PortState> {
    let make = |(nth, port): (usize, &Port)| PortState {
        view: PortView { rate: port.rate.kbps().unwrap_or(0), sched_state: port.sched_state },
        queues: port.queues.clone(),
        order: Search::of(port.order.as_ref(), port.queues.len(), port.wire.is_some()),
        scheduled: actions(&port.scheduled),
        select: port.select.clone(),
        catches_up: port.catches_up,
        wire: port.wire.clone(),
        draws: Stream::new(seed, "policy select", nth as u64),
    };
    policy.ports().iter().enumerate().map(make).collect()
}
