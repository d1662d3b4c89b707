//! Failures: links that fail and are restored, and pause frames that are lost on their way.
//!
//! A link that fails loses what is on it, what waits for it, and what still comes to it. After the convergence time
//! the routes are recomputed, and flows send on new paths from then on; packets under way keep theirs. Pinned paths
//! are not changed.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, backpressure, reference, relief};
use crate::port::flying::Flying;
use crate::port::{Bypass, Lane};
use thalweg_machines::schedule::{Discipline, OutputQueue};
use thalweg_net::spec::IncidentKind;
use thalweg_units::{FlowId, NodeId, PortId};
use thalweg_wire::Frame;

/// Schedules an event for each incident.
pub(crate) fn arm(cx: &mut Cx) {
    for number in 0..cx.spec.incidents.len() {
        cx.schedule(cx.spec.incidents[number].at, Phase::Incident, 2 * number as u32);
    }
}

/// Handles an incident (even entities), or the convergence of routes after it (odd ones).
pub(crate) fn incident(fabric: &mut Fabric, cx: &mut Cx, entity: u32) {
    let incident = cx.spec.incidents[entity as usize / 2];
    if entity % 2 == 1 {
        return converge(fabric, cx, incident.what);
    }
    match incident.what {
        IncidentKind::LinkDown(link) => fail(fabric, cx, link),
        IncidentKind::LinkUp(link) => restore(fabric, cx, link),
        IncidentKind::PauseLoss(port, chance) => {
            let ports = match port {
                Some(port) => port.at()..port.at() + 1,
                None => 0..fabric.ports.len(),
            };
            return ports.for_each(|id| fabric.outages.set_frame_loss(id, chance));
        }
    }
    let at = cx.now.saturating_add(cx.spec.convergence);
    cx.schedule(at, Phase::Incident, entity + 1);
}

fn fail(fabric: &mut Fabric, cx: &mut Cx, link: u32) {
    if std::mem::replace(&mut fabric.outages.down[link as usize], true) {
        return;
    }
    for id in [PortId(2 * link), PortId(2 * link + 1)] {
        fabric.catch_up_now(cx, id);
        fabric.outages.fail_in_flight(id, fabric.ports[id.at()].flight.len());
        if !fabric.gates.is_empty() {
            // No neighbour can pause or resume the port any more. This comes first, so that packets in paused
            // queues are lost, too.
            let change = fabric.gates[id.at()].paused.clear(cx.now);
            fabric.pauses_changed(cx, id, change, None);
            cx.instruments.end_deadlocks(id, cx.now);
        }
        if cx.features.relief {
            relief::on_link_failure(fabric, cx, id);
        }
        if fabric.ports[id.at()].mode.preemptive {
            lose_transmission(fabric, cx, id);
        }
        if fabric.ports[id.at()].on_demand() {
            flush(fabric, cx, id);
        }
    }
}

/// Loses what a preemptive port is transmitting: it is not on the wire until its last bit is sent.
fn lose_transmission(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Some(handle) = fabric.preempted.stop(id) else { return };
    let port = &mut fabric.ports[id.at()];
    (port.free_at, port.state.tx_pending) = (cx.now, false);
    port.cold.dropped += 1;
    fabric.outages.lost += 1;
    fabric.lose(cx, id, handle, cx.now);
}

/// Loses everything that waits at a port.
fn flush(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    if fabric.ports[id.at()].mode.lane == Lane::Reference {
        return reference::flush(fabric, cx, id);
    }
    fabric.spill(id);
    let port = &mut fabric.ports[id.at()];
    let queue = &mut fabric.queues[port.queue as usize];
    let before = port.waiting.bytes;
    if port.bypass() == Bypass::Control {
        let Flying { handle, wire, .. } = port.take_bypass(cx.now);
        queue.cancel_reserve(wire);
        fabric.pushed_out.push(handle);
    }
    while let Some(served) = queue.dequeue(cx.now, &mut fabric.pushed_out) {
        fabric.pushed_out.push(served.handle);
    }
    port.set_waiting(cx.now, 0, 0);
    if let Some(pool) = fabric.memory.pool(&port.place) {
        pool.release(before);
    }
    if let Some(gate) = fabric.gates.get_mut(id.at()) {
        for flying in std::mem::take(&mut gate.control) {
            fabric.outages.lost += 1;
            fabric.ports[id.at()].cold.dropped += 1;
            fabric.lose(cx, id, flying.handle, cx.now);
        }
    }
    fabric.outages.lost += fabric.pushed_out.len() as u64;
    fabric.give_up_pushed_out(cx, id, cx.now);
}

fn restore(fabric: &mut Fabric, cx: &mut Cx, link: u32) {
    if !std::mem::replace(&mut fabric.outages.down[link as usize], false) {
        return;
    }
    for id in [PortId(2 * link), PortId(2 * link + 1)] {
        resend_pauses(fabric, cx, id);
        if fabric.ports[id.at()].place.pulls || fabric.gates.get(id.at()).is_some_and(|gate| gate.input_ready)
        {
            fabric.wake(cx, id);
        }
    }
}

/// Re-sends XOFF, or what corresponds to it, from an ingress above its threshold: the neighbour's pause state was
/// reset when the link failed, and frames sent since were lost.
fn resend_pauses(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Some((switch, number)) = fabric.accounting_switch(cx, id) else { return };
    for frame in fabric.memory.switches[switch].restate(number) {
        match frame {
            // A bitmap also starts the periodic reminders.
            Frame::Bitmap(_) => backpressure::remind(fabric, cx, id),
            frame => fabric.post_frame(cx, id, frame, None),
        }
    }
}

/// Recomputes the routes, for packets that flows send from now on.
fn converge(fabric: &mut Fabric, cx: &mut Cx, after: IncidentKind) {
    match after {
        IncidentKind::LinkDown(link) => fabric.outages.converge(link, true),
        IncidentKind::LinkUp(link) => fabric.outages.converge(link, false),
        IncidentKind::PauseLoss(..) => return,
    }
    let routes = fabric.outages.remaining_routes(&cx.spec);
    let before = std::mem::replace(&mut fabric.routes, routes);
    fabric.outages.intact.get_or_insert_with(|| Box::new(before));
    if cx.features.per_hop || cx.spec.routing.paths().is_some() {
        return;
    }
    let active: Vec<(FlowId, usize)> = fabric.paths.active().collect();
    for (flow, slot) in active {
        let path = fabric.lay_path(&cx.spec, flow);
        if fabric.paths.of(slot) != path {
            fabric.paths.detour(slot, &path);
        }
    }
}

/// Whether a path without failed links connects the ends of a flow.
pub(crate) fn is_reachable(fabric: &Fabric, cx: &Cx, flow: FlowId) -> bool {
    if fabric.outages.is_intact() {
        return true;
    }
    let path = fabric.lay_path(&cx.spec, flow);
    let dst = NodeId(cx.spec.flows[flow.at()].dst.0);
    let way = path[..fabric.paths.middle()].iter().take_while(|id| **id != PortId::NONE);
    let reaches = way.clone().last().is_some_and(|id| fabric.ports[id.at()].place.peer == dst);
    reaches && way.into_iter().all(|id| !fabric.outages.is_down(*id))
}
