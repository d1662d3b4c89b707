//! Who is given up: the last packet of a queue, the last queue of a buffer; and the keys by which queues are found.

use super::backlog::Backlog;
use super::rules::{Candidate, Owner, Rules};
use super::state::Search;
use super::{Arriving, Machine};
use crate::engine::contract::Effect;
use crate::engine::packet::Kept;
use crate::engine::tally::Tally;

impl<R: Rules, T: Tally> Machine<R, T> {
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

    /// The last of a buffer's queues that hold any: of those that tie, the arriving packet's own, then the first.
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

    /// A queue has changed: so may its key, where keys are kept.
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
            // The last is looked for, not the first.
            let key = self.candidate(q).and_then(|one| self.rules.queue_key(Owner::Buffer(b), &one));
            if let Some(Search::Kept(keys)) = &mut self.buffers[b].order {
                keys.set(nth, key.map(|key| -key));
            }
        }
    }
}
