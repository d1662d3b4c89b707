//! Pauses between neighbours (`switch.pfc` and its like), `switch.relief`, and settings that need them. What
//! each policy's own keys may be stands with it, in `thalweg_machines::pause`.

use super::Report;
use crate::deadlock;
use crate::resolve;
use crate::schema::{Connection, Document, Inputs, Scheduler};
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
                "it {}, `switch.{}` {}",
                effects.reach.does(),
                other.key(),
                other.effects().reach.does()
            );
            r.error(&key, reason, "remove one of the two");
        }
        let bytes = effects.frame.get();
        if bytes == 0 || bytes > super::transports::LARGEST {
            let reason = format!("a frame of {} is impossible", effects.frame);
            r.error(&format!("{key}.frame"), reason, "for example \"64B\"");
        }
        match doc.switch.inputs {
            None => {
                let reason = "flow control looks at the memory of inputs, and there is none";
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

/// What all inputs of a switch may claim at once must be there.
fn claims(r: &mut Report<'_>, effects: &Effects, inputs: Inputs, graph: &Graph) {
    let (Some((each, what)), Some(shared)) = (effects.claims.each(), inputs.shared) else { return };
    let ports = graph.most_ports();
    let all = Bytes::new(each.saturating_mul(ports));
    if all > shared.0 {
        let reason =
            format!("{ports} inputs of {what} {each} B claim {} B, the memory has {}", all.get(), shared.0);
        r.error("switch.inputs.shared", reason, format!("at least \"{}B\"", all.get()));
    }
}

/// Frames that stop single queues.
fn of_queues(r: &mut Report<'_>, key: &str, own: QueuePauses, doc: &Document, graph: &Graph) {
    let message = |(section, s): (&str, &Scheduler)| section != "nic" && s.needs().reports_overfull;
    if !resolve::schedulers(doc).any(message) {
        let all = OrderSpec::all();
        let known: Vec<&str> = all.iter().filter(|s| s.needs().reports_overfull).map(|s| s.key()).collect();
        let why = format!("only queues of the scheduler `{}` are ever too long", known.join("` or `"));
        r.useless(key, &why, format!("write `switch.scheduler = \"{}\"`, or remove the key", known[0]));
    }
    if own.flows {
        flow_by_flow(r, key, doc);
    }
    if own.elide && deadlock::nothing_to_elide(doc, graph) == Some(true) {
        r.useless(&format!("{key}.elide"), "no routes here close a cycle of pauses", "remove the key");
    }
}

/// Frames that name flows: an ideal, in which every frame arrives.
fn flow_by_flow(r: &mut Report<'_>, key: &str, doc: &Document) {
    if !doc.incident.is_empty() {
        let reason = "frames that name flows are not repeated: with links or frames that fail, flows would wait for ever";
        r.error(&format!("{key}.pauses"), reason, "write \"queue\", or remove the incidents");
    }
}

/// Frames that stop whole ports, lest anything be lost.
fn whole_ports(r: &mut Report<'_>, doc: &Document) {
    if doc.switch.marking.acts().drops() {
        let reason = "it drops packets, which a network with flow control does not mend";
        r.error(
            "switch.marking",
            reason,
            "mark with the kind \"red-ecn\" or \"step\", or remove `switch.pfc`",
        );
    }
    if !doc.nic.pause_control && !doc.switch.control_first && !doc.nic.order.pulls() {
        let why = "control packets wait in the queue that is paused";
        r.useless(
            "nic.pause_control",
            why,
            "write `switch.control_first = true`, or `nic.order = \"round-robin\"`",
        );
    }
}

/// Settings that need such frames.
fn no_stops(r: &mut Report<'_>, doc: &Document) {
    if !doc.nic.pause_control {
        r.useless("nic.pause_control", "without `switch.pfc` nothing is paused", "remove the key");
    }
    if doc.measure.pauses {
        r.useless("measure.pauses", "without `switch.pfc` nothing is paused", "remove the key");
    }
}

/// `switch.relief`.
fn relief(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let Some(relief) = doc.switch.relief else { return };
    let key = "switch.relief";
    r.report(key, relief.problems());
    if !doc.switch.stops_ports() {
        let reason = "there are no pauses that it could relieve";
        return r.error(key, reason, "write `switch.pfc = {}` and `switch.inputs = { memory = \"240KB\" }`");
    }
    let other = |(section, s): &(&'static str, &Scheduler)| {
        *section != "nic" && !matches!(s, OrderSpec::Fifo(_) | OrderSpec::Liftable(_))
    };
    if let Some((section, s)) = resolve::schedulers(doc).find(other) {
        let reason =
            format!("`{}` has no packets that could be lifted out of the middle of a queue", s.key());
        r.error(&format!("{section}.scheduler"), reason, "write \"fifo\", or remove `switch.relief`");
    }
    if doc.switch.congestion_point.is_some() {
        r.error(key, "it does not go with `switch.congestion_point`", "remove one");
    }
    let route = doc.routing.rule.needs();
    if !route.source_routes {
        r.error(
            "routing",
            "signals name flows by their path, and this rule chooses packet by packet",
            "write \"ecmp\"",
        );
    }
    // Messages of one stream are one flow to switches, and where there is one path no packet takes another.
    let alone = route.per_pair || graph.is_forest();
    if relief.names_connections() && !alone && doc.traffic.iter().any(|t| t.connection == Connection::PerPair)
    {
        r.error(
            "routing",
            "flows of a connection take paths of their own, and signals name connections",
            "write \"ecmp-pairs\", or another rule of one path",
        );
    }
}
