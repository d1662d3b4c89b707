//! From a specification to a network at time zero.

use crate::arena::Arena;
use crate::connection::connections;
use crate::events::{Event, Events, Phase, Tag};
use crate::flow::{FlowRecord, NO_CONNECTION};
use crate::gate::Gate;
use crate::header::journal;
use crate::incident::Outages;
use crate::memory::{Memory, number_ports};
use crate::port::{Lane, Port};
use crate::preempt::Services;
use crate::probe::{CARRIED, CONTROLLERS, LINKS, Probes, QUEUES};
use crate::recording::Recorder;
use crate::replay::Replay;
use crate::routing::{RouteError, Routes};
use crate::sim::{Sim, Spray, Tally};
use crate::spec::{HopRule, IncidentKind, NetworkSpec, RoutingSpec};
use thalweg_machines::aqm::AqmMachine;
use thalweg_machines::buffer::SharedPool;
use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::transport::TransportSpec;
use thalweg_units::{FlowId, NodeId, PortId, Rate, Span, Stream, Time, mix64};

/// Why a specification is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
        reason: String,
    },
    /// A transport or controller refuses its parameters.
    #[error("transport {transport}: {reason}")]
    Transport {
        /// Index in the specification.
        transport: usize,
        /// Why.
        reason: String,
    },
    /// A table is inconsistent.
    #[error("{0}")]
    Inconsistent(String),
}

impl<Q: Events> Sim<Q> {
    /// Builds the network.
    ///
    /// # Errors
    /// If the graph cannot be routed, or an algorithm refuses its parameters.
    pub fn new(spec: NetworkSpec) -> Result<Self, BuildError> {
        check_tables(&spec)?;
        let routes = Routes::new(spec.hosts, spec.switches, &spec.links, mix64(spec.seed))?;
        let (mut ports, queues) = build_ports(&spec)?;
        let switch_ports = number_ports(spec.hosts, spec.switches, &mut ports);
        let memory = build_memory(&spec, &switch_ports)?;
        let mut longest = routes.diameter();
        if !spec.incidents.is_empty() {
            // Around a failure it may be further; nobody passes a switch twice.
            longest = longest.max(spec.switches.min(63) as usize + 1);
        }
        if let RoutingSpec::Pinned { paths } = &spec.routing {
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
        let spray = (0..spec.hosts)
            .map_while(|host| match &spec.routing {
                RoutingSpec::SprayRandom => {
                    Some(Spray::Random(Stream::new(spec.seed, "spray", u64::from(host))))
                }
                RoutingSpec::SprayRoundRobin { offsets } => {
                    Some(Spray::Counter(offsets.get(host as usize).copied().unwrap_or(0)))
                }
                _ => None,
            })
            .collect();
        let pools = match &spec.shared_buffer {
            Some(shared) => {
                let pool = SharedPool::new(shared.total, shared.alpha).map_err(BuildError::Inconsistent)?;
                vec![pool; spec.switches as usize]
            }
            None => Vec::new(),
        };
        let horizon = ports.iter().map(|p| (p.span(1500) + p.delay).ps()).max().unwrap_or(1);
        let probes = Probes {
            measured_total: spec.flows.iter().filter(|f| f.measured).count() as u64,
            priorities: vec![
                Vec::new();
                if spec.probes.priority_histogram.is_some() { ports.len() } else { 0 }
            ],
            ..Probes::default()
        };
        let watching = spec.replay
            || spec.hop_rule != HopRule::Plain
            || spec.slack.is_some()
            || spec.probes.record.is_some();
        let touching = watching || !queues.is_empty();
        let gated = ports.iter().any(|port| port.gated);
        let mut sim = Self {
            gates: vec![Gate::default(); if gated { ports.len() } else { 0 }],
            memory,
            switch_ports,
            counting: spec.inputs.is_some(),
            releases_at_start: spec.inputs.is_some_and(|i| i.release_at_start),
            may_divert: spec.control_first || spec.nic.order.pulls(),
            pulling: spec.nic.order.pulls(),
            unreliable: !spec.incidents.is_empty(),
            outages: Outages::new(&spec),
            intact: None,
            detours: Vec::new(),
            shared: connections(&spec.flows),
            pauses: Vec::new(),
            deadlocks: Vec::new(),
            came_by: PortId::NONE,
            now: Time::ZERO,
            events: Q::sized(ports.len(), horizon),
            processed: 0,
            digest: 0,
            // A replay does nothing before it is fed.
            stopped: spec.replay,
            packets: Arena::default(),
            sides: Arena::default(),
            routes,
            queues,
            pools,
            records: vec![FlowRecord::default(); spec.flows.len()],
            connections: vec![NO_CONNECTION; spec.flows.len()],
            sending: Vec::new(),
            receiving: Vec::new(),
            free_connections: Vec::new(),
            paths: Vec::new(),
            stride: 2 * longest,
            wide: ports.len() > crate::lookahead::WIDE,
            followers: followers(&spec),
            next_start: 0,
            spray,
            tally: Tally::default(),
            probes,
            choosers: Vec::new(),
            given_up: Vec::new(),
            scratch: Default::default(),
            watching,
            touching,
            clocks: Vec::new(),
            edges: Vec::new(),
            services: Services::default(),
            journal: journal(&spec, longest),
            recorder: spec.probes.record.filter(|_| !spec.replay).map(|_| Recorder::default()),
            replay: spec.replay.then(|| Replay::new(longest)),
            ports,
            spec,
        };
        sim.dry_run_transports()?;
        if !sim.spec.replay {
            sim.schedule_next_start(0);
        }
        sim.arm();
        sim.arm_incidents();
        Ok(sim)
    }

    /// The first wake-up of every control plane and probe.
    fn arm(&mut self) {
        for (id, port) in self.ports.iter().enumerate().filter(|(_, p)| p.is_ordered()) {
            if let Some(at) = self.queues[port.queue as usize].wake() {
                self.events.push(Event { at, tag: Tag::new(Phase::Tick, id as u32) });
            }
        }
        let probes = &self.spec.probes;
        let wanted = [
            (QUEUES, probes.queues.is_some()),
            (LINKS, probes.links.is_some()),
            (CONTROLLERS, probes.controllers.is_some()),
        ];
        if let Some((from, _)) = probes.carried {
            self.events.push(Event { at: from, tag: Tag::new(Phase::Sample, CARRIED) });
        }
        for (probe, _) in wanted.into_iter().filter(|(_, on)| *on) {
            self.events.push(Event { at: Time::ZERO, tag: Tag::new(Phase::Sample, probe) });
        }
    }

    /// Asks every transport for a sender once, so that refusals come before the run, not in it: at the
    /// slowest line of the hosts that send with it.
    fn dry_run_transports(&self) -> Result<(), BuildError> {
        use thalweg_machines::congestion::Start;
        use thalweg_machines::transport::Sender;
        let mut slowest = vec![None; self.spec.transports.len()];
        for flow in &self.spec.flows {
            let line = self.ports[self.routes.nic(flow.src).at()].serializer.rate();
            let known = slowest[usize::from(flow.transport)].get_or_insert(line);
            *known = line.min(*known);
        }
        for (transport, spec) in self.spec.transports.iter().enumerate() {
            let Some(line_rate) = slowest[transport] else { continue };
            let (base_rtt, time_quantum) = (Span::from_us(1), Span::ZERO);
            let (mss, initial_window) = match spec {
                TransportSpec::Tcp(tcp) => (tcp.mss, tcp.initial_window),
                TransportSpec::Udp(udp) => (udp.payload, thalweg_units::Bytes::MAX),
                TransportSpec::Rdma(rdma) => (rdma.payload, thalweg_units::Bytes::MAX),
            };
            let mut start = Start {
                flow: FlowId(0),
                mss,
                initial_window,
                max_window: thalweg_units::Bytes::MAX,
                initial_threshold: thalweg_units::Bytes::MAX,
                line_rate,
                base_rtt,
                time_quantum,
            };
            if let TransportSpec::Rdma(rdma) = spec {
                start = rdma.start(line_rate, base_rtt, time_quantum);
            }
            Sender::new(spec, FlowId(0), 1, &start, Stream::new(0, "dry run", 0))
                .map_err(|reason| BuildError::Transport { transport, reason })?;
        }
        Ok(())
    }
}

fn check_tables(spec: &NetworkSpec) -> Result<(), BuildError> {
    let wrong = |what: String| Err(BuildError::Inconsistent(what));
    let nodes = spec.hosts + spec.switches;
    if let Some(l) = spec.links.iter().position(|l| l.a.0 >= nodes || l.b.0 >= nodes || l.a == l.b) {
        return wrong(format!("link {l} does not join two nodes of the network"));
    }
    if spec.port_discipline.len() != 2 * spec.links.len() {
        return wrong("every port needs a queue discipline".into());
    }
    if spec.port_discipline.iter().any(|d| usize::from(*d) >= spec.disciplines.len()) {
        return wrong("a port names a queue discipline that does not exist".into());
    }
    for (i, flow) in spec.flows.iter().enumerate() {
        if flow.src == flow.dst || flow.src.0 >= spec.hosts || flow.dst.0 >= spec.hosts || flow.size == 0 {
            return wrong(format!("flow {i} does not join two hosts of the network with at least one byte"));
        }
        if flow.until != Time::MAX && flow.size != u64::MAX {
            return wrong(format!("flow {i} ends with its size and cannot be stopped"));
        }
        if usize::from(flow.transport) >= spec.transports.len() {
            return wrong(format!("flow {i} names a transport that does not exist"));
        }
        if flow.after != FlowId::NONE && flow.after.at() >= i {
            return wrong(format!("flow {i} must come after the flow that it follows"));
        }
    }
    let by_clock = spec.flows.iter().filter(|f| f.after == FlowId::NONE).map(|f| f.start);
    if !by_clock.is_sorted() {
        return wrong("flows are not sorted by their start".into());
    }
    for incident in &spec.incidents {
        let known = match incident.what {
            IncidentKind::LinkDown(link) | IncidentKind::LinkUp(link) => (link as usize) < spec.links.len(),
            IncidentKind::PauseLoss(port, _) => port.is_none_or(|port| port.at() < 2 * spec.links.len()),
        };
        if !known {
            return wrong("an incident names a link that does not exist".into());
        }
    }
    let lossless = spec.inputs.is_some() || spec.control_first || spec.nic.order.pulls();
    if lossless && (spec.cut_through.is_some() || spec.disciplines.iter().any(|d| d.preemptive)) {
        return wrong(
            "memory by input, control first and round-robin NICs go with store and forward only".into(),
        );
    }
    if let RoutingSpec::Pinned { paths } = &spec.routing
        && paths.len() != spec.flows.len()
    {
        return wrong(format!("{} pinned paths for {} flows", paths.len(), spec.flows.len()));
    }
    Ok(())
}

/// Per flow: its first follower, and its next sibling in its predecessor's list.
fn followers(spec: &NetworkSpec) -> Vec<(FlowId, FlowId)> {
    if spec.flows.iter().all(|f| f.after == FlowId::NONE) {
        return Vec::new();
    }
    let mut list = vec![(FlowId::NONE, FlowId::NONE); spec.flows.len()];
    for (i, flow) in spec.flows.iter().enumerate().rev() {
        if flow.after != FlowId::NONE {
            list[i].1 = list[flow.after.at()].0;
            list[flow.after.at()].0 = FlowId::from(i);
        }
    }
    list
}

type PortsAndQueues = (Vec<Port>, Vec<thalweg_machines::schedule::Queue>);

fn build_ports(spec: &NetworkSpec) -> Result<PortsAndQueues, BuildError> {
    let mut ports = Vec::with_capacity(2 * spec.links.len());
    let mut queues = Vec::new();
    for link in &spec.links {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            let id = ports.len();
            let kind = &spec.disciplines[usize::from(spec.port_discipline[id])];
            let in_switch = from.0 >= spec.hosts;
            let shared = in_switch && spec.shared_buffer.is_some();
            let refused = |reason| BuildError::Discipline { port: id as u32, reason };
            let stream = Stream::new(spec.seed, "queue", id as u64);
            let aqm = AqmMachine::new(&kind.aqm, stream, link.rate).map_err(refused)?;
            // Packets per priority are counted where a queue is asked.
            let counted = spec.probes.priority_histogram.is_some();
            // A port of infinite rate never holds anything back: its order does not matter.
            let instant = link.rate == Rate::INFINITE && !shared;
            let gated = is_gated(spec, in_switch);
            let express = (is_express(kind, &aqm, shared) || instant) && !counted && !gated;
            let lane = if express { Lane::Express } else { Lane::Ordered };
            let limit = match kind.limit {
                Limit::Bytes(bytes) => (bytes.get(), u32::MAX),
                Limit::Packets(packets) => (u64::MAX, packets),
                Limit::Unlimited => (u64::MAX, u32::MAX),
            };
            let mut port = Port::new(link, to, to.0 < spec.hosts, lane, limit, aqm);
            if let Some(cut) = spec.cut_through
                && to.0 >= spec.hosts
            {
                if lane == Lane::Ordered {
                    let reason =
                        "cut-through needs FIFO queues with memory of their own, and no priority histogram";
                    return Err(refused(reason.into()));
                }
                port.cut_through(cut.header);
            }
            port.from_host = !in_switch;
            if shared {
                port.pool = from.0 - spec.hosts;
            }
            if lane == Lane::Ordered {
                port.queue = queues.len() as u32;
                port.preemptive = kind.preemptive;
                port.eager = shared || kind.preemptive || matches!(kind.order, OrderSpec::Custom { .. });
                let queue = kind.make(stream, link.rate).map_err(refused)?;
                port.gated = gated;
                port.pulls = !in_switch && spec.nic.order.pulls();
                port.let_wait_alone(if port.eager || counted { 0 } else { queue.passes() });
                queues.push(queue);
            }
            ports.push(port);
        }
    }
    Ok((ports, queues))
}

/// A port that may send something else than what its queue says: see [`crate::gate`].
fn is_gated(spec: &NetworkSpec, in_switch: bool) -> bool {
    let pfc = spec.inputs.is_some_and(|i| i.pfc.is_some());
    pfc || spec.control_first || if in_switch { spec.inputs.is_some() } else { spec.nic.order.pulls() }
}

/// The memory of switches that count by input.
fn build_memory(spec: &NetworkSpec, switch_ports: &[Vec<PortId>]) -> Result<Memory, BuildError> {
    let Some(inputs) = spec.inputs else { return Ok(Memory::default()) };
    let wrong = |what: String| Err(BuildError::Inconsistent(what));
    if spec.shared_buffer.is_some() {
        return wrong("memory by input and memory shared by outputs exclude each other".into());
    }
    if let Some(switch) = switch_ports.iter().position(|ports| ports.len() > 256) {
        let n = switch_ports[switch].len();
        return wrong(format!(
            "switch {switch} has {n} links; a switch that counts by input has at most 256"
        ));
    }
    let own_limit =
        |id: usize| spec.disciplines[usize::from(spec.port_discipline[id])].limit != Limit::Unlimited;
    if let Some(id) = switch_ports.iter().flatten().find(|id| own_limit(id.at())) {
        return wrong(format!(
            "port {}: with memory by input, output queues have no limit of their own",
            id.0
        ));
    }
    let links: Vec<usize> = switch_ports.iter().map(Vec::len).collect();
    let peaks = spec.probes.memory;
    Memory::new(inputs, &links, spec.port_discipline.len(), peaks).map_err(BuildError::Inconsistent)
}

/// FIFO order with memory of its own and nothing to do at departure: departures are known on arrival.
fn is_express(kind: &DisciplineSpec, aqm: &AqmMachine, shared: bool) -> bool {
    kind.order == OrderSpec::Fifo && !aqm.acts_at_departure() && !shared
}

/// Where a port is: its owner and its far end.
pub fn ends(spec: &NetworkSpec, port: PortId) -> (NodeId, NodeId) {
    let link = &spec.links[port.at() / 2];
    if port.0.is_multiple_of(2) { (link.a, link.b) } else { (link.b, link.a) }
}
