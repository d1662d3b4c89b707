//! `[switch]` and `[nic]`.

use super::{Report, marking, ndp, schedulers};
use crate::quantity::Capacity;
use crate::resolve;
use crate::schema::{Document, Incident, Mix, Nodes, Scheduler, SharedBuffer, Switch};
use crate::topology::Graph;
use thalweg_machines::problems::{Problem, Problems};
use thalweg_machines::stage::Around;
use thalweg_units::Bytes;

pub(super) fn check(r: &mut Report<'_>, written: &Document, doc: &Document, graph: &Graph) {
    let full = resolve::full_packet(doc);
    let shared = doc.switch.shared_buffer.as_ref().map(|s| {
        // (At the switch with the fewest ports.)
        s.sharing.most(s.total.0.get(), ports_of_switches(graph).0, u64::from(full))
    });
    let room = |buffer: Capacity| buffer.bytes(full).get().min(shared.unwrap_or(u64::MAX));
    schedulers::scheduler(r, "switch", &doc.switch.scheduler, doc);
    let own = doc.switch.room();
    buffer(r, "switch", own, full);
    let ecn_capable = resolve::ecn_capable(doc);
    // NICs without settings of their own mark as switches do.
    let everywhere = written.nic.marking.is_none() && doc.nic.marking.is_some();
    let batches = batched(graph, false) || everywhere && batched(graph, true);
    let at = Around { buffer: own, room: room(own), full, ecn_capable, batches };
    marking::row(r, "switch", (&doc.switch.stages, doc.switch.marking), &at, doc);
    // Settings that the NIC has from the switch have been reported there.
    if let Some(s) = &written.nic.scheduler {
        schedulers::scheduler(r, "nic", s, doc);
    }
    if let Some(m) = &doc.switch.mix {
        schedulers::scheduler(r, "switch.mix", &m.scheduler, doc);
        mix(r, m, doc, graph);
    }
    if let Some(b) = written.nic.buffer {
        buffer(r, "nic", b, full);
    }
    if let (Some(m), Some(b)) = (doc.nic.marking, doc.nic.buffer)
        && (written.nic.marking.is_some() || written.nic.buffer.is_some() || !written.nic.stages.is_empty())
    {
        let batches = batched(graph, true);
        let at = Around { buffer: b, room: b.bytes(full).get(), full, ecn_capable, batches };
        marking::row(r, "nic", (&doc.nic.stages, m), &at, doc);
    }
    no_switch(r, doc, graph);
    for (section, s) in resolve::schedulers(doc) {
        if section != "nic" || written.nic.scheduler.is_some() {
            schedulers::order(r, section, s, doc);
            r.report(&format!("{section}.scheduler"), schedulers::ports(section, s, doc, graph));
        }
    }
    schedulers::turns(r, doc, graph);
    if let Some(s) = &doc.switch.shared_buffer {
        let total = s.total.0;
        if graph.switches == 0 {
            r.ineffective("switch.shared_buffer", "the topology has no switch", "remove the key");
        } else if total.get() < u64::from(full) {
            let reason = format!("{total} cannot hold one packet of {full} bytes");
            r.error("switch.shared_buffer.total", reason, format!("at least \"{full}B\""));
        } else {
            split(r, s, doc, ports_of_switches(graph).1, full);
        }
        r.report("switch.shared_buffer.sharing", sharing(s, doc));
    }
    let header = doc.switch.cut_through.0.get();
    if header > 0 && graph.switches == 0 {
        r.ineffective("switch.cut_through", "the topology has no switch", "remove the key");
    } else if header >= u64::from(full) {
        let why = format!("no packet is longer than {full} bytes");
        r.ineffective("switch.cut_through", &why, "write the header's size, for example \"64B\"");
    } else if header > 0 {
        let why = if resolve::schedulers(doc).any(|(_, s)| *s != Scheduler::default()) {
            "schedulers other than fifo act on complete packets"
        } else if shared.is_some() {
            "a shared buffer counts complete packets"
        } else if !doc.switch.stages.is_empty() || !doc.nic.stages.is_empty() {
            "stages in front of a queue act on complete packets"
        } else if resolve::markings(doc).any(|(_, m)| m.needs().departures) {
            "marking at departure acts on complete packets"
        } else if doc.measure.priority_histogram.is_some() {
            "a priority histogram counts complete packets"
        } else {
            ""
        };
        if !why.is_empty() {
            let hint = "cut-through needs the scheduler fifo at switches and hosts, marking at arrival, and no stages, shared buffer or priority histogram";
            r.error("switch.cut_through", why, hint);
        }
        if !graph.has_plain_links() {
            let reason =
                "it cannot be computed when a header arrives over a link with a varying rate, loss or jitter";
            r.error(
                "switch.cut_through",
                reason,
                "remove the key, or `transmitter`, `loss` and `jitter` of such links",
            );
        }
        if doc.incident.iter().any(|incident| matches!(incident, Incident::LinkFailure { .. })) {
            let reason = "when a link fails, the header of a packet on it may already be several links ahead";
            r.error(
                "switch.cut_through",
                reason,
                "remove the key, or the [[incident]] of kind \"link-failure\"",
            );
        }
    }
}

/// True if some link from a host (or else from a switch) sends batches.
fn batched(graph: &Graph, of_hosts: bool) -> bool {
    graph.links.iter().any(|l| {
        [(l.a, &l.ab), (l.b, &l.ba)]
            .into_iter()
            .any(|(from, way)| graph.is_nic(from) == of_hosts && way.is_batched())
    })
}

fn mix(r: &mut Report<'_>, m: &Mix, doc: &Document, graph: &Graph) {
    let key = "switch.mix.nodes";
    let (first, end) = (graph.nics(), graph.nodes() as u32);
    if graph.switches == 0 {
        return r.ineffective("switch.mix", "the topology has no switch", "remove the key");
    }
    if m.scheduler == doc.switch.scheduler {
        let why = "it is the same as `switch.scheduler`";
        return r.ineffective("switch.mix.scheduler", why, "write another one or remove `switch.mix`");
    }
    if let Nodes::Listed { nodes } = &m.nodes
        && let Some(wrong) = nodes.iter().find(|n| **n < first || **n >= end)
    {
        let hint = format!("switches are {first} to {}", end - 1);
        return r.error(key, format!("there is no switch {wrong}"), hint);
    }
    let mixed = (first..end).filter(|n| m.nodes.has(*n)).count();
    if mixed == 0 {
        r.ineffective(key, "it selects no switch", format!("switches are {first} to {}", end - 1));
    } else if mixed == graph.switches as usize {
        let why = "it selects every switch, so that none runs `switch.scheduler`";
        r.error(key, why, "write it as `switch.scheduler` and remove `switch.mix`");
    }
}

/// In a network without switches `[switch]` only sets what `[nic]` leaves open. (The resolved document decides: a NIC
/// without a queue takes nothing from `[switch]`, whether or not that is written out.)
fn no_switch(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    if graph.switches > 0 {
        return;
    }
    let plain = Switch::default();
    let (nic, s) = (&doc.nic, &doc.switch);
    let ineffective = [
        (
            "scheduler",
            nic.scheduler.as_ref().is_some_and(|n| *n != s.scheduler) && s.scheduler != plain.scheduler,
        ),
        ("buffer", nic.buffer.is_some_and(|n| n != s.room()) && s.room() != plain.room()),
        ("stages", !s.stages.is_empty()),
        ("marking", nic.marking.is_some_and(|n| n != s.marking) && s.marking != plain.marking),
    ];
    for (key, _) in ineffective.into_iter().filter(|(_, is)| *is) {
        r.ineffective(&format!("switch.{key}"), "the topology has no switch", "remove the key");
    }
}

/// What a sharing policy needs of queues and transports.
fn sharing(shared: &SharedBuffer, doc: &Document) -> Vec<Problem> {
    let (sharing, mut problems) = (&shared.sharing, Problems::default());
    let mut keeps = resolve::schedulers(doc).filter(|(section, s)| *section != "nic" && s.needs().keeps);
    if let (true, Some((section, s))) = (sharing.needs().pushes_out, keeps.next()) {
        let reason = format!(
            "the policy pushes waiting packets out of queues, which `{section}.scheduler` does not allow"
        );
        problems.wrong(
            "kind",
            reason,
            format!("use another scheduler than {}, or another `sharing`", s.key()),
        );
    }
    if sharing.needs().trims {
        problems.0.extend(ndp::trimming(doc));
    }
    problems.0.extend(sharing.problems());
    problems.0
}

/// Shared memory that leaves no port room for a packet, and shared memory that never fills because of the ports' own
/// limits.
fn split(r: &mut Report<'_>, shared: &SharedBuffer, doc: &Document, ports: u64, full: u32) {
    let (total, own) = (shared.total.0, doc.switch.room());
    // A queue that trims also holds headers.
    let headers = doc.switch.scheduler.needs().trims.map_or(0, Bytes::get);
    let least = shared.sharing.least(u64::from(full), ports);
    if total.get() < least {
        let reason =
            format!("shared by {ports} ports, {total} leaves none of them room for a packet of {full} bytes");
        r.error("switch.shared_buffer.total", reason, format!("at least \"{least}B\""));
    } else if shared.sharing.admits_all(total.get(), ports, own.bytes(full).get().saturating_add(headers)) {
        let why =
            format!("it never fills: `switch.buffer` limits each of the {ports} ports of a switch to {own}");
        r.ineffective("switch.shared_buffer", &why, "raise `switch.buffer`, for example to \"unlimited\"");
    }
}

/// The smallest and the largest number of ports of a switch.
fn ports_of_switches(graph: &Graph) -> (u64, u64) {
    let mut degree = vec![0u64; graph.nodes()];
    for l in &graph.links {
        degree[l.a.at()] += 1;
        degree[l.b.at()] += 1;
    }
    let switches = degree[graph.nics() as usize..].iter().copied();
    (switches.clone().min().unwrap_or(0), switches.max().unwrap_or(0))
}

pub(super) fn buffer(r: &mut Report<'_>, section: &str, buffer: Capacity, full: u32) {
    if buffer.bytes(full).get() < u64::from(full) {
        let reason = format!("{buffer} cannot hold one packet of {full} bytes");
        r.error(&format!("{section}.buffer"), reason, format!("at least \"{full}B\""));
    }
}
