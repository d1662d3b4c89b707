//! Ordered ports: what waits there, and what leaves next.
//!
//! What a busy port sends next matters to nobody until something joins its queue or its wire runs empty, so the end of a
//! transmission has no event: whoever touches the port next catches up first, with decisions as of the instants at which
//! they fell due. Eager ports (shared memory, users' disciplines) are seen by others in between and have events.
//!
//! A packet that the queue need not order waits beside it: see [`crate::beside`].

use crate::beside::Beside;
use crate::events::{Event, Events, Phase, Tag};
use crate::port::{Booked, Flying, Port};
use crate::prefetch::prefetch;
use crate::sim::Sim;
use thalweg_machines::schedule::{Discipline, Entry, Verdict};
use thalweg_machines::{Ecn, Kind};
use thalweg_units::{PortId, Span, Time};

impl<Q: Events> Sim<Q> {
    /// A packet reaches an ordered port.
    #[inline(always)]
    pub(crate) fn enqueue_ordered<const LAST: bool>(&mut self, id: PortId, flying: Flying) {
        if self.ports[id.at()].gated && !self.enters(id, flying) {
            return;
        }
        self.catch_up(id, self.now);
        let port = &mut self.ports[id.at()];
        if port.lets_wait_alone(flying.wire) {
            port.wait_alone(self.now, flying);
            if self.watching {
                self.packets[flying.handle].route = flying.route;
                self.note_arrival(id, flying.handle);
            }
            return self.ask_to_choose::<LAST>(id);
        }
        self.end_solitude(id);
        self.join(id, flying);
    }

    /// A packet reaches a gated port: false if it passes by the queue, or there is no memory for it.
    #[inline]
    fn enters(&mut self, id: PortId, flying: Flying) -> bool {
        if self.may_divert && self.divert(id, flying) {
            return false;
        }
        let counts = self.counting && self.ports[id.at()].owner != u32::MAX;
        if counts && !self.admit(id, flying.handle, flying.wire) {
            self.lose(flying.handle);
            return false;
        }
        true
    }

    /// The packet that waits alone, if one does, joins the queue, as of its arrival.
    #[inline(always)]
    pub(crate) fn end_solitude(&mut self, id: PortId) {
        let port = &mut self.ports[id.at()];
        if port.beside() == Beside::Alone {
            let Flying { handle, route, .. } = port.end_solitude();
            let since = port.unchanged_since();
            let packet = &mut self.packets[handle];
            packet.route = route;
            let queue = &mut self.queues[port.queue as usize];
            let verdict = queue.enqueue(since, packet, handle, &mut self.given_up);
            debug_assert_eq!((verdict, self.given_up.len()), (Verdict::Queued, 0), "see Queue::passes");
        }
    }

    /// A packet joins the queue of an ordered port that has caught up.
    fn join(&mut self, id: PortId, flying: Flying) {
        let Flying { handle, wire, route, control, .. } = flying;
        let unseen = !self.watching & !self.counting;
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        if control && unseen && port.lets_wait_ahead() && queue.hold(wire) {
            port.wait_ahead(self.now, flying);
            return self.ask_to_choose::<false>(id);
        }
        self.packets[handle].route = route;
        if self.watching {
            self.note_arrival(id, handle);
        }
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let packet = &mut self.packets[handle];
        let before = port.waiting_bytes;
        let mut pool = self.pools.get_mut(port.pool as usize);
        if let Some(pool) = &mut pool
            && !pool.admits(before, wire)
        {
            port.dropped += 1;
            return self.lose(handle);
        }
        let verdict = queue.enqueue(self.now, packet, handle, &mut self.given_up);
        let plain = self.given_up.is_empty() && !port.eager && self.probes.priorities.is_empty();
        if verdict == Verdict::Queued && plain {
            // Nobody else sees it, and nothing gives way.
            let after = before + u64::from(wire);
            port.now_waiting(self.now, port.waiting + 1, after);
            port.note_queue(after);
            return self.ask_to_choose::<false>(id);
        }
        if !self.probes.priorities.is_empty() && verdict != Verdict::Dropped && packet.kind == Kind::Data {
            self.probes.count_priority(id, packet.rank, self.spec.probes.priority_histogram);
        }
        // The queue need not be asked what it holds unless it gave something up.
        let after = before + u64::from(wire);
        if verdict != Verdict::Dropped && self.given_up.is_empty() {
            port.now_waiting(self.now, port.waiting + 1, after);
        } else {
            port.now_waiting(self.now, queue.packets(), queue.bytes());
        }
        debug_assert_eq!((port.waiting, port.waiting_bytes), (queue.packets(), queue.bytes()));
        let after = port.waiting_bytes;
        if let Some(pool) = pool {
            if after >= before { pool.take(after - before) } else { pool.release(before - after) }
        }
        port.note_queue(after);
        if verdict == Verdict::Marked {
            packet.ecn = Ecn::Ce;
            port.marked += 1;
        }
        self.ask_to_choose::<false>(id);
        if self.ports[id.at()].preemptive && verdict != Verdict::Dropped {
            self.give_way(id);
        }
        if verdict == Verdict::Dropped {
            self.ports[id.at()].dropped += 1;
            self.forget_admitted(id, handle);
            self.lose(handle);
        }
        if !self.given_up.is_empty() {
            self.lose_given_up(id);
        }
    }

    /// Something may wait at a port that has caught up: if nothing reminds it, it needs to choose at the end of this instant,
    /// or, if it is eager, as soon as it is free.
    #[inline(always)]
    fn ask_to_choose<const LAST: bool>(&mut self, id: PortId) {
        let port = &mut self.ports[id.at()];
        if port.deciding || port.waiting == 0 {
            return;
        }
        let at = port.free_at;
        if at <= self.now {
            if LAST && self.choosers.is_empty() && self.comes_first(id) {
                return self.decide(id);
            }
            self.ports[id.at()].deciding = true;
            self.choose_soon(id);
        } else if port.eager {
            port.deciding = true;
            self.schedule(at, Phase::Decide, id.0);
        }
    }

    /// An idle port is to choose at this instant, after everything else that happens now.
    #[inline(always)]
    pub(crate) fn choose_soon(&mut self, id: PortId) {
        let behind = self.choosers.iter().rposition(|other| *other > id).map_or(0, |at| at + 1);
        self.choosers.insert(behind, id);
        debug_assert!(self.choosers.is_sorted_by(|a, b| a > b), "the first one last, each once");
    }

    /// Ends an event: ports choose, in their order, unless something else comes first at this instant.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        while let Some(&id) = self.choosers.last() {
            if !self.comes_first(id) {
                return;
            }
            self.choosers.pop();
            self.decide(id);
        }
    }

    /// Nothing happens at this instant before that port chooses.
    #[inline(always)]
    fn comes_first(&self, id: PortId) -> bool {
        self.events.next_is_after(self.now, Tag::new(Phase::Decide, id.0))
    }

    #[inline]
    pub(crate) fn lose_given_up(&mut self, id: PortId) {
        while let Some(victim) = self.given_up.pop() {
            self.ports[id.at()].dropped += 1;
            self.forget_admitted(id, victim);
            self.lose(victim);
        }
    }

    /// An idle port chooses what to send.
    #[inline(always)]
    pub(crate) fn decide(&mut self, id: PortId) {
        self.ports[id.at()].deciding = false;
        if self.ports[id.at()].gated {
            return self.decide_gated(id);
        }
        self.decide_at(id, self.now);
    }

    /// Takes the decisions of a port that fell due before `before`, each at its own instant.
    #[inline(always)]
    pub(crate) fn catch_up(&mut self, id: PortId, before: Time) {
        while let Some(at) = self.ports[id.at()].overdue(before) {
            self.decide_at(id, at);
        }
    }

    /// All that fell due before the present instant, everywhere: so that results can be read.
    pub(crate) fn catch_up_all(&mut self) {
        for id in 0..self.ports.len() {
            if self.ports[id].is_ordered() {
                self.catch_up(PortId::from(id), self.now);
            }
        }
    }

    /// As [`Sim::catch_up`], decisions that are due at this very instant included.
    pub(crate) fn catch_up_now(&mut self, id: PortId) {
        if self.ports[id.at()].is_ordered() {
            self.catch_up(id, self.now.saturating_add(Span::from_ps(1)));
        }
    }

    /// A port whose transmitter is free at `at` sends what its queue says. Not inlined: the way of a packet should fit into
    /// the instruction cache.
    #[inline(never)]
    pub(crate) fn decide_at(&mut self, id: PortId, at: Time) {
        if self.counting {
            self.ended(id);
        }
        let port = &mut self.ports[id.at()];
        let unseen = !self.watching & !self.counting & !port.eager;
        if port.beside() != Beside::Nobody {
            if !unseen {
                return self.send_aside(id, at);
            }
            let ahead = port.beside() == Beside::Ahead;
            let flying = port.leave_side(at);
            if ahead {
                self.queues[port.queue as usize].release(flying.wire);
            }
            return send_unseen(&mut self.events, id, port, at, flying);
        }
        let queue = &mut self.queues[port.queue as usize];
        let before = port.waiting_bytes;
        let packets = &self.packets;
        let served = queue.serve(at, &mut self.given_up, |handle| Entry::new(&packets[handle], handle));
        if let Some((entry, false)) = served
            && unseen
            && self.given_up.is_empty()
        {
            port.now_waiting(at, port.waiting - 1, before - u64::from(entry.wire));
            return send_unseen(&mut self.events, id, port, at, entry.into());
        }
        match served {
            Some((Entry { wire, .. }, _)) if self.given_up.is_empty() => {
                port.now_waiting(at, port.waiting - 1, before - u64::from(wire));
            }
            _ => port.now_waiting(at, queue.packets(), queue.bytes()),
        }
        debug_assert_eq!((port.waiting, port.waiting_bytes), (queue.packets(), queue.bytes()));
        if let Some(pool) = self.pools.get_mut(port.pool as usize) {
            pool.release(before - port.waiting_bytes);
        }
        if let Some((entry, mark)) = served {
            if mark {
                self.packets[entry.handle].ecn = Ecn::Ce;
                port.marked += 1;
            }
            if port.preemptive {
                self.serve(id, entry.handle, entry.wire);
                return self.lose_given_up(id);
            }
            if self.watching
                && let Some(next) = self.queues[self.ports[id.at()].queue as usize].upcoming()
            {
                prefetch(&self.packets[next]);
            }
            self.send(id, at, entry.into());
        }
        if !self.given_up.is_empty() {
            self.lose_given_up(id);
        }
    }

    /// The packet that has waited alone leaves at `at`, and somebody sees it.
    fn send_aside(&mut self, id: PortId, at: Time) {
        let port = &mut self.ports[id.at()];
        debug_assert_eq!(port.beside(), Beside::Alone, "where somebody sees it, nobody waits ahead");
        let flying = port.leave_side(at);
        if self.counting && port.owner != u32::MAX {
            let input = self.packets[flying.handle].input;
            self.queues[port.queue as usize].passed(input);
        }
        self.send(id, at, flying);
    }

    /// A packet that waits no longer goes on the wire at `at`.
    fn send(&mut self, id: PortId, at: Time, flying: Flying) {
        if self.watching {
            self.note_departure(id, flying.handle, at);
        }
        if self.counting && self.ports[id.at()].owner != u32::MAX {
            self.depart(id, flying.handle, flying.wire);
        }
        let port = &mut self.ports[id.at()];
        let booked = port.transmit(at, flying);
        let more = port.eager && port.waiting > 0 && !port.gated;
        let free_at = port.free_at;
        if !port.gated {
            port.deciding = more;
        }
        if let Booked::First(at) = booked {
            self.schedule(at, Phase::Arrive, id.0);
        }
        if more {
            self.schedule(free_at, Phase::Decide, id.0);
        }
    }

    /// A queue's control plane wakes; a queue that held back may have something to send.
    pub(crate) fn tick(&mut self, id: PortId) {
        self.catch_up(id, self.now);
        self.end_solitude(id);
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        queue.on_tick(self.now);
        let wake = queue.wake();
        if port.waiting > 0 && !port.deciding && port.free_at <= self.now {
            port.deciding = true;
            self.choose_soon(id);
        }
        if let Some(at) = wake {
            let at = at.max(self.now + Span::from_ps(1));
            self.schedule(at, Phase::Tick, id.0);
        }
    }
}

/// A packet that waits no longer goes on the wire at `at`, and nobody sees it: no order of headers, no memory shared.
#[inline(always)]
fn send_unseen<Q: Events>(events: &mut Q, id: PortId, port: &mut Port, at: Time, flying: Flying) {
    if let Booked::First(at) = port.transmit(at, flying) {
        events.push(Event { at, tag: Tag::new(Phase::Arrive, id.0) });
    }
}
