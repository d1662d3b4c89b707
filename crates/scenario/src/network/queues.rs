//! Output queues: the scheduler, the buffer and the stages of every port.

use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::tables::{self, Histograms};
use crate::quantity::Capacity;
use crate::schema::{Document, Marking, Scheduler};
use crate::topology::{self, Graph};
use std::borrow::Cow;
use std::collections::BTreeMap;
use thalweg_machines::schedule as s;
use thalweg_units::NodeId;

/// The different disciplines of a network, and for every port the index of its own.
pub(super) fn queues(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
) -> Result<(Vec<s::DisciplineSpec>, Vec<u16>), Diagnostic> {
    let groups = groups(cx, doc)?;
    let overrides = overrides(doc, graph);
    let mut disciplines = Disciplines::default();
    let mut of_ports = Vec::with_capacity(2 * graph.links.len());
    for (i, link) in graph.links.iter().enumerate() {
        for (port, node) in [(2 * i as u32, link.a), (2 * i as u32 + 1, link.b)] {
            let number = group_of(doc, graph, node);
            let group = &groups[number];
            let own = if number == NIC { Override::default() } else { overrides[port as usize] };
            let histogram = group.histogram(cx, port)?;
            let is_alone = group.names_ports || matches!(histogram, Some((_, OfPort::Own)));
            let key = (number, is_alone.then_some(port), own);
            if let Some(index) = disciplines.known.get(&key) {
                of_ports.push(*index);
                continue;
            }
            let counts = histogram.as_ref().map(|(counts, _)| counts.as_ref());
            let spec = discipline(doc, group, own, port, graph.is_nic(node), counts);
            let index = disciplines.add(spec, !(group.histograms.is_some() && is_alone));
            let index = index.ok_or_else(|| too_many(cx, group))?;
            disciplines.known.insert(key, index);
            of_ports.push(index);
        }
    }
    Ok((disciplines.all, of_ports))
}

/// Positions in [`groups`].
const SWITCH: usize = 0;
const NIC: usize = 1;
const MIX: usize = 2;

/// Ports with the settings of one section: those of switches, of NICs, or of the switches of `switch.mix`.
struct Group<'a> {
    scheduler: &'a Scheduler,
    buffer: Capacity,
    /// The stages in front of the queue, and the marking inside it.
    stages: (&'a [Marking], Marking),
    /// The histograms that the scheduler's file holds, with the key of that file.
    histograms: Option<(Histograms, String)>,
    /// The scheduler names ports, so that no two ports are alike.
    names_ports: bool,
}

fn groups<'a>(cx: &Cx<'_>, doc: &'a Document) -> Result<[Group<'a>; 3], Diagnostic> {
    let (switch, nic) = (&doc.switch, &doc.nic);
    let of_switch = (switch.stages.as_slice(), switch.marking);
    let of_nic = (nic.stages.as_slice(), nic.marking.unwrap_or(switch.marking));
    let mixed = switch.mix.as_ref().map_or(&switch.scheduler, |mix| &mix.scheduler);
    let own = nic.scheduler.as_ref().unwrap_or(&switch.scheduler);
    Ok([
        Group::new(cx, "switch", &switch.scheduler, switch.room(), of_switch)?,
        Group::new(cx, "nic", own, nic.buffer.unwrap_or(switch.room()), of_nic)?,
        Group::new(cx, "switch.mix", mixed, switch.room(), of_switch)?,
    ])
}

fn group_of(doc: &Document, graph: &Graph, node: NodeId) -> usize {
    match &doc.switch.mix {
        _ if graph.is_nic(node) => NIC,
        Some(mix) if mix.nodes.has(node.0) => MIX,
        _ => SWITCH,
    }
}

/// A histogram of priorities, and which ports it is for.
type Histogram<'a> = (Cow<'a, [u64]>, OfPort);

/// Which ports a histogram is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfPort {
    /// The port at which it was recorded.
    Own,
    /// Several ports.
    Shared,
}

impl<'a> Group<'a> {
    fn new(
        cx: &Cx<'_>,
        section: &str,
        scheduler: &'a Scheduler,
        buffer: Capacity,
        stages: (&'a [Marking], Marking),
    ) -> Result<Self, Diagnostic> {
        let histograms = match scheduler.table() {
            None => None,
            Some((key, file)) => {
                let key = format!("{section}.scheduler.{key}");
                let text = cx.read(&key, file)?;
                Some((tables::histograms(&text).map_err(|e| e.in_file(file))?, key))
            }
        };
        let names_ports = !scheduler.ports().is_empty();
        Ok(Self { scheduler, buffer, stages, histograms, names_ports })
    }

    /// The histogram of a port, if the scheduler has a file of them. A port that the recorded run never used has the
    /// sum of all others.
    fn histogram(&self, cx: &Cx<'_>, port: u32) -> Result<Option<Histogram<'_>>, Diagnostic> {
        let Some((all, key)) = &self.histograms else { return Ok(None) };
        if all.is_empty() {
            let hint = "record one with `measure.priority_histogram`";
            return Err(cx.error(key, "the file holds no histogram", hint));
        }
        Ok(Some(match (all.get(&Some(port)), all.get(&None)) {
            (Some(own), _) => (Cow::Borrowed(own.as_slice()), OfPort::Own),
            (None, Some(shared)) => (Cow::Borrowed(shared.as_slice()), OfPort::Shared),
            (None, None) => (Cow::Owned(sum(all)), OfPort::Shared),
        }))
    }
}

/// The discipline of a port.
fn discipline(
    doc: &Document,
    group: &Group<'_>,
    own: Override,
    port: u32,
    is_nic: bool,
    counts: Option<&[u64]>,
) -> s::DisciplineSpec {
    let buffer = own.buffer.and_then(|i| doc.link[i].buffer).unwrap_or(group.buffer);
    let marking = own.marking.and_then(|i| doc.link[i].marking).unwrap_or(group.stages.1);
    let mut order = group.scheduler.clone();
    if doc.switch.relief.is_some() && !is_nic && order == s::OrderSpec::fifo() {
        // Relief takes packets out of the middle of a queue.
        order = s::OrderSpec::liftable();
    }
    if let Some(counts) = counts {
        order.fill(counts);
    }
    order.settle(port);
    s::DisciplineSpec {
        limit: match buffer {
            _ if order.needs().sizes_itself => s::Limit::Unlimited,
            Capacity::Bytes(b) => s::Limit::Bytes(b),
            Capacity::Packets(p) => s::Limit::Packets(p),
            Capacity::Unlimited => s::Limit::Unlimited,
        },
        order,
        front: group.stages.0.to_vec(),
        stage: marking,
        preemptive: doc.switch.preemptive && !is_nic,
    }
}

/// The different disciplines of a network.
#[derive(Default)]
struct Disciplines {
    all: Vec<s::DisciplineSpec>,
    /// The index by group, port (if it is alone) and override.
    known: BTreeMap<(usize, Option<u32>, Override), u16>,
}

impl Disciplines {
    /// The index of a discipline; `None` if there are too many. Those that differ from port to port are not compared
    /// with the others, which would take time in the square of their number.
    fn add(&mut self, spec: s::DisciplineSpec, may_be_known: bool) -> Option<u16> {
        if may_be_known && let Some(index) = self.all.iter().position(|known| *known == spec) {
            return Some(index as u16);
        }
        let index = u16::try_from(self.all.len()).ok()?;
        self.all.push(spec);
        Some(index)
    }
}

fn too_many(cx: &Cx<'_>, group: &Group<'_>) -> Diagnostic {
    let reason = "ports have more than 65536 different queue settings";
    match &group.histograms {
        Some((_, key)) => {
            cx.error(key, reason, "write one histogram for all ports, without the column `port`")
        }
        None => cx.error("switch.scheduler", reason, "give ports the same settings"),
    }
}

/// The sections of `[[link]]`, by position, that override settings of a port's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Override {
    buffer: Option<usize>,
    marking: Option<usize>,
}

/// The overrides of every port. Of several sections the last one counts.
fn overrides(doc: &Document, graph: &Graph) -> Vec<Override> {
    let mut own = vec![Override::default(); 2 * graph.links.len()];
    for (i, link) in doc.link.iter().enumerate() {
        for port in topology::ports(graph, link) {
            let own = &mut own[port as usize];
            own.buffer = link.buffer.map(|_| i).or(own.buffer);
            own.marking = link.marking.map(|_| i).or(own.marking);
        }
    }
    own
}

/// All histograms added up.
fn sum(all: &Histograms) -> Vec<u64> {
    let mut out = vec![0u64; all.values().map(Vec::len).max().unwrap_or(0)];
    for counts in all.values() {
        for (sum, n) in out.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*n);
        }
    }
    out
}
