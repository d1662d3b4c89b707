//! Gated ports: what a transmitter sends before, or instead of, what its queue holds.
//!
//! Under flow control a port also sends pause frames (ahead of everything, never paused), may let control
//! packets bypass its queue, may be paused, and at a host with a round-robin NIC pulls packets from flows.
//! Such a port takes these decisions at events; while none of this is pending it is as any other and decides
//! when it is next touched.
//!
//! Pauses may expire (IEEE 802.1Qbb; IEEE 802.3 Annex 31B): XOFF states for how long, in quanta of 512 bit
//! times of its link, and XON is a frame of zero quanta. The sender of an XOFF repeats it while its ingress
//! holds too much. So a frame that is lost costs time or, at worst, what comes until the next: an XOFF is
//! repeated, and an XON that never arrives is replaced by the end of the quanta.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::deadlock::WaitGraph;
use crate::fabric::gate::{EXPIRY, Foresight, REFRESH, frame_mark};
use crate::fabric::on_demand::Tx;
use crate::fabric::{Fabric, backpressure, crossbar, reference, releases, relief};
use crate::instruments::pauses::PauseRecord;
use crate::port::flying::Flying;
use crate::port::{Lane, Place};
use thalweg_machines::pause::{Change, Posted};
use thalweg_machines::schedule::Discipline;
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Classes, Frame, Handle};

/// Bytes in a quantum: 512 bit times.
const QUANTUM: u32 = 64;

/// What a gated port has sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Something.
    Sent,
    /// It holds nothing that may leave.
    Nothing,
    /// What its host's flows have is next.
    Pull,
}

impl Fabric {
    /// A packet that bypasses the queue of its port: at a NIC that pulls every one that is handed over, elsewhere
    /// control packets if they go first. False if it belongs into the queue.
    pub(crate) fn priority_bypass(&mut self, cx: &mut Cx, id: PortId, flying: Flying) -> bool {
        let pulls = self.ports[id.at()].place.pulls;
        if !(pulls || cx.spec.control_first && self.packets[flying.handle].is_control()) {
            return false;
        }
        if cx.features.headers {
            self.packets[flying.handle].route = flying.route;
            self.note_arrival(cx, id, flying.handle);
        }
        if self.is_reference(id) {
            reference::enqueue_first(self, cx, id, flying);
        } else {
            self.gates[id.at()].control.push_back(flying);
        }
        self.wake(cx, id);
        true
    }

    /// A port is to send a frame.
    pub(crate) fn post_frame(&mut self, cx: &mut Cx, id: PortId, frame: Frame, cause: u32) {
        let posted = Posted { frame, cause };
        if self.is_reference(id) {
            reference::post(self, id, posted);
        } else {
            self.gates[id.at()].frames.post(posted);
        }
        self.wake(cx, id);
    }

    /// Something may be sent that was not there, or not allowed, before.
    pub(crate) fn wake(&mut self, cx: &mut Cx, id: PortId) {
        if cx.features.foresees {
            self.recall(cx, id);
        }
        self.catch_up(cx, id);
        let port = &mut self.ports[id.at()];
        let gate = &mut self.gates[id.at()];
        if port.state.tx_pending && !gate.blocked {
            return; // an event is pending
        }
        gate.blocked = false;
        port.state.tx_pending = true;
        let at = port.free_at;
        if at <= cx.now {
            self.schedule_tx(cx, id);
        } else {
            cx.schedule(at, Phase::Decide, id.0);
        }
    }

    /// What a gated port sends now: a frame, else a control packet, else, unless it is paused, what its flows
    /// or its queue give.
    pub(crate) fn tx_gated(&mut self, cx: &mut Cx, id: PortId) -> Tx {
        if self.is_reference(id) {
            return if reference::tx(self, cx, id) { Tx::Pull } else { Tx::Done };
        }
        // Unless it was woken while it decided.
        if self.ports[id.at()].free_at <= cx.now {
            self.release_deferred(cx, id);
            if !(cx.features.crossbar && crossbar::sent(self, cx, id)) {
                let mut next = self.send_next(cx, id);
                if next == Next::Sent && self.ports[id.at()].free_at <= cx.now {
                    next = self.send_on(cx, id);
                }
                if next == Next::Pull {
                    return Tx::Pull;
                }
            }
        }
        self.rest_on_demand(cx, id);
        Tx::Done
    }

    /// The first that there is.
    #[inline(always)]
    fn send_next(&mut self, cx: &mut Cx, id: PortId) -> Next {
        if let Some(posted) = self.gates[id.at()].frames.pop() {
            self.send_frame(cx, id, posted);
        } else if !self.gates[id.at()].control.is_empty() && !self.holds_control(cx, id) {
            self.send_control(cx, id);
        } else if self.gates[id.at()].stopped {
            return Next::Nothing;
        } else if self.ports[id.at()].place.pulls {
            return Next::Pull;
        } else {
            let (before, now) = (self.ports[id.at()].waiting.packets, cx.now);
            if before == 0 {
                // A NIC that has nothing else to send may poll its host's flows.
                return if self.gates[id.at()].input_ready { Next::Pull } else { Next::Nothing };
            }
            if cx.features.crossbar && crossbar::has(self, id) {
                crossbar::join(self, cx, id);
            } else {
                self.dequeue_at(cx, id, now);
            }
            if self.ports[id.at()].waiting.packets == before {
                return Next::Nothing;
            }
        }
        Next::Sent
    }

    /// What was sent took no time, a frame on a link that is down or a packet shorter than the link's clock
    /// can resolve: what is behind it leaves at the same instant.
    #[cold]
    fn send_on(&mut self, cx: &mut Cx, id: PortId) -> Next {
        loop {
            let next = self.send_next(cx, id);
            if next != Next::Sent || self.ports[id.at()].free_at > cx.now {
                return next;
            }
        }
    }

    /// A pause holds control packets too.
    fn holds_control(&self, cx: &Cx, id: PortId) -> bool {
        self.gates[id.at()].stopped && self.ports[id.at()].place.from_host && cx.spec.nic.pause_control
    }

    /// After a decision: an event for the end of the transmission if anything is to be decided then; blocked if only
    /// another part can unblock it.
    pub(crate) fn rest(&mut self, cx: &mut Cx, id: PortId) {
        if self.is_reference(id) {
            return reference::rest(self, cx, id);
        }
        self.rest_on_demand(cx, id);
    }

    /// The same of a port on the on-demand lane.
    #[inline(always)]
    fn rest_on_demand(&mut self, cx: &mut Cx, id: PortId) {
        let port = &self.ports[id.at()];
        if port.state.tx_pending {
            return;
        }
        let gate = &self.gates[id.at()];
        let at = port.free_at;
        if at > cx.now {
            let waits = port.waiting.packets > 0;
            let more = !gate.frames.is_empty()
                || !gate.control.is_empty() && !self.holds_control(cx, id)
                || cx.features.crossbar && crossbar::sends(self, id)
                || port.state.eager && (waits && !gate.stopped || self.memory.is_deferred(id))
                // Empty: what it sends lands at no event, see [`releases`].
                || (gate.input_ready || waits && port.flight.is_empty()) && !gate.stopped;
            if more {
                self.ports[id.at()].state.tx_pending = true;
                return cx.schedule(at, Phase::Decide, id.0);
            }
        }
        if gate.stopped {
            self.block(id);
        }
    }

    /// Something happens at a port: what its host's flows foresaw is uncertain if the link is not free yet.
    /// True: it was not before.
    #[inline]
    pub(crate) fn recall(&mut self, cx: &Cx, id: PortId) -> bool {
        let gate = &mut self.gates[id.at()];
        let Foresight::Stands(foreseen) = gate.foresight else { return false };
        let uncertain = cx.now <= self.ports[id.at()].free_at;
        gate.foresight = if uncertain { Foresight::Recalled(foreseen) } else { Foresight::Nothing };
        gate.input_ready |= uncertain;
        uncertain
    }

    /// The port waits to be woken.
    pub(crate) fn block(&mut self, id: PortId) {
        self.ports[id.at()].state.tx_pending = true;
        self.gates[id.at()].blocked = true;
    }

    fn is_reference(&self, id: PortId) -> bool {
        self.ports[id.at()].mode.lane == Lane::Reference
    }

    fn send_frame(&mut self, cx: &mut Cx, id: PortId, posted: Posted) {
        if cx.features.failures && self.outages.is_down(id) {
            return self.outages.lose_frame();
        }
        let now = cx.now;
        self.frame_begins(cx, id, now, posted);
        // Nothing comes before a signal that is first in line, nor takes its place: it follows at once, and
        // needs no event for that. (A link may fail before it does.)
        while cx.features.relief
            && !cx.features.failures
            && let Some(posted) = self.gates[id.at()].frames.pop_signal()
        {
            let at = self.ports[id.at()].free_at;
            self.frame_begins(cx, id, at, posted);
        }
    }

    fn frame_begins(&mut self, cx: &mut Cx, id: PortId, at: Time, posted: Posted) {
        if let Frame::Signal(signal) = posted.frame
            && signal.only_counts()
            && !cx.features.failures
            && self.ports[id.reverse().at()].place.owner != u32::MAX
        {
            cx.mark_ahead(at, frame_mark(id, &posted.frame));
            let arrive = self.ports[id.at()].occupy(at, cx.features.frame_wire);
            return releases::send(self, id, arrive, signal);
        }
        let flying = self.note_frame(cx, id, at, posted);
        let port = &mut self.ports[id.at()];
        let booked = port.transmit_frame(at, flying);
        cx.put_on_wire(port, id, booked);
    }

    /// The transmission of a frame begins at the instant `at`: now, but for signals.
    pub(crate) fn note_frame(&mut self, cx: &mut Cx, id: PortId, at: Time, mut posted: Posted) -> Flying {
        match &mut posted.frame {
            Frame::Xoff { hold, .. } => {
                cx.instruments.tally.pause_frames += 1;
                // Without quanta of its own a policy's XOFF has those of the scenario, and is repeated in time.
                if hold.is_none() {
                    *hold = self.quanta(cx, id);
                    self.refresh_later(cx, id, posted.cause);
                }
            }
            Frame::Xon { .. } | Frame::ResumeQueue { .. } | Frame::ResumeFlow { .. } => {
                cx.instruments.tally.resume_frames += 1
            }
            Frame::Slow { halvings: 0 } => cx.instruments.tally.resume_frames += 1,
            Frame::Signal(_) => {}
            Frame::PauseQueue { .. } | Frame::PauseFlow { .. } | Frame::Bitmap(_) | Frame::Slow { .. } => {
                cx.instruments.tally.pause_frames += 1
            }
        }
        cx.mark_ahead(at, frame_mark(id, &posted.frame));
        Flying::of_frame(self.gates.frames.insert(posted), cx.features.frame_wire)
    }

    fn send_control(&mut self, cx: &mut Cx, id: PortId) {
        let Some(flying) = self.gates[id.at()].control.pop_front() else { return };
        self.transmit_now(cx, id, flying);
    }

    /// A packet goes on the wire at this instant.
    pub(crate) fn transmit_now(&mut self, cx: &mut Cx, id: PortId, flying: Flying) {
        if self.is_reference(id) {
            return reference::transmit_pulled(self, cx, id, flying);
        }
        if cx.instruments.firsts.pending > 0 && self.ports[id.at()].place.from_host {
            cx.instruments.firsts.done(flying.handle, Some(cx.now));
        }
        if cx.features.headers {
            let now = cx.now;
            self.note_departure(cx, id, flying.handle, now);
        }
        let port = &mut self.ports[id.at()];
        let booked = port.transmit(cx.now, flying);
        cx.put_on_wire(port, id, booked);
        if port.free_at <= cx.now && port.place.pulls {
            // Shorter than the link's clock can resolve: the NIC polls its flows again.
            port.state.tx_pending = true;
            self.schedule_tx(cx, id);
        }
    }

    /// A frame has reached the far end of the port `id`: it is for the port that leads back.
    pub(crate) fn frame_lands(&mut self, cx: &mut Cx, id: PortId, handle: Handle) {
        let Posted { frame, cause } = self.gates.frames[handle];
        self.gates.frames.remove(handle);
        if cx.features.failures && self.outages.loses_frame(id) {
            return;
        }
        let back = id.reverse();
        self.catch_up(cx, back);
        if let Frame::Signal(signal) = frame {
            return relief::signal_lands(self, cx, back, signal);
        }
        let Place { owner, number, .. } = self.ports[back.at()].place;
        if let Some(switch) = self.memory.switches.get_mut(owner as usize) {
            switch.on_frame(cx.now, usize::from(number), frame);
        }
        if cx.features.backpressure && backpressure::is_deaf(self, cx, back) {
            return;
        }
        let change = self.gates[back.at()].paused.on_frame(cx.now, frame);
        if cx.features.backpressure {
            backpressure::confirm_pauses(self, cx, back);
        }
        if matches!(frame, Frame::Xoff { .. }) {
            self.arm_expiry(cx, back);
        }
        self.pauses_changed(cx, back, change, cause);
    }

    /// What may be sent follows what is paused: the whole port, if its queue has no numbers, else single queues.
    pub(crate) fn pauses_changed(&mut self, cx: &mut Cx, id: PortId, change: Change, cause: u32) {
        if change == Change::None {
            return;
        }
        let gate = &self.gates[id.at()];
        let any = gate.paused.any();
        if cx.features.backpressure && self.ports[id.at()].place.pulls {
            return backpressure::free_flows(self, cx, id, change);
        }
        let stopped = if self.is_reference(id) {
            reference::set_paused(self, id)
        } else {
            self.pause_queues(id).unwrap_or(any)
        };
        let gate = &mut self.gates[id.at()];
        // Single queues stop and go on by the million: that is not listed, nor are deadlocks looked for each
        // time.
        let began = any && gate.record.is_none() && !cx.features.backpressure;
        let resumes = gate.stopped && !stopped;
        gate.stopped = stopped;
        let ended = if any { None } else { gate.record.take() };
        if let Some(record) = ended {
            cx.instruments.pauses[cx.border.number(record)].ended = cx.now;
            // An XON that the next XOFF follows on the wire breaks no cycle.
            if !self.wait_graph().holds_back(id) {
                cx.instruments.end_deadlocks(id, cx.now);
            }
        }
        if began {
            self.gates[id.at()].record = Some(cx.border.name(cx.instruments.pauses.len()));
            cx.instruments.pauses.push(PauseRecord { port: id, began: cx.now, ended: Time::MAX, cause });
        }
        if stopped && !self.ports[id.at()].state.tx_pending {
            if cx.features.foresees {
                self.recall(cx, id);
            }
            self.block(id);
        }
        if began && cx.features.relief {
            relief::stir(self, cx, self.ports[id.at()].place.owner);
        }
        if began {
            self.look_for_deadlock(cx, id);
        }
        let gate = &mut self.gates[id.at()];
        if gate.blocked && (resumes || change == Change::Resumed && !stopped) {
            let waits = gate.input_ready || !gate.control.is_empty();
            let waits = waits || self.ports[id.at()].waiting.packets > 0;
            if waits || self.reference(id).is_some_and(|reference| reference.egress.waiting() > 0) {
                self.wake(cx, id);
            } else {
                self.gates[id.at()].blocked = false;
                self.ports[id.at()].state.tx_pending = false;
            }
        }
    }

    fn wait_graph(&self) -> WaitGraph<'_> {
        WaitGraph { ports: &self.ports, gates: &self.gates, memory: &self.memory }
    }

    /// A paused port may be part of a cycle now.
    pub(super) fn look_for_deadlock(&self, cx: &mut Cx, id: PortId) {
        cx.instruments.note_deadlock(self.wait_graph().deadlock(id), cx.now);
    }

    /// A port's queues are paused one by one, if they can be: true if something waits there, and none of it may leave.
    /// While any is paused, the queue sees every packet.
    fn pause_queues(&mut self, id: PortId) -> Option<bool> {
        let port = &self.ports[id.at()];
        if port.mode.lane != Lane::OnDemand || port.place.pulls {
            return None;
        }
        self.queues[port.queue as usize].pausable()?;
        self.spill(id);
        let port = &mut self.ports[id.at()];
        let gate = &mut self.gates[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        queue.pausable_mut()?.apply(&gate.paused);
        if gate.paused.any() {
            let limit = port.bypass_limit();
            gate.bypass_limit.get_or_insert(limit);
            port.set_bypass_limit(0);
        } else if let Some(limit) = gate.bypass_limit.take() {
            port.set_bypass_limit(limit);
        }
        Some(queue.is_held())
    }

    /// A packet has joined the queue of a port, or one has left it: single queues that are paused may hold
    /// back all that waits.
    #[inline]
    pub(crate) fn note_held(&mut self, cx: &mut Cx, id: PortId) {
        if self.gates[id.at()].bypass_limit.is_none() {
            return;
        }
        let held = self.queues[self.ports[id.at()].queue as usize].is_held();
        let gate = &mut self.gates[id.at()];
        let was = std::mem::replace(&mut gate.stopped, held);
        if held && !self.ports[id.at()].state.tx_pending {
            // While its switch keeps a neighbour paused, the end of what is on the wire is an event all the same.
            self.rest(cx, id);
        } else if was && !held && gate.blocked {
            self.wake(cx, id);
        }
    }

    /// How long an XOFF that this port sends lasts; `None`: until XON. The bit times are those of the port that it
    /// stops, which leads back and may have another rate.
    fn quanta(&self, cx: &Cx, id: PortId) -> Option<Span> {
        Some(self.ports[id.reverse().at()].span(QUANTUM * u32::from(cx.features.quanta?)))
    }

    /// A pause that expires has reached a port, the first or another.
    fn arm_expiry(&mut self, cx: &mut Cx, id: PortId) {
        let gate = &mut self.gates[id.at()];
        if let Some(at) = gate.paused.wake().filter(|_| !gate.expiry_pending) {
            gate.expiry_pending = true;
            cx.schedule(at, Phase::Quanta, 2 * id.0 + EXPIRY);
        }
    }

    /// An XOFF leaves a port: it is to be sent again in time.
    // CHOICE IRN §4.3.1: when half of the quanta are over; the standard leaves it open. What the new frame
    // may have to wait for, a packet, must fit into the other half.
    fn refresh_later(&mut self, cx: &mut Cx, id: PortId, cause: u32) {
        let Some(quanta) = self.quanta(cx, id) else { return };
        let requested = &mut self.gates[id.at()].requested;
        requested.refresh = cx.now.saturating_add(quanta / 2);
        requested.cause = cause;
        if !requested.pending {
            requested.pending = true;
            let at = requested.refresh;
            cx.schedule(at, Phase::Quanta, 2 * id.0 + REFRESH);
        }
    }

    /// The time of one of the two has come, unless it was put off.
    pub(crate) fn quanta_over(&mut self, cx: &mut Cx, entity: u32) {
        let (id, what) = (PortId(entity / 2), entity % 2);
        if what == REFRESH && cx.features.backpressure {
            return backpressure::remind(self, cx, id);
        }
        if what == EXPIRY {
            self.gates[id.at()].expiry_pending = false;
            if self.gates[id.at()].paused.wake().is_some_and(|at| at <= cx.now) {
                if cx.features.backpressure {
                    self.catch_up_now(cx, id);
                } else {
                    self.catch_up(cx, id);
                }
                let change = self.gates[id.at()].paused.tick(cx.now);
                self.pauses_changed(cx, id, change, u32::MAX);
            }
            return self.arm_expiry(cx, id);
        }
        let requested = &mut self.gates[id.at()].requested;
        requested.pending = requested.refresh > cx.now;
        if requested.pending {
            let at = requested.refresh;
            return cx.schedule(at, Phase::Quanta, entity);
        }
        let cause = requested.cause;
        if self.holds_neighbour(cx, id) && !(cx.features.failures && self.outages.is_down(id)) {
            self.post_frame(cx, id, Frame::Xoff { classes: Classes::ALL, hold: None }, cause);
        }
    }

    /// The ingress behind this port of a switch keeps its neighbour paused.
    pub(crate) fn holds_neighbour(&self, cx: &Cx, id: PortId) -> bool {
        let port = &self.ports[id.at()];
        cx.features.ingress_accounting
            && port.place.owner != u32::MAX
            && self.memory.switches[port.place.owner as usize].has_paused(usize::from(port.place.number))
    }
}
