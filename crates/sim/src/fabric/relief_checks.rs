//! Invariants of relief, recounted from scratch: Escape's I12, and the order of packets.

use crate::fabric::Fabric;
use thalweg_machines::link::LinkSpec;
use thalweg_machines::relief::Relief;
use thalweg_machines::schedule::liftable::Liftable;
use thalweg_net::spec::{Incident, IncidentKind, NetworkSpec};
use thalweg_units::PortId;

/// Checks the invariants of relief at every switch.
pub(crate) fn check(fabric: &Fabric, spec: &NetworkSpec) -> Result<(), String> {
    for (switch, machine) in fabric.mechanisms.relief.machines.iter().enumerate() {
        let links = &fabric.memory.links[switch];
        let escaping: Vec<u32> = links.iter().map(|id| escaping(fabric, *id)).collect();
        let laws = || {
            machine.check(&escaping)?;
            check_escape_queues(fabric, links)?;
            check_inputs(fabric, switch)
        };
        laws().map_err(|law| format!("switch {switch}: {law}"))?;
    }
    let in_order = |way: &LinkSpec| !way.jitter.is_some_and(|jitter| jitter.reorder);
    // A packet on another path, because a link has failed or was restored, may overtake those on the old one.
    let same_way = |incident: &Incident| matches!(incident.what, IncidentKind::PauseLoss(..));
    let kept = spec.relief.is_some()
        && spec.incidents.iter().all(same_way)
        && fabric.mechanisms.relief.machines.iter().all(Relief::substitutes)
        && spec.links.iter().all(|link| in_order(&link.ab) && in_order(&link.ba));
    if kept && fabric.mechanisms.relief.reordered > 0 {
        return Err(format!(
            "{} packets left for their hosts behind later ones of their flows",
            fabric.mechanisms.relief.reordered
        ));
    }
    Ok(())
}

/// Packets in a port's escape queue.
fn escaping(fabric: &Fabric, id: PortId) -> u32 {
    fabric.queue(id).and_then(|queue| queue.liftable()).map_or(0, Liftable::lifted)
}

/// Escape's invariant I12: no pause holds back an escape queue.
fn check_escape_queues(fabric: &Fabric, links: &[PortId]) -> Result<(), String> {
    let held = |id: &&PortId| fabric.gates[id.at()].stopped && escaping(fabric, **id) > 0;
    let Some(id) = links.iter().find(held) else { return Ok(()) };
    Err(format!("a pause holds the {} packets in the escape queue of port {}", escaping(fabric, *id), id.0))
}

/// I12: escape queues are not counted by per-ingress accounting, so no input pauses its neighbour because of them.
fn check_inputs(fabric: &Fabric, switch: usize) -> Result<(), String> {
    let (links, memory) = (&fabric.memory.links[switch], &fabric.memory.switches[switch]);
    for (input, books) in memory.inputs().iter().enumerate() {
        let waiting: u64 = links.iter().map(|id| u64::from(fabric.memory.held(*id, input as u8))).sum();
        let leaving = links.iter().map(|id| fabric.memory.deferred[id.at()]);
        let leaving: u64 = leaving.filter(|d| usize::from(d.0) == input).map(|d| u64::from(d.1)).sum();
        if books.bytes != waiting + leaving {
            let bytes = books.bytes;
            return Err(format!(
                "input {input} counts {bytes} B, and {waiting} B wait outside escape queues, {leaving} B are leaving"
            ));
        }
        if memory.has_paused(input) && books.bytes <= memory.resumes_at() {
            return Err(format!(
                "input {input} keeps its neighbour paused and holds {} B outside escape queues",
                books.bytes
            ));
        }
    }
    Ok(())
}

/// Bytes in a port's escape queue.
pub(crate) fn escaping_bytes(fabric: &Fabric, id: PortId) -> u64 {
    fabric.queue(id).and_then(|queue| queue.liftable()).map_or(0, Liftable::lifted_bytes)
}
