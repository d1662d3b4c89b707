//! State is data; two ways to run a FIFO port agree; laws hold.
use crate::common::*;
use proptest::prelude::*;
use thalweg_machines::congestion::{ControllerSpec, dctcp};
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, ads, fq_codel, policy, priority, srpt};
use thalweg_machines::sharing::SharingSpec;
use thalweg_machines::slack::{SlackRule, SlackSpec};
use thalweg_machines::stage::{CarriedSpec, EdgeSpec, MarkAt, StageSpec, red_ecn, step_ecn};
use thalweg_machines::transport::{EcnSpec, Rank, RtoRule, TransportSpec, UdpPace};
use thalweg_net::spec::*;
use thalweg_sim::diff::first_difference;
use thalweg_sim::sealed::{Kind, Sealing};
use thalweg_units::notation::Length;
use thalweg_units::{Bytes, FlowId, Rate, Span, Time};

/// Eight hosts around a switch, random flows, small buffers, marks and losses.
pub fn busy(seed: u64, order: OrderSpec, stage: StageSpec) -> NetworkSpec {
    let mut tcp = wide_open();
    tcp.controller = ControllerSpec::Dctcp(dctcp::Params {
        gain: 0.0625,
        initial_alpha: 1.0,
        growth: dctcp::Growth::Always,
        cut_without_marks: false,
        losses: dctcp::Losses::default(),
    });
    tcp.initial_window = Bytes::new(14_600);
    tcp.ecn = EcnSpec::Accurate;
    tcp.rank = Rank::Remaining;
    tcp.rto =
        RtoRule::Rfc6298 { initial: Span::from_us(100), min: Span::from_us(50), max: Span::from_ms(10) };
    let mut flows = random_flows(seed, 60, 8, 60_000, 100_000);
    // The last few follow others instead of the clock: one each.
    flows[50..].iter_mut().for_each(|follower| follower.start = Time::from_us(3));
    let end = |flow: u32| if flow.is_multiple_of(2) { End::Received } else { End::Acked };
    let leader =
        |flow: u32| (flow >= 50).then(|| Predecessor::Flow { flow: FlowId(flow - 40), end: end(flow) });
    let mut spec = star(8, Rate::from_gbps(10), Span::from_us(1), TransportSpec::Tcp(tcp), flows);
    spec.seed = seed;
    spec.precedence = Precedence::new((0..60).map(leader));
    spec.disciplines = vec![DisciplineSpec {
        order,
        limit: Limit::Bytes(Bytes::new(30_000)),
        front: Vec::new(),
        stage,
        preemptive: false,
    }];
    spec.stop.until = Time::from_ms(100);
    spec.probes.queues = Some((Span::from_us(5), (0..16).map(thalweg_units::PortId).collect()));
    spec
}

fn at(departure: bool) -> MarkAt {
    if departure { MarkAt::Departure } else { MarkAt::Arrival }
}
fn step(at_departure: bool) -> StageSpec {
    let threshold = Length::Packets(5);
    step_ecn::Params { threshold, at: at(at_departure), include_self: false }.into()
}

/// Marking by packets, bytes (some packets are longer than the threshold) and chance, on arrival and at departure.
pub fn marking(seed: u64) -> StageSpec {
    let at_departure = seed.is_multiple_of(2);
    let bytes = |n| Bytes::new(n);
    match seed / 2 % 4 {
        0 => step(at_departure),
        1 => step_ecn::Params {
            threshold: Length::Bytes(bytes(900)),
            at: at(at_departure),
            include_self: true,
        }
        .into(),
        2 => StageSpec::RedEcn(red_ecn::Params {
            min: bytes(800),
            max: bytes(9_000),
            max_probability: 0.3,
            at: at(at_departure),
        }),
        _ => StageSpec::tail_drop(),
    }
}

/// With chance, states, marks, several queues that share a buffer, and another policy later.
fn policies() -> [OrderSpec; 2] {
    let steps =
        "q = Queue(30 pkts); out = Port(q); q.congestion = (length >= 9, drop(1)).(length >= 4, drop(0.5));
                 q.postAdmAct = (length >= 3, mark);";
    let late = "late(a, b) = (a.arrival > b.arrival) q = Queue(9 pkts); out = Port(q); q.procPrio = late;";
    let change = policy::Change {
        at: Span::from_us(40),
        file: None,
        text: Some(policy::Text::new(late)),
        ports: None,
    };
    let shares = "least(a, b) = (a.schedState < b.schedState) long(a, b) = (a.currSize < b.currSize)
                  served(o, p) = (true, modify(schedState := schedState + p.size) & mark);
                  q[1..3] = Queue(9000 bytes); all = Buffer(15000 bytes, q[1..3]); out = Port(q[1..3]);
                  all.queuePrio = long; out.schedPrio = least; out.postSchedAct = served; out.returning = catchUp;";
    let by_flow = policy::Params { classify: policy::Classify::Flow, ..policy::Params::of(shares) };
    [by_flow.into(), policy::Params { changes: vec![change], ..policy::Params::of(steps) }.into()]
}

/// Those that any transport can do with: not of users, and not for transports that know trimmed packets.
pub fn orders() -> Vec<OrderSpec> {
    let (target, interval) = (Span::from_us(5), Span::from_us(50));
    let map = ads::Map::Dynamic { interval: Span::from_us(20), window: 5 };
    let for_any = |order: &OrderSpec| !order.needs().anything() && order.needs().trims.is_none();
    let mut all: Vec<OrderSpec> = OrderSpec::all().into_iter().filter(for_any).collect();
    // Without a policy there is none.
    all.retain(|order| *order != OrderSpec::policy());
    all.extend(policies());
    all.extend([
        priority::Params::from(4).into(),
        srpt::Params { flow_order: false }.into(),
        fq_codel::Params { bins: Some(4), target, interval, ..Default::default() }.into(),
        ads::Params { queues: 4, map, ..Default::default() }.into(),
    ]);
    all
}

#[test]
fn every_flow_completes_and_laws_hold_under_every_discipline() {
    for order in orders() {
        let sim = run(busy(3, order.clone(), step(false)));
        assert_eq!(sim.counters().flows_done, 60, "{order:?}");
        assert!(sim.counters().packets_dropped > 0, "{order:?}: the buffers are small on purpose");
    }
}

#[test]
fn express_and_on_demand_fifo_ports_give_the_same_results() {
    // Shared memory that never runs out forces events at the ends of transmissions; one class of priority is
    // FIFO that is dequeued as late as possible.
    for (seed, lazy) in (0..40).map(|i| (i / 2, i % 2 == 1)) {
        let express = run(busy(seed, OrderSpec::fifo(), step(false)));
        let order = if lazy { priority::Params::from(1).into() } else { OrderSpec::fifo() };
        let mut spec = busy(seed, order, step(false));
        if !lazy {
            spec.shared_buffer =
                Some(SharedBufferSpec { total: Bytes::new(1 << 40), sharing: SharingSpec::complete() });
        }
        let on_demand = run(spec);
        for flow in 0..60 {
            assert_eq!(
                express.outcome(FlowId(flow)),
                on_demand.outcome(FlowId(flow)),
                "seed {seed}, flow {flow}"
            );
        }
        let pairs = express.probes().queues.iter().zip(&on_demand.probes().queues);
        if let Some((a, b)) = pairs.into_iter().find(|(a, b)| a != b) {
            panic!("seed {seed}: {a:?} against {b:?}");
        }
        for (a, b) in express.ports().iter().zip(on_demand.ports()) {
            assert_eq!(a.totals(express.now()), b.totals(express.now()), "seed {seed}");
        }
    }
}

#[test]
fn deciding_late_and_deciding_at_once_give_the_same_results_under_every_discipline() {
    // FIFO takes no decisions: it is express. What holds back is on the reference lane, which decides at once.
    let ranked = orders().into_iter().filter(|o| *o != OrderSpec::fifo() && !o.needs().holds_back);
    for (order, seed) in ranked.flat_map(|o| (0..16).map(move |seed| (o.clone(), seed))) {
        let mut spec = busy(seed, order.clone(), marking(seed));
        let late = run(spec.clone());
        spec.shared_buffer =
            Some(SharedBufferSpec { total: Bytes::new(1 << 40), sharing: SharingSpec::complete() });
        let at_once = run(spec);
        for flow in 0..60 {
            assert_eq!(
                late.outcome(FlowId(flow)),
                at_once.outcome(FlowId(flow)),
                "{order:?}, {seed}, {flow}"
            );
        }
        assert_eq!(late.digest(), at_once.digest(), "{order:?}, seed {seed}");
        for (a, b) in late.ports().iter().zip(at_once.ports()) {
            assert_eq!(a.totals(late.now()), b.totals(late.now()), "{order:?}, seed {seed}");
        }
        assert!(late.counters().events < at_once.counters().events);
    }
}

#[test]
fn what_waits_is_lost_with_its_link_wherever_it_waits() {
    for (order, seed) in orders().into_iter().flat_map(|o| (0..8).map(move |seed| (o.clone(), seed))) {
        let mut spec = busy(seed, order.clone(), StageSpec::tail_drop());
        let at = |us| Time::from_us(20 + 7 * seed + us);
        let (down, up) = (IncidentKind::LinkDown(seed as u32), IncidentKind::LinkUp(seed as u32));
        spec.incidents = vec![Incident { at: at(0), what: down }, Incident { at: at(30), what: up }];
        let late = run_checked(spec.clone(), 1);
        assert!(late.lost_to_incidents().packets > 0, "{order:?}, seed {seed}: the link is busy");
        spec.shared_buffer =
            Some(SharedBufferSpec { total: Bytes::new(1 << 40), sharing: SharingSpec::complete() });
        let at_once = run_checked(spec, 100);
        assert_eq!(late.lost_to_incidents(), at_once.lost_to_incidents(), "{order:?}, seed {seed}");
        for flow in 0..60 {
            assert_eq!(
                late.outcome(FlowId(flow)),
                at_once.outcome(FlowId(flow)),
                "{order:?}, {seed}, {flow}"
            );
        }
    }
}

#[test]
fn a_run_is_a_function_of_its_scenario_and_seed() {
    for order in orders() {
        let digest = |seed| run(busy(seed, order.clone(), step(false))).digest();
        assert_eq!(digest(1), digest(1));
        assert_ne!(digest(1), digest(2));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn a_run_cut_anywhere_saved_and_resumed_ends_like_the_straight_run(
        seed in 0u64..50, which: proptest::sample::Index, departure: bool, watched: bool, preemptive: bool,
        cuts in proptest::collection::vec(1u64..4000, 1..4),
    ) {
        let mut spec = busy(seed, orders()[which.index(orders().len())].clone(), step(departure));
        if watched {
            spec.carried = CarriedSpec::Slack;
            let rule = SlackRule::VirtualClock { rates: vec![Rate::from_mbps(500)], ack_full_size: None };
            spec.slack = Some(SlackSpec { rule, class_offset: Span::ZERO });
            let (target, interval, refresh) = (Span::from_us(5), Span::from_us(50), Span::from_us(20));
            spec.edge = Some(EdgeSpec::Codel { target, interval, refresh });
            spec.probes.record = Some(RecordSpec { hops: true });
        }
        spec.disciplines[0].preemptive = preemptive && spec.disciplines[0].order.needs().overtakes;
        let mut straight = run(spec.clone());
        let mut sim = run_cut(spec, cuts);
        prop_assert_eq!(sim.digest(), straight.digest());
        prop_assert_eq!(sim.counters(), straight.counters());
        prop_assert_eq!(sim.check(), Ok(()));
        prop_assert_eq!(sim.take_recorded(true), straight.take_recorded(true));
    }
}

#[test]
fn damaged_and_foreign_snapshots_are_refused() {
    let sim = run(busy(1, OrderSpec::fifo(), step(false)));
    let saved = sim.save();
    assert!(Network::load(b"not a run").is_err());
    assert!(Network::load(&saved[..saved.len() / 2]).is_err());
    let mut other = saved.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(Network::load(&other).unwrap_err().to_string().contains("damaged"));
    let foreign = Sealing::begin(Vec::new(), Kind { magic: *b"thalwegN", layout: 6 }).finish();
    assert!(Network::load(&foreign).unwrap_err().to_string().contains("another version"));
}

#[test]
fn the_first_different_event_is_found() {
    let spec = busy(1, OrderSpec::fifo(), step(false));
    let mut same = (Network::new(spec.clone()).unwrap(), Network::new(spec.clone()).unwrap());
    assert_eq!(first_difference(&mut same.0, &mut same.1), None);
    let mut later = spec.clone();
    later.flows[30].size += 1460;
    let mut two = (Network::new(spec).unwrap(), Network::new(later).unwrap());
    let difference = first_difference(&mut two.0, &mut two.1).expect("they differ");
    assert!(difference.shared > 0);
    assert!(difference.left != difference.right || difference.left.is_some());
}

#[test]
fn datagrams_are_carried_at_their_pace_and_counted() {
    let rate = Rate::from_mbps(100);
    let mut spec = star(
        2,
        Rate::from_gbps(1),
        Span::from_us(1),
        udp(1000, UdpPace::Constant(rate)),
        vec![flow(0, 1, 125_000, Time::ZERO)],
    );
    spec.stop.until = Time::from_ms(20);
    let sim = run(spec);
    let outcome = sim.outcome(FlowId(0));
    // 125 datagrams, 80 µs apart, the first at once; then two links of 8 µs + 1 µs.
    assert_eq!(outcome.received, Some(Time::from_us(124 * 80 + 18)));
    assert_eq!(outcome.delivered, 125_000);
}
