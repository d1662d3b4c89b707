//! `[measure]`: what is recorded in addition to the flows.

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::Document;
use crate::topology::Graph;
use thalweg_net::spec::{DelaySpec, NetworkSpec, ProbeSpec, RecordSpec};
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
        // Where hosts are linked directly, all ports belong to hosts.
        let all = graph.links.iter().all(|l| graph.is_nic(l.a) && graph.is_nic(l.b));
        let ends = graph.links.iter().enumerate().flat_map(|(i, l)| [(2 * i, l.a), (2 * i + 1, l.b)]);
        ends.filter(|(_, node)| all || !graph.is_nic(*node)).map(|(p, _)| PortId(p as u32)).collect()
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
        ports: m.port_records.iter().map(|port| (PortId(*port), name(graph, *port))).collect(),
        record: m.packets.map(|p| RecordSpec { hops: p.hops }),
    })
}

/// The name of a port in its record. (Validation refuses ports that do not exist.)
fn name(graph: &Graph, port: u32) -> String {
    if !graph.has_port(PortId(port)) {
        return String::new();
    }
    let (from, to) = graph.ends(PortId(port));
    format!("{} -> {}", graph.names.of(from.0), graph.names.of(to.0))
}

/// Refuses ports to record that could not be replayed.
pub(super) fn check_records(cx: &Cx<'_>, spec: &NetworkSpec) -> Result<(), Diagnostic> {
    for (i, (id, name)) in spec.probes.ports.iter().enumerate() {
        if let Err(why) = spec.recorded_port(*id) {
            let reason = format!("the port {name} cannot be recorded and replayed: {}", why.why);
            let key = format!("measure.port_records.{i}");
            let hint = if why.key == "measure.port_records" {
                "name a port of a switch whose link has a delay".to_owned()
            } else {
                format!("the reason is `{}`", why.key)
            };
            return Err(cx.error(&key, reason, hint));
        }
    }
    Ok(())
}
