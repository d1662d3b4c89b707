//! `switch.congestion_point`: what it says of itself, who listens, and what does not go with it.

use super::Report;
use crate::resolve;
use crate::schema::Document;
use thalweg_machines::congestion::Messages;

const KEY: &str = "switch.congestion_point";

pub(super) fn check(r: &mut Report<'_>, doc: &Document) {
    let sent = doc.switch.congestion_point.map_or(Messages::None, |point| point.sends());
    listeners(r, doc, sent);
    let Some(point) = doc.switch.congestion_point else { return };
    r.report(KEY, point.problems());
    if !resolve::used(doc).any(|t| t.congestion().is_some_and(|c| c.needs().messages == sent)) {
        let why = "no controller listens to it";
        r.useless(KEY, why, format!("write `transport.congestion = \"{}\"`, or remove the key", point.key()));
    }
    let excluded = [
        (doc.slack.is_some(), "slack"),
        (doc.measure.packets.is_some(), "measure.packets"),
        (doc.switch.preemptive, "switch.preemptive"),
        (doc.switch.cut_through.0.get() > 0, "switch.cut_through"),
    ];
    for (_, key) in excluded.into_iter().filter(|(there, _)| *there) {
        r.error(key, "it does not go with `switch.congestion_point`", "remove one");
    }
    if !doc.routing.rule.needs().source_routes {
        r.error(
            "routing",
            "a rule that chooses packet by packet does not go with `switch.congestion_point`",
            "write \"ecmp\"",
        );
    }
    if doc.switch.inputs.is_some() && !doc.switch.control_first {
        let reason =
            "what congestion points send came by no input, which memory by input would have to count";
        r.error("switch.control_first", reason, "write `switch.control_first = true`");
    }
}

/// Controllers that wait for messages that are never sent.
fn listeners(r: &mut Report<'_>, doc: &Document, sent: Messages) {
    for (key, transport) in resolve::transports(doc) {
        let Some(controller) = transport.congestion() else { continue };
        let needs = controller.needs().messages;
        if needs != Messages::None && needs != sent {
            let name = controller.key();
            let reason = format!("{name} listens to congestion points of its own kind, and there are none");
            r.error(
                &format!("{key}.congestion"),
                reason,
                format!("write `switch.congestion_point = \"{name}\"`"),
            );
        }
    }
}
