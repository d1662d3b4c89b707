//! Failures: links that fail and are restored, and pause frames that are lost on their way.
//!
//! A link that fails loses what is on it, what waits for it, and what still comes to it. Some time later the
//! routes have converged: paths are laid anew for what the flows send from then on; packets under way keep
//! theirs. Pinned paths stay.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, backpressure, reference, relief};
use crate::port::flying::Flying;
use crate::port::{Bypass, Lane};
use thalweg_machines::schedule::{Discipline, OutputQueue};
use thalweg_net::spec::IncidentKind;
use thalweg_units::{FlowId, NodeId, PortId};
use thalweg_wire::Frame;

/// An event for each incident.
pub(crate) fn arm(cx: &mut Cx) {
    for number in 0..cx.spec.incidents.len() {
        cx.schedule(cx.spec.incidents[number].at, Phase::Incident, 2 * number as u32);
    }
}

/// Something happens (even), or routes have converged after it (odd).
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
            // No neighbour can pause or resume the port any more. First: what waits in a paused queue is lost too.
            let change = fabric.gates[id.at()].paused.clear(cx.now);
            fabric.pauses_changed(cx, id, change, u32::MAX);
            cx.instruments.end_deadlocks(id, cx.now);
        }
        if cx.features.relief {
            relief::link_fails(fabric, cx, id);
        }
        if fabric.ports[id.at()].mode.preemptive {
            cut_off(fabric, cx, id);
        }
        if fabric.ports[id.at()].on_demand() {
            flush(fabric, cx, id);
        }
    }
}

/// Loses what a preemptive port is transmitting: it is not on the wire before its last bit is out.
fn cut_off(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Some(handle) = fabric.preempted.stop(id) else { return };
    let port = &mut fabric.ports[id.at()];
    (port.free_at, port.state.tx_pending) = (cx.now, false);
    port.verdicts.dropped += 1;
    fabric.outages.lost += 1;
    fabric.lose(cx, id, handle, cx.now);
}

/// Loses what waits at a port.
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
    port.now_waiting(cx.now, 0, 0);
    if let Some(pool) = fabric.memory.pools.get_mut(port.place.pool as usize) {
        pool.release(before);
    }
    if let Some(gate) = fabric.gates.get_mut(id.at()) {
        for flying in std::mem::take(&mut gate.control) {
            fabric.outages.lost += 1;
            fabric.ports[id.at()].verdicts.dropped += 1;
            fabric.lose(cx, id, flying.handle, cx.now);
        }
    }
    fabric.outages.lost += fabric.pushed_out.len() as u64;
    fabric.lose_pushed_out(cx, id, cx.now);
}

fn restore(fabric: &mut Fabric, cx: &mut Cx, link: u32) {
    if !std::mem::replace(&mut fabric.outages.down[link as usize], false) {
        return;
    }
    for id in [PortId(2 * link), PortId(2 * link + 1)] {
        restate(fabric, cx, id);
        if fabric.ports[id.at()].place.pulls || fabric.gates.get(id.at()).is_some_and(|gate| gate.input_ready)
        {
            fabric.wake(cx, id);
        }
    }
}

/// An ingress that still holds too much says so again: what the neighbour knew of it was forgotten as the link failed,
/// and what was sent since is lost.
fn restate(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let place = &fabric.ports[id.at()].place;
    if !cx.features.ingress_accounting || place.owner == u32::MAX {
        return;
    }
    let switch = &fabric.memory.switches[place.owner as usize];
    for frame in switch.restate(usize::from(place.number)) {
        match frame {
            // It is confirmed from time to time, too.
            Frame::Bitmap(_) => backpressure::remind(fabric, cx, id),
            frame => fabric.post_frame(cx, id, frame, u32::MAX),
        }
    }
}

/// New routes for what flows send from now on.
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

/// A path without failed links joins the ends of the flow.
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
