//! The reference lane: short cuts change nothing, and any link works.
use crate::common::*;
use crate::lossless::{dynamic, in_turns, kinds, lossy, pfc};
use crate::state::{busy, orders};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::sync::Arc;
use thalweg_machines::congestion::{ControllerSpec, dcqcn, dctcp, hpcc};
use thalweg_machines::link::{
    BatchedSpec, JitterShape, JitterSpec, LinkSpec as Direction, LossSpec as Losses, Step, SteppedSpec,
    Trace, TracedSpec, TransmitterSpec,
};
use thalweg_machines::point::{PointSpec, qcn as qcn_point, rocc as rocc_point};
use thalweg_machines::route::{conga, flowlet};
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::sharing::SharingSpec;
use thalweg_machines::slack::{SlackRule, SlackSpec};
use thalweg_machines::stage::{CarriedSpec, MarkAt, StageSpec, codel, red, red_ecn, step_ecn};
use thalweg_machines::transport::*;
use thalweg_net::spec::*;
use thalweg_units::notation::Length;
use thalweg_units::{Bytes, NodeId, PortId, Rate, Span, Time};

/// Both ways, to the end: all that can be seen from outside is the same.
pub fn agree(spec: NetworkSpec) -> Result<(), TestCaseError> {
    let reference = Network::new(NetworkSpec { shortcuts: false, ..spec.clone() });
    let (mut short, mut long) = (Network::new(spec).unwrap(), reference.unwrap());
    while short.run(1 << 20) {}
    loop {
        match long.run_checked(1 << 20, 97) {
            Ok(true) => {}
            Ok(false) => break,
            Err(law) => return Err(TestCaseError::fail(law.to_string())),
        }
    }
    for flow in (0..short.spec().flows.len()).map(thalweg_units::FlowId::from) {
        prop_assert_eq!(short.outcome(flow), long.outcome(flow), "flow {}", flow.0);
    }
    prop_assert_eq!(short.pauses(), long.pauses());
    prop_assert_eq!(short.deadlocks(), long.deadlocks());
    prop_assert_eq!(short.memory_peaks(), long.memory_peaks());
    prop_assert_eq!(short.lost_to_incidents(), long.lost_to_incidents());
    for port in (0..short.ports().len()).map(PortId::from) {
        let (mut a, mut b) = (short.totals(port), long.totals(port));
        if short.backlog(port).packets > 0 {
            // What still waits has been counted up to some decision.
            (a.waited, b.waited) = (0, 0);
        }
        prop_assert_eq!(a, b, "port {}", port.0);
    }
    let first = short.probes().queues.iter().zip(&long.probes().queues).find(|(a, b)| a != b);
    prop_assert_eq!(first, None);
    let first = short.probes().links.iter().zip(&long.probes().links).find(|(a, b)| a != b);
    prop_assert_eq!(first, None);
    prop_assert_eq!(short.take_recorded(true), long.take_recorded(true));
    prop_assert_eq!(short.digest(), long.digest());
    Ok(())
}

fn stages() -> Vec<StageSpec> {
    let step = |at| step_ecn::Params { threshold: Length::Packets(4), at, include_self: false }.into();
    let (min, max) = (Bytes::kb(1), Bytes::kb(12));
    let red_ecn = |at| red_ecn::Params { min, max, max_probability: 0.4, at }.into();
    let (target, interval, mtu) = (Span::from_us(5), Span::from_us(50), Bytes::new(1500));
    vec![
        StageSpec::tail_drop(),
        step(MarkAt::Arrival),
        step(MarkAt::Departure),
        red_ecn(MarkAt::Arrival),
        red_ecn(MarkAt::Departure),
        codel::Params { target, interval, mtu, ..Default::default() }.into(),
        red(),
    ]
}

/// Ticks and samples so frequent that flows of 40 KB meet many.
pub fn points() -> [PointSpec; 2] {
    let (update, reference) = (Span::from_us(3), Some(Bytes::kb(3)));
    let rocc = rocc_point::Params { update, reference, ..Default::default() };
    let qcn =
        qcn_point::Params { sample: Bytes::kb(3), equilibrium: Some(Bytes::kb(3)), ..Default::default() };
    [rocc.into(), qcn.into()]
}

fn red() -> StageSpec {
    StageSpec::Red(red::Params {
        min: 2.0,
        max: 8.0,
        max_probability: 0.2,
        weight: 0.05,
        gentle: true,
        ecn: Some(true),
        mean_packet: Bytes::new(1000),
    })
}

fn tcp(timestamps: bool) -> TcpSpec {
    let rto =
        RtoRule::Rfc6298 { initial: Span::from_us(200), min: Span::from_us(100), max: Span::from_ms(5) };
    let controller = ControllerSpec::Dctcp(dctcp::Params::default());
    let initial_window = Bytes::new(14_600);
    TcpSpec {
        controller,
        initial_window,
        rto,
        ecn: EcnSpec::Accurate,
        rank: Rank::Remaining,
        timestamps,
        ..wide_open()
    }
}

pub fn rdma(recovery: Recovery, timer: RdmaTimer, controller: ControllerSpec) -> TransportSpec {
    TransportSpec::Rdma(RdmaSpec {
        controller,
        payload: 1000,
        header: 48,
        extra_header: 0,
        answers: AnswerSpec { ack: 60, nack: 60 },
        recovery,
        cap: Some(60),
        acks: RdmaAcks::PerPacket,
        timer,
        timer_restart: TimerRestart::Progress,
        fetch_delay: Span::ZERO,
        rank: Rank::FromHere,
        notification: Notification::Packet { interval: Span::from_us(10), rule: CnpRule::Spaced, wire: 60 },
        rtt: RoundTrips {
            segment: 1,
            less_serialization: false,
            nacks: false,
            resent: false,
            noise: Span::ZERO,
        },
        segments: None,
        path_values: None,
    })
}

/// Reads what switches write into packets as they leave.
fn hpcc() -> TransportSpec {
    let roce = Recovery::GoBackN { repeat_nack: None };
    let params = hpcc::Params { base_rtt: Some(Span::from_us(20)), ..Default::default() };
    rdma(roce, RdmaTimer::Fixed { value: Span::from_us(500) }, ControllerSpec::Hpcc(params))
}

fn transports() -> Vec<TransportSpec> {
    let irn = Recovery::Irn { sack: true, nack_threshold: 1, enter_on_advance: false };
    let roce = Recovery::GoBackN { repeat_nack: None };
    let us = Span::from_us;
    let pair = RdmaTimer::Pair { low: us(100), high: us(320), max_in_flight: 3, max_rate_factor: 0 };
    vec![
        TransportSpec::Tcp(tcp(false)),
        TransportSpec::Tcp(tcp(true)),
        udp(1000, UdpPace::Poisson(Rate::from_gbps(3))),
        rdma(irn, pair, ControllerSpec::Fixed(Default::default())),
        rdma(roce, RdmaTimer::Fixed { value: us(500) }, ControllerSpec::Dcqcn(dcqcn::Params::default())),
        hpcc(),
        rdma(roce, RdmaTimer::Fixed { value: us(500) }, ControllerSpec::rocc()),
        rdma(irn, pair, ControllerSpec::qcn()),
    ]
}

/// A star, two racks, a chain of switches, two leaves under two spines; links of even and odd rates.
fn shape(which: usize, seed: u64, delay: Span) -> (u32, u32, Vec<LinkSpec>) {
    let odd = Rate::from_bps(9_876_543_211);
    let rate = |i: u32| if (seed + u64::from(i)).is_multiple_of(3) { odd } else { Rate::from_gbps(10) };
    let quantum = if seed.is_multiple_of(5) { Span::from_ns(1) } else { Span::ZERO };
    let link = |a, b| LinkSpec::fixed(NodeId(a), NodeId(b), rate(a), delay, quantum);
    let host = |per: u32| move |h: u32| 8 + h / per;
    let hosts = |at: &dyn Fn(u32) -> u32| (0..8).map(|h| link(h, at(h))).collect::<Vec<_>>();
    let (switches, mut links, trunks): (u32, Vec<LinkSpec>, Vec<(u32, u32)>) = match which {
        0 => (1, hosts(&|_| 8), vec![]),
        1 => (2, hosts(&host(4)), vec![(8, 9)]),
        2 => (4, hosts(&host(2)), vec![(8, 9), (9, 10), (10, 11)]),
        _ => (4, hosts(&host(4)), vec![(8, 10), (8, 11), (9, 10), (9, 11)]),
    };
    links.extend(trunks.into_iter().map(|(a, b)| link(a, b)));
    (8, switches, links)
}

#[derive(Clone, Debug)]
pub struct Choice {
    seed: u64,
    shape: usize,
    order: OrderSpec,
    limit: usize,
    stage: StageSpec,
    transport: TransportSpec,
    memory: usize,
    nic: usize,
    routing: usize,
    delay_ns: u64,
    control_first: bool,
    pause_control: bool,
    headers: bool,
    fails: bool,
}

pub fn choices(
    memories: std::ops::Range<usize>,
    nics: std::ops::Range<usize>,
) -> impl Strategy<Value = Choice> {
    let parts = (select(orders()), select(stages()), select(transports()));
    let first = (0u64..1000, 0usize..4, parts, 0usize..4, memories, nics);
    let second = (0usize..12, prop_oneof![Just(0u64), Just(1000), 1u64..3000]);
    let bits = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (first, second, bits).prop_map(|(a, b, c)| {
        let (seed, shape, (order, stage, transport), limit, memory, nic) = a;
        let ((routing, delay_ns), (control_first, pause_control, headers, fails)) = (b, c);
        let control_first = control_first && (memory > 1 || nic > 0);
        Choice {
            seed,
            shape,
            order,
            limit,
            stage,
            transport,
            memory,
            nic,
            routing,
            delay_ns,
            control_first,
            pause_control,
            headers,
            fails,
        }
    })
}

/// Policies that any transport can do with.
fn sharing(c: &Choice) -> SharingSpec {
    let all = [
        SharingSpec::dynamic(),
        SharingSpec::longest_queue(),
        SharingSpec::complete(),
        SharingSpec::partition(),
    ];
    let first = all[(c.seed / 4 % 4) as usize].clone();
    if first.needs().pushes_out && c.order.needs().keeps { SharingSpec::dynamic() } else { first }
}

pub fn build(c: &Choice) -> NetworkSpec {
    let delay = Span::from_ns(c.delay_ns);
    let (hosts, switches, links) = shape(c.shape, c.seed, delay);
    // Sizes are odd: a last datagram of a byte takes no time where clocks tick in nanoseconds.
    let mut flows = random_flows(c.seed, 40, u64::from(hosts), 40_000, 60_000);
    flows.iter_mut().enumerate().for_each(|(i, flow)| flow.class = (i % 4) as u8);
    let transport = c.transport.clone();
    let telemetry = transport == hpcc();
    let mut spec = network(hosts, switches, links, transport, flows);
    spec.stages = if telemetry { vec![StageSpec::int()] } else { vec![] };
    spec.seed = c.seed;
    let limit = match c.limit {
        0 => Limit::Unlimited,
        1 => Limit::Bytes(Bytes::new(12_000)),
        2 => Limit::Bytes(Bytes::new(40_000)),
        _ => Limit::Packets(9),
    };
    let per_input = c.memory >= 2;
    let limit = if per_input { Limit::Unlimited } else { limit };
    spec.disciplines = vec![DisciplineSpec {
        order: c.order.clone(),
        limit,
        front: Vec::new(),
        stage: c.stage,
        preemptive: false,
    }];
    spec.shared_buffer =
        (c.memory == 1).then(|| SharedBufferSpec { total: Bytes::new(60_000), sharing: sharing(c) });
    spec.inputs = match c.memory {
        2 => Some(lossy(20_000)),
        3 => Some(pfc(20_000, 15_000, 12_000)),
        4 => Some(dynamic(200_000)),
        _ => None,
    };
    if c.memory == 3 && c.seed.is_multiple_of(2) {
        spec.disciplines = vec![in_turns()];
    }
    spec.control_first = c.control_first;
    let order = [NicOrder::Queue, NicOrder::RoundRobin, NicOrder::HpccSimulator, NicOrder::Shortest][c.nic];
    spec.nic = NicSpec { order, pause_control: c.pause_control };
    let few = flowlet::Params { timeout: Span::from_us(2), entries: 7, ..Default::default() };
    let rule = match c.routing {
        0 => RouteSpec::ecmp(),
        1 => RouteSpec::spray_random(),
        2 => RouteSpec::spray_round_robin(),
        3 => RouteSpec::modulo(),
        4 => few.into(),
        5 => flowlet::Params { aging: flowlet::Aging::AgeBit, ..few }.into(),
        6 => RouteSpec::least_loaded(),
        7 => RouteSpec::entropy(),
        8 => RouteSpec::adaptive(),
        9 => RouteSpec::valiant(),
        10 => RouteSpec::ugal(),
        _ => conga::Params { timeout: Span::from_us(2), interval: Span::from_us(1), ..Default::default() }
            .into(),
    };
    let routed = rule.needs().source_routes;
    spec.routing = rule.into();
    if let TransportSpec::Rdma(rdma) = &mut spec.transports[0] {
        rdma.path_values =
            (c.routing == 7).then_some(PathValues { count: 9, recycle: c.seed.is_multiple_of(2) });
    }
    if c.headers {
        spec.carried = CarriedSpec::Slack;
        let rule = SlackRule::Constant(Span::from_us(50));
        spec.slack = Some(SlackSpec { rule, class_offset: Span::ZERO });
        spec.probes.record = Some(RecordSpec { hops: true });
    }
    if c.fails {
        let link = (c.seed % spec.links.len() as u64) as u32;
        let at = |us| Time::from_us(10 + c.seed % 30 + us);
        let (down, up) = (IncidentKind::LinkDown(link), IncidentKind::LinkUp(link));
        spec.incidents = vec![
            Incident { at: Time::ZERO, what: IncidentKind::PauseLoss(None, 0.1) },
            Incident { at: at(0), what: down },
            Incident { at: at(25), what: up },
        ];
        spec.convergence = Span::from_us(5);
    }
    if routed && !c.headers && (c.control_first || spec.inputs.is_none()) {
        spec.point = [None, None, Some(points()[0]), Some(points()[1])][(c.seed % 4) as usize];
    }
    let ports: Vec<PortId> = (0..2 * spec.links.len()).map(PortId::from).collect();
    spec.probes.queues = Some((Span::from_us(7), ports.clone()));
    spec.probes.links = Some((Span::from_us(11), ports));
    spec.probes.memory = per_input;
    spec.stop = StopSpec { until: Time::from_ms(4), when_measured_done: false, max_events: u64::MAX };
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every order, limit, stage and transport; memory of each port's own or shared by the outputs of a switch.
    #[test]
    fn short_cuts_change_nothing(choice in choices(0..2, 0..1)) {
        agree(build(&choice))?;
    }

    /// NICs that pull, control packets that go first, memory by input, with and without flow control.
    #[test]
    fn short_cuts_change_nothing_at_gated_ports(choice in choices(0..5, 0..4)) {
        agree(build(&choice))?;
    }
}

/// Four switches in a row, a link of which fails; every order.
fn rows(choice: impl Fn(OrderSpec) -> Choice) {
    for order in orders() {
        agree(build(&choice(order.clone()))).unwrap_or_else(|e| panic!("{order:?}: {e}"));
    }
}

fn row(order: OrderSpec) -> Choice {
    Choice {
        seed: 210,
        shape: 2,
        order,
        limit: 0,
        stage: StageSpec::tail_drop(),
        transport: TransportSpec::Tcp(tcp(false)),
        memory: 0,
        nic: 0,
        routing: 0,
        delay_ns: 587,
        control_first: false,
        pause_control: true,
        headers: false,
        fails: true,
    }
}

/// A point's clock ticks after all ports have decided at that instant, also those without an event for it.
#[test]
fn notices_of_a_clock_join_behind_the_decision_of_the_same_instant() {
    rows(row);
}

/// Queues held one by one at a port whose switch pauses a neighbour: the end of what it sent last is an event.
#[test]
fn a_paused_port_that_pauses_a_neighbour_has_an_event_for_its_last_bit() {
    let (stage, transport) = (stages()[4], transports()[3].clone());
    let gated = Choice {
        seed: 829,
        stage,
        transport,
        memory: 3,
        nic: 2,
        routing: 1,
        delay_ns: 1000,
        ..row(OrderSpec::fifo())
    };
    rows(|order| Choice { order, ..gated.clone() });
}

/// Eight hosts around a switch whose ports have a point: it is notified late of what has left, which needs no
/// event.
#[test]
fn a_port_with_a_congestion_point_has_no_event_for_the_end_of_a_transmission() {
    let (hosts, switches, links) = shape(0, 1, Span::from_us(1));
    let flows = random_flows(1, 40, u64::from(hosts), 40_000, 60_000);
    let roce = Recovery::GoBackN { repeat_nack: None };
    let rocc = rdma(roce, RdmaTimer::Fixed { value: Span::from_us(500) }, ControllerSpec::rocc());
    let mut spec = network(hosts, switches, links, rocc, flows);
    spec.point = Some(points()[0]);
    let events = |shortcuts| run(NetworkSpec { shortcuts, ..spec.clone() }).counters();
    let (short, long) = (events(true), events(false));
    assert_eq!(short.packet_hops, long.packet_hops);
    // Every second hop is out of the switch.
    assert!(short.events + short.packet_hops / 3 < long.events, "{} {}", short.events, long.events);
}

/// Two bursts to one host, and runs that end every 200 ns, some as a transmission does: a record says the same of what
/// still waits, whether its departure is known already or not.
#[test]
fn a_record_holds_no_service_that_begins_after_the_end() {
    let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
    let link = |host| LinkSpec::fixed(NodeId(host), NodeId(3), rate, delay, Span::ZERO);
    let flows = vec![flow(0, 2, 10_000, Time::ZERO), flow(1, 2, 10_000, Time::ZERO)];
    let mut spec = network(3, 1, (0..3).map(link).collect(), udp(1000, UdpPace::Burst), flows);
    spec.probes.record = Some(RecordSpec { hops: true });
    spec.stop.when_measured_done = false;
    for order in [OrderSpec::fifo(), OrderSpec::srpt()] {
        spec.disciplines[0].order = order;
        for step in 1..100 {
            spec.stop.until = Time::ZERO + Span::from_ns(200 * step);
            let seen = |shortcuts| {
                let mut sim = run(NetworkSpec { shortcuts, ..spec.clone() });
                let ports = (0..sim.ports().len()).map(PortId::from);
                let carried: Vec<_> = ports.map(|port| sim.carried(port)).collect();
                (sim.take_recorded(true), carried, sim.digest())
            };
            assert_eq!(seen(true), seen(false), "until {}", spec.stop.until);
        }
    }
}

/// Data of a byte with a clock of nanoseconds: the transmitter is free again at once, and what waits behind
/// is not forgotten.
#[test]
fn a_packet_that_takes_no_time_holds_nothing_up_at_a_gated_port() {
    let (rate, delay, tick) = (Rate::from_gbps(10), Span::from_us(1), Span::from_ns(1));
    let link = |host| LinkSpec::fixed(NodeId(host), NodeId(4), rate, delay, tick);
    let flows = (0..3).map(|src| flow(src, 3, 1, Time::ZERO)).collect();
    let mut spec = network(4, 1, (0..4).map(link).collect(), udp(1000, UdpPace::Burst), flows);
    let total = Bytes::new(60_000);
    spec.shared_buffer = Some(SharedBufferSpec { total, sharing: SharingSpec::dynamic() });
    spec.control_first = true;
    spec.nic.order = NicOrder::RoundRobin;
    agree(spec.clone()).unwrap();
    assert_eq!(run(spec).counters().flows_done, 3);
}

#[test]
fn every_kind_of_gated_network_agrees() {
    for seed in 1..3 {
        // (Outputs that wait for inputs are refused there.)
        let own = |spec: &NetworkSpec| spec.inputs.is_none_or(|inputs| !inputs.one_per_input);
        for (name, mut spec) in kinds(seed).into_iter().filter(|(_, spec)| own(spec)) {
            spec.stop.when_measured_done = false;
            agree(spec).unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}"));
        }
    }
}

#[test]
fn a_rate_that_changes_never_is_a_fixed_rate() {
    for seed in 0..4 {
        let fixed = busy(seed, OrderSpec::fifo(), StageSpec::tail_drop());
        let mut stepped = fixed.clone();
        for link in &mut stepped.links {
            for direction in [&mut link.ab, &mut link.ba] {
                let rate = direction.mean_rate();
                let steps = vec![Step { at: Span::ZERO, rate }];
                direction.transmitter = TransmitterSpec::Stepped(SteppedSpec { steps, period: None });
            }
        }
        assert_eq!(run(fixed).digest(), run(stepped).digest(), "seed {seed}");
    }
}

/// Host 0 – switch – host 1; the second link is `odd` in the direction of the data.
fn behind(odd: Direction, transport: TransportSpec, size: u64) -> NetworkSpec {
    let (rate, delay) = (Rate::from_gbps(1), Span::from_us(10));
    let mut spec = chain(&[(rate, delay), (rate, delay)], transport, vec![flow(0, 1, size, Time::ZERO)]);
    let link = &mut spec.links[1];
    // Links of a chain lead from the switch to host 1.
    assert_eq!((link.a, link.b), (NodeId(2), NodeId(1)));
    link.ab = odd;
    spec.stop.until = Time::from_ms(4_000);
    spec
}

fn traced(ms: &[u32]) -> TransmitterSpec {
    TransmitterSpec::Traced(TracedSpec { trace: Arc::new(Trace::from_ms(ms.to_vec()).unwrap()), bytes: 1504 })
}

fn gbps() -> Direction {
    Direction::fixed(Rate::from_gbps(1), Span::from_us(10))
}

#[test]
fn packets_leave_at_the_opportunities_of_a_trace_and_the_others_are_counted() {
    let odd = Direction { transmitter: traced(&[2, 3, 3, 7]), ..gbps() };
    let sim = run(behind(odd, udp(1500, UdpPace::Burst), 4 * 1500));
    // At 2, 3, 3 and 7 ms; 4 B of each opportunity are left over. 10 us later they are there.
    assert_eq!(sim.outcome(thalweg_units::FlowId(0)).received, Some(Time::from_us(7010)));
    let port = sim.totals(PortId(2));
    assert_eq!((port.packets, port.bytes, port.lost, port.unused), (4, 6000, 0, 4 * 4));
}

#[test]
fn what_a_link_loses_is_missed_like_a_drop_and_counted_apart() {
    let loss = Some(Losses::Independent { probability: 0.1 });
    let sim = run_checked(behind(Direction { loss, ..gbps() }, udp(1000, UdpPace::Burst), 2_000_000), 1);
    let (port, flow) = (sim.totals(PortId(2)), sim.outcome(thalweg_units::FlowId(0)));
    assert_eq!((port.packets, port.dropped, port.lost), (2000, 0, flow.counts.drops));
    assert!((150..250).contains(&port.lost), "{}", port.lost);
    assert_eq!(flow.delivered, 1000 * (2000 - port.lost));
    assert_eq!((sim.lost_on_links(), sim.counters().packets_dropped), (port.lost, 0));
    // A transport repairs it.
    let sim = run_checked(behind(Direction { loss, ..gbps() }, TransportSpec::Tcp(tcp(false)), 400_000), 1);
    let flow = sim.outcome(thalweg_units::FlowId(0));
    assert_eq!((flow.delivered, flow.counts.drops), (400_000, sim.totals(PortId(2)).lost));
    assert!(flow.counts.retransmitted > 0 && flow.counts.drops > 0);
    assert_eq!(flow.counts.data_drops, flow.counts.drops, "data alone goes that way");
}

/// 1000 B take 8 us, and the wire adds up to 80: a packet overtakes up to ten others.
#[test]
fn packets_that_overtake_each_other_land_in_the_order_of_their_arrivals() {
    let jitter = |reorder| Some(JitterSpec { shape: JitterShape::Uniform(Span::from_us(80)), reorder });
    let through = |reorder, transport| {
        run_checked(behind(Direction { jitter: jitter(reorder), ..gbps() }, transport, 500_000), 1)
    };
    let irn = transports()[3].clone();
    let (kept, free) = (through(false, irn.clone()), through(true, irn));
    let outcome = |sim: &Network| sim.outcome(thalweg_units::FlowId(0));
    assert_eq!((outcome(&kept).counts.retransmitted, outcome(&kept).delivered), (0, 500_000));
    assert!(
        outcome(&free).counts.retransmitted > 0,
        "a selective receiver takes what overtook for a loss behind it"
    );
    assert_eq!(outcome(&free).delivered, 500_000);
}

#[test]
fn a_batch_lands_together_and_an_outage_is_waited_for() {
    let (overhead, contention) = (Span::from_us(500), Span::ZERO);
    let batched = BatchedSpec { overhead, contention, ..BatchedSpec::of(Rate::from_gbps(1), 4) };
    let odd = Direction { transmitter: batched.into(), ..gbps() };
    let sim = run_checked(behind(odd, udp(1000, UdpPace::Burst), 5000), 1);
    // The first comes to the switch after 18 us and leaves alone, 8 + 500 us; then the other four, 32 + 500
    // us; 10 us more.
    assert_eq!(sim.outcome(thalweg_units::FlowId(0)).received, Some(Time::from_us(18 + 508 + 532 + 10)));
    let steps = [(0, 1), (20, 0), (900, 1)];
    let steps = steps.map(|(us, gbps)| Step { at: Span::from_us(us), rate: Rate::from_gbps(gbps) }).to_vec();
    let stepped = TransmitterSpec::Stepped(SteppedSpec { steps, period: None });
    let odd = Direction { transmitter: stepped, ..gbps() };
    let sim = run_checked(behind(odd, udp(1000, UdpPace::Burst), 2000), 1);
    // 2 us of the first, then 880 us of nothing, and its other 6 us; the second 8 us later.
    assert_eq!(sim.outcome(thalweg_units::FlowId(0)).received, Some(Time::from_us(906 + 8 + 10)));
}

/// Eight hosts around a switch, every link odd in its own way.
fn odd_star(seed: u64, order: OrderSpec, stage: StageSpec) -> NetworkSpec {
    let mut spec = busy(seed, order, stage);
    let step = |us, gbps| Step { at: Span::from_us(us), rate: Rate::from_gbps(gbps) };
    let steps = vec![step(0, 10), step(30, 2), step(50, 0), step(70, 25)];
    let stepped = TransmitterSpec::Stepped(SteppedSpec { steps, period: Some(Span::from_us(100)) });
    let (overhead, contention) = (Span::from_us(2), Span::from_us(3));
    let batched = BatchedSpec { overhead, contention, ..BatchedSpec::of(Rate::from_gbps(20), 8) };
    let us = Span::from_us;
    let jitter = |shape, reorder| Some(JitterSpec { shape, reorder });
    let bursts = Losses::Bursts { enter: 0.01, leave: 0.3, good: 0.0, bad: 1.0 };
    for (n, link) in spec.links.iter_mut().enumerate() {
        for (way, direction) in [&mut link.ab, &mut link.ba].into_iter().enumerate() {
            match (n + way) % 6 {
                0 => direction.transmitter = stepped.clone(),
                1 => direction.transmitter = batched.clone().into(),
                2 => direction.jitter = jitter(JitterShape::Uniform(us(8)), true),
                3 => direction.jitter = jitter(JitterShape::Exponential(us(2)), false),
                4 => direction.loss = Some(bursts),
                _ => {}
            }
        }
    }
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn on_odd_links_laws_hold_and_a_run_cut_anywhere_goes_on_alike(
        seed in 0u64..50, order: Index, stage: Index, shared: bool,
        cuts in proptest::collection::vec(1u64..4000, 1..4),
    ) {
        let mut spec = odd_star(seed, order.get(&orders()).clone(), *stage.get(&stages()));
        let total = Bytes::new(50_000);
        spec.shared_buffer = shared.then_some(SharedBufferSpec { total, sharing: SharingSpec::dynamic() });
        let straight = run_checked(spec.clone(), 53);
        prop_assert_eq!(straight.counters().flows_done, 60);
        let sim = run_cut(spec, cuts);
        prop_assert_eq!(sim.digest(), straight.digest());
        prop_assert_eq!(sim.counters(), straight.counters());
    }
}

#[test]
fn a_link_that_fails_loses_what_is_on_it_also_if_it_is_odd() {
    let mut spec = odd_star(3, OrderSpec::fifo(), StageSpec::tail_drop());
    // Batches one way, overtaking the other: that cannot fail; losses and a plain one can.
    let at = Time::from_us;
    let fails = |link| {
        let (down, up) = (IncidentKind::LinkDown(link), IncidentKind::LinkUp(link));
        vec![Incident { at: at(30), what: down }, Incident { at: at(60), what: up }]
    };
    spec.incidents = fails(1);
    let refused = Network::new(spec.clone()).unwrap_err().to_string();
    assert!(refused.contains("overtake each other cannot fail"), "{refused}");
    spec.incidents = fails(4);
    let sim = run_checked(spec, 1);
    assert!(sim.lost_to_incidents().packets > 0);
    assert_eq!(sim.counters().flows_done, 60);
}

#[test]
fn what_cannot_run_without_short_cuts_is_refused_with_the_reason() {
    let refused = |spec: NetworkSpec| Network::new(spec).unwrap_err().to_string();
    let loss = Some(Losses::Independent { probability: 0.1 });
    let lossy_link = || behind(Direction { loss, ..gbps() }, udp(1000, UdpPace::Burst), 5000);
    let mut spec = lossy_link();
    spec.disciplines[0] = DisciplineSpec { order: OrderSpec::lifo(), preemptive: true, ..fifo() };
    let reason = refused(spec);
    assert!(
        reason.starts_with("port 2: on links that are not plain") && reason.contains("interrupted"),
        "{reason}"
    );
    let mut spec = lossy_link();
    spec.cut_through = Some(CutThrough { header: 64 });
    let reason = refused(spec);
    assert!(reason.contains("cut-through"), "{reason}");
    let batched = BatchedSpec::of(Rate::from_gbps(1), 4);
    let odd = Direction { transmitter: batched.into(), ..gbps() };
    let mut spec = behind(odd, udp(1000, UdpPace::Burst), 5000);
    spec.inputs = Some(lossy(20_000));
    let reason = refused(spec);
    assert!(reason.contains("memory by input"), "{reason}");
    let mut spec = busy(1, OrderSpec::lifo(), StageSpec::tail_drop());
    spec.disciplines[0].preemptive = true;
    spec.shortcuts = false;
    assert!(refused(spec).contains("when ports run their whole machine"));
}
