//! What some queues can do besides letting packets in and out: a small contract each. An order has those that make
//! sense for it, and shows them ([`Order::pausable`](super::Order::pausable) and its like); the others know nothing of
//! them. What needs one is refused, by [`Needs`](super::Needs), where an order lacks it.

use super::Entry;
use crate::crossbar::Ends;
use crate::pause::Paused;
use std::collections::BTreeSet;
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Handle, QueueSet};

/// Queues that can be paused one by one, numbered from 0.
pub trait Pausable {
    /// How many, at least one.
    fn queues(&self) -> u16;
    /// Pauses a queue, or lets it go on: what is in it stays, what comes may join.
    fn pause(&mut self, queue: u16, paused: bool);
    /// Pauses these queues, and lets all others go on.
    fn pause_only(&mut self, queues: &QueueSet) {
        (0..self.queues()).for_each(|queue| self.pause(queue, queues.has(queue)));
    }
    /// The queues that these flows wait in are paused, and no others of a flow's: as long as they wait there.
    fn pause_flows(&mut self, _flows: &BTreeSet<FlowId>) {}
    /// Paused is what the neighbour's frames have paused, and nothing else.
    fn apply(&mut self, paused: &Paused) {
        if paused.any_class() {
            (0..self.queues()).for_each(|queue| self.pause(queue, paused.queue(queue)));
        } else {
            self.pause_only(paused.queues());
            self.pause_flows(paused.flows());
        }
    }
    /// If anything waits, none of it may leave now: every queue that holds any is paused.
    fn is_held(&self) -> bool;
}

/// Queues for hop-by-hop flow control: which of them the hop before is to pause.
pub trait HopByHop {
    /// The packet that joined last made its queue too long: the hop before should pause the queue it left.
    fn is_overfull(&self) -> bool;
    /// The queue that the last packet to leave was in.
    fn served_queue(&self) -> u16;
}

/// A pipeline between the queues and the wire.
pub trait Pipeline {
    /// The `nth` of the packets that wait for the wire only: no pause stops them, and they are exempt from accounting.
    fn committed(&self, nth: usize) -> Option<Handle>;
    /// How much later than a packet leaves its queue the switch is notified of it.
    fn late(&self) -> Span;
}

/// An order by importance: a transmission may give way to a packet that came later.
pub trait Preemptible {
    /// Takes back the packet last served, if one that waits should go before it: it waits again in its old place (key,
    /// arrival number).
    fn preempt(&mut self, now: Time) -> Option<Entry>;
}

/// An order out of whose middle packets can be taken.
pub trait Searchable {
    /// Takes out those that `belong`, wherever they are; each is shown to `left`.
    fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Entry));
}

/// Inputs of the switch served in turn, by a turn that the switch may set.
pub trait ByInput {
    /// Those that have a packet waiting here.
    fn inputs(&self) -> Ends;
    /// It is the turn of `input`, which has a packet waiting.
    fn turn_to(&mut self, input: u8);
}
