//! `[transport]` and `[transports.*]`: which of them traffic uses, and checks that several kinds share.

use super::Report;
use crate::diagnostic::suggest_of;
use crate::quantity::Q;
use crate::resolve;
use crate::schema::{ConnectionSharing, Document, Edge, Fct, Marking, Rank, Traffic, of_kind};
use crate::topology::Graph;
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind};
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::Acts;
use thalweg_units::Bytes;
use thalweg_wire::{ExplicitKind, IntStack};

/// The largest packet, bytes.
pub(super) const LARGEST: u64 = 1_000_000;

/// The checks of a kind of transport.
pub(super) trait Checked {
    /// Reports what is impossible or ineffective in its table, which is at `key`.
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, graph: &Graph);
    /// The reason why a flow without end cannot run over it, and the way out.
    fn must_end(&self, _doc: &Document) -> Option<(&'static str, &'static str)> {
        None
    }
}

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    unused(r, doc, graph);
    for (key, transport) in resolve::transports(doc) {
        of_kind!(transport, |t| t.check(r, &key, doc, graph));
    }
    if doc.transports.contains_key("default") {
        r.error("transports.default", "`default` already names [transport]", "choose another name");
    }
    for name in doc.transports.keys().filter(|n| *n != "default") {
        if !doc.traffic.iter().any(|t| t.transport == *name) {
            let hint = format!("write `transport = \"{name}\"` in a [[traffic]] section, or remove it");
            r.ineffective(&format!("transports.{name}"), "no traffic uses this transport", hint);
        }
    }
    let names: Vec<String> =
        std::iter::once("default".to_owned()).chain(doc.transports.keys().cloned()).collect();
    let mut acknowledged = false;
    for (i, t) in doc.traffic.iter().enumerate() {
        let key = format!("traffic.{i}.transport");
        if t.pattern.family().brings_transport() {
            if t.transport != "default" {
                r.ineffective(&key, "traffic of kind `udp` brings its own transport", "remove the key");
            }
            if t.connection != ConnectionSharing::Fresh {
                let why = "datagrams have no connections";
                r.ineffective(&format!("traffic.{i}.connection"), why, "remove the key");
            }
            continue;
        }
        if !names.contains(&t.transport) {
            let controllers = ControllerSpec::all().iter().map(|c| c.key().to_owned()).collect::<Vec<_>>();
            let all: Vec<String> = names.iter().chain(&controllers).cloned().collect();
            let known =
                format!("{}; or the name of a controller, or of a kind of transport", names.join(", "));
            let reason = format!("there is no transport `{}`", t.transport);
            r.error(&key, reason, suggest_of(&t.transport, &all, &known));
            continue;
        }
        let transport = doc.transports.get(&t.transport).unwrap_or(&doc.transport);
        acknowledged |= transport.wire().is_acknowledged();
        if t.connection == ConnectionSharing::PerPair && !transport.carries_many() {
            let reason = "only queue pairs (kind rdma) carry several flows over one connection";
            let hint = "write \"fresh\", or use a transport of kind rdma";
            r.error(&format!("traffic.{i}.connection"), reason, hint);
        }
        let endless = t.pattern.family().is_endless();
        if t.connection == ConnectionSharing::BackToBack {
            let key = format!("traffic.{i}.connection");
            if endless {
                let reason =
                    "a flow without end never completes, so no other can follow it on its connection";
                r.error(&key, reason, "write \"fresh\" or \"per-pair\", or send flows that end");
            } else if !transport.spec().streams() {
                let reason =
                    "messages go back to back only over queue pairs whose hosts do not post segments";
                r.error(
                    &key,
                    reason,
                    "write \"fresh\" or \"per-pair\", or use a transport of kind rdma without `segments`",
                );
            }
        }
        if let Some((reason, hint)) = of_kind!(transport, |t| t.must_end(doc)).filter(|_| endless) {
            r.error(&key, reason, hint);
        }
    }
    if doc.measure.fct == Fct::Sender && !acknowledged {
        let reason = "`sender` measures until the last ACK, but no traffic is acknowledged";
        r.error("measure.fct", reason, "write `fct = \"receiver\"`");
    }
}

/// Settings of `[transport]` that no traffic uses. (The sizes of its packets always count: `base_rtt` depends on them.)
fn unused(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let uses = |t: &Traffic| t.uses_transport(&t.transport) && !doc.transports.contains_key(&t.transport);
    // A scheme sets a transport and a scheduler together, and may be used for its scheduler alone.
    if doc.scheme.is_some() || doc.traffic.iter().any(uses) {
        return;
    }
    let mut plain = Document { transport: doc.transport.bare(), ..doc.clone() };
    resolve::resolve(&mut plain);
    resolve::by_graph(&mut plain, graph);
    if plain.transport != doc.transport {
        r.ineffective("transport", "no traffic uses this transport", "remove it");
    }
}

pub(super) fn sizes(r: &mut Report<'_>, key: &str, name: &str, payload: Bytes, header: Bytes) {
    if payload.get() == 0 {
        r.error(&format!("{key}.{name}"), "a packet carries at least 1 byte", "for example \"1460B\"");
    }
    if payload.get().saturating_add(header.get()) > LARGEST {
        let reason = "the packet is larger than 1 MB";
        r.error(
            &format!("{key}.{name}"),
            reason,
            format!("write at most {LARGEST} bytes for payload and header together"),
        );
    }
}

/// Explicit feedback: some stage of a switch must write it.
fn explicit(r: &mut Report<'_>, key: &str, congestion: &ControllerSpec, doc: &Document) {
    let FeedbackKind::Explicit(kind) = congestion.needs().feedback else { return };
    if matches!(kind, ExplicitKind::Forecast(_)) {
        return; // the receiver writes it
    }
    let signals = |marking: &Marking| marking.acts() == Acts::Signals(kind);
    if resolve::markings(doc).any(|(_, marking)| signals(marking)) {
        return;
    }
    let name = Marking::all().iter().find(|marking| signals(marking)).map_or("", Marking::key);
    let reason = "the controller needs explicit feedback of switches, and no queue writes it";
    r.error(&format!("{key}.congestion"), reason, format!("write `switch.marking = \"{name}\"`"));
}

/// In-band telemetry: controllers that read it, and switches that can write it.
pub(super) fn telemetry(
    r: &mut Report<'_>,
    key: &str,
    size: Option<Q<Bytes>>,
    congestion: &ControllerSpec,
    doc: &Document,
    graph: &Graph,
) {
    explicit(r, key, congestion, doc);
    if !resolve::reads_telemetry(congestion) {
        if size.is_some() {
            let why = "the controller does not read telemetry";
            r.ineffective(&format!("{key}.telemetry"), why, "remove the key, or use the controller hpcc");
        }
        return;
    }
    let at = format!("{key}.congestion");
    if graph.switches == 0 {
        r.error(
            &at,
            "the controller reads telemetry (INT) that switches write, and the topology has no switch",
            "use another one",
        );
    } else if graph.longest_path() > IntStack::CAPACITY as u64 + 1 {
        let reason = format!(
            "a packet has room for the telemetry (INT) of {} switches, and the longest path has {}",
            IntStack::CAPACITY,
            graph.longest_path() - 1
        );
        r.error(&at, reason, "use another controller, or a smaller network");
    }
    if doc.switch.cut_through.0.get() > 0 {
        let reason =
            "the controller needs telemetry (INT), which is written when a whole packet leaves the queue";
        r.error("switch.cut_through", reason, "remove the key, or use another controller");
    }
    if doc.switch.preemptive {
        let reason = "the controller needs telemetry (INT), and an interrupted transmission has no single instant to write it";
        r.error("switch.preemptive", reason, "remove the key, or use another controller");
    }
}

/// True if something marks packets: a queue, a registered scheduler, the receiving edge.
pub(super) fn marks(doc: &Document) -> bool {
    let outside = resolve::markings(doc).any(|(_, m)| m.acts().marks());
    let free = resolve::is_free(doc);
    let edge = matches!(doc.edge, Some(Edge::Ecn { .. }));
    let inside = resolve::schedulers(doc).any(|(_, s)| s.needs().acts.marks());
    outside || inside || free || edge
}

pub(super) fn rank(r: &mut Report<'_>, key: &str, rank: Option<Rank>, doc: &Document) {
    let schedulers = || resolve::schedulers(doc).map(|(_, s)| s);
    let free = resolve::is_free(doc);
    let wanted = resolve::sorted_by(doc);
    let static_ranks = schedulers().any(|s| s.needs().key == Key::Rank);
    let histogram = doc.measure.priority_histogram.is_some();
    let rank = rank.unwrap_or(Rank::None);
    if let Rank::SocketBuffer { buffer } = rank
        && buffer.get() == 0
    {
        r.error(
            &format!("{key}.buffer"),
            "a send buffer of 0 never holds anything to send",
            "for example \"3MB\"",
        );
    }
    match (wanted, rank) {
        // Slack and ranks use one header field: [`super::slack`] reports it.
        _ if doc.slack.is_some() && (wanted.is_some() || free) => {}
        (_, Rank::None) if doc.slack.is_some() => {}
        _ if doc.slack.is_some() => {
            r.ineffective(
                key,
                "NICs overwrite ranks with slack, which has the same header field",
                "remove the key, or [slack]",
            );
        }
        _ if free => {}
        (None, _) if static_ranks => {}
        (None, Rank::None) => {}
        (None, _) if histogram => {}
        (None, _) => r.ineffective(
            key,
            "no scheduler reads ranks",
            "use the scheduler sjf, srpt or ads, or remove the key",
        ),
        (Some(_), Rank::None) => {
            r.error(
                key,
                "the scheduler sorts by rank, and senders would write none",
                "remove the key: the default is the rank that the scheduler sorts by",
            );
        }
        (Some(Rank::FlowSize), Rank::FlowSize) => {}
        (Some(Rank::FlowSize), _) => {
            r.error(key, "the scheduler sjf sorts by flow size", "write \"flow-size\", or use srpt");
        }
        (Some(_), Rank::FlowSize) => {
            r.error(key, "the scheduler sorts by remaining size", "write \"remaining\", or use sjf");
        }
        _ => {}
    }
}
