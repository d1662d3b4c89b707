//! What is recorded besides the flows.

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::Document;
use crate::topology::Graph;
use thalweg_net::spec::{DelaySpec, ProbeSpec, RecordSpec};
use thalweg_units::{FlowId, PortId, Time};

pub(super) fn probes(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
    flows: usize,
) -> Result<ProbeSpec, Diagnostic> {
    let ports = |listed: &[u32]| -> Vec<PortId> {
        if !listed.is_empty() {
            return listed.iter().map(|p| PortId(*p)).collect();
        }
        let ends = graph.links.iter().enumerate().flat_map(|(i, l)| [(2 * i, l.a), (2 * i + 1, l.b)]);
        ends.filter(|(_, node)| !graph.is_host(*node)).map(|(p, _)| PortId(p as u32)).collect()
    };
    let m = &doc.measure;
    let from = Time::from_ps(m.from.0.ps());
    let until = Time::from_ps(m.until.map_or(doc.run.until.0, |q| q.0).ps());
    let controllers = match &m.controllers {
        None => None,
        Some(c) => {
            if let Some(i) = c.flows.iter().position(|f| *f as usize >= flows) {
                let key = format!("measure.controllers.flows.{i}");
                let hint = format!("flows are 0 to {}", flows as i64 - 1);
                return Err(cx.error(&key, format!("there is no flow {}", c.flows[i]), hint));
            }
            let first = 0..flows.min(16) as u32;
            let ids = if c.flows.is_empty() { first.collect() } else { c.flows.clone() };
            Some((c.every.0, ids.into_iter().map(FlowId).collect()))
        }
    };
    Ok(ProbeSpec {
        pauses: m.pauses,
        delays: m.delays.unwrap_or_default().then(|| DelaySpec {
            from,
            until,
            groups: doc.traffic.iter().map(|t| t.measured).collect(),
        }),
        memory: m.memory,
        completions: m.round_trips.then_some((from, until)),
        queues: m.queues.as_ref().map(|q| (q.every.0, ports(&q.ports))),
        queue_flows: m.queues.as_ref().is_some_and(|q| q.flows),
        links: m.links.as_ref().map(|l| (l.every.0, ports(&l.ports))),
        carried: None,
        controllers,
        priority_histogram: m.priority_histogram.as_ref().map(|h| (h.cap.0, h.mtu.0.get() as u32)),
        decisions: m.decisions,
        record: m.packets.map(|p| RecordSpec { hops: p.hops }),
    })
}
