//! On-demand ports: packets join a queue, and leave when the transmitter is free.
//!
//! What a busy port sends next has no effect elsewhere until something joins its queue or its wire runs empty. So
//! the end of a transmission has no event: whatever touches the port next first makes it catch up, with decisions
//! as of the instants at which they fell due. Eager ports (shared memory, users' disciplines) are observed in
//! between and have events.
//!
//! A packet that the queue need not order waits in the bypass slot: see [`crate::port::Bypass`].

use crate::cx::Cx;
use crate::events::{Event, Events, Phase, Tag};
use crate::fabric::{Fabric, reference, relief};
use crate::port::flying::Flying;
use crate::port::{Booked, Bypass, Lane, Port};
use crate::prefetch::prefetch;
use thalweg_machines::schedule::{Discipline, Entry, OutputQueue, Verdict};
use thalweg_units::{PortId, Span, Time};

/// The outcome of a port's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Tx {
    /// The port has decided.
    Done,
    /// A NIC has to pull a packet from its host's flows, and then to call [`Fabric::schedule_or_block`].
    Pull,
}

impl Fabric {
    /// A packet joins an on-demand port; it came through the port `from`.
    #[inline(always)]
    pub(crate) fn enqueue_on_demand<const LAST: bool>(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        from: PortId,
        mut flying: Flying,
    ) {
        if !self.enters(cx, id, from, &mut flying) {
            return;
        }
        if self.is_reference(id) {
            return reference::enqueue(self, cx, id, from, flying);
        }
        self.catch_up(cx, id);
        let port = &mut self.ports[id.at()];
        if port.may_bypass_single(flying.wire) {
            port.bypass_single(cx.now, flying);
            return self.request_tx::<LAST>(cx, id);
        }
        self.spill(id);
        let joined = self.join_queue(cx, id, &flying);
        if self.ports[id.at()].mode.gated {
            if joined {
                self.joins_gated(cx, id, from, flying.handle);
            }
            self.note_held(cx, id);
        }
    }

    /// Moves a packet from the bypass slot, where it was the only one waiting, to the queue, as of its arrival.
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

    /// Lets an idle port decide and send.
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

    /// Takes all decisions of a port that fell due before now, each as of its own instant.
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

    /// Makes all ports catch up, so that results can be read. At the end of a run, decisions of the last instant
    /// are included.
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

    /// As [`Fabric::catch_up`], including decisions that fall due at this instant.
    pub(crate) fn catch_up_now(&mut self, cx: &mut Cx, id: PortId) {
        if self.ports[id.at()].on_demand() {
            let after = cx.now.saturating_add(Span::from_ps(1));
            self.catch_up_until(cx, id, after);
        }
    }

    /// A port whose transmitter is free at `at` sends the next packet of its queue. Not inlined: the common path of
    /// a packet should fit into the instruction cache.
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
                port.set_waiting(at, port.waiting.packets - 1, before - u64::from(entry.wire));
                return send_unobserved(cx, id, port, at, entry.into());
            }
            match served {
                Some((Entry { wire, .. }, _)) if self.pushed_out.is_empty() => {
                    port.set_waiting(at, port.waiting.packets - 1, before - u64::from(wire));
                }
                _ => port.set_waiting(at, queue.packets(), queue.bytes()),
            }
            debug_assert_eq!((port.waiting.packets, port.waiting.bytes), (queue.packets(), queue.bytes()));
            if let Some(pool) = self.memory.pool(&port.place) {
                pool.release(before - port.waiting.bytes);
            }
            let Some((entry, mark)) = served else { return self.after_dequeue(cx, id, at) };
            if mark {
                self.packets[entry.handle].ecn = entry.ecn;
                port.cold.marked += 1;
            }
            if port.mode.preemptive {
                self.begin_preemptible(cx, id, entry.handle, entry.wire);
                return self.give_up_pushed_out(cx, id, at);
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
            if cx.features.ingress_accounting && !port.place.from_host {
                queue.note_bypass(self.packets[flying.handle].input);
            }
            flying
        };
        self.send(cx, id, at, flying);
        self.after_dequeue(cx, id, at);
    }

    /// After a queue was polled for its next packet: drops the packets that it has given up, and notes whether
    /// pauses hold back all that is left.
    #[inline(always)]
    fn after_dequeue(&mut self, cx: &mut Cx, id: PortId, at: Time) {
        if !self.pushed_out.is_empty() {
            self.give_up_pushed_out(cx, id, at);
        }
        if self.ports[id.at()].mode.gated {
            self.note_held(cx, id);
        }
    }

    /// Puts a packet that has left its queue on the wire at `at`.
    #[inline(always)]
    fn send(&mut self, cx: &mut Cx, id: PortId, at: Time, mut flying: Flying) {
        // (On the reference lane the machine itself has these stages.)
        if cx.features.writes {
            self.write_headers(id, flying, at);
        }
        flying.wire = self.leaves(cx, id, at, flying, false);
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

    /// Runs a queue's control plane; a queue that held packets back may have something to send then.
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
            self.decide_at(cx, id, cx.now);
        }
        if let Some(at) = wake {
            let at = at.max(cx.now + Span::from_ps(1));
            cx.schedule(at, Phase::Tick, id.0);
        }
    }
}

/// Puts a packet that has left its queue on the wire at `at` where nothing observes departures: no headers to
/// rewrite, no shared memory.
#[inline(always)]
fn send_unobserved(cx: &mut Cx, id: PortId, port: &mut Port, at: Time, flying: Flying) {
    if cx.instruments.firsts.pending > 0 && port.place.from_host {
        cx.instruments.firsts.done(flying.handle, Some(at));
    }
    if let Booked::First(at) = port.transmit(at, flying) {
        cx.events.push(Event { at, tag: Tag::new(Phase::Arrive, id.0) });
    }
}
