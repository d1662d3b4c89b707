//! What a run will cost, before it is run and before a flow is drawn: flows × packets × hops, bounded by what
//! links carry, and what is kept of it in memory.

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

/// Costs of a run, before it is run. Retransmissions and drops are not known yet and not counted.
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
    /// What it is made of: (part, bytes), largest first, without those that need nothing.
    pub memory: Vec<(&'static str, u64)>,
    /// Wall-clock time on one core of a usual machine.
    pub seconds: f64,
}

/// Seconds per packet-hop: between FIFO (63 ns) and SRPT (139 ns) in networks of about a hundred hosts, as `thalweg
/// bench` finds on a 2-core cloud machine.
const SECONDS_PER_HOP: f64 = 100e-9;
/// Events per packet-hop: one, and some for timers and ports that choose at once.
const EVENTS_PER_HOP: f64 = 1.1;

/// What the parts of the memory are computed from.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    flows: f64,
    packets: f64,
    hops: f64,
    acks: f64,
    /// Flows under way at a time.
    active: f64,
    /// Packets in the network at a time.
    inside: f64,
    /// When the run ends, seconds.
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
    // Flows without end offer whatever there is time for.
    for (_, demand, way) in &mut demands {
        demand.go_on_until(t.end);
        ways.load(*way, demand.endless_bytes());
    }
    for (_, demand, way) in &demands {
        // No link carries more than it can: flows between two given hosts get their share of the slowest on their way.
        let packets = demand.packets(t.end) * ways.share(*way, t.end);
        t.flows += demand.flows;
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

/// When the run will be over, seconds: by its clock, or as soon as the flows that count can be complete.
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
