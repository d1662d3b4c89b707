//! `scheduler` of `[switch]`, `[nic]` and `switch.mix`, and `switch.preemptive`: a scheduler's own keys, and what it
//! needs of the rest of the scenario.

use super::{Report, ndp};
use crate::diagnostic::suggest;
use crate::quantity::Capacity;
use crate::resolve;
use crate::schema::{Document, Marking, Rank, Scheduler};
use crate::topology::Graph;
use crate::transport::Ranks;
use thalweg_machines::problems::{Problem, Problems};
use thalweg_machines::schedule::{Around, Key, Manages, Paused};
use thalweg_machines::stage::Acts;
use thalweg_units::{NodeId, PortId};

/// Mistakes in a scheduler's own keys.
pub(super) fn scheduler(r: &mut Report<'_>, section: &str, s: &Scheduler, doc: &Document) {
    let key = format!("{section}.scheduler");
    let (section, buffer) = match section {
        "nic" => ("nic", doc.nic.buffer.unwrap_or(doc.switch.room())),
        _ => ("switch", doc.switch.room()),
    };
    let paused = match doc.switch.pauses().find_map(|policy| policy.effects().queues()) {
        None => Paused::Nothing,
        Some(queues) if queues.flows => Paused::Flows,
        Some(_) => Paused::Queues,
    };
    let at = Around { section, overflows: buffer != Capacity::Unlimited, end: doc.run.until.0, paused };
    r.report(&key, s.problems(&at));
    if let Scheduler::Custom(user) = s {
        let known = thalweg_machines::schedule::custom::disciplines();
        if !known.contains(&user.name) {
            let reason = format!("no scheduler is registered as `{}`", user.name);
            r.error(&key, reason, suggest(&user.name, &known));
        }
    }
}

/// What a scheduler needs of the rest of the scenario.
pub(super) fn order(r: &mut Report<'_>, section: &str, s: &Scheduler, doc: &Document) {
    let marking = match section {
        "nic" => doc.nic.marking.unwrap_or_default(),
        _ => doc.switch.marking,
    };
    let key = format!("{section}.scheduler");
    let needs = s.needs();
    if needs.trims.is_some() {
        r.report(&key, ndp::trimming(doc));
    }
    stage_inside(r, &format!("{section}.marking"), s, marking);
    if needs.sizes_itself && section != "switch.mix" {
        let written = if section == "nic" { doc.nic.buffer } else { doc.switch.buffer };
        if written.is_some_and(|buffer| buffer != Capacity::Unlimited) {
            let why = format!("the scheduler `{}` limits its queue itself", s.key());
            r.ineffective(&format!("{section}.buffer"), &why, "remove the key, or write \"unlimited\"");
        }
    }
    if needs.acts == Acts::Marks && !resolve::ecn_capable(doc) {
        let hint = "write `transport.ecn = \"accurate\"`, or remove what marks";
        r.ineffective(&key, "it marks packets, and no transport is ECN-capable", hint);
    }
    let plain = || doc.traffic.iter().all(|t| t.class == 0) && resolve::used(doc).all(|t| t.classes() == 0);
    if needs.classes.is_some() && !needs.anything() && plain() {
        let hint = "write `class = 1` in a [[traffic]] section, or another scheduler";
        r.ineffective(&key, "all traffic is of class 0", hint);
    }
    match resolve::rank_of(s) {
        Some(_) if resolve::used(doc).any(|t| t.ranks() == Ranks::Never) => {
            let reason = "it sorts by rank, and some transport writes no ranks";
            r.error(&key, reason, "write \"fifo\" or \"round-robin\"");
        }
        Some(Rank::Remaining) if !resolve::used(doc).any(|t| t.ranks() == Ranks::Remaining) => {
            let why = "without ACKs no sender knows how much of its flow remains";
            r.ineffective(&key, why, "write \"sjf\", or use a transport of kind tcp");
        }
        None if needs.key == Key::Rank
            && doc.slack.is_none()
            && resolve::used(doc).all(|t| t.rank() == Rank::None) =>
        {
            let reason = "the scheduler sorts by rank, and no sender writes one";
            let hint = "write `transport.rank = \"flow-size\"`, or [slack]";
            r.error(&key, reason, hint);
        }
        _ => {}
    }
}

/// Markings, at `key`, that repeat or contradict what the scheduler does itself.
pub(super) fn stage_inside(r: &mut Report<'_>, key: &str, s: &Scheduler, marking: Marking) {
    match s.needs().manages {
        Manages::Everything if marking != Marking::default() => {
            let name = if let Scheduler::Custom(user) = s { &user.name } else { s.key() };
            let why = format!("the scheduler `{name}` has marking of its own");
            r.ineffective(key, &why, "write \"none\"");
        }
        Manages::Room if marking != Marking::default() && !marking.marks_leaving() => {
            let reason =
                format!("the scheduler `{}` trims packets, and can mark them only at departure", s.key());
            let hint = "write \"none\", or `at = \"departure\"` in \"red-ecn\" or \"step\"";
            r.error(key, reason, hint);
        }
        Manages::Delay if marking.needs().wait => {
            let reason = "the scheduler already runs CoDel in every queue";
            r.error(key, reason, "write \"none\", or the scheduler round-robin");
        }
        _ => {}
    }
}

/// Ports that a scheduler names must exist and run it. A policy that the ports of a switch run together is written for
/// a number of ports, which no switch may exceed.
pub(super) fn ports(section: &str, s: &Scheduler, doc: &Document, graph: &Graph) -> Vec<Problem> {
    let mut problems = Problems::default();
    let runs = |node: NodeId| match (section, &doc.switch.mix) {
        ("nic", _) => graph.is_nic(node),
        (_, _) if graph.is_nic(node) => false,
        ("switch.mix", Some(mix)) => mix.nodes.has(node.0),
        (_, Some(mix)) => !mix.nodes.has(node.0),
        (_, None) => true,
    };
    for (own, port) in s.ports() {
        if !graph.has_port(PortId(port)) {
            let hint = format!("ports are 0 to {}", 2 * graph.links.len() as i64 - 1);
            problems.wrong(&own, format!("there is no port {port}"), hint);
            continue;
        }
        let (from, _) = graph.ends(PortId(port));
        if !runs(from) {
            let why =
                format!("port {port} belongs to node {}, which runs another scheduler", graph.shown(from));
            problems.useless(
                &own,
                &why,
                format!("the other direction of the link is port {}", PortId(port).reverse()),
            );
        }
    }
    if let Some(most) = s.needs().together.map(usize::from) {
        let mut own = vec![0usize; graph.nodes()];
        graph.links.iter().flat_map(|link| [link.a, link.b]).for_each(|node| own[node.at()] += 1);
        let nodes = (graph.nics()..graph.nodes() as u32).map(NodeId).filter(|node| runs(*node));
        if let Some(node) = nodes.max_by_key(|node| own[node.at()]).filter(|node| own[node.at()] > most) {
            let reason = format!(
                "node {} has {} ports, and the policy that they run together is written for {most}",
                graph.shown(node),
                own[node.at()]
            );
            problems.wrong("", reason, "write it for as many ports as the largest switch has");
        }
    }
    problems.0
}

/// `switch.preemptive`: schedulers that can interrupt a transmission, and settings that need whole transmissions.
pub(super) fn turns(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    if !doc.switch.preemptive {
        return;
    }
    let key = "switch.preemptive";
    if graph.switches == 0 {
        return r.ineffective(key, "the topology has no switch", "remove the key");
    }
    let overtakes = |s: &Scheduler| s.needs().overtakes;
    let turned = resolve::schedulers(doc).find(|(section, s)| *section != "nic" && !overtakes(s));
    if let Some((section, _)) = turned {
        let reason =
            format!("`{section}.scheduler` never ranks a later packet before the one in transmission");
        let able: Vec<&str> = Scheduler::all().iter().filter(|s| overtakes(s)).map(Scheduler::key).collect();
        let (last, others) = able.split_last().unwrap_or((&"", &[]));
        r.error(key, reason, format!("remove the key, or use {} or {last}", others.join(", ")));
    } else if doc.switch.shared_buffer.is_some() {
        let reason = "an interrupted packet would have to return to the shared memory, which it has left";
        r.error(key, reason, "remove the key or `switch.shared_buffer`");
    } else if doc.switch.cut_through.0.get() > 0 {
        let reason = "a packet that is being forwarded while it arrives cannot be interrupted";
        r.error(key, reason, "remove the key or `switch.cut_through`");
    } else if !graph.has_plain_links_behind_switches() {
        let reason =
            "it cannot be computed when a transmission ends over a link with a varying rate, loss or jitter";
        r.error(key, reason, "remove the key, or `transmitter`, `loss` and `jitter` of such links");
    } else if !doc.switch.stages.is_empty() {
        let reason = "stages in front of a queue act on whole transmissions";
        r.error(key, reason, "remove the key or `switch.stages`");
    } else if doc.switch.marking.needs().wait {
        let reason = format!(
            "an interrupted packet would return to the queue after passing its marking, `{}`",
            doc.switch.marking.key()
        );
        r.error(key, reason, "remove the key, or write `switch.marking = \"none\"`");
    }
}
