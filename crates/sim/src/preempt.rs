//! Ports whose transmissions give way: preempt-resume without overhead, store-and-forward (ups §2.1, appendix A).
//!
//! A packet goes on the wire when its last bit is out; until then it may be stopped, wait again in its old place and
//! send later what is left. The end of a transmission is an event, stale if the transmission was stopped.

use crate::events::{Events, Phase};
use crate::port::{Booked, Flying};
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::Handle;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{PortId, Span, Time};

/// The preemptive ports of a network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Services {
    /// By port: what it transmits.
    current: Vec<Option<Handle>>,
    /// By handle: what is left of a stopped transmission; zero: it has not begun.
    left: Vec<Span>,
}

impl Services {
    /// Packets being transmitted.
    pub fn busy(&self) -> usize {
        self.current.iter().flatten().count()
    }
    fn start(&mut self, id: PortId, handle: Handle, whole: Span) -> Span {
        let at = handle.0 as usize;
        if self.left.len() <= at {
            self.left.resize(at + 1, Span::ZERO);
        }
        if self.current.len() <= id.at() {
            self.current.resize(id.at() + 1, None);
        }
        self.current[id.at()] = Some(handle);
        let left = std::mem::replace(&mut self.left[at], Span::ZERO);
        if left.is_zero() { whole } else { left }
    }
    /// A stopped packet is lost while it waits.
    pub fn forget(&mut self, handle: Handle) {
        if let Some(left) = self.left.get_mut(handle.0 as usize) {
            *left = Span::ZERO;
        }
    }
    fn stop(&mut self, id: PortId) -> Option<Handle> {
        self.current.get_mut(id.at())?.take()
    }
}

impl<Q: Events> Sim<Q> {
    /// A port begins, or resumes, the transmission of a packet at the present instant.
    pub(crate) fn serve(&mut self, id: PortId, handle: Handle, wire: u32) {
        let port = &mut self.ports[id.at()];
        let left = self.services.start(id, handle, port.span(wire));
        port.free_at = self.now + left;
        port.deciding = true;
        let at = port.free_at;
        self.schedule(at, Phase::Finish, id.0);
    }

    /// A packet has joined the queue of a busy port: must what is being transmitted give way?
    pub(crate) fn give_way(&mut self, id: PortId) {
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        // What ends at this very instant has ended: its event came first.
        if port.free_at <= self.now || !queue.preempt(self.now) {
            return;
        }
        let Some(handle) = self.services.stop(id) else { return };
        self.services.left[handle.0 as usize] = port.free_at - self.now;
        port.free_at = self.now;
        port.now_waiting(self.now, queue.packets(), queue.bytes());
        self.choose_soon(id);
    }

    /// A transmission ends, unless it was stopped since this was foreseen.
    pub(crate) fn finish(&mut self, id: PortId) {
        if self.ports[id.at()].free_at != self.now {
            return;
        }
        let Some(handle) = self.services.stop(id) else { return };
        let flying = Flying::new(handle, &self.packets[handle]);
        if self.watching {
            // As if its last stint had been its only one: what it waited is what it spent here beyond that.
            let begun = Time::from_ps(self.now.ps() - self.ports[id.at()].span(flying.wire).ps());
            self.note_departure(id, handle, begun);
        }
        let port = &mut self.ports[id.at()];
        port.deciding = false;
        let booked = port.finish(self.now, flying);
        if let Booked::First(at) = booked {
            self.schedule(at, Phase::Arrive, id.0);
        }
        if self.ports[id.at()].waiting > 0 {
            self.ports[id.at()].deciding = true;
            self.choose_soon(id);
        }
    }
}
