//! `[routing]`: what a rule says of itself, and what cannot stand packets of one flow on different paths.

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
    r.report("routing", rule.problems(&Around { links: links(graph), path_values, overflows }));
    if rule.needs().source_routes {
        return;
    }
    for (key, transport) in resolve::transports(doc) {
        let Some(controller) = transport.congestion() else { continue };
        if controller.needs().feedback == FeedbackKind::Int {
            // HPCC §4.1: records of another path are thrown away, so that a flow whose packets are sprayed measures
            // nothing.
            let reason = format!(
                "`{}` compares what the same ports wrote into two packets of a flow, and with `{}` packets pass \
                 different ones",
                controller.key(),
                rule.key()
            );
            let hint = "write `routing = \"ecmp\"`, or a controller without telemetry";
            r.error(&format!("{key}.congestion"), reason, hint);
        }
    }
}

/// Links of the switch that has most.
fn links(graph: &Graph) -> u32 {
    let mut links = vec![0; graph.nodes()];
    for link in &graph.links {
        links[link.a.at()] += 1;
        links[link.b.at()] += 1;
    }
    links[graph.nics() as usize..].iter().copied().max().unwrap_or(0)
}
