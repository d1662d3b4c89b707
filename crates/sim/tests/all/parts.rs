//! A network that is run in parts is the same network.
use crate::common::*;
use crate::lossless::pfc;
use crate::reference::{Choice, build, choices};
use proptest::prelude::*;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, priority};
use thalweg_machines::transport::UdpPace;
use thalweg_net::spec::*;
use thalweg_sim::Halt;
use thalweg_sim::parts::{Partitioned, Plan};
use thalweg_units::{Bytes, NodeId, PortId, Rate, Span, Time};

/// In so many parts, with a pause every so many events: all that can be seen from outside is as if it had been run
/// whole. How many parts there were; 0: it cannot be divided.
fn agree(spec: NetworkSpec, parts: usize, threads: usize, events: u64) -> Result<u16, TestCaseError> {
    let mut whole = Network::new(spec.clone()).unwrap();
    let Ok(plan) = Plan::new(&whole, parts) else { return Ok(0) };
    let mut parted = Partitioned::new(&whole, plan);
    while whole.run(1 << 20) {}
    for turn in 1.. {
        if parted.run_until(threads, events, Time::MAX) == Halt::Ended {
            break;
        }
        // What one number of threads has saved another takes up.
        if turn % 5 == 0 {
            let saved = parted.save_after(vec![]);
            let threads = 1 + (threads + turn) % 3;
            parted = Partitioned::load(&saved).unwrap().unwrap();
            prop_assert_eq!(&parted.save_after(vec![]), &saved);
            prop_assert_eq!(&parted.spec(), whole.spec());
            parted.run_until(threads, events, Time::MAX);
        }
    }
    let view = parted.view();
    prop_assert_eq!(view.now(), whole.now());
    prop_assert_eq!(view.spec(), whole.spec());
    for flow in (0..whole.spec().flows.len()).map(thalweg_units::FlowId::from) {
        prop_assert_eq!(view.outcome(flow), whole.outcome(flow), "flow {}", flow.0);
    }
    for port in (0..whole.ports().len()).map(PortId::from) {
        let (mut a, mut b) = (view.totals(port), whole.totals(port));
        if view.backlog(port).packets > 0 {
            // What still waits has been counted up to some decision.
            (a.waited, b.waited) = (0, 0);
        }
        prop_assert_eq!(a, b, "port {}", port.0);
        prop_assert_eq!(view.carried(port), whole.carried(port), "port {}", port.0);
    }
    let first = view.probes().queues.iter().zip(&whole.probes().queues).find(|(a, b)| a != b);
    prop_assert_eq!(first, None);
    let first = view.probes().links.iter().zip(&whole.probes().links).find(|(a, b)| a != b);
    prop_assert_eq!(first, None);
    let first = view.probes().controllers.iter().zip(&whole.probes().controllers).find(|(a, b)| a != b);
    prop_assert_eq!(first, None);
    prop_assert_eq!(view.probes(), whole.probes());
    prop_assert_eq!(view.pauses(), whole.pauses());
    prop_assert_eq!(view.deadlocks(), whole.deadlocks());
    prop_assert_eq!(view.memory_peaks(), whole.memory_peaks());
    let counters = |sim: &Network| thalweg_sim::Counters { events: 0, ..sim.counters() };
    prop_assert_eq!(counters(&view), counters(&whole));
    prop_assert_eq!(view.digest(), whole.digest());
    Ok(parted.plan().parts())
}

/// What a network must do without to be divided, as the drawn ones have it.
fn divisible(choice: &Choice, done: bool) -> NetworkSpec {
    let mut spec = build(choice);
    spec.incidents = vec![];
    spec.stop.when_measured_done = done;
    let flows = (0..spec.flows.len()).map(thalweg_units::FlowId::from).collect();
    spec.probes.controllers = Some((Span::from_us(5), flows));
    spec.probes.completions = Some((Time::ZERO, Time::MAX));
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_change_nothing(
        choice in choices(0..5, 0..4), parts in 2usize..8, threads in 1usize..4, done: bool, events in 1u64..3000,
    ) {
        agree(divisible(&choice, done), parts, threads, events)?;
    }
}

/// Pauses, their causes and accounts cross with everything else.
#[test]
fn every_kind_of_flow_control_is_divided() {
    for seed in 1..4 {
        for (name, spec) in crate::lossless::kinds(seed) {
            let parts = agree(spec, 4, 2, 1777).unwrap_or_else(|why| panic!("{name}, seed {seed}: {why}"));
            assert_eq!(parts, 2, "{name}");
        }
    }
}

/// A second loop that sends what its NIC has time for, or that is taken back from there.
#[test]
fn what_leaves_when_a_nic_has_nothing_else_is_divided() {
    use crate::rc3::{FLUSH, PULL, PUSH, rc3};
    for (seed, mode) in [PUSH, PULL, FLUSH].into_iter().cycle().enumerate().take(9) {
        let order = priority::Params { classes: 5, control: priority::Control::ByClass };
        let kind = DisciplineSpec { order: order.into(), ..fifo() };
        let small = DisciplineSpec { limit: Limit::Bytes(Bytes::new(30_000)), ..kind.clone() };
        let mut spec = NetworkSpec { transports: vec![rc3(mode)], ..racks(seed as u64, wide_open()) };
        let of_host = |id: u32| spec.ends(PortId(id)).0.0 < spec.hosts;
        spec.port_discipline = (0..2 * spec.links.len() as u32).map(|id| u16::from(!of_host(id))).collect();
        spec.disciplines = vec![kind, small];
        spec.stop.until = Time::from_ms(500);
        assert_eq!(agree(spec, 2, 2, 1777).unwrap_or_else(|why| panic!("{seed}: {why}")), 2);
    }
}

/// What follows senders stays with them; what follows arrivals joins both ends.
#[test]
fn flows_that_wait_for_their_own_host_s_are_divided() {
    let after = |end: End| {
        let mut spec = racks(7, wide_open());
        let last = |flow: usize| {
            let mut earlier = (0..flow).rev().filter(|other| spec.flows[*other].src == spec.flows[flow].src);
            earlier.next().map(|other| Predecessor::Flow { flow: other.into(), end })
        };
        spec.precedence = Precedence::new((0..spec.flows.len()).map(last));
        agree(spec, 2, 2, 1777).unwrap_or_else(|why| panic!("{end:?}: {why}"))
    };
    assert_eq!((after(End::Acked), after(End::Received)), (2, 0));
}

/// Hosts at four switches in a ring that send two hops on, the same way round: pauses may close a cycle.
#[test]
fn a_network_whose_pauses_may_form_a_cycle_stays_whole() {
    let link = |a: u32, b: u32| {
        LinkSpec::fixed(NodeId(a), NodeId(b), Rate::from_gbps(10), Span::from_us(1), Span::ZERO)
    };
    let network = |around: u32| {
        let mut links: Vec<_> = (0..4).map(|host| link(host, 4 + host)).collect();
        links.extend((0..around).map(|n| link(4 + n, 4 + (n + 1) % 4)));
        let flows = (0..4).map(|host| flow(host, (host + 2) % 4, 100_000, Time::ZERO)).collect();
        let mut spec = network(4, 4, links, udp(1000, UdpPace::Burst), flows);
        spec.inputs = Some(pfc(20_000, 15_000, 12_000));
        spec
    };
    let plan = |spec| Plan::new(&Network::new(spec).unwrap(), 2).map(|plan| plan.parts());
    assert_eq!(plan(network(3)).unwrap(), 2);
    let why = plan(network(4)).unwrap_err().to_string();
    assert_eq!(why, "pauses may form a cycle, which is looked for in the whole network");
}

/// Four switches in a row, two hosts at each: divided as the wires are, and by the least of their delays.
#[test]
fn a_row_of_switches_is_cut_where_there_is_least_traffic() {
    let (hosts, switches) = (8, 4);
    let link = |a: u32, b: u32, us| {
        LinkSpec::fixed(NodeId(a), NodeId(b), Rate::from_gbps(10), Span::from_us(us), Span::ZERO)
    };
    let mut links: Vec<_> = (0..8).map(|host| link(host, 8 + host / 2, 1)).collect();
    links.extend([link(8, 9, 5), link(9, 10, 7), link(10, 11, 3)]);
    // Pairs of neighbours exchange most of it.
    let near = (0..4).map(|pair| flow(2 * pair, (2 * pair + 5) % 8, 10_000, Time::ZERO));
    let spec = network(hosts, switches, links, udp(1000, UdpPace::Burst), near.collect());
    let whole = Network::new(spec.clone()).unwrap();
    let plan = Plan::new(&whole, 2).unwrap();
    assert_eq!((plan.parts(), plan.lookahead()), (2, Span::from_us(7)), "{plan:?}");
    assert_eq!(plan.of_node()[8..], [0, 0, 1, 1]);
    assert_eq!(agree(spec, 4, 2, 50).unwrap(), 4);
}

/// What looks at several nodes at one instant is named.
#[test]
fn a_network_that_stays_whole_gives_its_reason() {
    let (hosts, switches) = (2, 2);
    let link = |a: u32, b: u32, us| {
        LinkSpec::fixed(NodeId(a), NodeId(b), Rate::from_gbps(10), Span::from_us(us), Span::ZERO)
    };
    let network = |trunk| {
        let links = vec![link(0, 2, 1), link(1, 3, 1), link(2, 3, trunk)];
        network(hosts, switches, links, udp(1000, UdpPace::Burst), vec![flow(0, 1, 10_000, Time::ZERO)])
    };
    let why =
        |spec| Plan::new(&Network::new(spec).unwrap(), 2).map(|plan| plan.parts()).map_err(|e| e.to_string());
    assert_eq!(why(network(1)), Ok(2));
    assert_eq!(why(network(0)), Err("no wire that takes time divides it".into()));
    let mut limited = network(1);
    limited.stop.max_events = 100;
    assert_eq!(why(limited), Err("the run ends after a number of events".into()));
}

/// A port that becomes free at the very end decides once more, cut or not. Every nanosecond is the end of a run here:
/// transmissions end at some of them.
#[test]
fn at_the_last_instant_a_cut_port_decides_as_any_other() {
    let link = |a: u32, b: u32, gbps| {
        LinkSpec::fixed(NodeId(a), NodeId(b), Rate::from_gbps(gbps), Span::from_us(1), Span::ZERO)
    };
    let links = vec![link(0, 2, 10), link(1, 3, 10), link(2, 3, 5)];
    let mut spec = network(2, 2, links, udp(1000, UdpPace::Burst), vec![flow(0, 1, 5000, Time::ZERO)]);
    let lazy = crate::state::orders()
        .into_iter()
        .find(|order| !order.needs().anything() && *order != OrderSpec::fifo());
    spec.stop.when_measured_done = false;
    // FIFO: departures are booked, and what has begun has left the part; of what transmits it is known what is out.
    for order in [lazy.expect("an order that is served on demand"), OrderSpec::fifo()] {
        spec.disciplines[0].order = order;
        for ns in 1500..9000 {
            spec.stop.until = Time::ZERO + Span::from_ns(ns);
            spec.probes.carried = Some((Time::ZERO + Span::from_ns(ns - 700), spec.stop.until));
            assert_eq!(agree(spec.clone(), 2, 1, u64::MAX).unwrap(), 2, "{ns}");
        }
    }
}
