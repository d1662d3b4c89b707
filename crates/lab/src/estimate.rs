//! What a run will cost: flows × packets × hops.

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::{Document, Pattern, RdmaAcks, Transport};
use crate::topology::Graph;
use crate::workload;

/// Costs of a run, before it is run. Retransmissions and drops are not known yet and not counted.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Flows.
    pub flows: u64,
    /// Data packets.
    pub packets: u64,
    /// Transmissions of data packets and ACKs on links.
    pub packet_hops: u64,
    /// Events of the simulator.
    pub events: u64,
    /// Peak memory.
    pub memory_bytes: u64,
    /// Wall-clock time on one core of a usual machine.
    pub seconds: f64,
}

/// Seconds per packet-hop: between FIFO (63 ns) and SRPT (139 ns) in networks of about a hundred hosts, as `thalweg
/// bench` finds on a 2-core cloud machine.
const SECONDS_PER_HOP: f64 = 100e-9;
/// Events per packet-hop: one, and some for timers and ports that choose at once.
const EVENTS_PER_HOP: f64 = 1.1;
/// Memory of a flow in the list with its outcome, of a host, of a port, bytes.
const PER_FLOW: u64 = 300;
const PER_HOST: u64 = 1000;
const PER_PORT: u64 = 500;

pub(crate) fn estimate(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Estimate, Diagnostic> {
    let path = graph.mean_path();
    let (mut flows, mut packets, mut hops) = (0.0, 0.0, 0.0);
    for (section, e) in doc.traffic.iter().zip(workload::expectations(cx, doc, graph)?) {
        let transport = doc.transports.get(&section.transport).unwrap_or(&doc.transport);
        let (payload, wire, acks) = match (&section.pattern, transport) {
            (Pattern::Udp(u), _) => (u.payload.0.get(), u.payload.0.get() + u.header.0.get(), 0.0),
            (_, Transport::Tcp(t)) => (t.mss.0.get(), t.mss.0.get() + t.header.0.get(), 1.0),
            (_, Transport::Udp(u)) => (u.payload.0.get(), u.payload.0.get() + u.header.0.get(), 0.0),
            (_, Transport::Rdma(r)) => {
                let wire = r.mtu.0.get() + r.header.0.get() + r.extra_header.0.get();
                let segment = match r.segments {
                    Some(s) => s.bytes.0.get() as f64 / r.mtu.0.get() as f64,
                    None => f64::from(r.rtt.segment),
                };
                let acks = match r.acks {
                    None | Some(RdmaAcks::PerPacket) => 1.0,
                    Some(RdmaAcks::PerSegment) => 1.0 / segment.max(1.0),
                    Some(RdmaAcks::Never) => 0.0,
                };
                (r.mtu.0.get(), wire, acks)
            }
        };
        // Flows without end fill their host's link (datagrams: their own rate) until they stop, or the run does.
        let rate = match &section.pattern {
            Pattern::Udp(u) => u.rate.0.bps() as f64,
            _ => graph.host_rates().first().map_or(0.0, |r| r.bps() as f64),
        };
        let bounded = if matches!(section.pattern, Pattern::Udp(_)) { e.endless } else { e.endless.min(1.0) };
        let lasts = match &section.pattern {
            Pattern::Backlogged(b) => {
                let end = b.until.map_or(doc.run.until.0, |until| until.0);
                end.secs() - b.start.0.secs()
            }
            _ => doc.run.until.0.secs(),
        };
        let endless = bounded * rate * lasts / (8.0 * wire as f64);
        let mine = e.bytes / payload as f64 + e.flows / 2.0 + endless;
        flows += e.flows + e.endless;
        packets += mine.max(e.flows);
        hops += mine.max(e.flows) * path * (1.0 + acks);
    }
    let memory = flows * PER_FLOW as f64
        + f64::from(graph.hosts) * PER_HOST as f64
        + 2.0 * graph.links.len() as f64 * PER_PORT as f64;
    Ok(Estimate {
        flows: flows as u64,
        packets: packets as u64,
        packet_hops: hops as u64,
        events: (hops * EVENTS_PER_HOP) as u64,
        memory_bytes: memory as u64,
        seconds: hops * SECONDS_PER_HOP,
    })
}
