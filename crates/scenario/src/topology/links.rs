//! `[[link]]`: gives links of a shape other transmitters, losses and jitter.

use super::Graph;
use super::graph::SLOWEST;
use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::trace;
use crate::schema::{Direction, Document, Link, WhichLinks};
use std::collections::BTreeMap;
use std::sync::Arc;
use thalweg_machines::Problem;
use thalweg_machines::link::{LinkSpec, Making, Trace, TracedSpec, TransmitterSpec};
use thalweg_units::{NodeId, PortId, Span, Stream};

/// The sections, each with the contents of its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlays {
    seed: u64,
    sections: Vec<(Link, Option<Arc<Trace>>)>,
}

impl Overlays {
    /// Reads the traces, each once, and checks each section by itself.
    pub fn read(cx: &Cx<'_>, doc: &Document) -> Result<Self, Vec<Diagnostic>> {
        let mut known: BTreeMap<&str, Arc<Trace>> = BTreeMap::new();
        let (mut sections, mut errors) = (Vec::new(), Vec::new());
        for (i, link) in doc.link.iter().enumerate() {
            cx.proceed().map_err(|d| vec![d])?;
            let key = format!("link.{i}.transmitter");
            let file = link.transmitter.as_ref().and_then(|t| t.file());
            let trace = file.map(|file| match known.get(file) {
                Some(trace) => Ok(Arc::clone(trace)),
                None => {
                    let text = cx.read(&format!("{key}.file"), file)?;
                    let trace = trace::parse(&text).map(Arc::new).map_err(|e| e.in_file(file))?;
                    known.insert(file, Arc::clone(&trace));
                    Ok(trace)
                }
            });
            match trace.transpose() {
                Err(d) => errors.push(d),
                Ok(trace) => {
                    errors.extend(problems(cx, doc, i, trace.as_deref()));
                    sections.push((link.clone(), trace));
                }
            }
        }
        if errors.is_empty() { Ok(Self { seed: doc.seed, sections }) } else { Err(errors) }
    }

    /// Applies the sections to the links. Ports and nodes that do not exist are refused later, with everything else.
    pub fn lay(&self, cx: &Cx<'_>, graph: &mut Graph, quantum: Span) -> Result<(), Diagnostic> {
        for (i, (section, trace)) in self.sections.iter().enumerate() {
            for port in ports(graph, section) {
                let link = direction(graph, port);
                if let Some(kind) = &section.transmitter {
                    let stream = Stream::new(self.seed, "link trace", u64::from(port));
                    let key = format!("link.{i}.transmitter");
                    let made = kind.spec(Making { quantum, stream, trace: trace.clone() });
                    link.transmitter = made.map_err(|reason| cx.error(&key, reason, ""))?;
                    let rate = link.mean_rate();
                    if rate < SLOWEST {
                        let reason = format!("its mean rate is {rate}");
                        return Err(cx.error(
                            &key,
                            reason,
                            format!("the lowest rate of a link is {SLOWEST}"),
                        ));
                    }
                }
                link.loss = section.loss.or(link.loss);
                link.jitter = section.jitter.map(|jitter| jitter.spec()).or(link.jitter);
            }
        }
        Ok(())
    }
}

/// The problems of a section's transmitter, loss and jitter.
fn problems(cx: &Cx<'_>, doc: &Document, i: usize, trace: Option<&Trace>) -> Vec<Diagnostic> {
    let Link { transmitter, loss, jitter, .. } = &doc.link[i];
    let run = doc.run.until.0;
    let parts = [
        ("transmitter", transmitter.as_ref().map(|t| t.problems(run, trace))),
        ("loss", loss.map(|loss| loss.problems())),
        ("jitter", jitter.map(|jitter| jitter.problems())),
    ];
    let report = |part: &str, Problem { key, reason, hint, useless, .. }: Problem| {
        let dot = if key.is_empty() { "" } else { "." };
        let reason = if useless { format!("it has no effect: {reason}") } else { reason };
        cx.error(&format!("link.{i}.{part}{dot}{key}"), reason, hint)
    };
    parts
        .into_iter()
        .flat_map(|(part, found)| found.into_iter().flatten().map(move |p| (part, p)))
        .map(|(part, p)| report(part, p))
        .collect()
}

/// The ports that a section applies to, as far as they exist.
pub(crate) fn ports(graph: &Graph, section: &Link) -> Vec<u32> {
    // Forward ports; the port of the other direction differs in the lowest bit.
    let from = |l: u32, first: NodeId| 2 * l + u32::from(graph.links[l as usize].a != first);
    let all = 0..graph.links.len() as u32;
    let forward: Vec<u32> = match &section.which {
        WhichLinks::All => all.map(|l| 2 * l).collect(),
        WhichLinks::HostLinks | WhichLinks::ServerLinks => {
            let wide = section.which == WhichLinks::HostLinks;
            let is_such = |node: &NodeId| graph.is_nic(*node) && graph.is_wide(*node) == wide;
            let host = |l: u32| {
                let link = &graph.links[l as usize];
                [link.a, link.b].into_iter().find(is_such).map(|host| from(l, host))
            };
            all.filter_map(host).collect()
        }
        WhichLinks::CoreLinks => graph.core_links().into_iter().map(|l| 2 * l).collect(),
        WhichLinks::Between { ends } => graph.between(*ends).map(|l| from(l, NodeId(ends[0]))).collect(),
        WhichLinks::Ports { ports } => {
            let there = |port: &u32| graph.has_port(PortId(*port));
            return ports.iter().copied().filter(there).collect();
        }
    };
    let directions = |port: u32| match section.direction {
        Direction::Both => vec![port, PortId(port).reverse().0],
        Direction::Forward => vec![port],
        Direction::Backward => vec![PortId(port).reverse().0],
    };
    forward.into_iter().flat_map(directions).collect()
}

fn direction(graph: &mut Graph, port: u32) -> &mut LinkSpec {
    let link = &mut graph.links[PortId(port).link().at()];
    if port.is_multiple_of(2) { &mut link.ab } else { &mut link.ba }
}

impl Graph {
    /// The numbers of the links between two nodes.
    pub(crate) fn between(&self, ends: [u32; 2]) -> impl Iterator<Item = u32> {
        let [a, b] = ends.map(NodeId);
        let joins = move |l: &thalweg_net::spec::LinkSpec| (l.a, l.b) == (a, b) || (l.a, l.b) == (b, a);
        self.links.iter().enumerate().filter(move |(_, l)| joins(l)).map(|(i, _)| i as u32)
    }

    /// True if the port exists.
    pub fn has_port(&self, port: PortId) -> bool {
        port.link().at() < self.links.len()
    }

    /// The ends of a port: its owner and its far end.
    pub fn ends(&self, port: PortId) -> (NodeId, NodeId) {
        self.links[port.link().at()].ends(port)
    }

    /// The direction of the link that a port sends on.
    pub fn direction(&self, port: PortId) -> &LinkSpec {
        self.links[port.link().at()].direction(port)
    }

    /// Bytes of the traces of all links; each trace counts once.
    pub(crate) fn trace_bytes(&self) -> u64 {
        let of = |(_, TracedSpec { trace, .. }): (u32, &TracedSpec)| {
            (Arc::as_ptr(trace), 4 * trace.opportunities() as u64)
        };
        let known: BTreeMap<*const Trace, u64> = self.traces().into_iter().map(of).collect();
        known.values().sum()
    }

    /// The ports whose links have delivery opportunities, with their traces.
    pub(crate) fn traces(&self) -> Vec<(u32, &TracedSpec)> {
        let mut found = Vec::new();
        for (port, link) in (0..).zip(self.links.iter().flat_map(|l| [&l.ab, &l.ba])) {
            if let TransmitterSpec::Traced(traced) = &link.transmitter {
                found.push((port, traced));
            }
        }
        found
    }
}
