//! Pauses of a port: frames that land, what they stop and resume, and pauses that expire.
//!
//! Pauses may expire (IEEE 802.1Qbb; IEEE 802.3 Annex 31B): XOFF states for how long, in quanta of 512 bit times of
//! its link, and XON is a frame of zero quanta. The sender of an XOFF repeats it while its ingress holds too much.
//! So the loss of a frame has limited effects: a lost XOFF is repeated, and the end of the quanta takes the place
//! of a lost XON.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::deadlock::WaitGraph;
use crate::fabric::gate::{EXPIRY, REFRESH};
use crate::fabric::{Fabric, backpressure, reference, relief};
use crate::instruments::pauses::PauseRecord;
use crate::port::Lane;
use thalweg_machines::pause::{Change, Posted};
use thalweg_machines::schedule::Discipline;
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Classes, Frame, Handle};

/// Bytes in a quantum: 512 bit times.
const QUANTUM: u32 = 64;

impl Fabric {
    /// Applies a frame that has reached the far end of the port `id` to the port in the reverse direction.
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
        if let Some((switch, number)) = self.ports[back.at()].place.at_switch()
            && let Some(inputs) = self.memory.switches.get_mut(switch)
        {
            inputs.on_frame(cx.now, number, frame);
        }
        if cx.features.backpressure && backpressure::ignores_pauses(self, cx, back) {
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

    /// Applies a change of pauses to what may be sent: the whole port, or single queues if its discipline has
    /// numbered queues.
    pub(crate) fn pauses_changed(&mut self, cx: &mut Cx, id: PortId, change: Change, cause: Option<u32>) {
        if change == Change::None {
            return;
        }
        let gate = &self.gates[id.at()];
        let any = gate.paused.any();
        if cx.features.backpressure && self.ports[id.at()].place.pulls {
            return backpressure::resume_flows(self, cx, id, change);
        }
        let stopped = if self.is_reference(id) {
            reference::set_paused(self, id)
        } else {
            self.pause_queues(id).unwrap_or(any)
        };
        let gate = &mut self.gates[id.at()];
        // Per-queue pauses are too frequent to record or to search for deadlocks.
        let began = any && gate.record.is_none() && !cx.features.backpressure;
        let resumes = gate.stopped && !stopped;
        gate.stopped = stopped;
        let ended = if any { None } else { gate.record.take() };
        if let Some(record) = ended {
            cx.instruments.pauses[cx.boundary.pause_number(record)].ended = cx.now;
            // An XON does not break a cycle if another XOFF already follows on the wire.
            if !self.wait_graph().holds_back(id) {
                cx.instruments.end_deadlocks(id, cx.now);
            }
        }
        if began {
            self.gates[id.at()].record = Some(cx.boundary.pause_name(cx.instruments.pauses.len()));
            cx.instruments.pauses.push(PauseRecord { port: id, began: cx.now, ended: Time::MAX, cause });
        }
        if stopped && !self.ports[id.at()].state.tx_pending {
            if cx.features.foresees {
                self.recall(cx, id);
            }
            self.block(id);
        }
        if began
            && cx.features.relief
            && let Some(switch) = self.ports[id.at()].place.switch()
        {
            relief::start_clock(self, cx, switch);
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

    /// Looks for a deadlock that a paused port may have become part of.
    pub(super) fn look_for_deadlock(&self, cx: &mut Cx, id: PortId) {
        cx.instruments.note_deadlock(self.wait_graph().deadlock(id), cx.now);
    }

    /// Pauses the queues of a port one by one, if its discipline supports that. `Some(true)`: packets wait there,
    /// and none may leave. While any queue is paused, no packet bypasses the queue.
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

    /// Notes whether paused queues hold back all that waits, after a packet has joined or left.
    #[inline]
    pub(crate) fn note_held(&mut self, cx: &mut Cx, id: PortId) {
        if self.gates[id.at()].bypass_limit.is_none() {
            return;
        }
        let held = self.queues[self.ports[id.at()].queue as usize].is_held();
        let gate = &mut self.gates[id.at()];
        let was = std::mem::replace(&mut gate.stopped, held);
        if held && !self.ports[id.at()].state.tx_pending {
            // While its switch keeps a neighbour paused, the end of the running transmission needs an event
            // nevertheless.
            self.schedule_or_block(cx, id);
        } else if was && !held && gate.blocked {
            self.wake(cx, id);
        }
    }

    /// How long an XOFF that this port sends lasts; `None`: until XON. Bit times are those of the port that it
    /// pauses, which is in the reverse direction and may have another rate.
    pub(super) fn quanta(&self, cx: &Cx, id: PortId) -> Option<Span> {
        Some(self.ports[id.reverse().at()].span(QUANTUM * u32::from(cx.features.quanta?)))
    }

    /// Schedules the expiry of a port's pauses, unless an event is pending.
    fn arm_expiry(&mut self, cx: &mut Cx, id: PortId) {
        let gate = &mut self.gates[id.at()];
        if let Some(at) = gate.paused.wake().filter(|_| !gate.expiry_pending) {
            gate.expiry_pending = true;
            cx.schedule(at, Phase::Quanta, 2 * id.0 + EXPIRY);
        }
    }

    /// Schedules the refresh of an XOFF that leaves a port.
    // CHOICE IRN §4.3.1: when half of the quanta are over; the standard leaves it open. What the new frame
    // may have to wait for, a packet, must fit into the other half.
    pub(super) fn refresh_later(&mut self, cx: &mut Cx, id: PortId, cause: Option<u32>) {
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

    /// Handles an event of [`Phase::Quanta`]: an expiry or a refresh is due, unless it was postponed.
    pub(crate) fn on_quanta(&mut self, cx: &mut Cx, entity: u32) {
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
                self.pauses_changed(cx, id, change, None);
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

    /// Whether the ingress at this port of a switch keeps its neighbour paused.
    pub(crate) fn holds_neighbour(&self, cx: &Cx, id: PortId) -> bool {
        cx.features.ingress_accounting
            && self.ports[id.at()]
                .place
                .at_switch()
                .is_some_and(|(switch, number)| self.memory.switches[switch].has_paused(number))
    }
}
