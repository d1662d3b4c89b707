//! Hop-by-hop flow control (`switch.pfc` and its like), `switch.relief`, and settings that need them. The checks of a
//! policy's own keys are in `thalweg_machines::pause`.

use super::Report;
use crate::deadlock;
use crate::resolve;
use crate::schema::{ConnectionSharing, Document, Inputs, Scheduler};
use crate::topology::Graph;
use thalweg_machines::pause::{Effects, PauseSpec, QueuePauses};
use thalweg_machines::schedule::OrderSpec;
use thalweg_units::Bytes;

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let written: Vec<PauseSpec> = doc.switch.pauses().collect();
    for (i, policy) in written.iter().enumerate() {
        let (key, effects) = (format!("switch.{}", policy.key()), policy.effects());
        if let Some(other) = written[..i].first() {
            let reason = format!(
                "it {}, and `switch.{}` {}",
                effects.reach.does(),
                other.key(),
                other.effects().reach.does()
            );
            r.error(&key, reason, "remove one of the two");
        }
        let bytes = effects.frame.get();
        if bytes == 0 || bytes > super::transports::LARGEST {
            let reason = format!("{} is not a frame size: it must be 1 B to 1 MB", effects.frame);
            r.error(&format!("{key}.frame"), reason, "for example \"64B\"");
        }
        match doc.switch.inputs {
            None => {
                let reason = "flow control pauses by the memory of inputs, and `switch.inputs` is not set";
                r.error(&key, reason, "write `switch.inputs = { memory = \"240KB\" }`");
            }
            Some(inputs) => {
                r.report(&key, policy.problems(&resolve::site(doc, graph, resolve::full_packet(doc))));
                claims(r, &effects, inputs, graph);
            }
        }
        if let Some(queues) = effects.queues() {
            of_queues(r, &key, queues, doc, graph);
        }
    }
    if doc.switch.stops_ports() {
        whole_ports(r, doc)
    } else {
        no_stops(r, doc)
    }
    relief(r, doc, graph);
}

/// The shared memory must hold what all inputs of a switch may claim at once.
fn claims(r: &mut Report<'_>, effects: &Effects, inputs: Inputs, graph: &Graph) {
    let (Some((each, what)), Some(shared)) = (effects.claims.each(), inputs.shared) else { return };
    let ports = graph.most_ports();
    let all = Bytes::new(each.saturating_mul(ports));
    if all > shared.0 {
        let reason = format!(
            "the {ports} inputs of a switch claim {each} B each ({what}): {} B, and the memory has {}",
            all.get(),
            shared.0
        );
        r.error("switch.inputs.shared", reason, format!("at least \"{}B\"", all.get()));
    }
}

/// Policies that pause single queues.
fn of_queues(r: &mut Report<'_>, key: &str, own: QueuePauses, doc: &Document, graph: &Graph) {
    let message = |(section, s): (&str, &Scheduler)| section != "nic" && s.needs().reports_overfull;
    if !resolve::schedulers(doc).any(message) {
        let all = OrderSpec::all();
        let known: Vec<&str> = all.iter().filter(|s| s.needs().reports_overfull).map(|s| s.key()).collect();
        let why =
            format!("only queues of the scheduler `{}` report that they are too long", known.join("` or `"));
        r.ineffective(key, &why, format!("write `switch.scheduler = \"{}\"`, or remove the key", known[0]));
    }
    if own.flows {
        flow_by_flow(r, key, doc);
    }
    if own.elide && deadlock::nothing_to_elide(doc, graph) == Some(true) {
        r.ineffective(
            &format!("{key}.elide"),
            "no routes of this topology close a cycle of pauses",
            "remove the key",
        );
    }
}

/// Policies whose frames name flows: an ideal, in which every frame arrives.
fn flow_by_flow(r: &mut Report<'_>, key: &str, doc: &Document) {
    if !doc.incident.is_empty() {
        let reason = "pause frames that name flows are not repeated, so one lost in an incident would stop its flow for ever";
        r.error(&format!("{key}.pauses"), reason, "write \"queue\", or remove the incidents");
    }
}

/// Policies that pause whole ports, so that no packet is lost.
fn whole_ports(r: &mut Report<'_>, doc: &Document) {
    if doc.switch.marking.acts().drops() {
        let reason = "it drops packets, and `switch.pfc` is for networks that drop none";
        r.error(
            "switch.marking",
            reason,
            "mark with the kind \"red-ecn\" or \"step\", or remove `switch.pfc`",
        );
    }
    if !doc.nic.pause_control && !doc.switch.control_first && !doc.nic.order.pulls() {
        let why = "control packets wait in the queue of data, which is paused with them";
        r.ineffective(
            "nic.pause_control",
            why,
            "write `switch.control_first = true`, or `nic.order = \"round-robin\"`",
        );
    }
}

/// Settings that need whole ports to be paused.
fn no_stops(r: &mut Report<'_>, doc: &Document) {
    if !doc.nic.pause_control {
        r.ineffective("nic.pause_control", "without `switch.pfc` nothing is paused", "remove the key");
    }
    if doc.measure.pauses {
        r.ineffective("measure.pauses", "without `switch.pfc` nothing is paused", "remove the key");
    }
}

/// `switch.relief`.
fn relief(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let Some(relief) = doc.switch.relief else { return };
    let key = "switch.relief";
    r.report(key, relief.problems());
    if !doc.switch.stops_ports() {
        let reason = "it relieves paused ports, and no flow control pauses any";
        return r.error(key, reason, "write `switch.pfc = {}` and `switch.inputs = { memory = \"240KB\" }`");
    }
    let other = |(section, s): &(&'static str, &Scheduler)| {
        *section != "nic" && !matches!(s, OrderSpec::Fifo(_) | OrderSpec::Liftable(_))
    };
    if let Some((section, s)) = resolve::schedulers(doc).find(other) {
        let reason = format!(
            "relief takes packets out of the middle of a queue, which the scheduler `{}` does not allow",
            s.key()
        );
        r.error(&format!("{section}.scheduler"), reason, "write \"fifo\", or remove `switch.relief`");
    }
    if doc.switch.congestion_point.is_some() {
        r.error(key, "it cannot be combined with `switch.congestion_point`", "remove one of the two");
    }
    let route = doc.routing.rule.needs();
    if !route.source_routes {
        r.error(
            "routing",
            "relief names flows by their path, and this rule chooses a path for each packet",
            "write \"ecmp\"",
        );
    }
    // Messages of one stream are one flow to switches, and where there is one path no packet takes another.
    let alone = route.per_pair || graph.is_forest();
    if relief.names_connections()
        && !alone
        && doc.traffic.iter().any(|t| t.connection == ConnectionSharing::PerPair)
    {
        r.error(
            "routing",
            "relief names connections, and with this rule flows of one connection take different paths",
            "write \"ecmp-pairs\", or another rule with one path for each pair of hosts",
        );
    }
}
