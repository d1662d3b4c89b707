//! Removal of waiting packets: the last packet of a queue, the last queue of a buffer, packets that a driver withdraws;
//! and the stored keys of queues.

use super::backlog::Backlog;
use super::rules::{Candidate, Owner, Rules};
use super::state::Search;
use super::{Arriving, Machine};
use crate::engine::contract::{Effect, Fault};
use crate::engine::packet::Kept;
use crate::engine::tally::Tally;
use thalweg_wire::Handle;

impl<R: Rules, T: Tally> Machine<R, T> {
    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Calls `see` for every waiting packet, in no particular order.
    pub fn waiting(&self, see: &mut dyn FnMut(Handle)) {
        for queue in &self.queues {
            queue.backlog.places().into_iter().for_each(|at| see(queue.backlog.at(at).handle));
        }
    }

    /// Removes all waiting packets that `belong`, and calls `left` for each. No hook runs, because nothing was dropped
    /// or scheduled.
    pub fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Handle)) {
        for q in 0..self.queues.len() {
            // From the last to the first, because packets of a ring behind a removed one change their places.
            for at in self.queues[q].backlog.places().into_iter().rev() {
                if belongs(self.queues[q].backlog.at(at).handle) {
                    left(self.leave(q, at).handle);
                }
            }
        }
    }

    /// The queue gives up its victim for packets of other queues. `None` if it is empty.
    pub fn give_up(&mut self, queue: usize) -> Result<Option<Handle>, Fault> {
        let state = self.queues.get(queue).ok_or(Fault::NoSuchQueue(queue as u32))?;
        self.tally.note_victim();
        let victim = state.backlog.victim();
        Ok(victim.map(|at| self.leave(queue, at).handle))
    }

    #[inline(never)]
    pub(super) fn drop_victim(
        &mut self,
        q: usize,
        arriving: &mut Option<Arriving>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        self.tally.note_victim();
        let Some(at) = self.queues[q].backlog.victim() else { return false };
        let slot = self.leave(q, at);
        effects.push(Effect::Dropped(slot.handle));
        if arriving.is_some_and(|one| (one.queue, one.at) == (q, at)) {
            *arriving = None;
        }
        true
    }

    pub(super) fn drop_buffer_victim(
        &mut self,
        b: usize,
        own: usize,
        arriving: &mut Option<Arriving>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        match self.last_queue(b, own) {
            Some(q) => self.drop_victim(q, arriving, effects),
            None => false,
        }
    }

    #[inline]
    pub(super) fn candidate(&self, q: usize) -> Option<Candidate> {
        let queue = &self.queues[q];
        let at = queue.backlog.head()?;
        Some(Candidate { queue: self.queue_view(q), head: queue.backlog.at(at).packet.packet() })
    }

    /// The last of a buffer's queues that are not empty; among those that tie, the arriving packet's own, then the
    /// first.
    pub(super) fn last_queue(&self, b: usize, own: usize) -> Option<usize> {
        let buffer = &self.buffers[b];
        match &buffer.order {
            None => Some(own),
            Some(Search::Kept(keys)) => {
                let (nth, key) = keys.winner()?;
                let own_nth = self.queues[own].fixed.buffer.map_or(0, |(_, nth)| nth);
                Some(if keys.key(own_nth) == Some(key) { own } else { buffer.queues[nth] })
            }
            Some(Search::Each) => {
                let before = |a: &Candidate, b_: &Candidate| self.queue_before(Owner::Buffer(b), a, b_);
                let mut last: Option<(usize, Candidate)> = None;
                for &q in &buffer.queues {
                    let Some(candidate) = self.candidate(q) else { continue };
                    if last.as_ref().is_none_or(|(_, last)| before(last, &candidate)) {
                        last = Some((q, candidate));
                    }
                }
                let (q, last) = last?;
                let ties =
                    self.candidate(own).is_some_and(|own| !before(&own, &last) && !before(&last, &own));
                Some(if ties { own } else { q })
            }
        }
    }

    #[inline]
    pub(super) fn queue_before(&self, owner: Owner, a: &Candidate, b: &Candidate) -> bool {
        match (self.rules.queue_key(owner, a), self.rules.queue_key(owner, b)) {
            (Some(a), Some(b)) => a < b,
            _ => self.rules.queue_before(owner, a, b),
        }
    }

    /// Updates the stored keys of a queue that has changed.
    pub(super) fn renew(&mut self, q: usize) {
        let (port, nth) = self.queues[q].fixed.port;
        if let Some(Search::Kept(_)) = &self.ports[port].order {
            let key = self.candidate(q).and_then(|one| self.rules.queue_key(Owner::Port(port), &one));
            if let Some(Search::Kept(keys)) = &mut self.ports[port].order {
                keys.set(nth, key);
            }
        }
        let Some((b, nth)) = self.queues[q].fixed.buffer else { return };
        if let Some(Search::Kept(_)) = &self.buffers[b].order {
            // The negative key, because the last queue is needed, not the first.
            let key = self.candidate(q).and_then(|one| self.rules.queue_key(Owner::Buffer(b), &one));
            if let Some(Search::Kept(keys)) = &mut self.buffers[b].order {
                keys.set(nth, key.map(|key| -key));
            }
        }
    }
}
