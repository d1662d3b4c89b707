//! What drivers do to packets that wait, apart from letting them in and out.

use super::Machine;
use super::backlog::Backlog;
use super::orders::Order;
use super::rules::{Candidate, Hook, Owner, Rules, Uses, View};
use crate::engine::contract::Fault;
use crate::engine::packet::Stored;
use crate::engine::tally::Tally;
use std::sync::Arc;
use thalweg_wire::Handle;

impl<R: Rules, T: Tally> Machine<R, T> {
    /// How many queues it has.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Shows every packet that waits, in no order that means anything.
    pub fn waiting(&self, see: &mut dyn FnMut(Handle)) {
        for queue in &self.queues {
            queue.backlog.places().into_iter().for_each(|at| see(queue.backlog.at(at).handle));
        }
    }

    /// Takes out the waiting packets that `belong`, wherever they are; each is shown to `left`. No hook is run: nothing
    /// was dropped, and nothing scheduled.
    pub fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Handle)) {
        for q in 0..self.queues.len() {
            // From the last on: a ring's packets behind one that leaves change their places.
            for at in self.queues[q].backlog.places().into_iter().rev() {
                if belongs(self.queues[q].backlog.at(at).handle) {
                    left(self.leave(q, at).handle);
                }
            }
        }
    }

    /// The queue gives up its victim for packets that are not its own. `None`: it holds none.
    pub fn give_up(&mut self, queue: usize) -> Result<Option<Handle>, Fault> {
        let state = self.queues.get(queue).ok_or(Fault::NoSuchQueue(queue as u32))?;
        self.tally.note_victim();
        let victim = state.backlog.victim();
        Ok(victim.map(|at| self.leave(queue, at).handle))
    }
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
