//! From a specification to a network at time zero.

use crate::arena::Arena;
use crate::events::{Event, Events, Phase, Tag};
use crate::flow::{FlowOutcome, FlowRecord, NO_CONNECTION};
use crate::ideal::{Shape, completion};
use crate::port::{Lane, Port};
use crate::probe::{CONTROLLERS, LINKS, Probes, QUEUES};
use crate::routing::{RouteError, Routes, flow_pick};
use crate::sim::{Counters, Sim, Spray, Tally};
use crate::spec::{NetworkSpec, RoutingSpec};
use thalweg_machines::aqm::AqmMachine;
use thalweg_machines::buffer::SharedPool;
use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::transport::TransportSpec;
use thalweg_units::{FlowId, NodeId, PortId, Span, Stream, Time, mix64};

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
        let (ports, queues) = build_ports(&spec)?;
        let mut longest = routes.diameter();
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
        let horizon = ports.iter().map(|p| (p.serializer.span(1500) + p.delay).ps()).max().unwrap_or(1);
        let probes = Probes {
            measured_total: spec.flows.iter().filter(|f| f.measured).count() as u64,
            priorities: vec![
                Vec::new();
                if spec.probes.priority_histogram.is_some() { ports.len() } else { 0 }
            ],
            ..Probes::default()
        };
        let mut sim = Self {
            now: Time::ZERO,
            events: Q::sized(ports.len(), horizon),
            processed: 0,
            digest: 0,
            stopped: false,
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
            followers: followers(&spec),
            next_start: 0,
            spray,
            tally: Tally::default(),
            probes,
            chooser: PortId::NONE,
            given_up: Vec::new(),
            scratch: Default::default(),
            ports,
            spec,
        };
        sim.dry_run_transports()?;
        sim.schedule_next_start(0);
        sim.arm();
        Ok(sim)
    }

    /// The first wake-up of every control plane and probe.
    fn arm(&mut self) {
        for (id, port) in self.ports.iter().enumerate().filter(|(_, p)| p.lane == Lane::Ordered) {
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
        for (probe, _) in wanted.into_iter().filter(|(_, on)| *on) {
            self.events.push(Event { at: Time::ZERO, tag: Tag::new(Phase::Sample, probe) });
        }
    }

    /// Asks every transport for a sender once, so that refusals come before the run, not in it.
    fn dry_run_transports(&self) -> Result<(), BuildError> {
        use thalweg_machines::congestion::Start;
        use thalweg_machines::transport::Sender;
        for (transport, spec) in self.spec.transports.iter().enumerate() {
            let start = Start {
                mss: match spec {
                    TransportSpec::Tcp(tcp) => tcp.mss,
                    TransportSpec::Udp(udp) => udp.payload,
                },
                initial_window: match spec {
                    TransportSpec::Tcp(tcp) => tcp.initial_window,
                    TransportSpec::Udp(_) => thalweg_units::Bytes::MAX,
                },
                max_window: thalweg_units::Bytes::MAX,
                initial_threshold: thalweg_units::Bytes::MAX,
                line_rate: thalweg_units::Rate::from_gbps(1),
                base_rtt: Span::from_us(1),
                time_quantum: Span::ZERO,
            };
            Sender::new(spec, FlowId(0), 1, &start, Stream::new(0, "dry run", 0))
                .map_err(|reason| BuildError::Transport { transport, reason })?;
        }
        Ok(())
    }

    /// The instant of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What this network was built from.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        Counters {
            events: self.processed,
            packet_hops: self.ports.iter().map(|p| p.totals.packets).sum(),
            packets_dropped: self.tally.dropped,
            packets_marked: self.ports.iter().map(|p| p.totals.marked).sum(),
            flows_started: self.tally.flows_started,
            flows_done: self.tally.flows_done,
            flows_total: self.spec.flows.len() as u64,
            measured_done: self.tally.measured_done,
            measured_total: self.probes.measured_total,
        }
    }

    /// The ports: rates, counters, queues.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// What the probes have seen.
    pub fn probes(&self) -> &Probes {
        &self.probes
    }

    /// Switches, hosts and paths.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// A hash of everything that has happened and of every flow's result.
    pub fn digest(&self) -> u64 {
        let mut digest = self.digest;
        for flow in 0..self.spec.flows.len() {
            let record = self.record(FlowId::from(flow));
            let fields = [record.started.ps(), record.received.ps(), record.acked.ps(), record.delivered];
            for field in fields {
                digest = mix64(digest ^ field).wrapping_add(flow as u64);
            }
        }
        digest
    }

    /// What became of a flow.
    pub fn outcome(&self, flow: FlowId) -> FlowOutcome {
        let record = self.record(flow);
        let (ideal, ideal_acked) = self.ideal(flow);
        let reached = |t: Time| (t != Time::MAX).then_some(t);
        FlowOutcome {
            started: reached(record.started),
            received: reached(record.received),
            acked: reached(record.acked),
            delivered: record.delivered,
            sent: record.sent,
            retransmitted: record.retransmitted,
            timeouts: record.timeouts,
            drops: record.drops,
            ideal,
            ideal_acked,
        }
    }

    /// A flow's completion times alone on its path at line rate: at the receiver, at the sender.
    ///
    /// Endless flows have none: zero.
    pub fn ideal(&self, flow: FlowId) -> (Span, Span) {
        let spec = &self.spec.flows[flow.at()];
        if spec.size == u64::MAX {
            return (Span::ZERO, Span::ZERO);
        }
        let (mut data, mut ack) = (Vec::new(), Vec::new());
        if let RoutingSpec::Pinned { paths } = &self.spec.routing {
            let pinned = &paths[flow.at()];
            // Checked when the network was built.
            let _ = self.routes.pinned(flow.0, spec.src, spec.dst, &pinned.data, &mut data);
            let _ = self.routes.pinned(flow.0, spec.dst, spec.src, &pinned.ack, &mut ack);
        } else {
            let pick = |ack| flow_pick(&self.spec.routing, spec.src, spec.dst, flow.0, ack);
            self.routes.path(spec.src, spec.dst, pick(false), &mut data);
            self.routes.path(spec.dst, spec.src, pick(true), &mut ack);
        }
        let (payload, header, ack_wire) = match &self.spec.transports[spec.transport as usize] {
            TransportSpec::Tcp(tcp) => (tcp.mss, tcp.header, tcp.ack_wire),
            TransportSpec::Udp(udp) => (udp.payload, udp.header, 0),
        };
        let packets = spec.size.div_ceil(u64::from(payload));
        let last = (spec.size - (packets - 1) * u64::from(payload)) as u32 + header;
        let shape = Shape { packets, full: payload + header, last, ack: ack_wire };
        let handshake = match &self.spec.transports[spec.transport as usize] {
            TransportSpec::Tcp(tcp) if tcp.handshake => {
                let syn = Shape { packets: 1, full: tcp.syn_wire, last: tcp.syn_wire, ack: tcp.ack_wire };
                completion(&self.ports, &data, &ack, syn).1
            }
            TransportSpec::Udp(_) => {
                let (received, _) = completion(&self.ports, &data, &[], shape);
                return (received, received);
            }
            _ => Span::ZERO,
        };
        let (received, acked) = completion(&self.ports, &data, &ack, shape);
        (handshake + received, handshake + acked)
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
            let lane = if is_express(kind, &aqm, shared) { Lane::Express } else { Lane::Ordered };
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
                    return Err(refused("cut-through needs FIFO queues with memory of their own".into()));
                }
                port.cut_header = cut.header;
            }
            if shared {
                port.pool = from.0 - spec.hosts;
            }
            if lane == Lane::Ordered {
                port.queue = queues.len() as u32;
                queues.push(kind.make(stream, link.rate).map_err(refused)?);
            }
            ports.push(port);
        }
    }
    Ok((ports, queues))
}

/// FIFO order with memory of its own and nothing to do at departure: departures are known on arrival.
fn is_express(kind: &DisciplineSpec, aqm: &AqmMachine, shared: bool) -> bool {
    kind.order == OrderSpec::Fifo && !aqm.marks_at_departure() && !shared
}

/// Where a port is: its owner and its far end.
pub fn ends(spec: &NetworkSpec, port: PortId) -> (NodeId, NodeId) {
    let link = &spec.links[port.at() / 2];
    if port.0.is_multiple_of(2) { (link.a, link.b) } else { (link.b, link.a) }
}
