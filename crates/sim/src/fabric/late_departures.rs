//! Backpressure where the switch learns of departures before or after they happen (Tofino): packets that only wait
//! for the wire, beyond the reach of pauses, and departure notices that are recirculated to the ingress pipeline
//! (Goyal, MIT 2022, §3.4; [`Needs::apart`](thalweg_machines::schedule::Needs::apart)).

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, backpressure};
use thalweg_machines::schedule::Discipline;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Handle};

/// What triggered the check: an arrival or the port's own decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A packet has arrived.
    Arrival,
    /// The port has decided what to send.
    Decision,
}

/// Reports packets that no pause can stop any more as departed, after a packet has joined a switch port, or as
/// `leaving` begins its transmission.
pub(super) fn report_committed(
    fabric: &mut Fabric,
    cx: &mut Cx,
    id: PortId,
    leaving: Option<Handle>,
    trigger: Trigger,
) {
    if fabric.ports[id.at()].place.from_host {
        return;
    }
    if let Some(handle) = leaving {
        report_if_held_back(fabric, cx, id, handle, trigger);
    }
    for nth in 0.. {
        let Some(handle) = fabric.queue(id).and_then(|queue| queue.pipeline()?.committed(nth)) else {
            return;
        };
        report_if_held_back(fabric, cx, id, handle, trigger);
    }
}

fn report_if_held_back(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle, trigger: Trigger) {
    let packet = fabric.packets[handle];
    if !packet.flags.has(Flags::HELD_BACK) {
        return;
    }
    fabric.packets[handle].flags.clear(Flags::HELD_BACK);
    backpressure::held_back_left(fabric, id);
    let late = fabric
        .queue(id)
        .and_then(|queue| queue.pipeline())
        .map(|pipeline| pipeline.late())
        .unwrap_or_default();
    if late.is_zero() {
        if let Some((back, frame)) = backpressure::report_departure(fabric, cx, id, &packet) {
            match trigger {
                Trigger::Arrival => backpressure::notify_of_queue(fabric, cx, back, frame),
                Trigger::Decision => fabric.notify_neighbour(cx, id, back, frame),
            }
        }
        return;
    }
    let at = cx.now.saturating_add(late);
    let pending = &mut fabric.memory.notices_under_way[id.at()];
    if pending.is_empty() {
        cx.schedule(at, Phase::DepartureNotice, id.0);
    }
    pending.push_back((at, packet));
}

/// Recirculated headers of departed packets have reached the ingress pipeline.
pub(crate) fn notices_due(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    while let Some((at, packet)) = fabric.memory.notices_under_way[id.at()].front().copied() {
        if at > cx.now {
            return cx.schedule(at, Phase::DepartureNotice, id.0);
        }
        fabric.memory.notices_under_way[id.at()].pop_front();
        if let Some((back, frame)) = backpressure::report_departure(fabric, cx, id, &packet) {
            // Ports have decided at this instant, including those without an event for it.
            fabric.catch_up_now(cx, back);
            backpressure::notify_of_queue(fabric, cx, back, frame);
        }
    }
}
