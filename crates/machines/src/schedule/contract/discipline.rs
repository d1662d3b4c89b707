//! The contract of output queues: enqueue, dequeue, drops.

use crate::schedule::contract::capabilities::{HopByHop, Pausable, Pipeline};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};
use thalweg_wire::{Handle, Packet};

/// What became of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// It is in the queue.
    Queued,
    /// It is in the queue, and its owner must set CE on it.
    Marked,
    /// It is in the queue, and one packet there, this or another, is to be trimmed to its header: the owner must do so
    /// ([`Packet::trim`]). The queue's byte count already reflects it.
    Trimmed(Handle),
    /// It was dropped. The owner still has it and must discard it; it is not listed in `out`.
    Dropped,
}

/// A packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// Which.
    pub handle: Handle,
    /// Its owner must set CE on it (marking at departure).
    pub mark: bool,
}

/// An output queue: admission and order. Never sees the network it is in.
///
/// ```
/// use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec, Verdict};
/// use thalweg_machines::stage::StageSpec;
/// use thalweg_units::{Rate, Stream, Time};
/// use thalweg_wire::{Handle, Packet};
///
/// // First come, first served, and no marking.
/// let (order, stage) = (OrderSpec::default(), StageSpec::default());
/// let spec = DisciplineSpec { order, limit: Limit::Packets(1), front: Vec::new(), stage, preemptive: false };
/// let mut queue = spec.make(Stream::new(1, "queue", 0), Rate::from_gbps(10))?;
/// let (packet, mut pushed_out) = (Packet { wire: 1500, ..Packet::default() }, Vec::new());
/// assert_eq!(queue.enqueue(Time::ZERO, &packet, Handle(1), &mut pushed_out), Verdict::Queued);
/// assert_eq!(queue.enqueue(Time::ZERO, &packet, Handle(2), &mut pushed_out), Verdict::Dropped);
/// assert_eq!(queue.dequeue(Time::ZERO, &mut pushed_out).map(|served| served.handle), Some(Handle(1)));
/// # Ok::<(), thalweg_machines::Invalid>(())
/// ```
pub trait Discipline {
    /// A packet arrives. Packets pushed out to make room (never the arriving one) are appended to `out`.
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict;
    /// The port is free: what leaves? Packets dropped at departure (CoDel) are appended to `out`.
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served>;
    /// The packet last dequeued is still being transmitted. If one that waits should go before it, takes it
    /// back into its old place (key, arrival number) and returns true: the port then dequeues again. Called
    /// after the arrivals of an instant, for disciplines made
    /// [`preemptive`](crate::schedule::DisciplineSpec::preemptive).
    fn preempt(&mut self, _now: Time) -> bool {
        false
    }
    /// Its queues, if they can be paused one by one.
    fn pausable(&self) -> Option<&dyn Pausable> {
        None
    }
    /// Likewise, to pause them.
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        None
    }
    /// Its queues, if the upstream hop is to pause one that grows too long. Called for orders that declare it
    /// ([`Needs::reports_overfull`](crate::schedule::Needs::reports_overfull)).
    fn hop_by_hop(&self) -> Option<&dyn HopByHop> {
        None
    }
    /// The pipeline between its queues and the wire. Called for orders that declare it
    /// ([`Needs::apart`](crate::schedule::Needs::apart)).
    fn pipeline(&self) -> Option<&dyn Pipeline> {
        None
    }
    /// Something waits, and none of it may leave now, because of pauses: [`Discipline::dequeue`] would return nothing.
    fn is_held(&self) -> bool {
        !self.is_empty() && self.pausable().is_some_and(|queues| queues.is_held())
    }
    /// Probes: shows every waiting packet that is no control packet, and returns how many of the queues hold
    /// any. `None`: the order does not report this.
    fn waiting(&self, _see: &mut dyn FnMut(Handle)) -> Option<u32> {
        None
    }
    /// Header bytes that were added to the packet which left last.
    #[inline]
    fn header(&self) -> u32 {
        0
    }
    /// Packets wait, and the queue itself holds them back until this instant, although it is not paused. Called for
    /// orders that declare it ([`Needs::holds_back`](crate::schedule::Needs::holds_back)).
    #[inline]
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// Removes the waiting packets for which `belongs` is true, wherever they are, and appends them to `out`. Called
    /// for orders that declare that they can be searched ([`Needs::searchable`](crate::schedule::Needs::searchable));
    /// others keep what they have.
    fn withdraw(&mut self, _belongs: &mut dyn FnMut(Handle) -> bool, _out: &mut Vec<Handle>) {}
    /// Pushes out the packet that its order would drop first, or several at once, because the memory that it shares is
    /// full. They are appended to `out`; the one that joined last, `arriving`, may be among them. Returns false if
    /// nothing was pushed out. Called for orders that can ([`Needs::keeps`](crate::schedule::Needs::keeps)).
    fn push_out(&mut self, _now: Time, _arriving: Handle, _out: &mut Vec<Handle>) -> bool {
        false
    }
    /// Passes the packets for which notifications were requested since the last call to `see`, in that order, and
    /// forgets them. Each arrived or left with the preceding call. Called for orders that declare it
    /// ([`Needs::notifies`](crate::schedule::Needs::notifies)).
    fn take_notified(&mut self, _see: &mut dyn FnMut(Handle)) {}
    /// Packets waiting.
    fn packets(&self) -> u32;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// When [`Discipline::on_tick`] wants to be called (control planes: ADS maps, PIE).
    fn wake(&self) -> Option<Time> {
        None
    }
    /// The instant named by [`Discipline::wake`] has come.
    fn on_tick(&mut self, _now: Time) {}
    /// The link has been free since `at` and has found the queue empty. It is called once per idle period, possibly
    /// late, but before anything arrives.
    fn on_idle(&mut self, _at: Time) {}
    /// True if nothing waits.
    #[inline]
    fn is_empty(&self) -> bool {
        self.packets() == 0
    }
}

/// Limit of the packets or bytes that may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Bytes over all queues of the port.
    Bytes(Bytes),
    /// Packets over all queues of the port.
    Packets(u32),
    /// No limit.
    Unlimited,
}
