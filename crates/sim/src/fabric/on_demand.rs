//! On-demand ports: what waits there, and what leaves next.
//!
//! What a busy port sends next matters to no other part until something joins its queue or its wire runs
//! empty, so the end of a transmission has no event: what touches the port next catches up first, with
//! decisions as of the instants at which they fell due. Eager ports (shared memory, users' disciplines) are
//! seen by others in between and have events.
//!
//! A packet that the queue need not order waits in the bypass slot: see [`crate::port::Bypass`].

use crate::cx::Cx;
use crate::events::{Draw, Event, Events, Phase, Tag};
use crate::fabric::settling::As;
use crate::fabric::sharing::Room;
use crate::fabric::{
    Fabric, Fate, Lost, backpressure, points, programs, reference, relief, settling, sharing, trimming,
};
use crate::port::flying::{Flying, Load};
use crate::port::{Booked, Bypass, Lane, Port};
use crate::prefetch::prefetch;
use thalweg_machines::schedule::{Discipline, Entry, OutputQueue, Verdict};
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Ecn, Handle, Kind};

/// How a port's decision ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Tx {
    /// The port has taken it.
    Done,
    /// A NIC is to pull a packet from its host's flows, and then to rest ([`Fabric::rest`]).
    Pull,
}

impl Fabric {
    /// A packet reaches an on-demand port, through the port `from`.
    #[inline(always)]
    pub(crate) fn enqueue_on_demand<const LAST: bool>(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        from: PortId,
        mut flying: Flying,
    ) {
        if self.ports[id.at()].mode.gated && !self.enters(cx, id, from, &mut flying) {
            return;
        }
        self.catch_up(cx, id);
        let port = &mut self.ports[id.at()];
        if port.may_bypass_single(flying.wire) {
            port.bypass_single(cx.now, flying);
            if cx.features.headers {
                self.packets[flying.handle].route = flying.route;
                self.note_arrival(cx, id, flying.handle);
            }
            return self.request_tx::<LAST>(cx, id);
        }
        self.spill(id);
        let joined = self.join(cx, id, &flying);
        if self.ports[id.at()].mode.gated {
            if cx.features.backpressure && joined {
                backpressure::note_overfull(self, cx, from, id, flying.handle);
                if cx.features.apart {
                    settling::settle(self, cx, id, None, As::Arrival);
                }
            }
            self.note_held(cx, id);
        }
    }

    /// A packet reaches a gated port: false if it bypasses the queue, escapes, there is no memory for it, or
    /// the port's machine has it.
    #[inline]
    fn enters(&mut self, cx: &mut Cx, id: PortId, from: PortId, flying: &mut Flying) -> bool {
        if cx.features.priority_bypass && self.priority_bypass(cx, id, *flying) {
            return false;
        }
        let port = &self.ports[id.at()];
        let counts = cx.features.ingress_accounting && port.place.owner != u32::MAX;
        let reference = port.mode.lane == Lane::Reference;
        if cx.features.relief && counts && !relief::enters(self, cx, from, id, flying) {
            return false;
        }
        if counts && !self.admit(cx, from, id, flying.handle, flying.wire) {
            if cx.features.headers {
                self.note_arrival(cx, id, flying.handle);
            }
            self.lose(cx, id, flying.handle, cx.now);
            return false;
        }
        if reference {
            reference::enqueue(self, cx, id, from, *flying);
            return false;
        }
        true
    }

    /// Empties the bypass slot of a packet that was the only one waiting: it joins the queue, as of its arrival.
    #[inline(always)]
    pub(crate) fn spill(&mut self, id: PortId) {
        let port = &mut self.ports[id.at()];
        if port.bypass() == Bypass::Single {
            let (Flying { handle, route, .. }, since) = port.spill();
            let packet = &mut self.packets[handle];
            packet.route = route;
            let queue = &mut self.queues[port.queue as usize];
            let verdict = queue.enqueue(since, packet, handle, &mut self.pushed_out);
            debug_assert_eq!(
                (verdict, self.pushed_out.len()),
                (Verdict::Queued, 0),
                "see Queue::bypass_limit"
            );
        }
    }

    /// A packet joins the queue of an on-demand port that has caught up; false: it was dropped.
    pub(super) fn join(&mut self, cx: &mut Cx, id: PortId, flying: &Flying) -> bool {
        let Flying { handle, mut wire, route, load, .. } = *flying;
        let unobserved = !cx.features.observed;
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        if load == Load::Control && unobserved && port.may_bypass_control() && queue.reserve(wire) {
            port.bypass_control(cx.now, *flying);
            self.request_tx::<false>(cx, id);
            return true;
        }
        self.packets[handle].route = route;
        if cx.features.headers {
            self.note_arrival(cx, id, handle);
        }
        let mut room = Room::Enough;
        if !self.memory.pools.is_empty() {
            room = sharing::find_room(self, cx, id, handle);
            wire = self.packets[handle].wire;
        }
        if room == Room::None {
            self.ports[id.at()].verdicts.dropped += 1;
            self.lose(cx, id, handle, cx.now);
            return false;
        }
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let before = port.waiting.bytes;
        if port.waiting.packets == 0 && port.free_at < cx.now {
            queue.on_idle(port.free_at);
        }
        let mut verdict = queue.enqueue(cx.now, &self.packets[handle], handle, &mut self.pushed_out);
        let plain = self.pushed_out.is_empty()
            && !port.state.eager
            && !cx.features.points
            && cx.instruments.probes.priorities.is_empty();
        if verdict == Verdict::Queued && plain && room == Room::Enough {
            // No other part sees it, and nothing is preempted.
            let after = before + u64::from(wire);
            port.now_waiting(cx.now, port.waiting.packets + 1, after);
            port.note_queue(after);
            self.request_tx::<false>(cx, id);
            return true;
        }
        if room == Room::Own
            && verdict != Verdict::Dropped
            && sharing::make_room(self, cx.now, id, handle, before)
        {
            self.ports[id.at()].verdicts.marked += u64::from(verdict == Verdict::Marked);
            verdict = Verdict::Dropped;
        }
        self.note_joined(cx, id, handle, before, verdict)
    }

    /// What became of a packet that has come to a queue which held so many bytes `before`, where accounts, probes or
    /// congestion points may need to know; false: it was dropped.
    fn note_joined(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        handle: Handle,
        before: u64,
        verdict: Verdict,
    ) -> bool {
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let packet = &mut self.packets[handle];
        if !cx.instruments.probes.priorities.is_empty()
            && verdict != Verdict::Dropped
            && packet.kind == Kind::Data
        {
            cx.instruments.probes.count_priority(id, packet.rank, cx.spec.probes.priority_histogram);
        }
        // What the queue holds is known unless it pushed something out.
        let whole = matches!(verdict, Verdict::Queued | Verdict::Marked) && self.pushed_out.is_empty();
        if whole {
            port.now_waiting(cx.now, port.waiting.packets + 1, before + u64::from(packet.wire));
        } else {
            port.now_waiting(cx.now, queue.packets(), queue.bytes());
        }
        debug_assert_eq!((port.waiting.packets, port.waiting.bytes), (queue.packets(), queue.bytes()));
        let after = port.waiting.bytes;
        if let Some(pool) = self.memory.pools.get_mut(port.place.pool as usize) {
            if after >= before { pool.take(after - before) } else { pool.release(before - after) }
        }
        port.note_queue(after);
        if verdict == Verdict::Marked {
            packet.ecn = Ecn::Ce;
            port.verdicts.marked += 1;
        }
        if let Verdict::Trimmed(cut) = verdict {
            let Self { memory, ports, packets, lost, .. } = self;
            let packet = &mut packets[cut];
            let bytes = packet.trim();
            trimming::note(memory, &mut cx.instruments.tally, (id, &ports[id.at()]), packet, bytes);
            lost.now.push(Lost { packet: *packet, fate: Fate::Trimmed });
        }
        self.request_tx::<false>(cx, id);
        if self.ports[id.at()].mode.preemptive && verdict != Verdict::Dropped {
            self.preempt(cx, id);
        }
        if verdict == Verdict::Dropped {
            self.ports[id.at()].verdicts.dropped += 1;
            self.release_dropped(cx, id, handle);
            self.lose(cx, id, handle, cx.now);
        } else if cx.features.points {
            points::joined(self, cx, id, handle, before);
        }
        if !self.pushed_out.is_empty() {
            self.lose_pushed_out(cx, id, cx.now);
        }
        if cx.features.points {
            points::send_notices(self, cx, id, points::Tie::Before);
        }
        verdict != Verdict::Dropped
    }

    /// Something may wait at a port that has caught up: if nothing reminds it, it needs to decide at the end
    /// of this instant, or, if it is eager, as soon as it is free.
    #[inline(always)]
    fn request_tx<const LAST: bool>(&mut self, cx: &mut Cx, id: PortId) {
        let port = &mut self.ports[id.at()];
        if port.state.tx_pending || port.waiting.packets == 0 {
            return;
        }
        let at = port.free_at;
        if at <= cx.now {
            if LAST && self.tx_ready.is_empty() && self.comes_first(cx, id) {
                // A NIC that pulls has no queue that a packet could join.
                let done = self.tx(cx, id);
                debug_assert_eq!(done, Tx::Done);
                return;
            }
            self.ports[id.at()].state.tx_pending = true;
            self.schedule_tx(cx, id);
        } else if port.state.eager | port.flight.is_empty() {
            // (Empty: it sends a release, whose arrival is no event that would wake the port.)
            port.state.tx_pending = true;
            cx.schedule(at, Phase::Decide, id.0);
        }
    }

    /// An idle port is to decide at this instant, after everything else that happens now.
    #[inline(always)]
    pub(crate) fn schedule_tx(&mut self, cx: &Cx, id: PortId) {
        if self.tx_ready.is_empty() {
            return self.tx_ready.push(id);
        }
        self.schedule_tx_among(cx.events.ties().draw(cx.now, Phase::Decide), id);
    }

    /// Several ports decide at this instant: in the order of their draw.
    #[inline(never)]
    fn schedule_tx_among(&mut self, draw: Draw, id: PortId) {
        let behind =
            self.tx_ready.iter().rposition(|other| draw.precedes(id.0, other.0)).map_or(0, |at| at + 1);
        self.tx_ready.insert(behind, id);
        debug_assert!(
            self.tx_ready.is_sorted_by(|a, b| draw.precedes(b.0, a.0)),
            "the first one last, each once"
        );
    }

    /// The next port that decides now, in their order, unless something else comes first at this instant.
    #[inline(always)]
    pub(crate) fn next_tx(&mut self, cx: &Cx) -> Option<PortId> {
        let id = *self.tx_ready.last()?;
        if !self.comes_first(cx, id) {
            return None;
        }
        self.tx_ready.pop();
        Some(id)
    }

    /// Nothing happens at this instant before that port decides.
    #[inline(always)]
    fn comes_first(&self, cx: &Cx, id: PortId) -> bool {
        let tag = Tag::new(Phase::Decide, id.0);
        cx.events.next_is_after(cx.now, tag)
            && (!cx.features.parted || cx.border.comes_first(Event { at: cx.now, tag }, cx.events.ties()))
    }

    #[inline]
    pub(crate) fn lose_pushed_out(&mut self, cx: &mut Cx, id: PortId, at: Time) {
        if self.pushed_out.is_empty() && !cx.features.programs {
            return;
        }
        // What a victim gives back may let a neighbour go on, and that port comes here for its own victims.
        let mut victims = std::mem::take(&mut self.pushed_out);
        while let Some(victim) = victims.pop() {
            self.ports[id.at()].verdicts.dropped += 1;
            if cx.features.points {
                points::left(self, id, victim);
            }
            self.release_dropped(cx, id, victim);
            self.lose(cx, id, victim, at);
        }
        self.pushed_out = victims;
        // What the policy of the port's switch has given up of other ports leaves these.
        while cx.features.programs
            && let Some((other, handle)) = programs::victim(&self.ports, &mut self.egresses, &self.memory, id)
        {
            self.pushed_out.push(handle);
            reference::note_queue(self, cx.now, other);
            self.lose_pushed_out(cx, other, at);
        }
    }

    /// An idle port sends what it is to send.
    #[inline(always)]
    pub(crate) fn tx(&mut self, cx: &mut Cx, id: PortId) -> Tx {
        let port = &mut self.ports[id.at()];
        port.state.tx_pending = false;
        if port.mode.gated {
            return self.tx_gated(cx, id);
        }
        let now = cx.now;
        self.dequeue_at(cx, id, now);
        Tx::Done
    }

    /// Takes the decisions of a port that fell due before now, each at its own instant.
    #[inline(always)]
    pub(crate) fn catch_up(&mut self, cx: &mut Cx, id: PortId) {
        let now = cx.now;
        self.catch_up_until(cx, id, now);
    }

    #[inline(always)]
    fn catch_up_until(&mut self, cx: &mut Cx, id: PortId, before: Time) {
        while let Some(at) = self.ports[id.at()].overdue(before) {
            self.dequeue_at(cx, id, at);
        }
    }

    /// All that fell due before the present instant, everywhere: so that results can be read. At the end of a run the
    /// last instant is over, too.
    pub(crate) fn catch_up_all(&mut self, cx: &mut Cx) {
        let at_the_end = cx.stopped && cx.now == cx.spec.stop.until;
        let before = cx.now.saturating_add(Span::from_ps(u64::from(at_the_end)));
        for id in 0..self.ports.len() {
            if self.ports[id].on_demand() {
                self.catch_up_until(cx, PortId::from(id), before);
            }
        }
        self.egresses.iter_mut().for_each(|reference| reference.egress.catch_up(cx.now));
        relief::apply_all_releases(self, cx, before);
    }

    /// As [`Fabric::catch_up`], decisions that are due at this very instant included.
    pub(crate) fn catch_up_now(&mut self, cx: &mut Cx, id: PortId) {
        if self.ports[id.at()].on_demand() {
            let after = cx.now.saturating_add(Span::from_ps(1));
            self.catch_up_until(cx, id, after);
        }
    }

    /// A port whose transmitter is free at `at` sends what its queue names. Not inlined: the way of a packet
    /// should fit into the instruction cache.
    #[inline(never)]
    pub(crate) fn dequeue_at(&mut self, cx: &mut Cx, id: PortId, at: Time) {
        if cx.features.ingress_accounting {
            self.release_deferred(cx, id);
        }
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let unobserved = !cx.features.observed & !port.state.eager;
        let bypass = port.bypass();
        let flying = if bypass == Bypass::Empty {
            let before = port.waiting.bytes;
            let packets = &self.packets;
            let served = queue.serve(at, &mut self.pushed_out, |handle| Entry::new(&packets[handle], handle));
            if let Some((entry, false)) = served
                && unobserved
                && self.pushed_out.is_empty()
            {
                port.now_waiting(at, port.waiting.packets - 1, before - u64::from(entry.wire));
                return send_unobserved(cx, id, port, at, entry.into());
            }
            match served {
                Some((Entry { wire, .. }, _)) if self.pushed_out.is_empty() => {
                    port.now_waiting(at, port.waiting.packets - 1, before - u64::from(wire));
                }
                _ => port.now_waiting(at, queue.packets(), queue.bytes()),
            }
            debug_assert_eq!((port.waiting.packets, port.waiting.bytes), (queue.packets(), queue.bytes()));
            if let Some(pool) = self.memory.pools.get_mut(port.place.pool as usize) {
                pool.release(before - port.waiting.bytes);
            }
            let Some((entry, mark)) = served else { return self.note_served(cx, id, at) };
            if mark {
                self.packets[entry.handle].ecn = entry.ecn;
                port.verdicts.marked += 1;
            }
            if port.mode.preemptive {
                self.serve(cx, id, entry.handle, entry.wire);
                return self.lose_pushed_out(cx, id, at);
            }
            if (cx.features.headers || cx.features.ingress_accounting)
                && let Some(next) = self.queues[self.ports[id.at()].queue as usize].upcoming()
            {
                prefetch(&self.packets[next]);
            }
            entry.into()
        } else {
            let flying = port.take_bypass(at);
            if bypass == Bypass::Control {
                debug_assert!(unobserved, "where others see it, control packets join the queue");
                queue.cancel_reserve(flying.wire);
            }
            if unobserved {
                return send_unobserved(cx, id, port, at, flying);
            }
            if cx.features.ingress_accounting && port.place.owner != u32::MAX {
                queue.note_bypass(self.packets[flying.handle].input);
            }
            flying
        };
        self.send(cx, id, at, flying);
        self.note_served(cx, id, at);
    }

    /// A queue was polled for its next packet: some that it had may be lost, and what is paused may hold back
    /// all that it has left.
    #[inline(always)]
    fn note_served(&mut self, cx: &mut Cx, id: PortId, at: Time) {
        if !self.pushed_out.is_empty() {
            self.lose_pushed_out(cx, id, at);
        }
        if self.ports[id.at()].mode.gated {
            self.note_held(cx, id);
        }
    }

    /// A packet that waits no longer goes on the wire at `at`.
    #[inline(always)]
    fn send(&mut self, cx: &mut Cx, id: PortId, at: Time, mut flying: Flying) {
        if cx.instruments.firsts.pending > 0 && self.ports[id.at()].place.from_host {
            cx.instruments.firsts.done(flying.handle, Some(at));
        }
        if cx.features.headers {
            self.note_departure(cx, id, flying.handle, at);
        }
        if cx.features.departures {
            flying.wire = self.departs_seen(cx, id, at, flying);
        } else if cx.features.ingress_accounting && self.ports[id.at()].place.owner != u32::MAX {
            self.depart(cx, id, flying.handle, flying.wire);
        }
        let port = &mut self.ports[id.at()];
        let booked = port.transmit(at, flying);
        cx.put_on_wire(port, id, booked);
        if !port.mode.gated {
            port.state.tx_pending = port.state.eager && port.waiting.packets > 0;
            if port.state.tx_pending {
                cx.schedule(port.free_at, Phase::Decide, id.0);
            }
        }
    }

    /// A packet that waits no longer is seen, or changed, by more than its switch's memory: its bytes on the wire then.
    #[inline(always)]
    fn departs_seen(&mut self, cx: &mut Cx, id: PortId, at: Time, flying: Flying) -> u32 {
        let Flying { handle, mut wire, .. } = flying;
        if cx.features.writes {
            self.write_headers(id, flying, at);
        }
        if cx.features.points {
            points::left(self, id, handle);
        }
        let Self { ports, packets, stages, .. } = self;
        if cx.features.relief && stages.relief.departs(id, &ports[id.at()], &mut packets[handle], at) {
            wire = self.packets[handle].wire;
        } else if cx.features.ingress_accounting && self.ports[id.at()].place.owner != u32::MAX {
            self.depart(cx, id, handle, wire);
        }
        if cx.features.backpressure {
            backpressure::pass_on(self, id, handle);
        }
        wire
    }

    /// A queue's control plane wakes; a queue that held back may have something to send.
    pub(crate) fn tick(&mut self, cx: &mut Cx, id: PortId) {
        if self.ports[id.at()].mode.lane == Lane::Reference {
            return reference::tick(self, cx, id);
        }
        self.catch_up(cx, id);
        self.spill(id);
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        queue.on_tick(cx.now);
        let wake = queue.wake();
        if port.waiting.packets > 0 && !port.state.tx_pending && port.free_at <= cx.now {
            port.state.tx_pending = true;
            self.schedule_tx(cx, id);
        }
        if let Some(at) = wake {
            let at = at.max(cx.now + Span::from_ps(1));
            cx.schedule(at, Phase::Tick, id.0);
        }
    }

    /// A port begins, or resumes, the transmission of a packet at the present instant.
    pub(crate) fn serve(&mut self, cx: &mut Cx, id: PortId, handle: Handle, wire: u32) {
        if cx.instruments.firsts.pending > 0 && self.ports[id.at()].place.from_host {
            cx.instruments.firsts.done(handle, Some(cx.now));
        }
        let port = &mut self.ports[id.at()];
        let left = self.preempted.start(id, handle, port.span(wire));
        port.free_at = cx.now + left;
        port.state.tx_pending = true;
        let at = port.free_at;
        cx.schedule(at, Phase::Finish, id.0);
    }

    /// A packet has joined the queue of a busy port: is what is being transmitted preempted?
    pub(crate) fn preempt(&mut self, cx: &mut Cx, id: PortId) {
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        // What ends at this very instant has ended: its event came first.
        if port.free_at <= cx.now || !queue.preempt(cx.now) {
            return;
        }
        let Some(handle) = self.preempted.stop(id) else { return };
        self.preempted.keep(handle, port.free_at - cx.now);
        port.free_at = cx.now;
        port.now_waiting(cx.now, queue.packets(), queue.bytes());
        self.schedule_tx(cx, id);
    }

    /// A transmission ends, unless it was stopped since this was foreseen.
    pub(crate) fn finish(&mut self, cx: &mut Cx, id: PortId) {
        if self.ports[id.at()].free_at != cx.now {
            return;
        }
        let Some(handle) = self.preempted.stop(id) else { return };
        let flying = Flying::new(handle, &self.packets[handle]);
        if cx.features.headers {
            // As if its last stint had been its only one: what it waited is what it spent here beyond that.
            let begun = Time::from_ps(cx.now.ps() - self.ports[id.at()].span(flying.wire).ps());
            self.note_departure(cx, id, handle, begun);
        }
        let port = &mut self.ports[id.at()];
        port.state.tx_pending = false;
        let booked = port.finish(cx.now, flying);
        if let Booked::First(at) = booked {
            cx.schedule(at, Phase::Arrive, id.0);
        }
        if self.ports[id.at()].waiting.packets > 0 {
            self.ports[id.at()].state.tx_pending = true;
            self.schedule_tx(cx, id);
        }
    }
}

/// A packet that waits no longer goes on the wire at `at`, and no other part sees it: no headers to rewrite,
/// no memory shared.
#[inline(always)]
fn send_unobserved(cx: &mut Cx, id: PortId, port: &mut Port, at: Time, flying: Flying) {
    if cx.instruments.firsts.pending > 0 && port.place.from_host {
        cx.instruments.firsts.done(flying.handle, Some(at));
    }
    if let Booked::First(at) = port.transmit(at, flying) {
        cx.events.push(Event { at, tag: Tag::new(Phase::Arrive, id.0) });
    }
}
