//! The fabric: packets land, queue, wait, leave and are lost.

use crate::events::{Events, Phase};
use crate::gate::is_frame;
use crate::port::{Booked, Flying, Lane};
use crate::prefetch::prefetch;
use crate::routing::Pick;
use crate::sim::Sim;
use crate::spec::RoutingSpec;
use thalweg_machines::schedule::{Discipline, Entry, Verdict};
use thalweg_machines::{Ecn, Handle, Kind, NO_SIDE, Packet};
use thalweg_units::{PortId, Span, Time, mix64};

impl<Q: Events> Sim<Q> {
    /// The packet at the head of a port's ring has reached the far end.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, id: PortId) {
        if self.ports[id.at()].lane == Lane::Ordered {
            self.catch_up(id, self.now);
        }
        let port = &mut self.ports[id.at()];
        let (landed, next) = port.land();
        let to_host = port.to_host;
        let early = port.early(landed.wire);
        if let Some(next) = next {
            if (to_host || self.touching) && !is_frame(&next) {
                prefetch(&self.packets[next.handle]);
            }
            self.schedule(next.arrive, Phase::Arrive, id.0);
        } else if port.lane == Lane::Ordered && !port.deciding && port.waiting > 0 {
            // Nothing on the wire will remind the port (no propagation delay): it needs an event.
            port.deciding = true;
            let at = port.free_at;
            self.schedule(at, Phase::Decide, id.0);
        }
        self.mark_digest(u64::from(id.0));
        if self.unreliable && self.is_doomed(id) {
            return self.lose_on_the_way(id, landed);
        }
        if is_frame(&landed) {
            return self.frame_lands(id, landed);
        }
        if to_host { self.deliver(landed.handle) } else { self.forward(id, landed, early) }
    }

    /// A switch passes a packet on. On a source route this does not touch the packet.
    #[inline(always)]
    pub(crate) fn forward(&mut self, from: PortId, landed: Flying, early: Span) {
        self.came_by = from;
        if self.spray.is_empty() {
            let out = self.paths[landed.route as usize];
            if self.unreliable && out == PortId::NONE {
                return self.lose(landed.handle);
            }
            self.enqueue(out, Flying { route: landed.route + 1, ..landed }, early);
        } else {
            let pick = match self.spec.routing {
                RoutingSpec::SprayRandom => Pick::Hash(u64::from(landed.route)),
                _ => Pick::Modulo(landed.route),
            };
            let node = self.ports[from.at()].peer;
            let Some(out) = self.routes.next(node, self.packets[landed.handle].dst, pick) else {
                return self.lose(landed.handle);
            };
            self.enqueue(out, landed, early);
        }
    }

    /// A packet joins the queue of a port.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, id: PortId, flying: Flying, early: Span) {
        if self.unreliable && self.is_down(id) {
            self.ports[id.at()].dropped += 1;
            return self.lose(flying.handle);
        }
        let port = &mut self.ports[id.at()];
        if port.lane == Lane::Ordered {
            return self.enqueue_ordered(id, flying);
        }
        let ready = if early.is_zero() {
            self.now
        } else {
            self.now + early.saturating_sub(port.serializer.span(flying.wire))
        };
        match port.book(self.now, ready, flying, &mut self.packets[flying.handle]) {
            Booked::First(at) => self.schedule(at, Phase::Arrive, id.0),
            Booked::Behind => {}
            Booked::Dropped => return self.lose(flying.handle),
        }
        if self.watching {
            let port = &self.ports[id.at()];
            let begins = Time::from_ps(port.free_at.ps() - port.serializer.span(flying.wire).ps());
            self.note_booked(id, flying.handle, begins);
        }
    }

    /// A packet reaches an ordered port. One that finds it idle waits beside the queue to the end of the event:
    /// if nothing else happens at this instant, the port would choose it, and the queue be as before.
    #[inline(always)]
    pub(crate) fn enqueue_ordered(&mut self, id: PortId, flying: Flying) {
        if self.ports[id.at()].gated && !self.enters(id, flying) {
            return;
        }
        let port = &mut self.ports[id.at()];
        if port.is_open(self.now, flying.wire)
            && self.chooser == PortId::NONE
            && self.probes.priorities.is_empty()
        {
            port.deciding = true;
            port.note_queue(u64::from(flying.wire));
            self.chooser = id;
            self.passing = Some(flying);
            return;
        }
        if self.chooser == id
            && let Some(first) = self.passing.take()
        {
            self.join(id, first);
        }
        self.catch_up(id, self.now);
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

    /// A packet joins the queue of an ordered port that has caught up.
    pub(crate) fn join(&mut self, id: PortId, Flying { handle, wire, route, .. }: Flying) {
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
        if !port.deciding && port.waiting > 0 {
            let at = port.free_at;
            if at <= self.now {
                port.deciding = true;
                self.choose_soon(id);
            } else if port.eager {
                port.deciding = true;
                self.schedule(at, Phase::Decide, id.0);
            }
        }
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

    /// An idle port is to choose at this instant, after everything else that happens now. The first port
    /// that asks during an event waits at hand: most often nothing else happens now, and it needs no event.
    #[inline(always)]
    pub(crate) fn choose_soon(&mut self, id: PortId) {
        if self.chooser == PortId::NONE {
            self.chooser = id;
        } else {
            self.schedule(self.now, Phase::Decide, id.0);
        }
    }

    /// Ends an event: the port at hand chooses, or queues up behind what else happens now.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        while self.chooser != PortId::NONE {
            let id = std::mem::replace(&mut self.chooser, PortId::NONE);
            let passing = self.passing.take();
            if self.events.next_is_after(self.now) {
                match passing {
                    Some(flying) => self.pass(id, flying),
                    None => self.decide(id),
                }
            } else {
                if let Some(flying) = passing {
                    self.join(id, flying);
                }
                self.schedule(self.now, Phase::Decide, id.0);
            }
        }
    }

    /// An idle port sends the only packet there is; its queue has not seen it.
    #[inline(always)]
    pub(crate) fn pass(&mut self, id: PortId, flying: Flying) {
        if self.ports[id.at()].gated {
            return self.pass_gate(id, flying);
        }
        self.mark_decision(id, self.now);
        if self.watching {
            self.packets[flying.handle].route = flying.route;
            self.note_arrival(id, flying.handle);
            self.note_departure(id, flying.handle, self.now);
        }
        let port = &mut self.ports[id.at()];
        port.deciding = false;
        if let Booked::First(at) = port.transmit(self.now, flying) {
            self.schedule(at, Phase::Arrive, id.0);
        }
    }

    #[inline(always)]
    pub(crate) fn mark_decision(&mut self, id: PortId, at: Time) {
        self.digest = self.digest.wrapping_add(mix64(at.ps() ^ u64::from(id.0).rotate_left(32) ^ 1 << 31));
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
    ///
    /// What a busy port sends next matters to nobody until something joins its queue or the packet would
    /// arrive, so the end of a transmission has no event: whoever touches the port next catches up first.
    /// Eager ports (shared memory, users' disciplines) are seen by others in between and have events.
    #[inline(always)]
    pub(crate) fn catch_up(&mut self, id: PortId, before: Time) {
        loop {
            let port = &self.ports[id.at()];
            if port.waiting == 0 || port.free_at >= before || port.deciding || port.eager {
                return;
            }
            let at = port.free_at;
            self.decide_at(id, at);
        }
    }

    /// All that fell due before the present instant, everywhere: so that results can be read.
    pub(crate) fn catch_up_all(&mut self) {
        for id in 0..self.ports.len() {
            if self.ports[id].lane == Lane::Ordered {
                self.catch_up(PortId::from(id), self.now);
            }
        }
    }

    /// As [`Sim::catch_up`], decisions that are due at this very instant included.
    pub(crate) fn catch_up_now(&mut self, id: PortId) {
        if self.ports[id.at()].lane == Lane::Ordered {
            self.catch_up(id, self.now.saturating_add(Span::from_ps(1)));
        }
    }

    /// A port whose transmitter is free at `at` sends what its queue says.
    #[inline(always)]
    pub(crate) fn decide_at(&mut self, id: PortId, at: Time) {
        self.mark_decision(id, at);
        if self.counting {
            self.ended(id);
        }
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let before = port.waiting_bytes;
        let packets = &self.packets;
        let served = queue.serve(at, &mut self.given_up, |handle| Entry::new(&packets[handle], handle));
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
        if let Some((Entry { handle, wire, route, .. }, mark)) = served {
            if mark {
                self.packets[handle].ecn = Ecn::Ce;
                port.marked += 1;
            }
            if port.preemptive {
                self.serve(id, handle, wire);
                return self.lose_given_up(id);
            }
            if self.watching {
                if let Some(next) = self.queues[self.ports[id.at()].queue as usize].upcoming() {
                    prefetch(&self.packets[next]);
                }
                self.note_departure(id, handle, at);
            }
            if self.counting && self.ports[id.at()].owner != u32::MAX {
                self.depart(id, handle, wire);
            }
            let port = &mut self.ports[id.at()];
            let flying = Flying { handle, wire, route, arrive: Time::MAX };
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
        if !self.given_up.is_empty() {
            self.lose_given_up(id);
        }
    }

    /// A queue's control plane wakes; a queue that held back may have something to send.
    pub(crate) fn tick(&mut self, id: PortId) {
        self.catch_up(id, self.now);
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

    /// A packet is dropped in a queue.
    #[cold]
    pub(crate) fn lose(&mut self, handle: Handle) {
        let packet = self.packets[handle];
        self.tally.dropped += 1;
        if let Some(journal) = &mut self.journal {
            journal.leave(handle);
        }
        self.services.forget(handle);
        self.records[packet.flow.at()].drops += 1;
        self.discard(handle, &packet);
        let slot = self.connections[packet.flow.at()] as usize;
        let balance = if travels_forward(packet.kind) {
            &mut self.sending[slot].balance
        } else {
            &mut self.receiving[slot].balance
        };
        *balance = balance.wrapping_sub(1);
        self.release_if_over(packet.flow);
    }

    /// Frees a packet's memory.
    #[inline(always)]
    pub(crate) fn discard(&mut self, handle: Handle, packet: &Packet) {
        if packet.side != NO_SIDE {
            self.sides.remove(Handle(packet.side));
        }
        self.packets.remove(handle);
    }
}

/// Data and set-up travel from the flow's sender to its receiver; everything else comes back.
#[inline(always)]
pub(crate) fn travels_forward(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Syn)
}
