//! Packets of one flow that take different paths, and which controllers cannot make sense of what they bring back.

use super::Report;
use crate::resolve;
use crate::schema::{Document, RoutingRule};
use thalweg_machines::congestion::FeedbackKind;

pub(super) fn check(r: &mut Report<'_>, doc: &Document) {
    if !matches!(doc.routing.rule, RoutingRule::SprayRandom | RoutingRule::SprayRoundRobin { .. }) {
        return;
    }
    for (key, transport) in resolve::transports(doc) {
        let Some(controller) = transport.congestion() else { continue };
        if controller.needs().feedback == FeedbackKind::Int {
            // HPCC §4.1: records of another path are thrown away, so that a flow whose packets are sprayed measures
            // nothing.
            let reason = format!(
                "`{}` compares what the same ports wrote into two packets of a flow, and sprayed packets pass different ones",
                controller.key()
            );
            let hint = "write `routing = \"ecmp\"`, or a controller without telemetry";
            r.error(&format!("{key}.congestion"), reason, hint);
        }
    }
}
