//! The same instances through the production simulator: the candidates as ports and header hooks.
//!
//! A node α becomes two switches: A, whose port to W is the resource, and W, which takes no time and from where flows
//! part. Each flow has a switch V of its own after each node, and the link from W to V is as long as that flow's
//! propagation:
//!
//! ```text
//! source ─ A ══ W ─ V ─ A ══ W ─ V ─ destination        ══ the resource    ─ infinite rate
//! ```
//!
//! Packets that land at one instant land in the order of their links; those into A are numbered last and by
//! flow, so that at every node packets of one instant come in the order of (flow, packet), as in
//! [`crate::candidate`].

use crate::candidate::{Candidate, Replay, Rule, Ties};
use crate::headers::Headers;
use crate::instance::Instance;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::stage::{CarriedSpec, StageSpec};
use thalweg_machines::transport::{Rank, TransportSpec, UdpPace, UdpSpec};
use thalweg_net::spec::{
    FlowSpec, LinkSpec, NetworkSpec, NicOrder, NicSpec, PinnedPath, Precedence, ProbeSpec, RecordSpec,
    RoutingSpec, StopSpec, TieSpec,
};
use thalweg_sim::{Exit, Injection, Sim};
use thalweg_units::{FlowId, HostId, NodeId, Rate, Span, Time};

/// Bytes on the wire per unit of packet size.
const WIRE: i64 = 1125;

/// Switch ports per node: those of A, W and V.
const PORTS: usize = 3;

/// True if the simulator has this candidate: FIFO+ is there only as LSTF, and ties are always first come, first served.
pub fn can(candidate: Candidate) -> bool {
    candidate.ties == Ties::Fcfs && candidate.rule != Rule::FifoPlus
}

fn discipline(order: OrderSpec, preemptive: bool) -> DisciplineSpec {
    DisciplineSpec {
        order,
        limit: Limit::Unlimited,
        front: Vec::new(),
        stage: StageSpec::tail_drop(),
        preemptive,
    }
}

/// A rate at which `WIRE` bytes take exactly `ps`.
fn rate(ps: i64) -> Result<Rate, String> {
    let bits = 8 * WIRE * 1_000_000_000_000;
    if bits % ps != 0 {
        return Err(format!("no whole number of bits per second serves {WIRE} B in {ps} ps"));
    }
    Ok(Rate::from_bps((bits / ps).unsigned_abs()))
}

/// The network of `instance`, its nodes following `candidate`.
///
/// # Errors
/// If a node's service time is that of no rate.
pub fn network(instance: &Instance, candidate: Candidate) -> Result<NetworkSpec, String> {
    let (nodes, flows) = (instance.nodes.len(), instance.flows.len());
    let switches = 2 * flows;
    let a = |node: usize| NodeId::from(switches + node);
    let w = |node: usize| NodeId::from(switches + nodes + node);
    let mut first = switches + 2 * nodes;
    let v: Vec<Vec<NodeId>> = instance
        .flows
        .iter()
        .map(|flow| {
            let here = first;
            first += flow.path.len();
            (here..first).map(NodeId::from).collect()
        })
        .collect();
    let hub = NodeId::from(first);
    let link = |from, to, rate, ps: i64| {
        LinkSpec::fixed(from, to, rate, Span::from_ps(ps.unsigned_abs()), Span::ZERO)
    };
    let white = |from, to, ps| link(from, to, Rate::INFINITE, ps);
    let mut links = Vec::new();
    for (node, resource) in instance.nodes.iter().enumerate() {
        links.push(link(a(node), w(node), rate(resource.per_size)?, 0));
    }
    for (f, flow) in instance.flows.iter().enumerate() {
        for (k, &node) in flow.path.iter().enumerate() {
            links.push(white(w(node), v[f][k], flow.delays[k + 1]));
        }
        links.push(white(v[f][flow.path.len() - 1], NodeId::from(flows + f), 0));
    }
    // Carries nothing; the simulator wants every host to be reachable from every other.
    links.extend((0..nodes).map(|node| white(hub, a(node), 0)));
    for (f, flow) in instance.flows.iter().enumerate() {
        links.push(white(NodeId::from(f), a(flow.path[0]), flow.delays[0]));
        links.extend((1..flow.path.len()).map(|k| white(v[f][k - 1], a(flow.path[k]), 0)));
    }
    let mut port_discipline = vec![0; 2 * links.len()];
    (0..nodes).for_each(|node| port_discipline[2 * node] = 1);
    let (carried, add_transmission) = match candidate.rule {
        Rule::Lstf => (CarriedSpec::Slack, true),
        Rule::Edf => (CarriedSpec::Deadline, true),
        Rule::Omniscient => (CarriedSpec::Timetable, false),
        Rule::Priority | Rule::FifoPlus => (CarriedSpec::Nothing, false),
    };
    let path = |f: usize| {
        let through = instance.flows[f].path.iter().zip(&v[f]);
        let data: Vec<NodeId> = through.flat_map(|(&node, &v)| [a(node), w(node), v]).collect();
        PinnedPath { ack: data.iter().rev().copied().collect(), data }
    };
    let flow = |f: usize| FlowSpec {
        src: HostId::from(f),
        dst: HostId::from(flows + f),
        size: 1,
        start: Time::ZERO,
        until: Time::MAX,
        connection: u32::MAX,
        back_to_back: false,
        transport: 0,
        class: 0,
        measured: true,
        group: 0,
    };
    let udp = UdpSpec { payload: 1000, header: 0, pace: UdpPace::Burst, rank: Rank::None };
    Ok(NetworkSpec {
        seed: 0,
        hosts: switches as u32,
        further_nics: Vec::new(),
        switches: hub.0 + 1 - switches as u32,
        links,
        disciplines: vec![
            discipline(OrderSpec::fifo(), false),
            discipline(
                if add_transmission { OrderSpec::lstf() } else { OrderSpec::pifo() },
                candidate.preemptive,
            ),
        ],
        port_discipline,
        shared_buffer: None,
        inputs: None,
        nic: NicSpec { order: NicOrder::Queue, pause_control: true },
        control_first: false,
        incidents: Vec::new(),
        convergence: Span::ZERO,
        carried,
        stages: vec![],
        point: None,
        relief: None,
        slack: None,
        edge: None,
        replay: true,
        routing: RoutingSpec::pinned((0..flows).map(path).collect()),
        cut_through: None,
        transports: vec![TransportSpec::Udp(udp)],
        flows: (0..flows).map(flow).collect(),
        works: Vec::new(),
        precedence: Precedence::default(),
        probes: ProbeSpec { record: Some(RecordSpec { hops: true }), ..ProbeSpec::default() },
        stop: StopSpec { until: Time::MAX, when_measured_done: false, max_events: u64::MAX },
        ties: TieSpec::ByNumber,
        shortcuts: true,
    })
}

/// Runs the packets of `instance` through the simulator, every law of it checked: what became of each.
///
/// # Errors
/// If the network cannot be built, breaks a law, or loses a packet.
pub fn replay(instance: &Instance, headers: &Headers, candidate: Candidate) -> Result<Vec<Exit>, String> {
    let mut sim = Sim::new(network(instance, candidate)?).map_err(|e| e.to_string())?;
    for (p, packet) in instance.packets.iter().enumerate() {
        let flow = FlowId::from(packet.flow);
        let wire = (packet.size * WIRE) as u32;
        let (t_min, own) = (sim.t_min(flow, true, wire).ps(), instance.t_min(p));
        if t_min != own.unsigned_abs() {
            return Err(format!("packet {p}: t_min is {t_min} ps in the simulator and {own} ps here"));
        }
        let hops = headers.times.get(p).into_iter().flatten();
        let times: Vec<i64> = hops.flat_map(|&time| [time, 0, 0]).collect();
        sim.push(Injection {
            flow,
            forward: true,
            wire,
            number: p as u64,
            at: Time::from_ps(packet.arrival.unsigned_abs()),
            header: headers.value[p],
            times: &times,
        });
    }
    sim.push_end();
    while sim.run_checked(1_000, 100).map_err(|e| format!("{e:?}"))? {}
    let mut exits = sim.take_exits();
    exits.sort_by_key(|e| e.number);
    if exits.len() == instance.packets.len() {
        Ok(exits)
    } else {
        Err(format!("{} packets left", exits.len()))
    }
}

/// How many packets differ in their arrival at or departure from any node, exit, waiting or header.
pub fn differences(instance: &Instance, defined: &Replay, ran: &[Exit], candidate: Candidate) -> u64 {
    let ps = |time: Time| time.ps() as i64;
    let differs = |p: usize| {
        let (hops, exit) = (&defined.hops[p], &ran[p]);
        let moved = hops.iter().enumerate().any(|(k, hop)| {
            // Between A and W there is nothing but service.
            hop.arrive != ps(exit.arrivals[PORTS * k]) || hop.leave != ps(exit.arrivals[PORTS * k + 1])
        });
        // The timetable's last entry is that of a port that serves at once.
        let header = candidate.rule != Rule::Omniscient
            && hops.last().is_some_and(|hop| hop.header_out != exit.header);
        let waited = defined.waited_from(instance, p, 0).unsigned_abs();
        moved || header || defined.exit[p] != ps(exit.at) || waited != exit.waited.ps()
    };
    (0..instance.packets.len()).filter(|&p| differs(p)).count() as u64
}
