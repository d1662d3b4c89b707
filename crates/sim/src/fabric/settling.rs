//! Backpressure where departures are seen at another instant than that at which they are sent: packets that
//! wait for the wire only, and headers on their way round to the ingress pipeline (Goyal, MIT 2022, §3.4;
//! [`Needs::apart`](thalweg_machines::schedule::Needs::apart)).

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, backpressure};
use thalweg_machines::schedule::Discipline;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Handle};

/// When a packet is out of the reach of pauses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    /// Another one arrives.
    Arrival,
    /// The port decides what it sends.
    Decision,
}

/// Something has joined the queues of a switch port, or `leaving` begins its transmission: packets that no
/// pause can stop any more are exempt from accounting.
pub(super) fn settle(fabric: &mut Fabric, cx: &mut Cx, id: PortId, leaving: Option<Handle>, when: As) {
    if fabric.ports[id.at()].place.owner == u32::MAX {
        return;
    }
    if let Some(handle) = leaving {
        let_go(fabric, cx, id, handle, when);
    }
    for nth in 0.. {
        let Some(handle) = fabric.queue(id).and_then(|queue| queue.pipeline()?.committed(nth)) else {
            return;
        };
        let_go(fabric, cx, id, handle, when);
    }
}

fn let_go(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle, when: As) {
    let packet = fabric.packets[handle];
    if !packet.flags.has(Flags::HELD_BACK) {
        return;
    }
    fabric.packets[handle].flags.clear(Flags::HELD_BACK);
    backpressure::held_back_gone(fabric, id);
    let late = fabric
        .queue(id)
        .and_then(|queue| queue.pipeline())
        .map(|pipeline| pipeline.late())
        .unwrap_or_default();
    if late.is_zero() {
        if let Some((back, frame)) = backpressure::report_departure(fabric, cx, id, &packet) {
            match when {
                As::Arrival => backpressure::notify_of_queue(fabric, cx, back, frame),
                As::Decision => fabric.notify_neighbour(cx, id, back, frame),
            }
        }
        return;
    }
    let at = cx.now.saturating_add(late);
    let returning = &mut fabric.memory.returning[id.at()];
    if returning.is_empty() {
        cx.schedule(at, Phase::Return, id.0);
    }
    returning.push_back((at, packet));
}

/// Headers of packets that have left this port have come round.
pub(crate) fn return_due(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    while let Some((at, packet)) = fabric.memory.returning[id.at()].front().copied() {
        if at > cx.now {
            return cx.schedule(at, Phase::Return, id.0);
        }
        fabric.memory.returning[id.at()].pop_front();
        if let Some((back, frame)) = backpressure::report_departure(fabric, cx, id, &packet) {
            // Ports have decided at this instant, those without an event for it, too.
            fabric.catch_up_now(cx, back);
            backpressure::notify_of_queue(fabric, cx, back, frame);
        }
    }
}
