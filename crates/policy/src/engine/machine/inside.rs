//! What drivers do to packets that wait, apart from letting them in and out.

use super::Machine;
use super::orders::{Order, Orders};
use super::rules::{Candidate, Hook, Owner, Rules, View};
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
        self.slab.taken().for_each(|at| see(self.slab.at(at).handle));
    }

    /// Takes out the waiting packets that `belong`, wherever they are; each is shown to `left`. No hook is run: nothing
    /// was dropped, and nothing scheduled.
    pub fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Handle)) {
        let found: Vec<u32> = self.slab.taken().filter(|at| belongs(self.slab.at(*at).handle)).collect();
        for at in found {
            let q = self.slab.at(at).packet.queue as usize;
            left(self.leave(q, at).handle);
        }
    }

    /// The queue gives up its victim for packets that are not its own. `None`: it holds none.
    pub fn give_up(&mut self, queue: usize) -> Result<Option<Handle>, Fault> {
        let state = self.queues.get(queue).ok_or(Fault::NoSuchQueue(queue as u32))?;
        self.tally.note_victim();
        let victim = state.orders.victim(self.slab.links());
        Ok(victim.map(|at| self.leave(queue, at).handle))
    }
}

/// Rules that many machines share.
impl<R: Rules> Rules for Arc<R> {
    type Orders = R::Orders;

    fn orders(&self, queue: usize) -> R::Orders {
        (**self).orders(queue)
    }
    #[inline]
    fn key(&self, order: Order, queue: usize, packet: &Stored) -> i128 {
        (**self).key(order, queue, packet)
    }
    #[inline]
    fn before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool {
        (**self).before(order, queue, a, b)
    }
    #[inline]
    fn queue_key(&self, owner: Owner, queue: &Candidate<'_>) -> Option<i128> {
        (**self).queue_key(owner, queue)
    }
    #[inline]
    fn queue_before(&self, owner: Owner, a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
        (**self).queue_before(owner, a, b)
    }
    #[inline]
    fn case(&self, hook: Hook, view: &View<'_>) -> Option<usize> {
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
