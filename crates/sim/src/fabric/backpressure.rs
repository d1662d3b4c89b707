//! Backpressure flow control: packets name the queue they come from, and those that make a queue too long
//! are held against it.
//!
//! As long as such packets wait at a port, ends of transmissions there are events: what leaves may let a
//! neighbour go on.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::fabric::gate::{EXPIRY, REFRESH};
use thalweg_machines::pause::{Change, Passing, QueuePauses};
use thalweg_machines::schedule::Discipline;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Frame, Handle, HopTag, Packet};

/// After so many reminders that report that nothing is paused there are no more.
const IDLE_REMINDERS: u8 = 2;

/// A packet has joined the queue of a switch port, through the port `from`: if it made the queue too long,
/// the neighbour is notified.
pub(super) fn note_overfull(fabric: &mut Fabric, cx: &mut Cx, from: PortId, id: PortId, handle: Handle) {
    let place = &fabric.ports[id.at()].place;
    if place.owner == u32::MAX
        || !fabric.queue(id).and_then(|queue| queue.hop_by_hop()).is_some_and(|queues| queues.is_overfull())
    {
        return;
    }
    let (switch, output) = (place.owner as usize, usize::from(place.number));
    let packet = &mut fabric.packets[handle];
    if fabric.memory.is_elided(id, packet.input) {
        return cx.instruments.tally.spared += 1;
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

/// The neighbour of a port is notified of its queues, and reminded from time to time.
pub(super) fn notify_of_queue(fabric: &mut Fabric, cx: &mut Cx, back: PortId, frame: Frame) {
    fabric.post_frame(cx, back, frame, u32::MAX);
    if backpressure(cx).flows {
        return;
    }
    let requested = &mut fabric.gates[back.at()].requested;
    requested.idle = 0;
    if !requested.pending {
        requested.pending = true;
        let at = cx.now.saturating_add(backpressure(cx).every);
        cx.schedule(at, Phase::Quanta, 2 * back.0 + REFRESH);
    }
}

/// The neighbour of a port is notified of all that is paused, unless nothing has been for a while.
pub(super) fn remind(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    // Ports have decided at this instant, those without an event for it, too.
    fabric.catch_up_now(cx, id);
    let place = &fabric.ports[id.at()].place;
    let frame = fabric.memory.switches[place.owner as usize].reminder(usize::from(place.number));
    let requested = &mut fabric.gates[id.at()].requested;
    requested.pending = false;
    let Some(frame @ Frame::Bitmap(queues)) = frame else { return };
    let idle = if queues.is_empty() { requested.idle + 1 } else { 0 };
    if idle <= IDLE_REMINDERS {
        notify_of_queue(fabric, cx, id, frame);
        fabric.gates[id.at()].requested.idle = idle;
    }
}

/// A packet of a port's queue begins to leave, and its switch knows: from here on it comes from that queue.
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
        held_back_gone(fabric, id);
    }
}

/// A switch is notified that a packet has left the port. Returns the frame that a neighbour is sent for that,
/// and the port that sends it.
pub(super) fn report_departure(
    fabric: &mut Fabric,
    cx: &Cx,
    id: PortId,
    packet: &Packet,
) -> Option<(PortId, Frame)> {
    let place = &fabric.ports[id.at()].place;
    let (switch, output, input) =
        (place.owner as usize, usize::from(place.number), usize::from(packet.input));
    let frame = fabric.memory.switches[switch].on_departed(cx.now, Passing { input, output, packet })?;
    Some((fabric.memory.links[switch][input], frame))
}

/// A packet for which a neighbour is held back is dropped while it waits.
#[cold]
pub(super) fn dropped(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle) {
    let packet = fabric.packets[handle];
    let reported = report_departure(fabric, cx, id, &packet);
    held_back_gone(fabric, id);
    if let Some((back, frame)) = reported {
        notify_of_queue(fabric, cx, back, frame);
    }
}

/// One packet less waits at a port for which a neighbour is held back.
pub(super) fn held_back_gone(fabric: &mut Fabric, id: PortId) {
    let gate = &mut fabric.gates[id.at()];
    gate.held_back -= 1;
    if gate.held_back == 0 {
        fabric.ports[id.at()].calm(false);
    }
}

/// The port takes no notice of what its neighbour pauses.
pub(super) fn is_deaf(fabric: &Fabric, cx: &Cx, id: PortId) -> bool {
    fabric.ports[id.at()].place.from_host && !backpressure(cx).nics
}

/// The neighbour of a port has reported what is paused: that holds for a while.
pub(super) fn confirm_pauses(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    if backpressure(cx).flows {
        return;
    }
    let until = cx.now.saturating_add(backpressure(cx).expires);
    let gate = &mut fabric.gates[id.at()];
    gate.paused.keep_queues_until(until);
    if gate.paused.any() && !gate.expiry_pending {
        gate.expiry_pending = true;
        cx.schedule(until, Phase::Quanta, 2 * id.0 + EXPIRY);
    }
}

/// Queues of a NIC that pulls are those of its flows: some may go on.
pub(super) fn free_flows(fabric: &mut Fabric, cx: &mut Cx, id: PortId, change: Change) {
    if change == Change::Resumed {
        let gate = &mut fabric.gates[id.at()];
        (gate.freed, gate.input_ready) = (true, true);
        fabric.wake(cx, id);
    }
}

/// The parameters; callers run under backpressure only, so there are some.
fn backpressure(cx: &Cx) -> QueuePauses {
    cx.spec.inputs.and_then(|inputs| inputs.queue_pauses()).expect("called under backpressure only")
}
