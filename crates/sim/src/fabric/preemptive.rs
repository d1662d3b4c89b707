//! Transmissions that may be preempted; their state is [`super::preemption`].

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::port::Booked;
use crate::port::flying::Flying;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{PortId, Time};
use thalweg_wire::Handle;

impl Fabric {
    /// Begins or resumes a transmission at the present instant that may be preempted.
    pub(crate) fn begin_preemptible(&mut self, cx: &mut Cx, id: PortId, handle: Handle, wire: u32) {
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

    /// Preempts the running transmission if a packet that has just joined the queue precedes it.
    pub(crate) fn preempt(&mut self, cx: &mut Cx, id: PortId) {
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        // A transmission that ends at this instant has ended: its event came first.
        if port.free_at <= cx.now || !queue.preempt(cx.now) {
            return;
        }
        let Some(handle) = self.preempted.stop(id) else { return };
        self.preempted.keep(handle, port.free_at - cx.now);
        port.free_at = cx.now;
        port.set_waiting(cx.now, queue.packets(), queue.bytes());
        self.decide_at(cx, id, cx.now);
    }

    /// Ends a preemptible transmission, unless it was stopped after this event was scheduled.
    pub(crate) fn finish(&mut self, cx: &mut Cx, id: PortId) {
        if self.ports[id.at()].free_at != cx.now {
            return;
        }
        let Some(handle) = self.preempted.stop(id) else { return };
        let flying = Flying::new(handle, &self.packets[handle]);
        if cx.features.headers {
            // As if the packet had been transmitted without interruption: all other time that it spent here counts
            // as waiting.
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
            self.decide_at(cx, id, cx.now);
        }
    }
}
