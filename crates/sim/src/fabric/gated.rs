//! Gated ports: ports that may send something before, or instead of, the next packet of their queue.
//!
//! Under flow control a port also sends pause frames (ahead of everything, never paused), may let control packets
//! bypass its queue, may be paused, and at a host whose NIC pulls takes packets from flows. Such a port takes these
//! decisions at events. While none of this is pending it is like any other on-demand port, and decides when it is
//! next touched. Pauses are applied in [`super::pausing`].

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::gate::{Foresight, frame_mark};
use crate::fabric::on_demand::Tx;
use crate::fabric::{Fabric, crossbar, reference, releases};
use crate::port::Lane;
use crate::port::flying::Flying;
use thalweg_machines::pause::Posted;
use thalweg_units::{PortId, Time};
use thalweg_wire::Frame;

/// The outcome of an attempt to send.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Something was sent.
    Sent,
    /// Nothing that the port holds may leave.
    Nothing,
    /// The NIC has to poll its host's flows.
    Pull,
}

impl Fabric {
    /// Handles a packet that bypasses the queue of its port: at a NIC that pulls, every packet that is handed over;
    /// elsewhere, control packets if they go first. False if the packet belongs in the queue.
    pub(crate) fn priority_bypass(&mut self, cx: &mut Cx, id: PortId, flying: Flying) -> bool {
        let pulls = self.ports[id.at()].place.pulls;
        if !(pulls || cx.spec.control_first && self.packets[flying.handle].is_control()) {
            return false;
        }
        if self.is_reference(id) {
            reference::enqueue_control(self, cx, id, flying);
        } else {
            self.gates[id.at()].control.push_back(flying);
        }
        self.wake(cx, id);
        true
    }

    /// Makes a port send a frame. `cause`: see [`crate::PauseRecord::cause`].
    pub(crate) fn post_frame(&mut self, cx: &mut Cx, id: PortId, frame: Frame, cause: Option<u32>) {
        let posted = Posted { frame, cause };
        if self.is_reference(id) {
            reference::post(self, id, posted);
        } else {
            self.gates[id.at()].frames.post(posted);
        }
        self.wake(cx, id);
    }

    /// Makes a port decide as soon as it is free: something to send has arrived, or may be sent now.
    pub(crate) fn wake(&mut self, cx: &mut Cx, id: PortId) {
        if cx.features.foresees {
            self.recall(cx, id);
        }
        self.catch_up(cx, id);
        let port = &mut self.ports[id.at()];
        let gate = &mut self.gates[id.at()];
        if port.state.tx_pending && !gate.blocked {
            return; // an event for its decision is pending
        }
        gate.blocked = false;
        let at = port.free_at;
        self.decide_at(cx, id, at);
    }

    /// Lets a gated port decide: it sends a frame, else a control packet, else, unless it is paused, a packet of
    /// its flows or its queue.
    pub(crate) fn tx_gated(&mut self, cx: &mut Cx, id: PortId) -> Tx {
        if self.is_reference(id) {
            return if reference::tx(self, cx, id) { Tx::Pull } else { Tx::Done };
        }
        // It may have been woken while it decided, and be busy by now.
        if self.ports[id.at()].free_at <= cx.now {
            self.release_deferred(cx, id);
            if !(cx.features.crossbar && crossbar::end_transmission(self, cx, id)) {
                let mut next = self.send_next(cx, id);
                if next == Next::Sent && self.ports[id.at()].free_at <= cx.now {
                    next = self.send_next_at_once(cx, id);
                }
                if next == Next::Pull {
                    return Tx::Pull;
                }
            }
        }
        self.schedule_or_block_on_demand(cx, id);
        Tx::Done
    }

    /// Sends the first of these that there is.
    #[inline(always)]
    fn send_next(&mut self, cx: &mut Cx, id: PortId) -> Next {
        if let Some(posted) = self.gates[id.at()].frames.pop() {
            self.send_frame(cx, id, posted);
        } else if !self.gates[id.at()].control.is_empty() && !self.is_control_paused(cx, id) {
            if let Some(flying) = self.gates[id.at()].control.pop_front() {
                self.transmit_now(cx, id, flying);
            }
        } else if self.gates[id.at()].stopped {
            return Next::Nothing;
        } else if self.ports[id.at()].place.pulls {
            return Next::Pull;
        } else {
            let (before, now) = (self.ports[id.at()].waiting.packets, cx.now);
            if before == 0 {
                // A NIC that has nothing else to send polls its host's flows.
                return if self.gates[id.at()].input_ready { Next::Pull } else { Next::Nothing };
            }
            if cx.features.crossbar && crossbar::exists_at(self, id) {
                crossbar::match_idle(self, cx, id);
            } else {
                self.dequeue_at(cx, id, now);
            }
            if self.ports[id.at()].waiting.packets == before {
                return Next::Nothing;
            }
        }
        Next::Sent
    }

    /// What was sent took no time (a frame on a failed link, or a packet shorter than the resolution of the link's
    /// clock): what follows leaves at the same instant.
    #[cold]
    fn send_next_at_once(&mut self, cx: &mut Cx, id: PortId) -> Next {
        loop {
            let next = self.send_next(cx, id);
            if next != Next::Sent || self.ports[id.at()].free_at > cx.now {
                return next;
            }
        }
    }

    /// Whether a pause holds control packets back, too.
    fn is_control_paused(&self, cx: &Cx, id: PortId) -> bool {
        self.gates[id.at()].stopped && self.ports[id.at()].place.from_host && cx.spec.nic.pause_control
    }

    /// After a decision: schedules the end of the transmission if anything is to be decided then; blocks the port
    /// if only other events can unblock it.
    pub(crate) fn schedule_or_block(&mut self, cx: &mut Cx, id: PortId) {
        if self.is_reference(id) {
            return reference::schedule_or_block(self, cx, id);
        }
        self.schedule_or_block_on_demand(cx, id);
    }

    /// As [`Fabric::schedule_or_block`] on the on-demand lane.
    #[inline(always)]
    fn schedule_or_block_on_demand(&mut self, cx: &mut Cx, id: PortId) {
        let port = &self.ports[id.at()];
        if port.state.tx_pending {
            return;
        }
        let gate = &self.gates[id.at()];
        let at = port.free_at;
        if at > cx.now {
            let waits = port.waiting.packets > 0;
            let more = !gate.frames.is_empty()
                || !gate.control.is_empty() && !self.is_control_paused(cx, id)
                || cx.features.crossbar && crossbar::holds_input(self, id)
                || port.state.eager && (waits && !gate.stopped || self.memory.is_deferred(id))
                // With an empty wire it has sent a release, which lands without an event that would make it catch
                // up: see [`releases`].
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

    /// Recalls what a NIC foresaw, because something happens at its port. True if it stood and the link was not
    /// free yet.
    #[inline]
    pub(crate) fn recall(&mut self, cx: &Cx, id: PortId) -> bool {
        let gate = &mut self.gates[id.at()];
        let Foresight::Stands(foreseen) = gate.foresight else { return false };
        let uncertain = cx.now <= self.ports[id.at()].free_at;
        gate.foresight = if uncertain { Foresight::Recalled(foreseen) } else { Foresight::Nothing };
        gate.input_ready |= uncertain;
        uncertain
    }

    /// Marks a port as waiting to be woken.
    pub(crate) fn block(&mut self, id: PortId) {
        self.ports[id.at()].state.tx_pending = true;
        self.gates[id.at()].blocked = true;
    }

    pub(super) fn is_reference(&self, id: PortId) -> bool {
        self.ports[id.at()].mode.lane == Lane::Reference
    }

    fn send_frame(&mut self, cx: &mut Cx, id: PortId, posted: Posted) {
        if cx.features.failures && self.outages.is_down(id) {
            return self.outages.lose_frame();
        }
        let now = cx.now;
        self.transmit_frame(cx, id, now, posted);
        // A queued signal always goes next, so back-to-back signals need no event of their own. (Failures are the
        // exception: a link may fail between two of them.)
        while cx.features.relief
            && !cx.features.failures
            && let Some(posted) = self.gates[id.at()].frames.pop_signal()
        {
            let at = self.ports[id.at()].free_at;
            self.transmit_frame(cx, id, at, posted);
        }
    }

    fn transmit_frame(&mut self, cx: &mut Cx, id: PortId, at: Time, posted: Posted) {
        if let Frame::Signal(signal) = posted.frame
            && signal.only_counts()
            && !cx.features.failures
            && let Some(switch) = self.ports[id.reverse().at()].place.switch()
        {
            cx.mark_ahead(at, frame_mark(id, &posted.frame));
            let arrive = self.ports[id.at()].occupy(at, cx.features.frame_wire);
            return releases::send(self, id, switch, (arrive, signal));
        }
        let flying = self.begin_frame(cx, id, at, posted);
        let port = &mut self.ports[id.at()];
        let booked = port.transmit_frame(at, flying);
        cx.put_on_wire(port, id, booked);
    }

    /// Accounts for a frame whose transmission begins at `at`: now, except for signals that follow another.
    pub(crate) fn begin_frame(&mut self, cx: &mut Cx, id: PortId, at: Time, mut posted: Posted) -> Flying {
        match &mut posted.frame {
            Frame::Xoff { hold, .. } => {
                cx.instruments.tally.pause_frames += 1;
                // An XOFF without quanta of its own gets those of the scenario, and is refreshed in time.
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

    /// Puts a packet on the wire at this instant.
    pub(crate) fn transmit_now(&mut self, cx: &mut Cx, id: PortId, flying: Flying) {
        if self.is_reference(id) {
            return reference::transmit_pulled(self, cx, id, flying);
        }
        let now = cx.now;
        self.leaves(cx, id, now, flying, true);
        let port = &mut self.ports[id.at()];
        let booked = port.transmit(cx.now, flying);
        cx.put_on_wire(port, id, booked);
        if port.free_at <= cx.now && port.place.pulls {
            // Shorter than the resolution of the link's clock: the NIC polls its flows again.
            self.decide_at(cx, id, cx.now);
        }
    }
}
