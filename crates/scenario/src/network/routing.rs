//! `[routing]`: the rule, and what its file gives.

use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::tables;
use crate::schema::Document;
use crate::topology::Graph;
use std::collections::{BTreeMap, BTreeSet};
use thalweg_machines::route::{File, Holds};
use thalweg_net::spec::{FlowSpec, Given, PinnedPath, RoutingSpec};
use thalweg_units::NodeId;

pub(super) fn routing(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
    flows: &[FlowSpec],
    listed: &[Option<u64>],
) -> Result<RoutingSpec, Diagnostic> {
    let rule = doc.routing.rule.clone();
    let given = match rule.file() {
        None => Given::Nothing,
        Some(File { key, name, holds }) => {
            let text = cx.read(&format!("routing.{key}"), name)?;
            match holds {
                Holds::Offsets => Given::Offsets(tables::offsets(&text, graph).map_err(|e| e.in_file(name))?),
                Holds::Paths => Given::Paths(paths(cx, name, &text, graph, flows, listed)?),
            }
        }
    };
    Ok(RoutingSpec { rule, given, structure: graph.structure.clone() })
}

/// The pinned path of every flow, checked against the links.
fn paths(
    cx: &Cx<'_>,
    file: &str,
    text: &str,
    graph: &Graph,
    flows: &[FlowSpec],
    listed: &[Option<u64>],
) -> Result<Vec<PinnedPath>, Diagnostic> {
    if graph.has_further_nics() {
        let reason = "hosts have several links, and pinned paths cannot choose between them";
        let hint = "use a rule that finds paths itself, such as \"ecmp\"";
        return Err(cx.error("routing.kind", reason, hint));
    }
    let rows = tables::paths(text, &graph.names).map_err(|e| e.in_file(file))?;
    let mut by_id: BTreeMap<u64, &tables::PathRow> = BTreeMap::new();
    for row in &rows {
        if let Some(other) = by_id.insert(row.id, row) {
            let reason = format!("flow {} already has a path, in line {}", row.id, other.line);
            return Err(Diagnostic::in_file(file, row.line, reason).hint("write one line for each flow"));
        }
    }
    let adjacency = graph.adjacency();
    let mut paths = Vec::with_capacity(flows.len());
    let mut unused: BTreeSet<u64> = by_id.keys().copied().collect();
    for (number, (f, listed)) in flows.iter().zip(listed).enumerate() {
        let label = listed.unwrap_or(number as u64);
        let Some(row) = by_id.get(&label) else {
            let d = Diagnostic::in_file(file, 0, format!("there is no path for flow {label}"));
            return Err(d.hint("write a line for every flow"));
        };
        unused.remove(&label);
        let (src, dst) = (NodeId(f.src.0), NodeId(f.dst.0));
        for (name, path, from, to) in [("data_path", &row.data, src, dst), ("ack_path", &row.ack, dst, src)] {
            let hops: Vec<NodeId> = std::iter::once(from).chain(path.iter().copied()).chain([to]).collect();
            let joined = |w: &[NodeId]| {
                w[0].at() < adjacency.len() && adjacency[w[0].at()].iter().any(|(_, n)| *n == w[1])
            };
            if let Some(gap) = hops.windows(2).find(|w| !joined(w)) {
                let reason = format!(
                    "`{name}` of flow {label} is not a path: no link from {} to {}",
                    graph.shown(gap[0]),
                    graph.shown(gap[1])
                );
                let hint = format!(
                    "a path leads from host {} to host {} over switches that are linked",
                    graph.shown_host(from),
                    graph.shown_host(to)
                );
                return Err(Diagnostic::in_file(file, row.line, reason).hint(hint));
            }
            if let Some(host) = path.iter().find(|n| graph.is_nic(**n)) {
                let reason = format!("`{name}` of flow {label} passes host {}", graph.shown_host(*host));
                return Err(Diagnostic::in_file(file, row.line, reason).hint("hosts do not forward"));
            }
        }
        paths.push(PinnedPath { data: row.data.clone(), ack: row.ack.clone() });
    }
    if let Some(row) = unused.first().map(|id| by_id[id]) {
        let reason = format!("there is no flow {}", row.id);
        return Err(Diagnostic::in_file(file, row.line, reason).hint("remove the line"));
    }
    Ok(paths)
}
