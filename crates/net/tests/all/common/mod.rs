//! Small networks for tests, written out.
#![allow(dead_code, missing_docs)]

use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::stage::{CarriedSpec, StageSpec};
use thalweg_machines::transport::{
    AckSpec, EcnSpec, Flight, LossDetection, Rank, RtoRule, Sack, TcpOptions, TcpSpec, TransportSpec,
    UdpPace, UdpSpec,
};
use thalweg_net::spec::*;
use thalweg_units::{Bytes, HostId, NodeId, Rate, Span, Stream, Time};

pub fn fifo() -> DisciplineSpec {
    DisciplineSpec {
        order: OrderSpec::fifo(),
        limit: Limit::Unlimited,
        front: Vec::new(),
        stage: StageSpec::tail_drop(),
        preemptive: false,
    }
}

/// A window that never binds, one ACK per packet, 1460 + 40 B, ACKs of 40 B.
pub fn wide_open() -> TcpSpec {
    TcpSpec {
        controller: ControllerSpec::Fixed(Default::default()),
        mss: 1460,
        header: 40,
        ack_wire: 40,
        syn_wire: 40,
        initial_window: Bytes::new(1 << 40),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        rto: RtoRule::Fixed { value: Span::from_secs(100) },
        loss: LossDetection::DupAck { threshold: 3 },
        limited_transmit: false,
        impatient: false,
        sack: Sack::Blocks { blocks: 4, on_wire: false },
        ack: AckSpec { every: 1, delay: Span::ZERO },
        handshake: false,
        ecn: EcnSpec::Off,
        flight: Flight::Pipe,
        timestamps: false,
        probe_after: None,
        rank: Rank::None,
        acks_in_class: false,
        writes: None,
        options: TcpOptions::default(),
    }
}

pub fn udp(payload: u32, pace: UdpPace) -> TransportSpec {
    TransportSpec::Udp(UdpSpec { payload, header: 0, pace, rank: Rank::None })
}

pub fn link(a: u32, b: u32, rate: Rate, delay: Span) -> LinkSpec {
    LinkSpec::fixed(NodeId(a), NodeId(b), rate, delay, Span::ZERO)
}

pub fn flow(src: u32, dst: u32, size: u64, start: Time) -> FlowSpec {
    FlowSpec {
        src: HostId(src),
        dst: HostId(dst),
        size,
        start,
        until: Time::MAX,
        connection: u32::MAX,
        back_to_back: false,
        transport: 0,
        class: 0,
        measured: true,
        group: 0,
    }
}

/// A network of FIFO ports without limits.
pub fn network(
    hosts: u32,
    switches: u32,
    links: Vec<LinkSpec>,
    transport: TransportSpec,
    flows: Vec<FlowSpec>,
) -> NetworkSpec {
    NetworkSpec {
        seed: 1,
        hosts,
        further_nics: vec![],
        switches,
        port_discipline: vec![0; links.len() * 2],
        links,
        disciplines: vec![fifo()],
        shared_buffer: None,
        inputs: None,
        nic: NicSpec { order: NicOrder::Queue, pause_control: true },
        control_first: false,
        incidents: Vec::new(),
        convergence: Span::ZERO,
        carried: CarriedSpec::Nothing,
        stages: vec![],
        point: None,
        relief: None,
        slack: None,
        edge: None,
        replay: false,
        routing: RouteSpec::ecmp().into(),
        cut_through: None,
        transports: vec![transport],
        flows,
        works: Vec::new(),
        precedence: Precedence::default(),
        probes: ProbeSpec::default(),
        stop: StopSpec { until: Time::from_ms(1_000_000), when_measured_done: true, max_events: u64::MAX },
        ties: Default::default(),
        shortcuts: true,
    }
}

/// Host 0 – switches – host 1 with the given links.
pub fn chain(links: &[(Rate, Span)], transport: TransportSpec, flows: Vec<FlowSpec>) -> NetworkSpec {
    let switches = links.len() as u32 - 1;
    let node = |i: usize| {
        if i == 0 {
            0
        } else if i == links.len() {
            1
        } else {
            i as u32 + 1
        }
    };
    let links = links
        .iter()
        .enumerate()
        .map(|(i, (rate, delay))| link(node(i), node(i + 1), *rate, *delay))
        .collect();
    network(2, switches, links, transport, flows)
}

/// All hosts around switch number `hosts`.
pub fn star(
    hosts: u32,
    rate: Rate,
    delay: Span,
    transport: TransportSpec,
    flows: Vec<FlowSpec>,
) -> NetworkSpec {
    let links = (0..hosts).map(|h| link(h, hosts, rate, delay)).collect();
    network(hosts, 1, links, transport, flows)
}

/// So many flows among `hosts`, of up to `largest` bytes each, that start within so many nanoseconds.
pub fn random_flows(seed: u64, count: usize, hosts: u64, largest: u64, within: u64) -> Vec<FlowSpec> {
    let mut draw = Stream::new(seed, "test flows", 0);
    let mut flows: Vec<FlowSpec> = (0..count)
        .map(|_| {
            let src = draw.below(hosts);
            let dst = (src + 1 + draw.below(hosts - 1)) % hosts;
            flow(src as u32, dst as u32, 1 + draw.below(largest), Time::from_ns(draw.below(within)))
        })
        .collect();
    flows.sort_by_key(|f| f.start);
    flows
}

/// Two switches with four hosts each, and random flows among them.
pub fn racks(seed: u64, tcp: TcpSpec) -> NetworkSpec {
    let tcp = TcpSpec { initial_window: Bytes::new(40_000), ..tcp };
    let flows = random_flows(seed, 80, 8, 80_000, 100_000);
    let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
    let mut links: Vec<LinkSpec> = (0..8).map(|h| link(h, 8 + h / 4, rate, delay)).collect();
    links.push(link(8, 9, rate, delay));
    let mut spec = network(8, 2, links, TransportSpec::Tcp(tcp), flows);
    spec.stop.until = Time::from_ms(100);
    spec
}
