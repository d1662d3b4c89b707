//! The decisions of a policy for a machine: interpreted ([`Bytecode`](crate::engine::Bytecode)) or compiled.

use super::backlog::Backlog;
use super::nodes::Key;
use super::orders::Order;
use crate::engine::packet::{Kept, Stored};
use crate::normal::expression::{BufferField, Place, PortField, QueueField};
use std::sync::Arc;

/// The fields of a queue for rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueView {
    /// Its size, in its own unit.
    pub size: i64,
    /// Its length, in its own unit.
    pub curr_size: i64,
    /// Number of waiting packets.
    pub length: i64,
    /// Its state for admission.
    pub adm_state: i64,
    /// Its state for scheduling.
    pub sched_state: i64,
}

impl QueueView {
    /// The value of a field.
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

/// The fields of a buffer for rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BufferView {
    /// Its size, in its own unit.
    pub size: i64,
    /// Its length, in its own unit.
    pub curr_size: i64,
    /// Its state for admission.
    pub adm_state: i64,
}

impl BufferView {
    /// The buffer of a queue without one.
    pub const NONE: &Self = &Self { size: 0, curr_size: 0, adm_state: 0 };
}

/// The fields of a port for rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortView {
    /// Its rate, kbit/s.
    pub rate: i64,
    /// Its own state for scheduling.
    pub sched_state: i64,
}

impl PortView {
    /// No port.
    pub const NONE: &Self = &Self { rate: 0, sched_state: 0 };
}

/// The entities that a hook sees. Large ones are borrowed, because many hooks do not read them.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The packet.
    pub packet: &'a Stored,
    /// Its queue.
    pub queue: QueueView,
    /// The queue's buffer; without one, [`BufferView::NONE`].
    pub buffer: &'a BufferView,
    /// Its port.
    pub port: &'a PortView,
}

impl View<'_> {
    /// The value of a field.
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

/// A queue and its head, for orders of queues.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The queue.
    pub queue: QueueView,
    /// Its first packet.
    pub head: Stored,
}

/// The hooks with conditions.
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

/// The owner of queues that are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A buffer's.
    Buffer(usize),
    /// A port's.
    Port(usize),
}

/// Optional features of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uses {
    /// Buffers.
    pub buffers: bool,
    /// Ports with a choice of queue.
    pub select: bool,
    /// Ports that are connected to queues.
    pub wires: bool,
    /// Queues that catch up after they were empty.
    pub catches_up: bool,
    /// Ports or buffers with more queues than are searched one by one.
    pub many_queues: bool,
}

impl Uses {
    /// All features.
    pub const ALL: Self =
        Self { buffers: true, select: true, wires: true, catches_up: true, many_queues: true };
}

/// The decisions of a policy. Of an order, either the key or the comparator is called: the comparator if there is no
/// key.
pub trait Rules {
    /// The type of keys of packets.
    type Key: Key;
    /// The fields of a packet that are kept.
    type Kept: Kept;
    /// The structure that keeps the packets of a queue.
    type Backlog: Backlog<Self::Key, Self::Kept>;
    /// The features that the policy uses; others are not compiled.
    const USES: Uses;

    /// An empty backlog for this queue.
    fn backlog(&self, queue: usize) -> Self::Backlog;
    /// The key of a packet in an order of its queue, the smallest first.
    fn key(&self, order: Order, queue: usize, packet: &Stored) -> Self::Key;
    /// The comparator of such an order.
    fn before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool;
    /// The key of a queue, the smallest first; `None` if there is none.
    fn queue_key(&self, owner: Owner, queue: &Candidate) -> Option<i128>;
    /// The comparator of queues.
    fn queue_before(&self, owner: Owner, a: &Candidate, b: &Candidate) -> bool;
    /// The sizes of this queue are counted in packets.
    fn counts_packets(&self, queue: usize) -> bool;
    /// The first case that matches. `view` is called only if there are cases.
    fn case<'a>(&self, hook: Hook, view: impl FnOnce() -> View<'a>) -> Option<usize>;
    /// The new value of the state of an action.
    fn value(&self, hook: Hook, case: usize, action: usize, view: &View<'_>) -> i128;
    /// The position, among the port's queues, of the queue that a packet joins.
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
