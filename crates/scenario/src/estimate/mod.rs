//! Estimates the cost of a run without running it or drawing flows: flows × packets × hops, limited by the capacity of
//! links, and the memory that they need.

mod demand;
mod memory;
mod ways;

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::{Document, Pattern, Transport};
use crate::topology::Graph;
use crate::workload;
use demand::{Demand, Frame};
use ways::Ways;

/// The estimated cost of a run. Retransmissions and drops are not included.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Flows.
    pub flows: u64,
    /// Data packets.
    pub packets: u64,
    /// Transmissions of data packets and ACKs on links.
    pub packet_hops: u64,
    /// Events of the simulator.
    pub events: u64,
    /// Peak memory until the results have been collected.
    pub memory_bytes: u64,
    /// Its parts: (part, bytes), largest first, without empty parts.
    pub memory: Vec<(&'static str, u64)>,
    /// Wall-clock time on one core of a common machine.
    pub seconds: f64,
}

/// Seconds per packet-hop: between FIFO (63 ns) and SRPT (139 ns) in networks of about a hundred hosts, measured by
/// `thalweg bench` on a 2-core cloud machine.
const SECONDS_PER_HOP: f64 = 100e-9;
/// Events per packet-hop: one, and some for timers and for ports whose decisions need an event.
const EVENTS_PER_HOP: f64 = 1.1;

/// The quantities from which memory is computed.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    flows: f64,
    /// What flows and computations wait for.
    waits: f64,
    packets: f64,
    hops: f64,
    acks: f64,
    /// Number of concurrent flows.
    active: f64,
    /// Number of concurrent packets in the network.
    inside: f64,
    /// End of the run, in seconds.
    end: f64,
}

/// Sizes of a section's packets.
fn frame(pattern: &Pattern, transport: &Transport) -> Frame {
    let wire = pattern.family().transport(None).map_or_else(|| transport.wire(), |own| own.wire());
    let header = f64::from(wire.largest() - wire.payload);
    Frame { payload: f64::from(wire.payload.max(1)), header, acks: wire.acks }
}

pub(crate) fn estimate(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Estimate, Diagnostic> {
    let path = graph.mean_path();
    let mut ways = Ways::new(graph);
    let mut demands = Vec::with_capacity(doc.traffic.len());
    for (section, e) in doc.traffic.iter().zip(workload::expectations(cx, doc, graph)?) {
        let transport = doc.transports.get(&section.transport).unwrap_or(&doc.transport);
        let frame = frame(&section.pattern, transport);
        let way = section.pattern.family().ends().and_then(|pair| ways.between(pair));
        let demand = Demand::of(doc, graph, &section.pattern, e, frame, ways.slowest(way));
        ways.load(way, demand.finite_bytes());
        demands.push((section, demand, way));
    }
    let mut t = Totals { end: end(doc, &ways, &mut demands), ..Totals::default() };
    // Flows without end send until the end of the run.
    for (_, demand, way) in &mut demands {
        demand.go_on_until(t.end);
        ways.load(*way, demand.endless_bytes());
    }
    for (_, demand, way) in &demands {
        // No link carries more than its capacity: flows between two given hosts get their share of the slowest link on
        // their path.
        let packets = demand.packets(t.end) * ways.share(*way, t.end);
        t.flows += demand.flows;
        t.waits += demand.waits;
        t.packets += packets;
        t.hops += packets * ways.links(*way).unwrap_or(path) * (1.0 + demand.frame.acks);
        t.acks += packets * demand.frame.acks;
        t.active += demand.course.active;
        t.inside += demand.inside(doc, graph, ways.slowest(*way));
    }
    let memory = memory::parts(doc, graph, &t);
    Ok(Estimate {
        flows: t.flows as u64,
        packets: t.packets as u64,
        packet_hops: t.hops as u64,
        events: (t.hops * EVENTS_PER_HOP + memory::samples(doc, graph, &t)) as u64,
        memory_bytes: memory.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes)),
        memory,
        seconds: t.hops * SECONDS_PER_HOP,
    })
}

/// End of the run in seconds: `run.until`, or as soon as the measured flows can be complete.
fn end(
    doc: &Document,
    ways: &Ways<'_>,
    demands: &mut [(&crate::schema::Traffic, Demand, Option<usize>)],
) -> f64 {
    let until = doc.run.until.0.secs();
    let mut done: Option<f64> = None;
    let mut endless = false;
    for (section, demand, way) in demands {
        demand.be_over_after(ways.takes(*way));
        if section.measured && demand.ends {
            done = Some(done.unwrap_or(0.0).max(demand.course.end));
        }
        endless |= section.measured && !demand.ends;
    }
    done.filter(|_| doc.run.stop_when_done && !endless).map_or(until, |done| done.min(until))
}

#[cfg(test)]
mod tests;
