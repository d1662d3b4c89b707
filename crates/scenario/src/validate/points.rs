//! `switch.congestion_point`: its own keys, controllers that react to its messages, and settings that exclude it.

use super::Report;
use crate::resolve;
use crate::schema::{Document, Transport};
use thalweg_machines::congestion::{ControllerSpec, Messages};

const KEY: &str = "switch.congestion_point";

pub(super) fn check(r: &mut Report<'_>, doc: &Document) {
    let sent = resolve::sent_by_points(doc);
    listeners(r, doc, sent);
    notifying(r, doc, sent);
    let Some(point) = doc.switch.congestion_point else { return };
    r.report(KEY, point.problems());
    if !resolve::used(doc).any(|t| receives(t, sent)) {
        unreceived(r, doc, sent);
    }
    let excluded = [
        (doc.slack.is_some(), "slack"),
        (doc.measure.packets.is_some(), "measure.packets"),
        (doc.switch.preemptive, "switch.preemptive"),
        (doc.switch.cut_through.0.get() > 0, "switch.cut_through"),
    ];
    for (_, key) in excluded.into_iter().filter(|(there, _)| *there) {
        r.error(key, "it cannot be combined with `switch.congestion_point`", "remove one of the two");
    }
    if !doc.routing.rule.needs().source_routes {
        r.error(
            "routing",
            "`switch.congestion_point` needs flows that keep their path, and this rule chooses one for each packet",
            "write \"ecmp\"",
        );
    }
    if doc.switch.inputs.is_some() && !doc.switch.control_first {
        let reason = "messages of congestion points come in by no input, and `switch.inputs` counts the packets of a queue by input";
        r.error("switch.control_first", reason, "write `switch.control_first = true`");
    }
}

/// True if senders of this transport react to what congestion points send.
fn receives(transport: &Transport, sent: Messages) -> bool {
    let able = |controller: &ControllerSpec| controller.needs().receives(sent);
    transport.spec().needs().reads_notices && transport.congestion().is_some_and(able)
}

/// Messages to which no sender reacts.
fn unreceived(r: &mut Report<'_>, doc: &Document, sent: Messages) {
    let able = ControllerSpec::all().into_iter().find(|c| c.needs().receives(sent));
    let name = able.as_ref().map_or("", ControllerSpec::key);
    match resolve::notifying(doc).next() {
        Some((section, _)) if sent == Messages::Notifications => {
            let reason = "its policy notifies senders (`notify`), and no sender reacts to notifications of switches (CNPs)";
            let hint = format!(
                "write `transport.kind = \"rdma\"` with `transport.congestion = \"{name}\"`, or remove `notify`"
            );
            r.error(&format!("{section}.scheduler"), reason, hint);
        }
        _ => {
            let hint = format!("write `transport.congestion = \"{name}\"`, or remove the key");
            r.ineffective(KEY, "no controller reacts to its messages", hint);
        }
    }
}

/// Policies with `notify`, and the congestion point that goes with them.
fn notifying(r: &mut Report<'_>, doc: &Document, sent: Messages) {
    if doc.nic.scheduler.as_ref().is_some_and(|s| s.needs().notifies) {
        let reason = "its policy notifies senders (`notify`), and at a NIC the sender is the host itself";
        r.error("nic.scheduler", reason, "write \"fifo\", or a policy without `notify`");
    }
    match resolve::notifying(doc).next() {
        Some((section, _)) if sent != Messages::Notifications => {
            let reason = format!("the policy of `{section}.scheduler` notifies senders itself (`notify`)");
            r.error(KEY, reason, "remove the key, or `notify`");
        }
        None if sent == Messages::Notifications => {
            let why = "no policy of a switch uses `notify`";
            r.ineffective(KEY, why, "write a policy with `notify` as `switch.scheduler`, or remove the key");
        }
        _ => {}
    }
}

/// Controllers that need messages of congestion points.
fn listeners(r: &mut Report<'_>, doc: &Document, sent: Messages) {
    for (key, transport) in resolve::transports(doc) {
        let Some(controller) = transport.congestion() else { continue };
        let needs = controller.needs().messages;
        if needs != Messages::None && needs != sent {
            let name = controller.key();
            let reason = format!("{name} needs congestion points of its own kind, and switches have none");
            r.error(
                &format!("{key}.congestion"),
                reason,
                format!("write `switch.congestion_point = \"{name}\"`"),
            );
        }
    }
}
