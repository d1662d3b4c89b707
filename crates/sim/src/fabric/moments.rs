//! The moments of a packet at a port with a queue, and what takes part in each of them, in this order:
//!
//! | moment | parts |
//! |---|---|
//! | it enters | headers and recordings, control packets that go first, relief, the memory of the switch |
//! | it joins the queue | congestion points, packets that were pushed out, backpressure |
//! | it leaves | headers and recordings, congestion points, relief, the memory of the switch, backpressure |
//! | it is given up | congestion points, the memory of the switch, the packet's sender |
//!
//! Both lanes with queues pass through these functions; only they ask which parts a network has. Ports that nothing
//! else observes skip them ([`Features::observed`](crate::features::Features::observed)).

use crate::cx::Cx;
use crate::fabric::late_departures::Trigger;
use crate::fabric::{Fabric, backpressure, late_departures, points, programs, reference, relief};
use crate::port::flying::Flying;
use thalweg_units::{PortId, Time};
use thalweg_wire::Handle;

impl Fabric {
    /// The switch of a port, and the port's number there, if the switch accounts for its memory by ingress.
    #[inline(always)]
    pub(super) fn accounting_switch(&self, cx: &Cx, id: PortId) -> Option<(usize, usize)> {
        if cx.features.ingress_accounting { self.ports[id.at()].place.at_switch() } else { None }
    }

    /// A packet comes to a port, through the port `from`. False if it does not join the queue: it waits elsewhere at
    /// this port, or there is no memory for it.
    #[inline(always)]
    pub(super) fn enters(&mut self, cx: &mut Cx, id: PortId, from: PortId, flying: &mut Flying) -> bool {
        if cx.features.headers {
            self.packets[flying.handle].route = flying.route;
            self.note_arrival(cx, id, flying.handle);
        }
        !self.ports[id.at()].mode.gated || self.enters_gated(cx, id, from, flying)
    }

    #[inline]
    fn enters_gated(&mut self, cx: &mut Cx, id: PortId, from: PortId, flying: &mut Flying) -> bool {
        if cx.features.priority_bypass && self.priority_bypass(cx, id, *flying) {
            return false;
        }
        let Some((switch, _)) = self.accounting_switch(cx, id) else { return true };
        if cx.features.relief && !relief::joins_queue(self, cx, from, id, flying) {
            return false;
        }
        let admitted = self.admit(cx, switch, from, id, flying);
        if !admitted {
            self.lose(cx, id, flying.handle, cx.now);
        }
        admitted
    }

    /// A packet, which came through the port `from`, has joined a queue that may be paused by its neighbour.
    #[inline]
    pub(super) fn joins_gated(&mut self, cx: &mut Cx, id: PortId, from: PortId, handle: Handle) {
        if cx.features.backpressure {
            backpressure::note_overfull(self, cx, from, id, handle);
            if cx.features.late_departures {
                late_departures::report_committed(self, cx, id, None, Trigger::Arrival);
            }
        }
    }

    /// A queue, which held `before` bytes, has taken or `dropped` a packet, and may have pushed out others.
    pub(super) fn joins(&mut self, cx: &mut Cx, id: PortId, handle: Handle, before: u64, dropped: bool) {
        if dropped {
            self.ports[id.at()].cold.dropped += 1;
            self.release_dropped(cx, id, handle);
            self.lose(cx, id, handle, cx.now);
        } else if cx.features.points {
            let Self { ports, packets, mechanisms, .. } = self;
            mechanisms.points.joined(cx.now, (id, &ports[id.at()]), &packets[handle], before);
        }
        self.give_up_pushed_out(cx, id, cx.now);
        if cx.features.points {
            points::send_notices(self, cx, id, points::Tie::Before);
        }
    }

    /// A packet begins its transmission at `at`. `first`: it went ahead of the queue, and of all accounts. Returns
    /// its bytes on the wire, which may have changed.
    #[inline(always)]
    pub(super) fn leaves(&mut self, cx: &mut Cx, id: PortId, at: Time, flying: Flying, first: bool) -> u32 {
        if cx.instruments.firsts.pending > 0 && self.ports[id.at()].place.from_host {
            cx.instruments.firsts.done(flying.handle, Some(at));
        }
        if cx.features.headers {
            self.note_departure(cx, id, flying.handle, at);
        }
        if first {
            flying.wire
        } else if cx.features.departures {
            self.leaves_observed(cx, id, at, flying)
        } else {
            if let Some((switch, _)) = self.accounting_switch(cx, id) {
                self.depart(cx, id, switch, flying.handle, flying.wire);
            }
            flying.wire
        }
    }

    #[inline(always)]
    fn leaves_observed(&mut self, cx: &mut Cx, id: PortId, at: Time, flying: Flying) -> u32 {
        let Flying { handle, mut wire, .. } = flying;
        if cx.features.points {
            self.mechanisms.points.left(id, &self.packets[handle]);
        }
        let Self { ports, packets, mechanisms, .. } = self;
        if cx.features.relief && mechanisms.relief.on_departure(id, &ports[id.at()], &mut packets[handle], at)
        {
            wire = self.packets[handle].wire;
        } else if let Some((switch, _)) = self.accounting_switch(cx, id) {
            self.depart(cx, id, switch, handle, wire);
        }
        if cx.features.backpressure {
            backpressure::pass_on(self, id, handle);
        }
        wire
    }

    /// A port gives up the packets that its queue has pushed out, by decisions that fell due at `at`.
    #[inline]
    pub(super) fn give_up_pushed_out(&mut self, cx: &mut Cx, id: PortId, at: Time) {
        if self.pushed_out.is_empty() && !cx.features.programs {
            return;
        }
        // A packet that is given up may resume a neighbour, which re-enters this function; hence the list is taken
        // out first.
        let mut victims = std::mem::take(&mut self.pushed_out);
        while let Some(victim) = victims.pop() {
            self.ports[id.at()].cold.dropped += 1;
            if cx.features.points {
                self.mechanisms.points.left(id, &self.packets[victim]);
            }
            self.release_dropped(cx, id, victim);
            self.lose(cx, id, victim, at);
        }
        self.pushed_out = victims;
        // Victims that the policy of this switch has named at other ports are given up there.
        while cx.features.programs
            && let Some((other, handle)) =
                programs::take_victim(&self.ports, &mut self.egresses, &self.memory, id)
        {
            self.pushed_out.push(handle);
            reference::note_queue(self, cx.now, other);
            self.give_up_pushed_out(cx, other, at);
        }
    }
}
