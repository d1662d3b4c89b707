//! Backpressure flow control (BFC): packets carry the number of the queue that they come from; those that make a
//! queue too long are counted against that queue, which is paused.
//!
//! While such packets wait at a port, every end of a transmission there is an event: a departure may resume a
//! neighbour.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::fabric::gate::{EXPIRY, REFRESH};
use thalweg_machines::pause::{Change, Passing, QueuePauses};
use thalweg_machines::schedule::Discipline;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Frame, Handle, HopTag, Packet};

/// Number of consecutive empty bitmaps after which reminders stop.
const IDLE_REMINDERS: u8 = 2;

/// A packet that came through the port `from` has joined a queue of a switch port. If it made the queue too long,
/// the neighbour is sent a frame.
pub(super) fn note_overfull(fabric: &mut Fabric, cx: &mut Cx, from: PortId, id: PortId, handle: Handle) {
    let Some((switch, output)) = fabric.ports[id.at()].place.at_switch() else { return };
    if !fabric.queue(id).and_then(|queue| queue.hop_by_hop()).is_some_and(|queues| queues.is_overfull()) {
        return;
    }
    let packet = &mut fabric.packets[handle];
    if fabric.memory.is_exempt(id, packet.input) {
        return cx.instruments.tally.exempt_packets += 1;
    }
    packet.flags.set(Flags::HELD_BACK);
    let passing = Passing { input: usize::from(packet.input), output, packet };
    let frame = fabric.memory.switches[switch].on_overfull(cx.now, passing);
    fabric.gates[id.at()].held_back += 1;
    if fabric.gates[id.at()].held_back == 1 {
        fabric.make_port_eager(cx, id);
    }
    if let Some(frame) = frame {
        notify_of_queue(fabric, cx, from.reverse(), frame);
    }
}

/// Sends the neighbour of the port `back` a frame about its queues, and schedules reminders.
pub(super) fn notify_of_queue(fabric: &mut Fabric, cx: &mut Cx, back: PortId, frame: Frame) {
    fabric.post_frame(cx, back, frame, None);
    if parameters(cx).flows {
        return;
    }
    let requested = &mut fabric.gates[back.at()].requested;
    requested.idle = 0;
    if !requested.pending {
        requested.pending = true;
        let at = cx.now.saturating_add(parameters(cx).every);
        cx.schedule(at, Phase::Quanta, 2 * back.0 + REFRESH);
    }
}

/// Reminds the neighbour of a port of all queues that are paused, unless none has been for a while.
pub(super) fn remind(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    // Ports have decided at this instant, including those without an event for it.
    fabric.catch_up_now(cx, id);
    let Some((switch, number)) = fabric.ports[id.at()].place.at_switch() else { return };
    let frame = fabric.memory.switches[switch].reminder(number);
    let requested = &mut fabric.gates[id.at()].requested;
    requested.pending = false;
    let Some(frame @ Frame::Bitmap(queues)) = frame else { return };
    let idle = if queues.is_empty() { requested.idle + 1 } else { 0 };
    if idle <= IDLE_REMINDERS {
        notify_of_queue(fabric, cx, id, frame);
        fabric.gates[id.at()].requested.idle = idle;
    }
}

/// Tags a packet that begins to leave with the queue that it comes from, after its departure was reported to the
/// switch.
#[inline]
pub(super) fn pass_on(fabric: &mut Fabric, id: PortId, handle: Handle) {
    if fabric.ports[id.at()].place.pulls {
        return; // from the queue of its flow
    }
    let served =
        fabric.queue(id).and_then(|queue| queue.hop_by_hop()).map_or(0, |queues| queues.served_queue());
    let packet = &mut fabric.packets[handle];
    packet.hop = HopTag::from_queue(served);
    if packet.flags.has(Flags::HELD_BACK) {
        packet.flags.clear(Flags::HELD_BACK);
        held_back_left(fabric, id);
    }
}

/// Reports a departure from the port `id` to its switch. Returns the frame that a neighbour is to be sent for it,
/// and the port that sends it.
pub(super) fn report_departure(
    fabric: &mut Fabric,
    cx: &Cx,
    id: PortId,
    packet: &Packet,
) -> Option<(PortId, Frame)> {
    let (switch, output) = fabric.ports[id.at()].place.at_switch()?;
    let input = usize::from(packet.input);
    let frame = fabric.memory.switches[switch].on_departed(cx.now, Passing { input, output, packet })?;
    Some((fabric.memory.links[switch][input], frame))
}

/// A packet that is counted against a neighbour is dropped while it waits.
#[cold]
pub(super) fn on_dropped(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle) {
    let packet = fabric.packets[handle];
    let reported = report_departure(fabric, cx, id, &packet);
    held_back_left(fabric, id);
    if let Some((back, frame)) = reported {
        notify_of_queue(fabric, cx, back, frame);
    }
}

/// One packet that was counted against a neighbour no longer waits at a port.
pub(super) fn held_back_left(fabric: &mut Fabric, id: PortId) {
    let gate = &mut fabric.gates[id.at()];
    gate.held_back -= 1;
    if gate.held_back == 0 {
        fabric.ports[id.at()].end_eager(false);
    }
}

/// True if the port ignores pauses (a NIC without hop-by-hop flow control).
pub(super) fn ignores_pauses(fabric: &Fabric, cx: &Cx, id: PortId) -> bool {
    fabric.ports[id.at()].place.from_host && !parameters(cx).nics
}

/// The neighbour of a port has reported what is paused, which is valid for a limited time.
pub(super) fn confirm_pauses(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    if parameters(cx).flows {
        return;
    }
    let until = cx.now.saturating_add(parameters(cx).expires);
    let gate = &mut fabric.gates[id.at()];
    gate.paused.keep_queues_until(until);
    if gate.paused.any() && !gate.expiry_pending {
        gate.expiry_pending = true;
        cx.schedule(until, Phase::Quanta, 2 * id.0 + EXPIRY);
    }
}

/// Wakes a NIC that pulls when queues, which are those of its flows, are resumed.
pub(super) fn resume_flows(fabric: &mut Fabric, cx: &mut Cx, id: PortId, change: Change) {
    if change == Change::Resumed {
        let gate = &mut fabric.gates[id.at()];
        (gate.freed, gate.input_ready) = (true, true);
        fabric.wake(cx, id);
    }
}

/// The parameters of backpressure.
#[inline]
fn parameters(cx: &Cx) -> QueuePauses {
    cx.features.queue_pauses.expect("called under backpressure only")
}
