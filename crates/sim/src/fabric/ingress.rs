//! Per-ingress accounting: a switch counts a packet's bytes against the ingress at which it came, and releases them
//! when it leaves.
//!
//! As long as no neighbour is paused and an ingress is far below its thresholds, even if everything still to be
//! released is counted, releases are deferred until their ports are next touched. Near a threshold, or where a peak
//! may be set, the switch flushes them first. While any of its ingresses keeps a neighbour paused, every end of a
//! transmission there is an event.

use crate::cx::Cx;
use crate::events::{Events, Phase};
use crate::fabric::late_departures::Trigger;
use crate::fabric::{Fabric, backpressure, late_departures, relief};
use crate::port::flying::Flying;
use thalweg_machines::pause::Passing;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Frame, Handle};

impl Fabric {
    /// Admits a packet to a switch, through the port `from` and bound for `out`. False if there is no memory for
    /// it.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        cx: &mut Cx,
        switch: usize,
        from: PortId,
        out: PortId,
        &Flying { handle, wire, .. }: &Flying,
    ) -> bool {
        let input = self.ports[from.reverse().at()].place.number;
        let inputs = &mut self.memory.switches[switch];
        if cx.features.memory_peaks || !inputs.is_quiet(usize::from(input), wire) {
            return self.admit_watched(cx, switch, from, out, (handle, wire));
        }
        let taken = inputs.take(usize::from(input), wire);
        debug_assert!(taken, "a drop is not quiet");
        self.starts_waiting(out, handle, input, wire);
        true
    }

    /// As [`Fabric::admit`] where the packet may cross a threshold or set a peak. Not inlined: most packets do
    /// neither.
    #[inline(never)]
    fn admit_watched(
        &mut self,
        cx: &mut Cx,
        switch: usize,
        from: PortId,
        out: PortId,
        (handle, wire): (Handle, u32),
    ) -> bool {
        let Fabric { ports, memory, .. } = self;
        let input = ports[from.reverse().at()].place.number;
        let at = usize::from(input);
        let quiet = memory.switches[switch].is_quiet(at, wire);
        let peak = memory.peaks.get(switch).is_some_and(|p| p.may_grow(&memory.switches[switch], at, wire));
        if !quiet || peak {
            self.flush_releases(cx, switch);
        }
        let inputs = &mut self.memory.switches[switch];
        if !inputs.take(at, wire) {
            self.memory.dropped += 1;
            self.ports[out.at()].cold.dropped += 1;
            return false;
        }
        if (peak || !quiet)
            && let Some(peaks) = self.memory.peaks.get_mut(switch)
        {
            // Releases are up to date here. A headroom may fill without any other record being set.
            peaks.note(inputs, at);
        }
        self.starts_waiting(out, handle, input, wire);
        if !quiet {
            self.notify_of_taken(cx, switch, from, out, handle);
            // A packet that was on the wire when the last pause of a cycle arrived may make the cycle permanent.
            if self.gates[out.at()].stopped && self.memory.switches[switch].has_paused(at) {
                self.look_for_deadlock(cx, out);
            }
        }
        true
    }

    /// Tells the pause policy that a packet was stored near a threshold, and sends the neighbour the resulting
    /// frame.
    fn notify_of_taken(&mut self, cx: &mut Cx, switch: usize, from: PortId, out: PortId, handle: Handle) {
        let output = usize::from(self.ports[out.at()].place.number);
        let packet = &self.packets[handle];
        let passing = Passing { input: usize::from(packet.input), output, packet };
        let inputs = &mut self.memory.switches[switch];
        let was_pausing = inputs.is_pausing();
        if let Some(frame) = inputs.on_taken(cx.now, passing) {
            let cause = self.gates[out.at()].record;
            self.post_frame(cx, from.reverse(), frame, cause);
            if cx.features.relief {
                relief::start_clock(self, cx, switch);
            }
            if !was_pausing {
                self.make_eager(cx, switch);
            }
        }
    }

    /// Counts a packet that came at the ingress `input` as waiting at a switch port.
    #[inline(always)]
    fn starts_waiting(&mut self, id: PortId, handle: Handle, input: u8, wire: u32) {
        self.packets[handle].input = input;
        self.memory.hold(id, input, |bytes| bytes + wire);
    }

    /// Counts a packet as no longer waiting at a switch port. Returns the packet's ingress.
    #[inline]
    fn stops_waiting(&mut self, id: PortId, handle: Handle, wire: u32) -> u8 {
        let input = self.packets[handle].input;
        self.memory.hold(id, input, |bytes| bytes - wire);
        input
    }

    /// A packet begins its transmission at a switch port.
    #[inline(always)]
    pub(crate) fn depart(&mut self, cx: &mut Cx, id: PortId, switch: usize, handle: Handle, wire: u32) {
        if cx.features.late_departures {
            late_departures::report_committed(self, cx, id, Some(handle), Trigger::Decision);
        }
        let input = self.stops_waiting(id, handle, wire);
        if cx.features.backpressure {
            self.notify_of_departed(cx, id, switch, handle);
        }
        if cx.features.release_at_start {
            self.release(cx, switch, input, wire);
        } else {
            self.memory.deferred[id.at()] = (input, wire);
        }
    }

    /// Reports a departure to a policy that pauses single queues.
    #[inline]
    fn notify_of_departed(&mut self, cx: &mut Cx, id: PortId, switch: usize, handle: Handle) {
        let packet = &self.packets[handle];
        let input = usize::from(packet.input);
        let passing = Passing { input, output: usize::from(self.ports[id.at()].place.number), packet };
        if let Some(frame) = self.memory.switches[switch].on_departed(cx.now, passing) {
            self.notify_neighbour(cx, id, self.memory.links[switch][input], frame);
        }
    }

    /// Sends a frame by the port `back`, because of a departure from the port `id` at this instant.
    #[inline(never)]
    pub(super) fn notify_neighbour(&mut self, cx: &mut Cx, id: PortId, back: PortId, frame: Frame) {
        // The port `back` may precede `id` at this instant, and may have decided without an event.
        if cx.events.ties().draw(cx.now, Phase::Decide).precedes(back.0, id.0) {
            self.catch_up_now(cx, back);
        }
        backpressure::notify_of_queue(self, cx, back, frame);
    }

    /// Releases the bytes of a packet that was admitted and is dropped while it waits.
    pub(crate) fn release_dropped(&mut self, cx: &mut Cx, id: PortId, handle: Handle) {
        if let Some((switch, _)) = self.accounting_switch(cx, id) {
            let wire = self.packets[handle].wire;
            let input = self.stops_waiting(id, handle, wire);
            if self.packets[handle].flags.has(Flags::HELD_BACK) {
                backpressure::on_dropped(self, cx, id, handle);
            }
            self.release(cx, switch, input, wire);
        }
    }

    /// Releases the bytes of the packet that a port transmitted last, which has left.
    #[inline]
    pub(crate) fn release_deferred(&mut self, cx: &mut Cx, id: PortId) {
        if let Some(deferred) = self.memory.deferred.get_mut(id.at())
            && deferred.1 > 0
            && let Some(switch) = self.ports[id.at()].place.switch()
        {
            let (input, wire) = std::mem::take(deferred);
            self.release(cx, switch, input, wire);
        }
    }

    /// Releases bytes of an ingress.
    #[inline]
    fn release(&mut self, cx: &mut Cx, switch: usize, input: u8, wire: u32) {
        let inputs = &mut self.memory.switches[switch];
        inputs.release(usize::from(input), wire);
        if inputs.is_pausing() {
            self.notify_of_released(cx, switch, input);
        }
    }

    /// Tells the pause policy of a release while some neighbour is paused, and sends the resulting frame.
    #[inline(never)]
    fn notify_of_released(&mut self, cx: &mut Cx, switch: usize, input: u8) {
        let inputs = &mut self.memory.switches[switch];
        let Some(frame) = inputs.on_released(cx.now, usize::from(input)) else { return };
        let still = inputs.is_pausing();
        let out = self.memory.links[switch][usize::from(input)];
        self.post_frame(cx, out, frame, None);
        if !still {
            for &id in &self.memory.links[switch] {
                self.ports[id.at()].end_eager(cx.features.crossbar);
            }
        }
    }

    /// Applies all deferred releases of a switch up to now. While the switch keeps a neighbour paused, each has an
    /// event, so none is overdue.
    fn flush_releases(&mut self, cx: &mut Cx, switch: usize) {
        if self.memory.switches[switch].is_pausing() {
            return;
        }
        for n in 0..self.memory.links[switch].len() {
            let id = self.memory.links[switch][n];
            self.catch_up(cx, id);
            if self.ports[id.at()].free_at < cx.now {
                self.release_deferred(cx, id);
            }
        }
    }

    /// Makes every end of a transmission at the switch an event from now on.
    fn make_eager(&mut self, cx: &mut Cx, switch: usize) {
        for n in 0..self.memory.links[switch].len() {
            self.make_port_eager(cx, self.memory.links[switch][n]);
        }
    }

    /// Makes every end of a transmission at the port an event from now on.
    pub(crate) fn make_port_eager(&mut self, cx: &mut Cx, id: PortId) {
        let serving = self.memory.is_deferred(id);
        let port = &mut self.ports[id.at()];
        port.state.eager = true;
        let at = port.free_at;
        let blocked = self.gates[id.at()].blocked;
        let pending = serving && at >= cx.now || port.waiting.packets > 0 && !blocked;
        if pending && (!port.state.tx_pending || blocked) {
            self.gates[id.at()].blocked = false;
            port.state.tx_pending = true;
            cx.schedule(at.max(cx.now), Phase::Decide, id.0);
        }
    }
}
