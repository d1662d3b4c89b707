//! What a policy decides, as a machine is given it: interpreted ([`Bytecode`](crate::engine::Bytecode)) or compiled.

use super::backlog::Backlog;
use super::nodes::Key;
use super::orders::Order;
use crate::engine::packet::{Kept, Stored};
use crate::normal::expression::{BufferField, Place, PortField, QueueField};
use std::sync::Arc;

/// A queue, as rules see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueView {
    /// How much it holds, in its own unit.
    pub size: i64,
    /// How much waits, in its own unit.
    pub curr_size: i64,
    /// Packets that wait.
    pub length: i64,
    /// Its state for admission.
    pub adm_state: i64,
    /// Its state for scheduling.
    pub sched_state: i64,
}

impl QueueView {
    /// One of its fields.
    #[inline]
    pub fn field(&self, field: QueueField) -> i64 {
        match field {
            QueueField::Size => self.size,
            QueueField::CurrSize => self.curr_size,
            QueueField::Length => self.length,
            QueueField::AdmState | QueueField::WeightAdm => self.adm_state,
            QueueField::SchedState | QueueField::WeightSched => self.sched_state,
        }
    }
}

/// A buffer, as rules see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BufferView {
    /// How much it holds, in its own unit.
    pub size: i64,
    /// How much waits, in its own unit.
    pub curr_size: i64,
    /// Its state for admission.
    pub adm_state: i64,
}

impl BufferView {
    /// That of a queue without one.
    pub const NONE: &Self = &Self { size: 0, curr_size: 0, adm_state: 0 };
}

/// A port, as rules see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortView {
    /// kbit/s.
    pub rate: i64,
    /// Its own state for scheduling.
    pub sched_state: i64,
}

impl PortView {
    /// That of none.
    pub const NONE: &Self = &Self { rate: 0, sched_state: 0 };
}

/// What a hook sees: what it may not look at is lent, not copied.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The packet.
    pub packet: &'a Stored,
    /// Its queue.
    pub queue: QueueView,
    /// That queue's buffer; of none, [`BufferView::NONE`].
    pub buffer: &'a BufferView,
    /// Its port.
    pub port: &'a PortView,
}

impl View<'_> {
    /// A field of what it sees.
    #[inline]
    pub fn read(&self, place: Place) -> i64 {
        match place {
            Place::Packet(_, field) | Place::Head(_, field) => self.packet.field(field),
            Place::Queue(_, field) => self.queue.field(field),
            Place::Buffer(BufferField::Size) => self.buffer.size,
            Place::Buffer(BufferField::CurrSize) => self.buffer.curr_size,
            Place::Buffer(BufferField::AdmState) => self.buffer.adm_state,
            Place::Port(PortField::Rate) => self.port.rate,
            Place::Port(PortField::SchedState) => self.port.sched_state,
        }
    }
}

/// A queue and its head, as orders of queues see it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The queue.
    pub queue: QueueView,
    /// Its first packet.
    pub head: Stored,
}

/// Where conditions stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hook {
    /// [`Queue::congestion`](crate::normal::Queue::congestion)
    Congestion(usize),
    /// [`Queue::admitted`](crate::normal::Queue::admitted)
    Admitted(usize),
    /// [`Buffer::congestion`](crate::normal::Buffer::congestion)
    BufferCongestion(usize),
    /// [`Buffer::admitted`](crate::normal::Buffer::admitted)
    BufferAdmitted(usize),
    /// [`Port::scheduled`](crate::normal::Port::scheduled)
    Scheduled(usize),
}

/// Whose queues are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A buffer's.
    Buffer(usize),
    /// A port's.
    Port(usize),
}

/// Parts of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uses {
    /// Buffers.
    pub buffers: bool,
    /// A port's choice of a queue.
    pub select: bool,
    /// Ports that go on to queues.
    pub wires: bool,
    /// States that an idle queue catches up with.
    pub catches_up: bool,
    /// More queues of a port or a buffer than are searched one by one.
    pub many_queues: bool,
}

impl Uses {
    /// All of it.
    pub const ALL: Self =
        Self { buffers: true, select: true, wires: true, catches_up: true, many_queues: true };
}

/// The decisions of a policy. Where an order has no key, its comparator is called, and the other way round.
pub trait Rules {
    /// What packets are sorted by.
    type Key: Key;
    /// What is kept of a packet.
    type Kept: Kept;
    /// How packets of a queue are kept.
    type Backlog: Backlog<Self::Key, Self::Kept>;
    /// Which parts of the language the policy uses: what it does not is not compiled.
    const USES: Uses;

    /// That of this queue, empty.
    fn backlog(&self, queue: usize) -> Self::Backlog;
    /// The key of a packet in one of its queue's orders, the least first.
    fn key(&self, order: Order, queue: usize, packet: &Stored) -> Self::Key;
    /// The comparator of such an order.
    fn before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool;
    /// The key of a queue, the least first; `None`: there is none.
    fn queue_key(&self, owner: Owner, queue: &Candidate) -> Option<i128>;
    /// The comparator of queues.
    fn queue_before(&self, owner: Owner, a: &Candidate, b: &Candidate) -> bool;
    /// The sizes of this queue are counted in packets.
    fn counts_packets(&self, queue: usize) -> bool;
    /// Which case matches first. What is seen is made up where there are cases.
    fn case<'a>(&self, hook: Hook, view: impl FnOnce() -> View<'a>) -> Option<usize>;
    /// What the state of an action becomes.
    fn value(&self, hook: Hook, case: usize, action: usize, view: &View<'_>) -> i128;
    /// Which of a port's queues a packet chooses.
    fn select(&self, port: usize, packet: &Stored) -> usize;
}

/// Rules that many machines share.
impl<R: Rules> Rules for Arc<R> {
    type Key = R::Key;
    type Kept = R::Kept;
    type Backlog = R::Backlog;
    const USES: Uses = R::USES;

    fn backlog(&self, queue: usize) -> R::Backlog {
        (**self).backlog(queue)
    }
    #[inline]
    fn key(&self, order: Order, queue: usize, packet: &Stored) -> R::Key {
        (**self).key(order, queue, packet)
    }
    #[inline]
    fn before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool {
        (**self).before(order, queue, a, b)
    }
    #[inline]
    fn queue_key(&self, owner: Owner, queue: &Candidate) -> Option<i128> {
        (**self).queue_key(owner, queue)
    }
    #[inline]
    fn queue_before(&self, owner: Owner, a: &Candidate, b: &Candidate) -> bool {
        (**self).queue_before(owner, a, b)
    }
    #[inline]
    fn counts_packets(&self, queue: usize) -> bool {
        (**self).counts_packets(queue)
    }
    #[inline]
    fn case<'a>(&self, hook: Hook, view: impl FnOnce() -> View<'a>) -> Option<usize> {
        (**self).case(hook, view)
    }
    #[inline]
    fn value(&self, hook: Hook, case: usize, action: usize, view: &View<'_>) -> i128 {
        (**self).value(hook, case, action, view)
    }
    #[inline]
    fn select(&self, port: usize, packet: &Stored) -> usize {
        (**self).select(port, packet)
    }
}
