//! Builds an empty fabric from a specification.

use super::crossbar;
use super::deciders::Deciders;
use super::egress::Reference;
use super::gate::Gates;
use super::mechanisms::{HeaderStages, Mechanisms, Points};
use super::memory::{Memory, number_ports};
use super::outages::Outages;
use super::preemption::Preempted;
use super::programs;
use super::reliefs::Reliefs;
use super::{Fabric, Losses};
use crate::arena::Arena;
use crate::features::{self, pulls_when_idle};
use crate::paths::Paths;
use crate::port::{FarEnd, Lane, Port};
use crate::refused::{BuildError, inconsistent};
use std::collections::VecDeque;
use thalweg_machines::buffer::MOST_PORTS;
use thalweg_machines::pause::Reach;
use thalweg_machines::point::PointMachine;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, OutputQueue, Queue};
use thalweg_machines::sharing::Pool;
use thalweg_machines::stage::{HeaderStage, StageMachine};
use thalweg_net::dependencies::{Ways, elision};
use thalweg_net::routing::Routes;
use thalweg_net::spec::{IncidentKind, NetworkSpec, SharedBufferSpec};
use thalweg_units::{PortId, Rate, Stream};

impl Fabric {
    /// The empty fabric of a network whose paths have at most `longest` ports.
    ///
    /// # Errors
    /// If an algorithm refuses its parameters, or two exclude each other.
    pub fn new(spec: &NetworkSpec, routes: Routes, longest: usize) -> Result<Self, BuildError> {
        let BuiltPorts { mut ports, queues, mut egresses } = build_ports(spec)?;
        let switch_ports = number_ports(spec.hosts, spec.switches, &mut ports);
        programs::join_ports(spec, &ports, &mut egresses, &switch_ports).map_err(BuildError::Inconsistent)?;
        let mut memory = build_memory(spec, switch_ports)?;
        if let Some(shared) = &spec.shared_buffer {
            check_sharing(spec, shared)?;
            memory.pools = vec![Pool::new(shared.total, &shared.sharing); spec.switches as usize];
        }
        if spec.inputs.and_then(|inputs| inputs.queue_pauses()).is_some_and(|own| own.elide) {
            memory.exempt(&ports, &elision(&Ways::of(spec))?);
        }
        if spec.disciplines.iter().any(|kind| kind.order.needs().apart) {
            memory.notices_under_way = vec![VecDeque::new(); ports.len()];
        }
        if spec.trims() {
            memory.trimmed = vec![0; ports.len()];
        }
        crossbar::check(spec).map_err(BuildError::Inconsistent)?;
        let gated = ports.iter().any(|port| port.mode.gated);
        let writers = build_writers(spec)?;
        let points = Points::new(build_points(spec)?);
        let relief = Reliefs::new(spec, &memory.links).map_err(inconsistent)?;
        Ok(Self {
            gates: Gates::new(if gated { ports.len() } else { 0 }),
            ports,
            queues,
            egresses,
            memory,
            packets: Arena::default(),
            sides: Arena::default(),
            routes,
            paths: Paths::new(spec, longest).map_err(BuildError::Inconsistent)?,
            mechanisms: Mechanisms {
                headers: HeaderStages::new(spec.carried.make(longest), writers, spec.stages.len()),
                points,
                relief,
            },
            preempted: Preempted::default(),
            outages: Outages::new(spec),
            deciders: Deciders::default(),
            pushed_out: Vec::new(),
            lost: Losses::default(),
        })
    }
}

/// The ports, the queues of on-demand ports, and the machines of ports on the reference lane.
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
            let refused = |reason| BuildError::Discipline { port: id as u32, reason };
            let stream = Stream::new(spec.seed, "queue", id as u64);
            let stage = kind.stage.make(stream, link.mean_rate()).map_err(refused)?;
            let around = Around::of(spec, PortId::from(id));
            let lane = lane_of(spec, PortId::from(id), &stage, &around);
            let Around { in_switch, shared, counted, gated, pointed } = around;
            let crossed = in_switch && spec.inputs.is_some_and(|inputs| inputs.one_per_input);
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
                port.place.share_memory(from.0 - spec.hosts);
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
                // It has events for all its decisions, so that it never has to catch up.
                port.state.eager = true;
                port.place.pulls = !in_switch && spec.nic.order.pulls();
                egresses.push(Reference::new(spec, PortId::from(id)).map_err(refused)?);
            }
            ports.push(port);
        }
    }
    Ok(BuiltPorts { ports, queues, egresses })
}

/// Properties of a port that follow from its place in the network, not from its queue or link.
struct Around {
    in_switch: bool,
    /// The port shares memory with others of its switch.
    shared: bool,
    /// Packets are counted by priority, which needs a queue that sees every packet.
    counted: bool,
    gated: bool,
    /// The port has a congestion point, which is notified of every packet.
    pointed: bool,
}

impl Around {
    fn of(spec: &NetworkSpec, id: PortId) -> Self {
        let in_switch = spec.ends(id).0.0 >= spec.hosts;
        Self {
            in_switch,
            shared: in_switch && spec.shared_buffer.is_some(),
            counted: spec.probes.priority_histogram.is_some(),
            gated: is_gated(spec, in_switch),
            pointed: has_point(spec, id),
        }
    }
}

/// The fastest lane that supports everything that is required of a port.
fn lane_of(spec: &NetworkSpec, id: PortId, stage: &StageMachine, around: &Around) -> Lane {
    let (kind, link) = (&spec.disciplines[usize::from(spec.port_discipline[id.at()])], spec.direction(id));
    let &Around { in_switch, shared, counted, gated, pointed } = around;
    // At a port of infinite rate nothing waits, so its order does not matter.
    let instant = link.mean_rate() == Rate::INFINITE && !shared;
    // What a switch port writes into a departing packet depends on what has arrived in the meantime.
    let writes = in_switch && !spec.stages.is_empty();
    // Booked departures cannot be cancelled when the link fails.
    let fails = can_fail(spec, id.link().0);
    let booked = !counted && !gated && !pointed && (!fails || spec.cut_through.is_some());
    let express = (is_express(kind, stage, shared) && !writes || instant) && booked;
    // A queue on demand derives its idle time from the transmission times of its own packets. That is wrong where
    // the link has a clock, sends packets that bypass the queue, or fails.
    let idles_otherwise = gated || fails || !link.quantum().is_zero();
    let unseen = stage.needs().idle_time && idles_otherwise && !express && !kind.preemptive;
    // A stage that writes headers of explicit feedback sees every arrival and departure on the reference lane only.
    let reports = stage.needs().headers;
    // A port that is slowed down by its neighbour paces what it sends.
    let slowed = spec.inputs.and_then(|i| i.effects()).is_some_and(|pauses| pauses.reach == Reach::Rates);
    // The reference lane alone polls a queue that holds packets back again at the right instant.
    let holds_back = kind.order.needs().holds_back;
    // Stages in front of a queue belong to the machine of the whole port.
    let fronted = !kind.front.is_empty();
    // Queues report packets to congestion points as they arrive and leave; only on the reference lane is each of
    // these an event.
    let notifies = kind.order.needs().notifies && !instant;
    let recorded = spec.records_port(id);
    // The decisions of ports that run a policy together depend on each other, so none may be made late.
    let together = kind.order.needs().together.is_some() && !instant;
    let otherwise = unseen || reports || slowed || holds_back || fronted || notifies || recorded || together;
    if !link.is_plain() || otherwise || !spec.shortcuts && !instant {
        Lane::Reference
    } else if express {
        Lane::Express
    } else {
        Lane::OnDemand
    }
}

/// The stages that write as transmissions begin. Built for every port, so that they are found by index; only those
/// of switches are run.
fn build_writers(spec: &NetworkSpec) -> Result<Vec<StageMachine>, BuildError> {
    let mut writers = Vec::with_capacity(2 * spec.links.len() * spec.stages.len());
    for port in 0..2 * spec.links.len() as u32 {
        let rate = spec.direction(PortId(port)).mean_rate();
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

/// Whether a port has a congestion point: a switch port of finite rate.
fn has_point(spec: &NetworkSpec, id: PortId) -> bool {
    let finite = spec.direction(id).mean_rate() != Rate::INFINITE;
    spec.point.is_some() && spec.ends(id).0.0 >= spec.hosts && finite
}

/// The congestion points, by port; an empty table if the network has none.
fn build_points(spec: &NetworkSpec) -> Result<Vec<Option<PointMachine>>, BuildError> {
    let Some(point) = &spec.point else { return Ok(Vec::new()) };
    let make = |port: u32| {
        let rate = spec.direction(PortId(port)).mean_rate();
        let refused = |reason| BuildError::Discipline { port, reason };
        point.make(Stream::new(spec.seed, "point", u64::from(port)), rate).map_err(refused)
    };
    let ports = 0..2 * spec.links.len() as u32;
    ports.map(|port| has_point(spec, PortId(port)).then(|| make(port)).transpose()).collect()
}

/// Whether a port may send something else than what its queue names: see [`crate::fabric::gated`].
fn is_gated(spec: &NetworkSpec, in_switch: bool) -> bool {
    let pauses = spec.inputs.is_some_and(|i| i.pause.is_some());
    let pulls = || spec.nic.order.pulls() || pulls_when_idle(spec);
    pauses || spec.control_first || if in_switch { spec.inputs.is_some() } else { pulls() }
}

/// Checks that orders can push packets out if the sharing policy requires it.
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

/// Switch memory: per-ingress accounting, or the tables that other features need.
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
    if let Some(switch) = switch_ports.iter().position(|ports| ports.len() > MOST_PORTS) {
        let n = switch_ports[switch].len();
        return wrong(format!(
            "switch {switch} has {n} links; a switch with per-ingress accounting has at most {MOST_PORTS}"
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

/// Whether an incident makes the link fail.
fn can_fail(spec: &NetworkSpec, link: u32) -> bool {
    spec.incidents.iter().any(|incident| matches!(incident.what, IncidentKind::LinkDown(l) if l == link))
}

/// Whether departures are known on arrival: FIFO order, memory of its own, and nothing to do at departure.
fn is_express(kind: &DisciplineSpec, stage: &StageMachine, shared: bool) -> bool {
    let needs = stage.needs();
    kind.order == OrderSpec::default() && !needs.departures && !needs.headers && !shared
}
