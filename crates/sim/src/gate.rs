//! Gated ports: what a transmitter sends before, or instead of, what its queue holds.
//!
//! Under flow control a port also sends pause frames (ahead of everything, never paused), may have a lane for control
//! packets, may be told to stop, and at a host with a round-robin NIC asks flows instead of a queue. Such a port takes
//! these decisions at events; while none of this is pending it is as any other and decides when it is next touched.

use crate::circle::Circle;
use crate::events::{Events, Phase};
use crate::port::{Booked, Flying};
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::Handle;
use thalweg_machines::buffer::Pause;
use thalweg_units::{FlowId, PortId, Span, Time};

/// [`Flying::handle`] from here on is no packet but a pause frame.
pub(crate) const FRAMES: Handle = Handle(u32::MAX - 1);
const RESUME: Handle = Handle(u32::MAX - 1);
const STOP: Handle = Handle(u32::MAX);

/// True for a pause frame.
#[inline(always)]
pub(crate) fn is_frame(flying: &Flying) -> bool {
    flying.handle >= FRAMES
}

/// What a gated port has beside its queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// The frame to be sent, and what made it necessary ([`crate::PauseRecord::cause`]): only the latest counts.
    frame: Option<(Pause, u32)>,
    /// Control packets, where they pass the queue.
    control: VecDeque<Flying>,
    /// The port has been told to stop.
    pub paused: bool,
    /// Since when.
    pub since: Time,
    /// Its record.
    pub record: u32,
    /// [`crate::port::PortTotals::pauses`].
    pub pauses: u64,
    /// Pauses that are over, ps.
    pub paused_for: u64,
    /// [`crate::port::Port::deciding`] is set but no event is pending: the port waits to be woken.
    pub asleep: bool,
    /// Flows that may have something to send, each once, the next one first.
    pub turns: VecDeque<FlowId>,
    /// Pauses that expire.
    pub timed: crate::quanta::Timed,
    /// Or all flows in a circle.
    pub circle: Circle,
}

impl Gate {
    /// Somebody has a turn.
    fn has_turns(&self) -> bool {
        !self.turns.is_empty() || !self.circle.is_empty()
    }
    /// Control packets waiting.
    pub fn control(&self) -> usize {
        self.control.len()
    }
    /// Takes all control packets out.
    pub fn clear_control(&mut self) -> VecDeque<Flying> {
        std::mem::take(&mut self.control)
    }
    /// For how long it has been told to stop in all.
    pub fn paused(&self, now: Time) -> Span {
        let standing = if self.paused { now.since(self.since) } else { Span::ZERO };
        Span::from_ps(self.paused_for) + standing
    }
}

impl<Q: Events> Sim<Q> {
    /// A packet that passes the queue of its port: at a host with a round-robin NIC all that comes unasked, elsewhere
    /// control packets if they go first. False if it belongs into the queue.
    pub(crate) fn divert(&mut self, id: PortId, flying: Flying) -> bool {
        let pulls = self.ports[id.at()].pulls;
        if !(pulls || self.spec.control_first && self.packets[flying.handle].is_control()) {
            return false;
        }
        if self.watching {
            self.packets[flying.handle].route = flying.route;
            self.note_arrival(id, flying.handle);
        }
        self.gates[id.at()].control.push_back(flying);
        self.wake(id);
        true
    }

    /// A port is to tell its far end something.
    pub(crate) fn post_frame(&mut self, id: PortId, frame: Pause, cause: u32) {
        self.gates[id.at()].frame = Some((frame, cause));
        self.wake(id);
    }

    /// Something may be sent that was not there, or not allowed, before.
    pub(crate) fn wake(&mut self, id: PortId) {
        self.catch_up(id, self.now);
        let port = &mut self.ports[id.at()];
        let gate = &mut self.gates[id.at()];
        if port.deciding && !gate.asleep {
            return; // an event is pending
        }
        gate.asleep = false;
        port.deciding = true;
        let at = port.free_at;
        if at <= self.now {
            self.choose_soon(id);
        } else {
            self.schedule(at, Phase::Decide, id.0);
        }
    }

    /// What a gated port sends now: a frame, else a control packet, else, unless it is paused, what its flows or its queue
    /// give.
    pub(crate) fn decide_gated(&mut self, id: PortId) {
        if self.ports[id.at()].free_at > self.now {
            return self.rest(id); // woken while it decided
        }
        self.ended(id);
        if let Some((frame, cause)) = self.gates[id.at()].frame.take() {
            self.send_frame(id, frame, cause);
        } else if self.gates[id.at()].control() > 0 && !self.holds_control(id) {
            self.send_control(id);
        } else if !self.gates[id.at()].paused {
            let port = &self.ports[id.at()];
            if port.pulls {
                self.pull(id);
            } else if port.waiting > 0 {
                self.decide_at(id, self.now);
            }
        }
        self.rest(id);
    }

    /// A pause holds control packets too.
    fn holds_control(&self, id: PortId) -> bool {
        self.gates[id.at()].paused && self.ports[id.at()].from_host && self.spec.nic.pause_control
    }

    /// After a decision: an event for the end of the transmission if anything is to be decided then, and sleep if only
    /// somebody else can end the silence.
    fn rest(&mut self, id: PortId) {
        if self.ports[id.at()].deciding {
            return;
        }
        let gate = &self.gates[id.at()];
        let port = &self.ports[id.at()];
        let busy = port.free_at > self.now;
        let more = gate.frame.is_some()
            || !gate.control.is_empty() && !self.holds_control(id)
            || port.pulls && gate.has_turns() && !gate.paused
            || port.eager && (port.waiting > 0 && !gate.paused || self.is_serving(id));
        let (paused, at) = (gate.paused, port.free_at);
        if busy && more {
            self.ports[id.at()].deciding = true;
            self.schedule(at, Phase::Decide, id.0);
        } else if paused {
            self.ports[id.at()].deciding = true;
            self.gates[id.at()].asleep = true;
        }
    }

    fn send_frame(&mut self, id: PortId, frame: Pause, cause: u32) {
        if self.unreliable && self.is_down(id) {
            return self.lose_frame();
        }
        let wire = self.spec.inputs.and_then(|i| i.pfc).map_or(0, |pfc| pfc.frame_wire);
        let handle = match frame {
            Pause::Off => {
                self.tally.pause_frames += 1;
                self.refresh_later(id, cause);
                STOP
            }
            Pause::On => {
                self.tally.resume_frames += 1;
                RESUME
            }
        };
        self.mark_digest(1 << 62 | u64::from(id.0) << 32 | u64::from(handle.0));
        let port = &mut self.ports[id.at()];
        // A frame has no route: it carries its cause there.
        let flying = Flying { handle, wire, route: cause, ..Flying::NONE };
        if let Booked::First(at) = port.transmit_frame(self.now, flying) {
            self.schedule(at, Phase::Arrive, id.0);
        }
    }

    fn send_control(&mut self, id: PortId) {
        let Some(flying) = self.gates[id.at()].control.pop_front() else { return };
        self.transmit_now(id, flying);
    }

    /// A packet goes on the wire at this instant.
    pub(crate) fn transmit_now(&mut self, id: PortId, flying: Flying) {
        if self.watching {
            self.note_departure(id, flying.handle, self.now);
        }
        if let Booked::First(at) = self.ports[id.at()].transmit(self.now, flying) {
            self.schedule(at, Phase::Arrive, id.0);
        }
    }

    /// A pause frame has reached the far end of the port `id`: the port that leads back stops, or goes on.
    pub(crate) fn frame_lands(&mut self, id: PortId, flying: Flying) {
        if self.unreliable && self.loses_frame(id) {
            return;
        }
        let back = PortId(id.0 ^ 1);
        self.catch_up(back, self.now);
        match if flying.handle == STOP { Pause::Off } else { Pause::On } {
            Pause::Off => self.stop_port(back, flying.route),
            Pause::On => self.resume_port(back),
        }
    }

    fn stop_port(&mut self, id: PortId, cause: u32) {
        self.stop_expires(id);
        let record = self.pauses.len() as u32;
        let gate = &mut self.gates[id.at()];
        if gate.paused {
            return;
        }
        gate.paused = true;
        gate.since = self.now;
        gate.pauses += 1;
        gate.record = record;
        if !self.ports[id.at()].deciding {
            self.ports[id.at()].deciding = true;
            gate.asleep = true;
        }
        self.pauses.push(crate::PauseRecord { port: id, began: self.now, ended: Time::MAX, cause });
        self.look_for_deadlock(id);
    }

    pub(crate) fn resume_port(&mut self, id: PortId) {
        let gate = &mut self.gates[id.at()];
        if !gate.paused {
            return;
        }
        gate.paused = false;
        gate.paused_for += (self.now - gate.since).ps();
        self.pauses[gate.record as usize].ended = self.now;
        let port = &self.ports[id.at()];
        if gate.asleep {
            if port.waiting > 0 || !gate.control.is_empty() || gate.has_turns() {
                self.wake(id);
            } else {
                gate.asleep = false;
                self.ports[id.at()].deciding = false;
            }
        }
    }
}
