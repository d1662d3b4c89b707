//! `[routing]`: the keys of a rule, and controllers that need all packets of a flow on one path.

use super::Report;
use crate::quantity::Capacity;
use crate::resolve;
use crate::schema::Document;
use crate::topology::Graph;
use thalweg_machines::congestion::FeedbackKind;
use thalweg_machines::route::Around;

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let rule = &doc.routing.rule;
    let path_values = resolve::used(doc).any(|t| t.spec().needs().path_values);
    let overflows = doc.switch.room() != Capacity::Unlimited;
    let (links, uplinks) = (links(graph), uplinks(graph));
    let dimensions = graph.structure.dimensions.iter().max().map_or(0, |last| u32::from(*last) + 1);
    let switches = graph.switches;
    let groups = graph.structure.group_by_switch(graph.nics(), switches, &graph.links);
    let groups = groups.into_iter().flatten().max().map_or(0, |last| last + 1);
    let around = Around { links, path_values, overflows, switches, uplinks, dimensions, groups };
    r.report("routing", rule.problems(&around));
    if rule.needs().source_routes {
        return;
    }
    for (key, transport) in resolve::transports(doc) {
        let Some(controller) = transport.congestion() else { continue };
        if controller.needs().feedback == FeedbackKind::Int {
            // HPCC §4.1: records of another path are thrown away, so that a flow whose packets are sprayed measures
            // nothing.
            let reason = format!(
                "`{}` compares the telemetry of the same ports in packets of one flow, and with `{}` packets of a flow \
                 pass different ports",
                controller.key(),
                rule.key()
            );
            let hint = "write `routing = \"ecmp\"`, or a controller without telemetry";
            r.error(&format!("{key}.congestion"), reason, hint);
        }
    }
}

/// The largest number of links of a switch.
fn links(graph: &Graph) -> u32 {
    let mut links = vec![0; graph.nodes()];
    for link in &graph.links {
        links[link.a.at()] += 1;
        links[link.b.at()] += 1;
    }
    links[graph.nics() as usize..].iter().copied().max().unwrap_or(0)
}

/// Links to other switches, of the switch with hosts that has most.
fn uplinks(graph: &Graph) -> u32 {
    let (mut links, mut is_leaf) = (vec![0; graph.nodes()], vec![false; graph.nodes()]);
    for link in &graph.links {
        for (at, far) in [(link.a, link.b), (link.b, link.a)] {
            let to_host = graph.is_nic(far);
            links[at.at()] += u32::from(!to_host);
            is_leaf[at.at()] |= to_host;
        }
    }
    links.into_iter().zip(is_leaf).filter(|(_, leaf)| *leaf).map(|(links, _)| links).max().unwrap_or(0)
}
