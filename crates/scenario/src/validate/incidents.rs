//! `[[incident]]`.

use super::Report;
use crate::schema::{Document, Incident, Routing};
use crate::topology::Graph;
use thalweg_machines::pause::Reach;
use thalweg_machines::route::Paths;
use thalweg_net::spec::LinkSpec;
use thalweg_units::{NodeId, PortId, Span};

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    for (i, incident) in doc.incident.iter().enumerate() {
        let at = |name: &str| format!("incident.{i}.{name}");
        match incident {
            Incident::LinkFailure { at: from, until, link } => {
                times(r, i, "at", from.0, until.map(|q| q.0), doc);
                ends(r, &at("link"), *link, graph);
                let reorders = |l: &LinkSpec| {
                    [&l.ab, &l.ba].iter().any(|way| way.jitter.is_some_and(|jitter| jitter.reorder))
                };
                if graph.between(*link).any(|l| reorders(&graph.links[l as usize])) {
                    let reason = "packets on this link overtake each other (`reorder`), and a link failure needs them in order";
                    r.error(
                        &at("link"),
                        reason,
                        "remove `reorder` from the link's jitter, or let another link fail",
                    );
                }
            }
            Incident::PauseLoss { from, until, port, .. } => {
                times(r, i, "from", from.0, until.map(|q| q.0), doc);
                if doc.switch.pause_effects().is_none_or(|own| own.reach == Reach::Rates) {
                    let why = "without `switch.pfc` there are no pause frames to lose";
                    r.ineffective(&format!("incident.{i}"), why, "remove it, or write `switch.pfc = {}`");
                }
                if let Some(port) = port {
                    frames_of(r, &at("port"), *port, graph);
                }
            }
        }
        if let Some(other) = doc.incident[..i].iter().position(|other| overlap(other, incident)) {
            let reason = format!("it overlaps with incident {other}");
            r.error(&format!("incident.{i}"), reason, "let one end before the other begins");
        }
    }
    let fails = doc.incident.iter().any(|i| matches!(i, Incident::LinkFailure { .. }));
    if doc.routing.convergence != Routing::default().convergence {
        if !fails {
            let hint = "remove the key, or add an [[incident]] of kind \"link-failure\"";
            r.ineffective("routing.convergence", "no link ever fails", hint);
        } else if doc.routing.rule.needs().paths == Paths::Given {
            r.ineffective("routing.convergence", "pinned paths do not change", "remove the key");
        }
    }
}

fn times(r: &mut Report<'_>, i: usize, name: &str, from: Span, until: Option<Span>, doc: &Document) {
    let end = doc.run.until.0;
    if from >= end {
        let why = format!("the run is over by then: it ends at {end}");
        r.ineffective(&format!("incident.{i}.{name}"), &why, "write an earlier time or raise `run.until`");
    }
    let key = format!("incident.{i}.until");
    match until {
        Some(until) if until <= from => {
            let reason = format!("it ends at {until}, and begins at {from}");
            r.error(&key, reason, format!("write an `until` later than `{name}`"));
        }
        Some(until) if until >= end => {
            r.ineffective(
                &key,
                &format!("the run is over by then: it ends at {end}"),
                "remove the key or raise `run.until`",
            );
        }
        _ => {}
    }
}

pub(super) fn ends(r: &mut Report<'_>, key: &str, link: [u32; 2], graph: &Graph) {
    let nodes = graph.nodes() as u32;
    if let Some(wrong) = link.iter().find(|n| **n >= nodes) {
        return r.error(key, format!("there is no node {wrong}"), format!("nodes are 0 to {}", nodes - 1));
    }
    if graph.between(link).next().is_some() {
        return;
    }
    let mut others: Vec<u32> = Vec::new();
    for l in &graph.links {
        let from = NodeId(link[0]);
        others.extend([(l.a, l.b), (l.b, l.a)].iter().filter(|(a, _)| *a == from).map(|(_, b)| b.0));
    }
    others.sort_unstable();
    others.dedup();
    let more = if others.len() > 16 { ", .." } else { "" };
    let shown = |node: u32| graph.shown(NodeId(node));
    let list: Vec<String> = others.iter().take(16).map(|n| shown(*n)).collect();
    let reason = format!("there is no link between {} and {}", shown(link[0]), shown(link[1]));
    r.error(key, reason, format!("node {} is linked to {}{more}", shown(link[0]), list.join(", ")));
}

/// The port of a pause loss must be one that sends pause frames: a switch's.
fn frames_of(r: &mut Report<'_>, key: &str, port: u32, graph: &Graph) {
    if !graph.has_port(PortId(port)) {
        let hint = format!("ports are 0 to {}", 2 * graph.links.len() as i64 - 1);
        return r.error(key, format!("there is no port {port}"), hint);
    }
    let (from, _) = graph.ends(PortId(port));
    if graph.is_nic(from) {
        let host = graph.shown_host(from);
        let why = format!("port {port} belongs to host {host}, and hosts send no pause frames");
        r.ineffective(
            key,
            &why,
            format!("the other direction of the link is port {}", PortId(port).reverse()),
        );
    }
}

/// True if two incidents affect the same link or port at the same time.
fn overlap(a: &Incident, b: &Incident) -> bool {
    let end = |until: &Option<crate::quantity::Q<Span>>| until.map_or(Span::MAX, |q| q.0);
    let meet = |a: (Span, Span), b: (Span, Span)| a.0 < b.1 && b.0 < a.1;
    match (a, b) {
        (
            Incident::LinkFailure { at, until, link },
            Incident::LinkFailure { at: at_2, until: until_2, link: link_2 },
        ) => {
            let same = link == link_2 || [link[1], link[0]] == *link_2;
            same && meet((at.0, end(until)), (at_2.0, end(until_2)))
        }
        (
            Incident::PauseLoss { from, until, port, .. },
            Incident::PauseLoss { from: from_2, until: until_2, port: port_2, .. },
        ) => {
            let same = port.is_none() || port_2.is_none() || port == port_2;
            same && meet((from.0, end(until)), (from_2.0, end(until_2)))
        }
        _ => false,
    }
}
