//! `[[link]]`: sections that select no link, set nothing, or contradict each other, and rates of the topology that no
//! link has. (`topology::links` checks the keys of a section by themselves, when it reads its trace.)

use super::{Report, incidents, link_queues};
use crate::resolve;
use crate::schema::{Direction, Document, Link, Scheduler, WhichLinks};
use crate::text::tree::Value;
use crate::topology::{self, Family, Graph, Overlays, Topology};
use serde_json::Value as Json;
use thalweg_machines::link::TransmitterKind;
use thalweg_units::{PortId, Rate};

pub(super) fn check(r: &mut Report<'_>, written: &Document, doc: &Document, graph: &Graph, links: &Overlays) {
    if doc.link.is_empty() {
        return;
    }
    // By port, the section that sets each of the five parts.
    let mut sections: Vec<[Option<usize>; 5]> = vec![[None; 5]; 2 * graph.links.len()];
    for (i, link) in doc.link.iter().enumerate() {
        which(r, i, doc, graph);
        let Link { transmitter, loss, jitter, buffer, marking, .. } = link;
        let parts =
            [transmitter.is_some(), loss.is_some(), jitter.is_some(), buffer.is_some(), marking.is_some()];
        if parts == [false; 5] {
            let reason = "it sets nothing for its links";
            r.error(
                &format!("link.{i}"),
                reason,
                "add `transmitter`, `loss`, `jitter`, `buffer` or `marking`",
            );
        }
        let ports = topology::ports(graph, link);
        reckoned_with(r, i, doc, graph, &ports);
        one_user(r, i, doc, graph, &ports);
        link_queues::check(r, i, doc, graph, &ports);
        for (part, name) in ["transmitter", "loss", "jitter", "buffer", "marking"]
            .into_iter()
            .enumerate()
            .filter(|(p, _)| parts[*p])
        {
            let taken =
                ports.iter().find_map(|port| sections[*port as usize][part].map(|other| (*port, other)));
            if let Some((port, other)) = taken.filter(|(_, other)| *other != i) {
                let (from, to) = graph.ends(PortId(port));
                let reason = format!(
                    "link.{other} sets it already for the direction from `{}` to `{}`",
                    graph.names.of(from.0),
                    graph.names.of(to.0)
                );
                r.error(
                    &format!("link.{i}.{name}"),
                    reason,
                    "set it in one section for each direction of a link",
                );
            }
            ports.iter().for_each(|port| sections[*port as usize][part] = Some(i));
        }
    }
    if let Ok(plain) =
        topology::build(r.cx, &mut doc.topology.clone(), doc.transport.packet_sizes(), &Overlays::default())
    {
        same_rates(r, doc, &plain);
    }
    idle_rates(r, written, doc, graph, links);
}

fn which(r: &mut Report<'_>, i: usize, doc: &Document, graph: &Graph) {
    let link = &doc.link[i];
    let key = format!("link.{i}.which");
    match &link.which {
        WhichLinks::All | WhichLinks::HostLinks => {}
        WhichLinks::ServerLinks => {
            if topology::ports(graph, link).is_empty() {
                let why = "no host has another link into a smaller network";
                r.ineffective(&key, why, "write \"host-links\", or choose a topology such as \"rails\"");
            }
        }
        WhichLinks::CoreLinks => {
            if graph.core_links().is_empty() {
                let why = "no link leads from a switch with hosts to another switch";
                r.ineffective(&key, why, "write \"all\", \"host-links\" or { between = [..] }");
            }
        }
        WhichLinks::Between { ends } => incidents::ends(r, &format!("{key}.ends"), *ends, graph),
        WhichLinks::Ports { ports } => {
            let most = 2 * graph.links.len() as u64;
            for (p, port) in ports.iter().enumerate() {
                let key = format!("{key}.ports.{p}");
                if u64::from(*port) >= most {
                    r.error(&key, format!("there is no port {port}"), format!("ports are 0 to {}", most - 1));
                } else if ports[..p].contains(port) {
                    r.ineffective(&key, &format!("port {port} is listed twice"), "list each once");
                }
            }
            if ports.is_empty() {
                r.ineffective(
                    &format!("{key}.ports"),
                    "no port is listed",
                    format!("ports are 0 to {}", most - 1),
                );
            }
            if link.direction != Direction::Both {
                let why = "a port is one direction of a link";
                r.ineffective(&format!("link.{i}.direction"), why, "remove the key");
            }
        }
    }
}

/// A varying rate behind a scheduler that computes with a fixed one, or in the reverse direction if it uses that rate.
fn reckoned_with(r: &mut Report<'_>, i: usize, doc: &Document, graph: &Graph, ports: &[u32]) {
    let varies = doc.link[i].transmitter.as_ref().is_some_and(|t| !matches!(t, TransmitterKind::Fixed(_)));
    let of_host = |port: PortId| graph.is_nic(graph.ends(port).0);
    // The ports that send on the link, and those of the reverse direction whose scheduler computes with its rate.
    let reckons = |section: &str, of_hosts: bool| {
        resolve::schedulers(doc).filter(|(key, _)| key.starts_with(section)).any(|(_, s)| {
            let needs = s.needs();
            let at = |port: PortId| {
                needs.fixed_rate && of_host(port) == of_hosts
                    || needs.fixed_back && of_host(port.reverse()) == of_hosts
            };
            ports.iter().any(|port| at(PortId(*port)))
        })
    };
    let section = match () {
        () if !varies => return,
        () if reckons("switch", false) => "switch",
        () if reckons("nic", true) => "nic",
        () => return,
    };
    let reason = format!(
        "`{section}.scheduler` computes with a fixed link rate, and the rate of this transmitter varies"
    );
    r.error(&format!("link.{i}.transmitter"), reason, "remove the key, or use another scheduler");
}

/// Batches for one user, where all packets go to one host, or where the scheduler does not know the next packet.
fn one_user(r: &mut Report<'_>, i: usize, doc: &Document, graph: &Graph, ports: &[u32]) {
    if !matches!(&doc.link[i].transmitter, Some(TransmitterKind::Batched(batched)) if batched.one_user) {
        return;
    }
    let key = format!("link.{i}.transmitter.one_user");
    let end = |port: &u32, far: bool| {
        let (near, other) = graph.ends(PortId(*port));
        if far { other } else { near }
    };
    if graph.hosts <= 2 || !ports.is_empty() && ports.iter().all(|port| graph.is_nic(end(port, true))) {
        return r.ineffective(&key, "all packets on these links go to one host anyway", "remove the key");
    }
    let sorts = |s: &Scheduler| !s.needs().foretells;
    let section = match () {
        () if sorts(&doc.switch.scheduler) && ports.iter().any(|p| !graph.is_nic(end(p, false))) => "switch",
        () if doc.nic.scheduler.as_ref().is_some_and(sorts)
            && ports.iter().any(|p| graph.is_nic(end(p, false))) =>
        {
            "nic"
        }
        () => return,
    };
    let reason = format!(
        "batches for one user need the next packet in advance, which `{section}.scheduler` does not know"
    );
    r.error(&key, reason, "remove the key, or use the scheduler fifo");
}

/// A fixed rate that the topology already gives these links.
fn same_rates(r: &mut Report<'_>, doc: &Document, plain: &Graph) {
    for (i, link) in doc.link.iter().enumerate() {
        let Some(kind @ TransmitterKind::Fixed(fixed)) = &link.transmitter else { continue };
        let ports = topology::ports(plain, link);
        if !ports.is_empty() && ports.iter().all(|p| plain.direction(PortId(*p)).mean_rate() == fixed.rate) {
            let why = format!("the topology gives these links the rate {} already", fixed.rate);
            let key = format!("link.{i}.transmitter");
            r.ineffective(
                &key,
                &why,
                format!("write another rate, or remove the `{}` transmitter", kind.key()),
            );
        }
    }
}

/// Rates of `[topology]` without effect: every link that has them has a transmitter of its own.
fn idle_rates(r: &mut Report<'_>, written: &Document, doc: &Document, graph: &Graph, links: &Overlays) {
    // (For a file the rate is that of links without one, and such links need it.)
    if doc.topology.shape.file().is_some() || doc.link.iter().all(|l| l.transmitter.is_none()) {
        return;
    }
    let Some(Value::Table(keys)) = r.cx.origin.root.get("topology").map(|t| &t.value) else { return };
    let keys: Vec<String> = keys.iter().map(|(key, _)| key.clone()).collect();
    let Some(given) = given(&written.topology) else { return };
    for key in &keys {
        let path = format!("topology.{key}");
        if is_idle(r, &given, doc, graph, links, key) == Some(true) {
            let why = "every link that it applies to has a `transmitter` of its own";
            r.ineffective(&path, why, "remove the key");
        }
    }
}

/// A topology, resolved.
fn resolved(topology: Json) -> Option<Topology> {
    let mut topology: Topology = serde_json::from_value(topology).ok()?;
    topology.shape.resolve();
    Some(topology)
}

/// The keys of a written topology that are not their defaults, which may depend on others: a resolved scenario says
/// everything.
fn given(written: &Topology) -> Option<Json> {
    let mut given = serde_json::to_value(written).ok()?;
    let full = resolved(given.clone())?;
    let keys: Vec<String> = given.as_object()?.keys().cloned().collect();
    for key in keys {
        let mut without = given.clone();
        without.as_object_mut()?.remove(&key);
        if resolved(without.clone()).is_some_and(|topology| topology == full) {
            given = without;
        }
    }
    Some(given)
}

/// True if changing a rate that differs from its default would change no link, not even one that has it by default;
/// `None` if `key` is not a rate that is `given`, or if the changed topology cannot be built.
fn is_idle(
    r: &Report<'_>,
    given: &Json,
    doc: &Document,
    graph: &Graph,
    links: &Overlays,
    key: &str,
) -> Option<bool> {
    // Other keys of the topology are not rates.
    let rate: Rate = given.get(key)?.as_str()?.parse().ok()?;
    let other = Rate::from_bps(if rate.bps() < 1 << 40 { 2 * rate.bps() } else { rate.bps() / 2 });
    let mut changed = given.clone();
    changed[key] = other.to_string().into();
    let mut topology = resolved(changed)?;
    let changed = topology::build(r.cx, &mut topology, doc.transport.packet_sizes(), links).ok()?;
    Some(changed.links == graph.links)
}
