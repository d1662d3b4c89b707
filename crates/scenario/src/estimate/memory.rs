//! Peak memory by part. The peak occurs when the results are collected, because the simulation, the tables made of it,
//! and the rows from which they are made exist at the same time. The constants, in bytes, were measured or added up
//! from fields; the ten scenarios of `tests/python/test_memory.py` check them to within 30 %.

use super::Totals;
use crate::resolve::schedulers;
use crate::schema::Document;
use crate::topology::Graph;
use std::mem::size_of;
use thalweg_machines::transport::{Receiver, Sender};

/// A flow: 180 in the simulation (specification, record, connection), 320 in the columns of its table, 200 as a row
/// from which the table is made, and the rounding of the allocator.
const FLOW: f64 = 810.0;
/// One that a flow or computation waits for: as it is made, in the specification, and from the other end.
const WAIT: f64 = 40.0;
/// A port: 380 in the simulation, 260 in its table.
const PORT: f64 = 650.0;
/// A packet with its places in queues and events; its trace while packets are recorded.
const PACKET: f64 = 130.0;
/// A sender and a receiver without their machines: hosts, timers, path, a timer event.
const CONNECTION: f64 = 160.0;
/// A sample in the simulation and in its table.
const QUEUE_SAMPLE: f64 = 96.0;
const LINK_SAMPLE: f64 = 105.0;
const CONTROLLER_SAMPLE: f64 = 215.0;
const ROUND_TRIP: f64 = 88.0;
const DECISION: f64 = 64.0;
/// A packet sent by a recorded port: its header on arrival, and its departure time.
const PORT_RECORD: f64 = 80.0;
/// Rows of a recording that have not been written yet: they are written during the run.
const ROWS: f64 = 600_000.0;
/// One such row in the simulation, as columns, and in the writer; and two times for each hop in each of the three.
const ROW: f64 = 200.0;
const ROW_HOP: f64 = 48.0;

/// Numbers of samples.
struct Samples {
    queues: f64,
    links: f64,
    controllers: f64,
}

fn looks(doc: &Document, graph: &Graph, t: &Totals) -> Samples {
    let times = |every: f64| (t.end / every.max(1e-12)).floor() + 1.0;
    let at_switches = || {
        let ends = graph.links.iter().flat_map(|l| [l.a, l.b]);
        ends.filter(|node| !graph.is_nic(*node)).count() as f64
    };
    let ports = |listed: &[u32]| if listed.is_empty() { at_switches() } else { listed.len() as f64 };
    let m = &doc.measure;
    Samples {
        queues: m.queues.as_ref().map_or(0.0, |q| times(q.every.0.secs()) * ports(&q.ports)),
        links: m.links.as_ref().map_or(0.0, |l| times(l.every.0.secs()) * ports(&l.ports)),
        controllers: m.controllers.as_ref().map_or(0.0, |c| {
            let flows = if c.flows.is_empty() { t.flows.min(16.0) } else { c.flows.len() as f64 };
            // Only active flows are sampled.
            times(c.every.0.secs()) * flows.min(t.active.max(1.0))
        }),
    }
}

/// Number of samples of all probes.
pub(super) fn samples(doc: &Document, graph: &Graph, t: &Totals) -> f64 {
    let s = looks(doc, graph, t);
    s.queues + s.links + s.controllers
}

pub(super) fn parts(doc: &Document, graph: &Graph, t: &Totals) -> Vec<(&'static str, u64)> {
    let ports = 2.0 * graph.links.len() as f64;
    let s = looks(doc, graph, t);
    let busy = t.hops / ports.max(1.0) / t.end.max(1e-12);
    // NICs have one port each, which runs the switches' scheduler unless it has one of its own.
    let at_hosts = f64::from(graph.nics());
    let nic = doc.nic.scheduler.as_ref().unwrap_or(&doc.switch.scheduler);
    let mixed = schedulers(doc).find(|(place, _)| *place == "switch.mix").map(|(_, s)| s.memory(busy));
    let switch = doc.switch.scheduler.memory(busy).max(mixed.unwrap_or(0.0));
    let queues = at_hosts * nic.memory(busy) + (ports - at_hosts).max(0.0) * switch;
    let mut attachments = graph.racks();
    attachments.sort_unstable();
    attachments.dedup();
    let routes = f64::from(graph.switches) * attachments.len() as f64 * 4.0;
    let m = &doc.measure;
    let round_trips = if m.round_trips { t.acks * ROUND_TRIP } else { 0.0 };
    let decisions = if m.decisions { t.acks * DECISION } else { 0.0 };
    let samples = s.queues * QUEUE_SAMPLE + s.links * LINK_SAMPLE + s.controllers * CONTROLLER_SAMPLE;
    let recorded = m.port_records.len() as f64 * t.hops / ports.max(1.0) * PORT_RECORD;
    let probes = samples + round_trips + decisions + recorded;
    let histogram = m
        .priority_histogram
        .as_ref()
        .map_or(0.0, |h| ports * (h.cap.0.get() as f64 / h.mtu.0.get().max(1) as f64).ceil() * 8.0);
    let recording = m.packets.map_or(0.0, |p| {
        let hops = if p.hops { graph.mean_path() * ROW_HOP } else { 0.0 };
        (t.packets + t.acks).min(ROWS) * (ROW + hops)
    });
    let machines = (size_of::<Sender>() + size_of::<Receiver>()) as f64;
    let mut parts = [
        ("flows", t.flows * FLOW),
        ("waits", t.waits * WAIT),
        ("connections", t.active * (machines + CONNECTION)),
        ("packets", t.inside * PACKET),
        ("network", ports * PORT + routes),
        ("schedulers", queues),
        ("probes", probes + histogram),
        ("recording", recording),
        ("traces", graph.trace_bytes() as f64),
    ]
    .map(|(name, bytes)| (name, bytes as u64))
    .to_vec();
    parts.retain(|(_, bytes)| *bytes > 0);
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    parts
}
