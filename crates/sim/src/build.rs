//! From a specification to a network at time zero.

use crate::arena::Arena;
use crate::border::Border;
use crate::cx::Cx;
use crate::events::{Calendar, Events, Ties};
use crate::fabric::crossbar;
use crate::fabric::egress::Reference;
use crate::fabric::gate::Gates;
use crate::fabric::memory::{Memory, number_ports};
use crate::fabric::outages::Outages;
use crate::fabric::points;
use crate::fabric::preemption::Preempted;
use crate::fabric::programs;
use crate::fabric::relief;
use crate::fabric::reliefs::Reliefs;
use crate::fabric::stages::{Points, Stages};
use crate::fabric::{Fabric, Losses, failures};
use crate::features::{self, Features, pulls_when_idle, trims};
use crate::flows::Flows;
use crate::hosts::Hosts;
use crate::hosts::streams;
use crate::instruments::Instruments;
use crate::instruments::ports::PortRecords;
use crate::paths;
use crate::port::{FarEnd, Lane, Port};
use crate::sampling;
use crate::sim::Sim;
use std::collections::VecDeque;
use thalweg_machines::Invalid;
use thalweg_machines::pause::Reach;
use thalweg_machines::point::PointMachine;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, OutputQueue, Queue};
use thalweg_machines::sharing::Pool;
use thalweg_machines::stage::{HeaderStage, StageMachine};
use thalweg_machines::transport::TransportSpec;
use thalweg_net::dependencies::{Ways, elision};
use thalweg_net::routing::{RouteError, Routes};
use thalweg_net::spec::{IncidentKind, NetworkSpec, SharedBufferSpec, TieSpec};
use thalweg_units::{FlowId, HostId, PortId, Rate, Span, Stream, Time};

/// Who is first among equals at one instant.
fn ties(spec: &NetworkSpec) -> Ties {
    match spec.ties {
        TieSpec::Drawn => Ties::Drawn { seed: Stream::new(spec.seed, "ties", 0).bits() },
        TieSpec::ByNumber => Ties::ByNumber,
    }
}

/// The refusal of what belongs to no port and to no transport.
fn inconsistent(error: Invalid) -> BuildError {
    BuildError::Inconsistent(error.to_string())
}

/// Why a specification is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The graph cannot be routed.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A queue discipline refuses its parameters.
    #[error("port {port}: {reason}")]
    Discipline {
        /// Which port.
        port: u32,
        /// Why.
        reason: Invalid,
    },
    /// A transport or controller refuses its parameters.
    #[error("transport {transport}: {reason}")]
    Transport {
        /// Index in the specification.
        transport: usize,
        /// Why.
        reason: Invalid,
    },
    /// A table is inconsistent.
    #[error("{0}")]
    Inconsistent(String),
}

impl Sim {
    /// Builds the network.
    ///
    /// # Errors
    /// If the graph cannot be routed, or an algorithm refuses its parameters.
    pub fn new(spec: NetworkSpec) -> Result<Self, BuildError> {
        check_tables(&spec)?;
        let routes = Routes::new(spec.hosts, spec.switches, &spec.links, spec.seed)?;
        let longest = longest_path(&spec, &routes)?;
        let mut instruments = Instruments::new(&spec, longest);
        instruments.probes.ports = PortRecords::new(&spec).map_err(BuildError::Inconsistent)?;
        let fabric = build_fabric(&spec, routes, longest)?;
        let horizon = fabric.ports.iter().map(|p| (p.span(1500) + p.timing.delay).ps()).max().unwrap_or(1);
        let mut sim = Self {
            hosts: Hosts::new(&spec, |host| {
                spec.direction(PortId(fabric.routes.nic(host).0 ^ 1)).peak_rate()
            }),
            flows: Flows::new(&spec),
            cx: Cx {
                now: Time::ZERO,
                events: Calendar::sized(fabric.ports.len(), horizon, ties(&spec)),
                // A replay does nothing before it has input.
                stopped: spec.replay,
                awaits: false,
                features: Features::of(&spec, !fabric.queues.is_empty()),
                instruments,
                spec,
                border: Border::default(),
            },
            fabric,
            processed: 0,
            promises: Default::default(),
        };
        sim.dry_run_transports()?;
        sim.check_needs()?;
        if !sim.cx.spec.replay {
            sim.flows.schedule_next_start(&mut sim.cx, 0);
        }
        sim.fabric.arm(&mut sim.cx);
        sampling::arm(&mut sim.cx);
        failures::arm(&mut sim.cx);
        Ok(sim)
    }

    /// Makes a sender of every transport once, so that refusals come before the run, not in it: at the
    /// slowest line of the hosts that send with it, and of the longest of its flows.
    fn dry_run_transports(&self) -> Result<(), BuildError> {
        let mut slowest = vec![None; self.cx.spec.transports.len()];
        for flow in &self.cx.spec.flows {
            let line = self.fabric.ports[self.fabric.routes.nic(flow.src).at()].serializer.rate();
            let (known, size) = slowest[usize::from(flow.transport)].get_or_insert((line, flow.size));
            (*known, *size) = (line.min(*known), flow.size.max(*size));
        }
        for (transport, spec) in self.cx.spec.transports.iter().enumerate() {
            let Some((line_rate, size)) = slowest[transport] else { continue };
            let start = spec.start(line_rate, Span::from_us(1), Span::ZERO);
            spec.sender(FlowId(0), size, &start, Stream::new(0, "dry run", 0))
                .map_err(|reason| BuildError::Transport { transport, reason })?;
        }
        Ok(())
    }

    /// Transports find what they need of the network ([`thalweg_machines::transport::PathNeeds`]).
    fn check_needs(&self) -> Result<(), BuildError> {
        let spec = &self.cx.spec;
        for (transport, needs) in spec.transports.iter().map(TransportSpec::needs).enumerate() {
            let refuse =
                |reason: &'static str| Err(BuildError::Transport { transport, reason: reason.into() });
            if needs.pulls && !spec.nic.order.pulls() {
                return refuse(
                    "it decides which packet leaves when the link is free: NICs must pull from flows",
                );
            }
            let used = || spec.flows.iter().any(|flow| usize::from(flow.transport) == transport);
            if self.cx.features.trims && !needs.reads_trimmed && used() {
                return refuse(
                    "its receivers do not know packets of which switches have left the header alone",
                );
            }
            if needs.when_idle && spec.nic.order.pulls() {
                return refuse("it hands packets over when the NIC's queue is empty: NICs must have queues");
            }
            let searchable = |id: &PortId| {
                let kind = usize::from(spec.port_discipline[id.at()]);
                let ports = &self.fabric.ports;
                ports[id.at()].on_demand() && spec.disciplines[kind].order.needs().searchable
            };
            let mut nics = (0..spec.hosts).map(|host| self.fabric.routes.nic(HostId(host)));
            if needs.takes_back && (spec.nic.order.pulls() || !nics.all(|id| searchable(&id))) {
                return refuse(
                    "it takes packets out of the queue of its NIC: strict priority can be searched",
                );
            }
            if needs.drop_notices && self.cx.features.per_hop {
                return refuse(
                    "switches notify it of drops on the way that packets have come: no rule may choose packet by \
                     packet",
                );
            }
            if !needs.symmetric {
                continue;
            }
            let mut flows =
                (0..).map(FlowId).zip(&spec.flows).filter(|(_, f)| usize::from(f.transport) == transport);
            let back = |flow| mirrored(&self.fabric.lay_path(spec, flow), self.fabric.paths.middle());
            if self.cx.features.per_hop || !flows.all(|(flow, _)| back(flow)) {
                return refuse("what comes back must pass the same switches as the data, in reverse");
            }
        }
        Ok(())
    }
}

/// The second half of a path leads back over the links of the first. (Both directions of a link are neighbours.)
fn mirrored(path: &[PortId], middle: usize) -> bool {
    let there = path[..middle].iter().filter(|id| **id != PortId::NONE);
    let back = path[middle..].iter().filter(|id| **id != PortId::NONE);
    there.map(|id| id.0 ^ 1).eq(back.rev().map(|id| id.0))
}

/// The tables agree, and the simulator can do together what they ask for.
fn check_tables(spec: &NetworkSpec) -> Result<(), BuildError> {
    let wrong = |what: String| Err(BuildError::Inconsistent(what));
    spec.check().map_err(inconsistent)?;
    let lossless =
        spec.inputs.is_some() || spec.control_first || spec.nic.order.pulls() || pulls_when_idle(spec);
    if lossless && (spec.cut_through.is_some() || spec.disciplines.iter().any(|d| d.preemptive)) {
        return wrong(
            "per-ingress accounting, control first and round-robin NICs go with store and forward only"
                .into(),
        );
    }
    if !spec.stages.is_empty() && spec.disciplines.iter().any(|d| d.preemptive) {
        return wrong(
            "a transmission that may be interrupted has no instant at which headers are written".into(),
        );
    }
    let refused = points::refusal(spec).or_else(|| streams::refusal(spec)).or_else(|| relief::refusal(spec));
    if let Some(why) = refused {
        return wrong(why.into());
    }
    Ok(())
}

/// Ports on the longest path around failures, as routes will know of them one after another.
fn longest_around(spec: &NetworkSpec) -> usize {
    let mut incidents: Vec<_> = spec.incidents.iter().collect();
    incidents.sort_by_key(|incident| incident.at);
    let mut failed = vec![false; spec.links.len()];
    let mut longest = 0;
    for incident in incidents {
        match incident.what {
            IncidentKind::LinkDown(link) => failed[link as usize] = true,
            IncidentKind::LinkUp(link) => failed[link as usize] = false,
            IncidentKind::PauseLoss(..) => continue,
        }
        let routes = Routes::without(spec.hosts, spec.switches, &spec.links, spec.seed, &failed);
        longest = longest.max(routes.map_or(0, |routes| routes.diameter()));
    }
    longest
}

/// Ports on the longest path that a packet can take.
fn longest_path(spec: &NetworkSpec, routes: &Routes) -> Result<usize, BuildError> {
    let mut longest = routes.diameter();
    if !spec.incidents.is_empty() {
        longest = longest.max(longest_around(spec));
    }
    if let Some(paths) = spec.routing.paths() {
        for (flow, pinned) in paths.iter().enumerate() {
            let ends = &spec.flows[flow];
            let mut path = Vec::new();
            routes.pinned(flow as u32, ends.src, ends.dst, &pinned.data, &mut path)?;
            longest = longest.max(path.len());
            path.clear();
            routes.pinned(flow as u32, ends.dst, ends.src, &pinned.ack, &mut path)?;
            longest = longest.max(path.len());
        }
    }
    Ok(longest)
}

fn build_fabric(spec: &NetworkSpec, routes: Routes, longest: usize) -> Result<Fabric, BuildError> {
    let BuiltPorts { mut ports, queues, mut egresses } = build_ports(spec)?;
    let switch_ports = number_ports(spec.hosts, spec.switches, &mut ports);
    programs::join(spec, &ports, &mut egresses, &switch_ports).map_err(BuildError::Inconsistent)?;
    let mut memory = build_memory(spec, switch_ports)?;
    if let Some(shared) = &spec.shared_buffer {
        check_sharing(spec, shared)?;
        memory.pools = vec![Pool::new(shared.total, &shared.sharing); spec.switches as usize];
    }
    if spec.inputs.and_then(|inputs| inputs.queue_pauses()).is_some_and(|own| own.elide) {
        memory.elide(&ports, &elision(&Ways::of(spec))?);
    }
    if spec.disciplines.iter().any(|kind| kind.order.needs().apart) {
        memory.returning = vec![VecDeque::new(); ports.len()];
    }
    if trims(spec) {
        memory.trimmed = vec![0; ports.len()];
    }
    crossbar::check(spec).map_err(BuildError::Inconsistent)?;
    let gated = ports.iter().any(|port| port.mode.gated);
    let writers = build_writers(spec)?;
    let points = Points::new(build_points(spec)?);
    let relief = Reliefs::new(spec, &memory.links).map_err(inconsistent)?;
    Ok(Fabric {
        gates: Gates::new(if gated { ports.len() } else { 0 }),
        ports,
        queues,
        egresses,
        memory,
        packets: Arena::default(),
        sides: Arena::default(),
        routes,
        paths: paths::Paths::new(spec, longest).map_err(BuildError::Inconsistent)?,
        stages: Stages::new(spec.carried.make(longest), writers, spec.stages.len(), points, relief),
        preempted: Preempted::default(),
        outages: Outages::new(spec),
        tx_ready: Vec::new(),
        pushed_out: Vec::new(),
        lost: Losses::default(),
    })
}

/// The ports, and what those have that are not express.
struct BuiltPorts {
    ports: Vec<Port>,
    queues: Vec<Queue>,
    egresses: Vec<Reference>,
}

fn build_ports(spec: &NetworkSpec) -> Result<BuiltPorts, BuildError> {
    let mut ports = Vec::with_capacity(2 * spec.links.len());
    let (mut queues, mut egresses) = (Vec::new(), Vec::new());
    for link in &spec.links {
        let ways = [(link.a, link.b, &link.ab, &link.ba), (link.b, link.a, &link.ba, &link.ab)];
        for (from, to, link, back) in ways {
            let id = ports.len();
            let kind = &spec.disciplines[usize::from(spec.port_discipline[id])];
            let in_switch = from.0 >= spec.hosts;
            let shared = in_switch && spec.shared_buffer.is_some();
            let refused = |reason| BuildError::Discipline { port: id as u32, reason };
            let stream = Stream::new(spec.seed, "queue", id as u64);
            let stage = kind.stage.make(stream, link.mean_rate()).map_err(refused)?;
            // Packets per priority are counted where a queue is dequeued on demand.
            let counted = spec.probes.priority_histogram.is_some();
            // A port of infinite rate never holds anything back: its order does not matter.
            let instant = link.mean_rate() == Rate::INFINITE && !shared;
            let gated = is_gated(spec, in_switch);
            // What a switch port writes as a packet leaves depends on what came meanwhile.
            let writes = in_switch && !spec.stages.is_empty();
            // What is booked ahead cannot be taken back when the link fails.
            let fails = can_fail(spec, id as u32 / 2);
            // A congestion point is notified of every packet.
            let pointed = has_point(spec, PortId::from(id));
            let booked = !counted && !gated && !pointed && (!fails || spec.cut_through.is_some());
            let express = (is_express(kind, &stage, shared) && !writes || instant) && booked;
            // A queue knows how long its own packets take at the link's rate. That is not for how long the
            // port has been idle where the link has a clock, sends what bypasses the queue, or fails.
            let idles_otherwise = gated || fails || !link.quantum().is_zero();
            let unseen = stage.needs().idle_time && idles_otherwise && !express && !kind.preemptive;
            // A stage that reports arrivals and departures to senders sees all of a port on the reference
            // lane only.
            let reports = stage.needs().headers;
            // A neighbour that is slowed down paces what it sends.
            let slowed =
                spec.inputs.and_then(|i| i.effects()).is_some_and(|pauses| pauses.reach == Reach::Rates);
            // A queue that holds back reports until when only there.
            let holds_back = kind.order.needs().holds_back;
            // Stages in front of a queue are a whole port's.
            let fronted = !kind.front.is_empty();
            // One that notifies says so as packets come and leave, which only there are events of their own.
            let notifies = kind.order.needs().notifies && !instant;
            let recorded = spec.records_port(PortId::from(id));
            // What others have decided before matters to all that run a policy together.
            let together = kind.order.needs().together.is_some() && !instant;
            let otherwise =
                unseen || reports || slowed || holds_back || fronted || notifies || recorded || together;
            let crossed = in_switch && spec.inputs.is_some_and(|inputs| inputs.one_per_input);
            let lane = if !link.is_plain() || otherwise || !spec.shortcuts && !instant {
                Lane::Reference
            } else if express {
                Lane::Express
            } else {
                Lane::OnDemand
            };
            let limit = match kind.limit {
                Limit::Bytes(bytes) => (bytes.get(), u32::MAX),
                Limit::Packets(packets) => (u64::MAX, packets),
                Limit::Unlimited => (u64::MAX, u32::MAX),
            };
            let far_end = if to.0 < spec.hosts { FarEnd::Host } else { FarEnd::Switch };
            let mut port = Port::new(link, to, far_end, lane, limit, stage);
            if let Some(cut) = spec.cut_through
                && to.0 >= spec.hosts
            {
                if lane != Lane::Express {
                    let reason = "cut-through needs FIFO queues with memory of their own on plain links, and neither a priority \
                         histogram nor telemetry";
                    return Err(refused(reason.into()));
                }
                port.cut_through(cut.header);
            }
            port.place.from_host = !in_switch;
            if shared {
                port.place.pool = from.0 - spec.hosts;
            }
            if lane == Lane::OnDemand {
                port.queue = queues.len() as u32;
                port.mode.preemptive = kind.preemptive;
                port.state.eager = shared || crossed || kind.preemptive || kind.order.needs().anything();
                let queue = kind.make_between(stream, link.mean_rate(), back.mean_rate()).map_err(refused)?;
                port.mode.gated = gated;
                port.place.pulls = !in_switch && spec.nic.order.pulls();
                let sees_all = port.state.eager || counted || pointed;
                port.set_bypass_limit(if sees_all { 0 } else { queue.bypass_limit() });
                queues.push(queue);
            }
            if crossed {
                crossbar::serves(spec, kind, lane).map_err(refused)?;
            }
            if lane == Lane::Reference {
                port.queue = egresses.len() as u32;
                port.mode.gated = true;
                // It has events of its own, so no other part catches up with it.
                port.state.eager = true;
                port.place.pulls = !in_switch && spec.nic.order.pulls();
                egresses.push(Reference::new(spec, PortId::from(id)).map_err(refused)?);
            }
            ports.push(port);
        }
    }
    Ok(BuiltPorts { ports, queues, egresses })
}

/// The stages behind the queues: of every port, so that they need no table; only those of switches are ever run.
fn build_writers(spec: &NetworkSpec) -> Result<Vec<StageMachine>, BuildError> {
    let mut writers = Vec::with_capacity(2 * spec.links.len() * spec.stages.len());
    for port in 0..2 * spec.links.len() as u32 {
        let rate = spec.links[port as usize / 2].direction(PortId(port)).mean_rate();
        for (number, stage) in spec.stages.iter().enumerate() {
            let stream = Stream::new(spec.seed, "stage", u64::from(port) << 8 | number as u64);
            let refused = |reason| BuildError::Discipline { port, reason };
            let stage = stage.make(stream, rate).map_err(refused)?;
            if stage.needs() != (thalweg_machines::stage::Needs { headers: true, ..Default::default() }) {
                return Err(refused(
                    "a stage that does not only write headers belongs into the queue".into(),
                ));
            }
            writers.push(stage);
        }
    }
    Ok(writers)
}

/// A switch port that a queue can form at.
fn has_point(spec: &NetworkSpec, id: PortId) -> bool {
    let finite = spec.links[id.at() / 2].direction(id).mean_rate() != Rate::INFINITE;
    spec.point.is_some() && spec.ends(id).0.0 >= spec.hosts && finite
}

/// Congestion points, by port; none at all if the network has none.
fn build_points(spec: &NetworkSpec) -> Result<Vec<Option<PointMachine>>, BuildError> {
    let Some(point) = &spec.point else { return Ok(Vec::new()) };
    let make = |port: u32| {
        let rate = spec.links[port as usize / 2].direction(PortId(port)).mean_rate();
        let refused = |reason| BuildError::Discipline { port, reason };
        point.make(Stream::new(spec.seed, "point", u64::from(port)), rate).map_err(refused)
    };
    let ports = 0..2 * spec.links.len() as u32;
    ports.map(|port| has_point(spec, PortId(port)).then(|| make(port)).transpose()).collect()
}

/// A port that may send something else than what its queue names: see [`crate::fabric`], gated ports.
fn is_gated(spec: &NetworkSpec, in_switch: bool) -> bool {
    let pauses = spec.inputs.is_some_and(|i| i.pause.is_some());
    let pulls = || spec.nic.order.pulls() || pulls_when_idle(spec);
    pauses || spec.control_first || if in_switch { spec.inputs.is_some() } else { pulls() }
}

/// Who shares memory can do what its policy wants of it.
fn check_sharing(spec: &NetworkSpec, shared: &SharedBufferSpec) -> Result<(), BuildError> {
    if let Some(problem) = shared.sharing.problems().into_iter().next() {
        return Err(BuildError::Inconsistent(format!("{}: {}", shared.sharing.key(), problem.reason)));
    }
    let keeps = spec.disciplines.iter().find(|kind| kind.order.needs().keeps);
    if let Some(kind) = keeps.filter(|_| shared.sharing.needs().pushes_out) {
        let (sharing, order) = (shared.sharing.key(), kind.order.key());
        let why = format!("the sharing {sharing} has queues give up packets, and {order} keeps what waits");
        return Err(BuildError::Inconsistent(why));
    }
    Ok(())
}

/// The memory of switches with per-ingress accounting.
fn build_memory(spec: &NetworkSpec, switch_ports: Vec<Vec<PortId>>) -> Result<Memory, BuildError> {
    let Some(inputs) = spec.inputs else {
        let mut memory = Memory::default();
        if spec.shared_buffer.is_some() || features::programs(spec) {
            memory.links = switch_ports;
        }
        return Ok(memory);
    };
    let wrong = |what: String| Err(BuildError::Inconsistent(what));
    if spec.shared_buffer.is_some() {
        return wrong("per-ingress accounting and memory shared by outputs exclude each other".into());
    }
    if let Some(switch) = switch_ports.iter().position(|ports| ports.len() > 256) {
        let n = switch_ports[switch].len();
        return wrong(format!(
            "switch {switch} has {n} links; a switch with per-ingress accounting has at most 256"
        ));
    }
    let own_limit =
        |id: usize| spec.disciplines[usize::from(spec.port_discipline[id])].limit != Limit::Unlimited;
    if let Some(id) = switch_ports.iter().flatten().find(|id| own_limit(id.at())) {
        return wrong(format!(
            "port {}: with per-ingress accounting, output queues have no limit of their own",
            id.0
        ));
    }
    let peaks = spec.probes.memory;
    Memory::new(inputs, switch_ports, spec.port_discipline.len(), peaks).map_err(inconsistent)
}

/// The link is to fail some time.
fn can_fail(spec: &NetworkSpec, link: u32) -> bool {
    spec.incidents.iter().any(|incident| matches!(incident.what, IncidentKind::LinkDown(l) if l == link))
}

/// FIFO order with memory of its own and nothing to do at departure: departures are known on arrival.
fn is_express(kind: &DisciplineSpec, stage: &StageMachine, shared: bool) -> bool {
    let needs = stage.needs();
    kind.order == OrderSpec::default() && !needs.departures && !needs.headers && !shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_mirrored_if_it_leads_back_over_the_same_links() {
        let path = |ports: [u32; 6]| ports.map(PortId);
        let none = PortId::NONE.0;
        assert!(mirrored(&path([0, 4, none, 5, 1, none]), 3));
        assert!(!mirrored(&path([0, 4, none, 7, 1, none]), 3), "another way back");
        assert!(!mirrored(&path([0, 4, none, 5, none, none]), 3));
    }
}
