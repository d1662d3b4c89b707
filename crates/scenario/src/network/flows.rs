//! Flows and computations in the simulator's order.

use super::Listed;
use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::{ConnectionSharing, Document};
use crate::topology::{Choice, Graph};
use crate::traffic::{Draft, WorkDraft};
use crate::workload;
use std::collections::BTreeMap;
use thalweg_net::spec::{FlowSpec, Precedence, Predecessor, WorkSpec};
use thalweg_units::{FlowId, HostId, NodeId, Time};

/// The flows and computations of all sections of traffic.
pub(super) struct Workload {
    /// In the order of the simulator: those with a start time by that, then those that follow others.
    pub flows: Vec<FlowSpec>,
    /// In the order in which sections make them.
    pub works: Vec<WorkSpec>,
    /// The predecessors of each flow and computation.
    pub precedence: Precedence,
    /// The number of each flow in the list that it comes from.
    pub listed: Listed,
}

/// The flows and computations of all sections.
pub(super) fn flows(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Workload, Diagnostic> {
    let drafts = workload::generate(cx, doc, graph)?;
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    // Flows with a start time in the order of (start, position), then flows that follow others, each after its
    // predecessors.
    order.sort_by_key(|i| {
        let follows = !drafts.followed_by(*i).is_empty();
        (follows, if follows { Time::ZERO } else { drafts.at(*i).start }, *i)
    });
    let mut place = vec![0u32; drafts.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new as u32;
    }
    let names: Vec<&String> = doc.transports.keys().collect();
    let mut own = 1 + names.len();
    let transport_of: Vec<u16> = doc
        .traffic
        .iter()
        .map(|t| {
            if t.pattern.family().brings_transport() {
                own += 1;
                (own - 1) as u16
            } else {
                names.iter().position(|n| **n == t.transport).map_or(0, |i| i as u16 + 1)
            }
        })
        .collect();
    let from = Time::from_ps(doc.measure.from.0.ps());
    let until = Time::from_ps(doc.measure.until.map_or(doc.run.until.0, |q| q.0).ps());
    let mut nics = Nics::new(cx, doc, graph);
    let mut spec = |i: &usize| {
        let d = drafts.at(*i);
        let section = &doc.traffic[usize::from(d.group)];
        let inside = d.judged.is_none_or(|start| start >= from && start < until);
        let (src, dst) = nics.of(*i, d)?;
        Ok(FlowSpec {
            src,
            dst,
            size: d.size,
            start: d.start,
            until: d.until.unwrap_or(Time::MAX),
            connection: u32::MAX,
            back_to_back: false,
            transport: transport_of[usize::from(d.group)],
            class: section.class,
            measured: section.measured && inside && d.size != u64::MAX,
            group: d.group,
        })
    };
    // Allocated once: collecting into a `Result` would grow by doubling.
    let mut flows: Vec<FlowSpec> = Vec::with_capacity(order.len());
    for position in &order {
        flows.push(spec(position)?);
    }
    share_connections(doc, &mut flows);
    let listed = order.iter().map(|old| drafts.at(*old).listed).collect();
    // Computations stay in the order in which they are made.
    let before = |of: &Predecessor| match *of {
        Predecessor::Flow { flow, end } => Predecessor::Flow { flow: FlowId(place[flow.at()]), end },
        work => work,
    };
    let follow = |i: &usize| drafts.followed_by(*i).iter().map(before);
    let of_work = |i: usize| drafts.followed_by_work(i).iter().map(before);
    let precedence =
        Precedence::new(order.iter().map(follow)).with_works((0..drafts.works().len()).map(of_work));
    let work = |d: &WorkDraft| WorkSpec {
        host: HostId(d.host),
        cpu: d.cpu,
        start: d.start,
        lasts: d.lasts,
        measured: doc.traffic[usize::from(d.group)].measured,
        group: d.group,
    };
    let works = drafts.works().iter().map(work).collect();
    Ok(Workload { flows, works, precedence, listed })
}

/// Chooses the NICs of a flow's ends. Where every host has one NIC they have the numbers of the hosts.
struct Nics<'a> {
    cx: &'a Cx<'a>,
    doc: &'a Document,
    graph: &'a Graph,
    choice: Option<Choice<'a>>,
}

impl<'a> Nics<'a> {
    fn new(cx: &'a Cx<'a>, doc: &'a Document, graph: &'a Graph) -> Self {
        Self { cx, doc, graph, choice: graph.has_further_nics().then(|| Choice::new(graph, doc.seed)) }
    }

    /// The NICs of the flow at a position.
    fn of(&mut self, position: usize, d: &Draft) -> Result<(HostId, HostId), Diagnostic> {
        let Some(choice) = &mut self.choice else { return Ok((HostId(d.src), HostId(d.dst))) };
        // Flows of one connection take the same NICs.
        let key = match self.doc.traffic[usize::from(d.group)].connection {
            ConnectionSharing::Fresh => position as u64,
            _ => u64::from(d.src) << 32 | u64::from(d.dst),
        };
        choice.between(d.src, d.dst, key).ok_or_else(|| {
            let [src, dst] = [d.src, d.dst].map(|host| self.graph.shown(NodeId(host)));
            let reason =
                format!("no path joins host {src} to host {dst}: their links lead into separate networks");
            let hint =
                "hosts do not forward: link the networks by a switch, or send in two flows over a host that is in both \
                 (an all-to-all: `relay`)";
            self.cx.error(&format!("traffic.{}", d.group), reason, hint)
        })
    }
}

/// Gives all flows of a section from one host to another the same connection number, if the section says so.
fn share_connections(doc: &Document, flows: &mut [FlowSpec]) {
    let mut known: BTreeMap<(u16, u32, u32), u32> = BTreeMap::new();
    for f in flows {
        let connection = doc.traffic[usize::from(f.group)].connection;
        if connection != ConnectionSharing::Fresh {
            let next = known.len() as u32;
            f.connection = *known.entry((f.group, f.src.0, f.dst.0)).or_insert(next);
            f.back_to_back = connection == ConnectionSharing::BackToBack;
        }
    }
}
