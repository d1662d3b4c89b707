//! Optional capabilities of queues, each a small contract. An order implements those that make sense for it and exposes
//! them through methods such as [`Order::pausable`](crate::schedule::Order::pausable). What needs one is refused, by
//! [`Needs`](crate::schedule::Needs), where an order lacks it.

use crate::crossbar::Ends;
use crate::pause::Paused;
use crate::schedule::Entry;
use std::collections::BTreeSet;
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Handle, QueueSet};

/// Queues that can be paused one by one, numbered from 0.
pub trait Pausable {
    /// How many, at least one.
    fn queues(&self) -> u16;
    /// Pauses or resumes a queue. Its packets stay, and further ones may join.
    fn pause(&mut self, queue: u16, paused: bool);
    /// Pauses exactly these queues; all others resume.
    fn pause_only(&mut self, queues: &QueueSet) {
        (0..self.queues()).for_each(|queue| self.pause(queue, queues.has(queue)));
    }
    /// Pauses the queues in which these flows wait, for as long as they wait there.
    fn pause_flows(&mut self, _flows: &BTreeSet<FlowId>) {}
    /// Applies the pause state of the neighbour's frames.
    fn apply(&mut self, paused: &Paused) {
        if paused.any_class() {
            (0..self.queues()).for_each(|queue| self.pause(queue, paused.queue(queue)));
        } else {
            self.pause_only(paused.queues());
            self.pause_flows(paused.flows());
        }
    }
    /// Whether every queue that holds packets is paused.
    fn is_held(&self) -> bool;
}

/// Queues for hop-by-hop flow control: they report when the upstream hop should pause one of its queues.
pub trait HopByHop {
    /// The packet that joined last has made its queue too long: the upstream hop should pause the queue that it left.
    fn is_overfull(&self) -> bool;
    /// The queue that the last packet to leave was in.
    fn served_queue(&self) -> u16;
}

/// A pipeline between the queues and the wire.
pub trait Pipeline {
    /// The `nth` packet that has left the queues and waits only for the wire: no pause stops it, and it is exempt from
    /// accounting.
    fn committed(&self, nth: usize) -> Option<Handle>;
    /// Delay after which the switch is notified that a packet has left its queue.
    fn late(&self) -> Span;
}

/// An order by importance: a transmission may be interrupted for a packet that came later.
pub trait Preemptible {
    /// Takes back the packet last served, if one that waits should go before it: it waits again in its old place (key,
    /// arrival number).
    fn preempt(&mut self, now: Time) -> Option<Entry>;
}

/// An order from whose middle packets can be removed.
pub trait Searchable {
    /// Removes the packets for which `belongs` is true, wherever they are, and passes each to `left`.
    fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Entry));
}

/// Inputs of the switch served in turn, by a turn that the switch may set.
pub trait ByInput {
    /// Those that have a packet waiting here.
    fn inputs(&self) -> Ends;
    /// It is the turn of `input`, which has a packet waiting.
    fn turn_to(&mut self, input: u8);
}
