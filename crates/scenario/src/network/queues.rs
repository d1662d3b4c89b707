//! Output queues: order, limit, stages.

use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::tables;
use crate::quantity::Capacity;
use crate::schema::Document;
use crate::topology::{self, Graph};
use std::collections::BTreeMap;
use thalweg_machines::schedule as s;
use thalweg_units::NodeId;

pub(super) fn queues(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
) -> Result<(Vec<s::DisciplineSpec>, Vec<u16>), Diagnostic> {
    let switch = (
        &doc.switch.scheduler,
        doc.switch.room(),
        (doc.switch.stages.as_slice(), doc.switch.marking),
        "switch",
    );
    let nic = (
        doc.nic.scheduler.as_ref().unwrap_or(&doc.switch.scheduler),
        doc.nic.buffer.unwrap_or(doc.switch.room()),
        (doc.nic.stages.as_slice(), doc.nic.marking.unwrap_or(doc.switch.marking)),
        "nic",
    );
    let mixed = doc.switch.mix.as_ref();
    let mix = (mixed.map_or(switch.0, |m| &m.scheduler), switch.1, switch.2, "switch.mix");
    let roles = [switch, nic, mix];
    let role = |node: NodeId| match mixed {
        _ if graph.is_host(node) => 1,
        Some(m) if m.nodes.has(node.0) => 2,
        _ => 0,
    };
    let mut histograms = Vec::new();
    for (scheduler, _, _, section) in roles {
        histograms.push(match scheduler.table() {
            Some((key, file)) => {
                let key = format!("{section}.scheduler.{key}");
                let text = cx.read(&key, file)?;
                Some((tables::histograms(&text).map_err(|e| e.in_file(file))?, key))
            }
            None => None,
        });
    }
    // Named ports are not as the others.
    let apart = roles.map(|(scheduler, ..)| !scheduler.ports().is_empty());
    let mut kinds: Vec<s::DisciplineSpec> = Vec::new();
    let mut known: BTreeMap<(usize, Option<u32>, Own), u16> = BTreeMap::new();
    let own = of_links(doc, graph);
    let mut out = Vec::with_capacity(2 * graph.links.len());
    for (i, link) in graph.links.iter().enumerate() {
        for (port, node) in [(2 * i as u32, link.a), (2 * i as u32 + 1, link.b)] {
            let role = role(node);
            let ((scheduler, buffer, (front, marking), _), histogram) = (roles[role], &histograms[role]);
            let own = if role == 1 { Own::default() } else { own[port as usize] };
            let buffer = own.buffer.and_then(|i| doc.link[i].buffer).unwrap_or(buffer);
            let marking = own.marking.and_then(|i| doc.link[i].marking).unwrap_or(marking);
            let (counts, per_port) = match histogram {
                None => (None, None),
                Some((all, key)) => match (all.get(&Some(port)), all.get(&None)) {
                    (Some(mine), _) => (Some(mine), Some(port)),
                    (None, Some(any)) => (Some(any), None),
                    // A port that the recording run never used: like all the others together.
                    (None, None) if all.is_empty() => {
                        return Err(cx.error(
                            key,
                            "the histogram is empty",
                            "record one with `measure.priority_histogram`",
                        ));
                    }
                    (None, None) => (None, None),
                },
            };
            let pooled = histogram.as_ref().filter(|_| counts.is_none()).map(|(all, _)| pool(all));
            let per_port = per_port.or(apart[role].then_some(port));
            if let Some(kind) = known.get(&(role, per_port, own)) {
                out.push(*kind);
                continue;
            }
            let mut order = scheduler.clone();
            if doc.switch.relief.is_some() && role != 1 && order == s::OrderSpec::fifo() {
                order = s::OrderSpec::liftable();
            }
            if let Some(counts) = counts.or(pooled.as_ref()) {
                order.fill(counts);
            }
            order.settle(port);
            let spec = s::DisciplineSpec {
                limit: match buffer {
                    _ if order.needs().sizes_itself => s::Limit::Unlimited,
                    Capacity::Bytes(b) => s::Limit::Bytes(b),
                    Capacity::Packets(p) => s::Limit::Packets(p),
                    Capacity::Unlimited => s::Limit::Unlimited,
                },
                order,
                front: front.to_vec(),
                stage: marking,
                preemptive: doc.switch.preemptive && !graph.is_host(node),
            };
            let shares = histogram.is_none() || per_port.is_none();
            let kind = match kinds.iter().position(|k| *k == spec).filter(|_| shares) {
                Some(kind) => kind as u16,
                None if kinds.len() > usize::from(u16::MAX) => {
                    return Err(cx.error(
                        histogram.as_ref().map_or("switch.scheduler", |(_, key)| key.as_str()),
                        "more than 65536 different maps",
                        "pool the ports",
                    ));
                }
                None => {
                    kinds.push(spec);
                    (kinds.len() - 1) as u16
                }
            };
            known.insert((role, per_port, own), kind);
            out.push(kind);
        }
    }
    Ok((kinds, out))
}

/// Which sections of `[[link]]` say what the queue of a port is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Own {
    buffer: Option<usize>,
    marking: Option<usize>,
}

/// By port.
fn of_links(doc: &Document, graph: &Graph) -> Vec<Own> {
    let mut own = vec![Own::default(); 2 * graph.links.len()];
    for (i, link) in doc.link.iter().enumerate() {
        for port in topology::ports(graph, link) {
            let own = &mut own[port as usize];
            own.buffer = link.buffer.map(|_| i).or(own.buffer);
            own.marking = link.marking.map(|_| i).or(own.marking);
        }
    }
    own
}

fn pool(all: &tables::Histograms) -> Vec<u64> {
    let mut out = vec![0u64; all.values().map(Vec::len).max().unwrap_or(0)];
    for counts in all.values() {
        for (sum, n) in out.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*n);
        }
    }
    out
}
