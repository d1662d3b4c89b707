//! What a machine keeps of queues, buffers and ports.

use super::rules::{BufferView, PortView};
use super::tournament::{SEARCHED, Tournament};
use crate::normal::expression::{PacketField, Place};
use crate::normal::{Action, Case, Comparator, Policy, Port, Select, States, Wire};
use crate::syntax::tree::SizeUnit;
use thalweg_units::Stream;

/// Actions of a hook's cases.
pub type Actions = Vec<Vec<Action>>;

/// A queue.
#[derive(Clone, Debug)]
pub struct QueueState<B> {
    /// Its packets.
    pub backlog: B,
    /// How much it holds, in its own unit.
    pub size: i64,
    /// Its states.
    pub states: States,
    /// Packets and bytes that wait, an earlier policy's included.
    pub waiting: (u32, u64),
    /// Packets and bytes of an earlier policy.
    pub held: (u32, u64),
    /// What does not change.
    pub fixed: QueueFixed,
    /// Draws for its congestion.
    pub draws: Stream,
}

/// What does not change of a queue.
#[derive(Clone, Debug)]
pub struct QueueFixed {
    /// Its port, and its number there.
    pub port: (usize, usize),
    /// Its buffer, and its number there.
    pub buffer: Option<(usize, usize)>,
    /// Actions on congestion.
    pub congestion: Actions,
    /// Actions after admission.
    pub admitted: Actions,
    /// Which orders look at the processing that remains.
    pub follows: Follows,
}

/// Orders that look at the processing that remains.
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
    /// What rules see.
    pub view: BufferView,
    /// What sizes are counted in.
    pub in_packets: bool,
    /// Its queues.
    pub queues: Vec<usize>,
    /// How the last of them is found; `None`: it is the arriving packet's.
    pub order: Option<Search>,
    /// Actions on congestion.
    pub congestion: Actions,
    /// Actions after admission.
    pub admitted: Actions,
    /// Draws for its congestion.
    pub draws: Stream,
}

/// A port.
#[derive(Clone, Debug)]
pub struct PortState {
    /// What rules see.
    pub view: PortView,
    /// Its queues.
    pub queues: Vec<usize>,
    /// How the first of them is found; `None`: it is the first that is not empty.
    pub order: Option<Search>,
    /// Actions after scheduling.
    pub scheduled: Actions,
    /// Which queue a packet joins.
    pub select: Option<Select>,
    /// See [`Port::catches_up`].
    pub catches_up: bool,
    /// Where packets go on.
    pub wire: Option<Wire>,
    /// Draws for its choice.
    pub draws: Stream,
}

/// How one of several queues is found.
#[derive(Clone, Debug)]
pub enum Search {
    /// One by one.
    Each,
    /// By keys that are kept.
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
