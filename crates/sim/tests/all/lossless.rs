//! Flow control between neighbours, per-ingress accounting, NICs that pull from their flows, and what breaks.
use crate::common::*;
use thalweg_machines::buffer::{InputMemory, InputSpec};
use thalweg_machines::pause::PauseSpec;
use thalweg_machines::pause::backpressure::{Params as Backpressure, Pauses};
use thalweg_machines::pause::pfc::{Params, Threshold};
use thalweg_machines::schedule::{DisciplineSpec, OrderSpec, bfc};
use thalweg_machines::transport::{RtoRule, TcpSpec, TransportSpec, UdpPace};
use thalweg_net::spec::*;
use thalweg_sim::{FlowEnd, FlowOutcome};
use thalweg_units::{Bytes, FlowId, NodeId, PortId, Rate, Span, Time};

const NIC: NicSpec = NicSpec { order: NicOrder::Queue, pause_control: true };
const PULL: NicSpec = NicSpec { order: NicOrder::RoundRobin, pause_control: true };
const HPCC: NicSpec = NicSpec { order: NicOrder::HpccSimulator, pause_control: true };

pub fn pfc(xoff: u64, xon: u64, headroom: u64) -> InputSpec {
    InputSpec {
        memory: InputMemory::PerInput(Bytes::new(xoff + headroom)),
        pause: Some(PauseSpec::Pfc(Params::fixed(xoff, xon, headroom))),
        release_at_start: false,
        one_per_input: false,
    }
}

pub fn dynamic(total: u64) -> InputSpec {
    InputSpec {
        memory: InputMemory::Shared(Bytes::new(total)),
        pause: Some(PauseSpec::Pfc(Params {
            threshold: Threshold::Dynamic {
                alpha: 0.125,
                reserve: Bytes::new(2000),
                hysteresis: Bytes::new(1500),
            },
            headroom: Some(Bytes::new(12_000)),
            ..Params::default()
        })),
        release_at_start: true,
        one_per_input: false,
    }
}

pub fn lossy(limit: u64) -> InputSpec {
    InputSpec {
        memory: InputMemory::PerInput(Bytes::new(limit)),
        pause: None,
        release_at_start: false,
        one_per_input: false,
    }
}

pub fn one_per_input(inputs: InputSpec) -> InputSpec {
    InputSpec { one_per_input: true, ..inputs }
}

pub fn backpressure() -> InputSpec {
    InputSpec {
        memory: InputMemory::Shared(Bytes::new(12_000_000)),
        pause: Some(PauseSpec::Backpressure(Backpressure::default())),
        release_at_start: true,
        one_per_input: false,
    }
}

/// Frames name flows.
pub fn by_flow() -> InputSpec {
    let mut spec = backpressure();
    if let Some(PauseSpec::Backpressure(own)) = &mut spec.pause {
        own.pauses = Pauses::Flow;
    }
    spec
}

pub fn bfc(params: bfc::Params) -> DisciplineSpec {
    DisciplineSpec { order: params.into(), ..fifo() }
}

pub fn in_turns() -> DisciplineSpec {
    DisciplineSpec { order: OrderSpec::input_round_robin(), ..fifo() }
}

/// Two racks of four hosts behind a trunk as fast as one host; all hosts send to all.
fn two_racks(seed: u64, inputs: Option<InputSpec>, nic: NicSpec, order: DisciplineSpec) -> NetworkSpec {
    let rto =
        RtoRule::Rfc6298 { initial: Span::from_us(200), min: Span::from_us(100), max: Span::from_ms(10) };
    NetworkSpec { seed, disciplines: vec![order], inputs, nic, ..racks(seed, TcpSpec { rto, ..wide_open() }) }
}

/// Every kind of gated network.
pub fn kinds(seed: u64) -> Vec<(&'static str, NetworkSpec)> {
    let mut first = two_racks(seed, Some(pfc(20_000, 15_000, 9000)), PULL, fifo());
    first.control_first = true;
    let mut unpaused = two_racks(seed, Some(pfc(20_000, 15_000, 9000)), PULL, fifo());
    unpaused.nic.pause_control = false;
    unpaused.inputs = Some(pfc(20_000, 15_000, 90_000));
    let small = bfc::Params { queues: 6, quantum: Bytes::new(1500), ..bfc::Params::default() };
    let mut held = two_racks(seed, Some(backpressure()), PULL, bfc(small.clone()));
    held.control_first = true;
    let fickle = bfc::Params { sticky: 0.0, ..small.clone() };
    let half = bfc::Params { sampling: 0.5, ..small.clone() };
    let behind = bfc::Params { post_queue: 3, pipelines: 2, ..small.clone() };
    let round = bfc::Params { recirc_delay: Span::from_ns(1500), ..small.clone() };
    let late = bfc::Params { post_queue: 4, bitmap_stale: Span::from_us(1), ..round.clone() };
    vec![
        ("backpressure", held),
        ("backpressure, queue at the host", two_racks(seed, Some(backpressure()), NIC, bfc(small))),
        ("backpressure by flow", two_racks(seed, Some(by_flow()), PULL, bfc(fickle.clone()))),
        ("backpressure by flow, queue at the host", two_racks(seed, Some(by_flow()), NIC, bfc(fickle))),
        ("backpressure, sampled", two_racks(seed, Some(backpressure()), PULL, bfc(half))),
        ("backpressure, a queue behind", two_racks(seed, Some(backpressure()), PULL, bfc(behind))),
        ("backpressure, headers that go round", two_racks(seed, Some(backpressure()), PULL, bfc(round))),
        (
            "backpressure, both, queue at the host",
            two_racks(seed, Some(backpressure()), NIC, bfc(late.clone())),
        ),
        ("backpressure by flow, both", two_racks(seed, Some(by_flow()), PULL, bfc(late))),
        ("inputs, drops", two_racks(seed, Some(lossy(20_000)), NIC, in_turns())),
        ("inputs, drops, pull", two_racks(seed, Some(lossy(20_000)), PULL, in_turns())),
        ("pfc in turns", two_racks(seed, Some(pfc(20_000, 20_000, 9000)), PULL, in_turns())),
        (
            "inputs, drops, one per input",
            two_racks(seed, Some(one_per_input(lossy(20_000))), PULL, in_turns()),
        ),
        (
            "pfc, one per input",
            two_racks(seed, Some(one_per_input(pfc(20_000, 20_000, 9000))), NIC, in_turns()),
        ),
        ("pfc fifo, queue at the host", two_racks(seed, Some(pfc(20_000, 15_000, 9000)), NIC, fifo())),
        ("pfc, dynamic", two_racks(seed, Some(dynamic(300_000)), PULL, fifo())),
        ("pfc, control first", first),
        ("pfc, control unpaused", unpaused),
        ("pull alone", two_racks(seed, None, PULL, fifo())),
        ("hpcc nic alone", two_racks(seed, None, HPCC, fifo())),
        ("hpcc nic, pfc", two_racks(seed, Some(pfc(20_000, 15_000, 9000)), HPCC, fifo())),
    ]
}

#[test]
fn laws_hold_everywhere_and_looking_changes_nothing() {
    for seed in 1..4 {
        for (name, spec) in kinds(seed) {
            let mut straight = Network::new(spec.clone()).expect(name);
            while straight.run(1_000_000) {}
            let mut watched = Network::new(spec).expect(name);
            while watched.run_checked(1000, 1).unwrap_or_else(|v| panic!("{name}, seed {seed}: {v}")) {}
            assert_eq!(straight.digest(), watched.digest(), "{name}, seed {seed}: releases deferred or not");
            let ends = (0..80).map(|f| straight.outcome(FlowId(f)).end);
            assert!(ends.into_iter().all(|end| end == FlowEnd::Completed), "{name}, seed {seed}");
        }
    }
}

#[test]
fn cut_saved_and_resumed_runs_go_on_alike() {
    for (name, spec) in kinds(5) {
        let mut straight = Network::new(spec.clone()).expect(name);
        while straight.run(1_000_000) {}
        for cut in [100, 1777, 4001] {
            let mut first = Network::new(spec.clone()).expect(name);
            first.run(cut);
            let mut second = Network::load(&first.save()).expect(name);
            while second.run(1_000_000) {}
            assert_eq!(straight.digest(), second.digest(), "{name}, cut after {cut} events");
        }
    }
}

#[test]
fn flow_control_prevents_the_drops_that_it_is_there_to_prevent() {
    let counters = |spec| {
        let mut sim = Network::new(spec).unwrap();
        while sim.run(1_000_000) {}
        sim.counters()
    };
    let without = counters(two_racks(1, Some(lossy(20_000)), PULL, in_turns()));
    let with = counters(two_racks(1, Some(pfc(20_000, 20_000, 9000)), PULL, in_turns()));
    assert!(without.packets_dropped > 0 && without.pause_frames == 0);
    let mut sim = Network::new(two_racks(1, Some(lossy(20_000)), PULL, in_turns())).unwrap();
    while sim.run(1_000_000) {}
    let sum = |of: fn(&FlowOutcome) -> u64| (0..80).map(|f| of(&sim.outcome(FlowId(f)))).sum::<u64>();
    assert_eq!(sum(|o| o.counts.drops), without.packets_dropped);
    assert!(sum(|o| o.counts.data_drops) < without.packets_dropped, "ACKs are dropped too");
    assert_eq!(with.packets_dropped, 0);
    assert!(with.pause_frames > 0);
    // An XOFF that is still waiting when its XON comes is replaced by a needless XON.
    assert!(with.resume_frames >= with.pause_frames);
}

#[test]
fn a_headroom_that_is_too_small_breaks_the_promise_unless_it_is_meant() {
    let ended = |lossy_ok| {
        let mut inputs = pfc(20_000, 15_000, 1000);
        inputs.pause = Some(PauseSpec::Pfc(Params { lossy_ok, ..Params::fixed(20_000, 15_000, 1000) }));
        let mut sim = Network::new(two_racks(1, Some(inputs), PULL, fifo())).unwrap();
        while sim.run(1_000_000) {}
        assert!(sim.counters().packets_dropped > 0);
        (sim.check_lossless(), sim.check().is_ok())
    };
    let (reported, holds) = ended(false);
    assert!(reported.expect_err("it drops").starts_with("flow control is on, and ") && !holds);
    assert_eq!(ended(true), (Ok(()), true));
}

#[test]
fn memory_that_never_fills_changes_nothing() {
    let outcomes = |spec| {
        let mut sim = Network::new(spec).unwrap();
        while sim.run(1_000_000) {}
        (0..80).map(|f| sim.outcome(FlowId(f))).collect::<Vec<_>>()
    };
    let plain = outcomes(two_racks(1, None, NIC, fifo()));
    assert_eq!(plain, outcomes(two_racks(1, Some(lossy(1 << 40)), NIC, fifo())));
    assert_eq!(plain, outcomes(two_racks(1, Some(pfc(1 << 40, 1 << 40, 9000)), NIC, fifo())));
}

/// Two hosts send 20 packets of 1000 B each, back to back, to a third at 8 Gb/s (1 us per packet), 1 us per link. Their
/// packets land at 2, 3, .. us at both inputs in turn. An ingress sends XOFF above 3000 B and XON at 2000 B.
#[test]
fn a_pause_by_hand() {
    let rate = Rate::from_gbps(8);
    let udp = udp(1000, UdpPace::Burst);
    let flows = vec![flow(0, 2, 20_000, Time::ZERO), flow(1, 2, 20_000, Time::ZERO)];
    let mut spec = star(3, rate, Span::from_us(1), udp, flows);
    spec.inputs = Some(pfc(3000, 2000, 10_000));
    spec.disciplines = vec![in_turns()];
    spec.probes.pauses = true;
    let mut sim = Network::new(spec).unwrap();
    while sim.run_checked(1000, 1).unwrap() {}
    // Output: input 0 at [2, 3), 1 at [3, 4), 0 at [4, 5), .. : each input gains 1000 B every us and loses
    // 1000 B every 2 us. Bytes at input 0 just after the arrival at t (released at the END of transmission,
    // arrivals come first): 2: 1000, 3: 2000 (its first packet leaves at this very instant, after the
    // arrival), 4: 2000, 5: 3000 (2nd leaves), 6: 3000, 7: 4000 > 3000: pause at 7 us. Frame: 64 B at 8 Gb/s =
    // 64 ns, then 1 us: stops host 0 at 8.064 us. Input 1 (first packet leaves at 4): 2: 1000, 3: 2000, 4:
    // 3000, 5: 3000, 6: 4000: pause at 6, host 1 stops at 7.064 us.
    let first = |host: u32| sim.pauses().iter().find(|p| p.port == PortId(2 * host)).copied().unwrap();
    assert_eq!(first(0).began, Time::from_ns(8064));
    assert_eq!(first(1).began, Time::from_ns(7064));
    // Host 0 finishes the packet it began at 8 us: it lands at 10 us. Bytes: after 7: 4000, leaves at 7 ->
    // 3000, 8: 4000, 9: 5000 -> 4000, 10: 5000; leaves at 11 -> 4000, 13 -> 3000, 15 -> 2000: go on, host 0
    // resumes at 16.064 us.
    assert_eq!(first(0).ended, Time::from_ns(16_064));
    // Host 1's last packet lands at 9. Bytes after 6: 4000 -> 3000 (leaves at 6), 7: 4000, 8: 5000 -> 4000,
    // 9: 5000, leaves at 10 -> 4000, 12 -> 3000, 14 -> 2000: resumes at 15.064 us.
    assert_eq!(first(1).ended, Time::from_ns(15_064));
    assert_eq!(first(0).cause, None, "the output to host 2 is busy, not paused");
    assert_eq!(sim.counters().packets_dropped, 0);
    assert!(sim.totals(PortId(0)).pauses >= 1 && sim.totals(PortId(0)).paused >= 8_000_000);
}

/// Host 0 has a packet of 1 us every 10 us for one flow and every 2 us for another, which starts at 1.5 us:
/// at 2.5 us neither may send. The HPCC NIC's one timer is the first flow's, at 10 us, and the second waits
/// for it; in a round it leaves at 3.5 us. It lands two links of 1 us and the switch's 1 us later, counted
/// from the end of its 1 us at the host.
#[test]
fn at_an_hpcc_nic_a_flow_waits_for_the_timer_of_another() {
    let second = |nic| {
        let flows = vec![
            flow(0, 1, 3000, Time::ZERO),
            FlowSpec { transport: 1, ..flow(0, 2, 2000, Time::from_ns(1500)) },
        ];
        let pace = |mbps| udp(1000, UdpPace::Constant(Rate::from_mbps(mbps)));
        let mut spec = star(3, Rate::from_gbps(8), Span::from_us(1), pace(800), flows);
        spec.transports.push(pace(4000));
        spec.nic = nic;
        run(spec).outcome(FlowId(1)).received
    };
    assert_eq!(second(PULL), Some(Time::from_ns(3500 + 4000)));
    // At 10 us it is the first flow's turn.
    assert_eq!(second(HPCC), Some(Time::from_ns(11_000 + 4000)));
}

/// 0 – 4 – 5 – 3, 1 – 4, 2 – 5: the trunk's pause at 5 spreads to host 0 behind 4.
#[test]
fn pauses_know_their_causes() {
    let (rate, delay) = (Rate::from_gbps(8), Span::from_us(1));
    let links = vec![
        link(0, 4, rate, delay),
        link(1, 4, rate, delay),
        link(2, 5, rate, delay),
        link(3, 5, rate, delay),
        link(4, 5, rate, delay),
    ];
    let flows = vec![flow(0, 3, 60_000, Time::ZERO), flow(2, 3, 60_000, Time::ZERO)];
    let mut spec = network(4, 2, links, udp(1000, UdpPace::Burst), flows);
    spec.inputs = Some(pfc(3000, 2000, 10_000));
    spec.disciplines = vec![in_turns()];
    let sim = run(spec);
    let trunk = sim.pauses().iter().position(|p| p.port == PortId(8)).expect("the trunk pauses") as u32;
    assert_eq!(sim.pauses()[trunk as usize].cause, None);
    let caused =
        sim.pauses().iter().filter(|p| p.cause == Some(trunk)).map(|p| p.port.link().0).collect::<Vec<_>>();
    assert!(caused.contains(&0), "{:?}", sim.pauses());
    assert_eq!(sim.counters().packets_dropped, 0);
    assert!(sim.pauses().iter().all(|p| p.ended != Time::MAX), "all end");
}

/// Six switches in a ring, every flow five hops around it: the classic cycle of buffers.
fn ring(xoff: u64) -> NetworkSpec {
    let (rate, delay) = (Rate::from_gbps(8), Span::from_us(1));
    let mut links: Vec<LinkSpec> = (0..6).map(|h| link(h, 6 + h, rate, delay)).collect();
    links.extend((0..6).map(|s| link(6 + s, 6 + (s + 1) % 6, rate, delay)));
    let flows: Vec<FlowSpec> = (0..6).map(|i| flow(i, (i + 5) % 6, 400_000, Time::ZERO)).collect();
    let mut spec = network(6, 6, links, udp(1000, UdpPace::Burst), flows);
    let around = |i: u32| (0..6).map(|hop| NodeId(6 + (i + hop) % 6)).collect::<Vec<_>>();
    let paths =
        (0..6).map(|i| PinnedPath { data: around(i), ack: around(i).into_iter().rev().collect() }).collect();
    spec.routing = RoutingSpec::pinned(paths);
    spec.inputs = Some(pfc(xoff, xoff, 10_000));
    spec.disciplines = vec![in_turns()];
    spec.stop.until = Time::from_ms(50);
    spec
}

#[test]
fn a_cycle_of_pauses_is_reported_and_the_run_ends() {
    let mut sim = Network::new(ring(3000)).unwrap();
    while sim.run_checked(10_000, 100).unwrap() {}
    let [deadlock, ..] = sim.deadlocks() else { panic!("no deadlock found") };
    for port in (6..12).map(|link| PortId(2 * link)) {
        assert!(deadlock.ports.contains(&port), "{deadlock:?}");
    }
    assert!(deadlock.at < Time::from_ms(1));
    assert_eq!(sim.outcome(FlowId(0)).end, FlowEnd::Deadlocked);
    // With room for everything no port waits for another.
    let mut roomy = Network::new(ring(3_000_000)).unwrap();
    while roomy.run(1_000_000) {}
    assert!(roomy.deadlocks().is_empty());
    assert!((0..6).all(|f| roomy.outcome(FlowId(f)).end == FlowEnd::Completed));
}

/// Two paths between two racks; one of them fails under way.
fn two_ways(incidents: Vec<Incident>) -> NetworkSpec {
    let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
    let mut links: Vec<LinkSpec> = (0..4).map(|h| link(h, 4 + h / 2, rate, delay)).collect();
    links.extend([
        link(4, 6, rate, delay),
        link(5, 6, rate, delay),
        link(4, 7, rate, delay),
        link(5, 7, rate, delay),
    ]);
    let mut tcp = wide_open();
    tcp.initial_window = Bytes::new(60_000);
    tcp.rto =
        RtoRule::Rfc6298 { initial: Span::from_us(500), min: Span::from_us(500), max: Span::from_ms(10) };
    let flows = (0..8).map(|i| flow(i % 2, 2 + i % 2, 2_000_000, Time::from_us(u64::from(i)))).collect();
    let mut spec = network(4, 4, links, TransportSpec::Tcp(tcp), flows);
    spec.incidents = incidents;
    spec.convergence = Span::from_us(300);
    spec.stop.until = Time::from_ms(100);
    spec
}

fn down(at_us: u64, link: u32) -> Incident {
    Incident { at: Time::from_us(at_us), what: IncidentKind::LinkDown(link) }
}

#[test]
fn after_a_failure_routes_converge_and_flows_complete() {
    for gated in [false, true] {
        let mut spec = two_ways(vec![down(1000, 4)]);
        if gated {
            spec.inputs = Some(pfc(60_000, 60_000, 10_000));
            spec.nic = PULL;
            spec.disciplines = vec![in_turns()];
        }
        let mut sim = Network::new(spec.clone()).unwrap();
        let (mut cut, mut saved) = (0, None);
        while sim.run_checked(500, 50).unwrap() {
            cut += 1;
            if cut == 20 {
                saved = Some(sim.save());
            }
        }
        assert!(sim.lost_to_incidents().packets > 0, "something was on the link");
        for f in 0..8 {
            assert_eq!(sim.outcome(FlowId(f)).end, FlowEnd::Completed, "flow {f}, gated: {gated}");
        }
        let carried = |sim: &Network| sim.totals(PortId(8)).packets;
        assert!(carried(&sim) > 0, "the path was in use");
        let mut resumed = Network::load(&saved.unwrap()).unwrap();
        while resumed.run(1_000_000) {}
        assert_eq!(resumed.digest(), sim.digest());
    }
}

#[test]
fn every_packet_that_a_failure_costs_is_counted_at_one_port() {
    for (at, shortcuts) in (1000..1020).flat_map(|at| [(at, false), (at, true)]) {
        let mut spec = two_ways(vec![down(at, 4)]);
        // Both ways: ACKs wait where data is on the wire, and so do those of a port that is paused.
        spec.flows.extend((0..8).map(|i| flow(2 + i % 2, i % 2, 2_000_000, Time::from_us(u64::from(i)))));
        spec.flows.sort_by_key(|flow| flow.start);
        spec.inputs = Some(pfc(60_000, 60_000, 10_000));
        (spec.nic, spec.control_first, spec.shortcuts) = (PULL, true, shortcuts);
        spec.disciplines = vec![in_turns()];
        let mut sim = Network::new(spec).unwrap();
        while sim.run(1_000_000) {}
        let at_ports: u64 = (0..sim.ports().len()).map(|port| sim.totals(PortId::from(port)).dropped).sum();
        assert!(sim.lost_to_incidents().packets > 0);
        assert_eq!(
            at_ports,
            sim.counters().packets_dropped,
            "the link fails at {at} us, short cuts: {shortcuts}"
        );
    }
}

#[test]
fn without_any_path_flows_are_unreachable_and_a_restored_link_lets_them_end() {
    let both = vec![down(1000, 4), down(1000, 6)];
    let mut sim = Network::new(two_ways(both.clone())).unwrap();
    while sim.run(1_000_000) {}
    assert!((0..8).all(|f| sim.outcome(FlowId(f)).end == FlowEnd::Unreachable));
    let mut restored = both;
    restored.push(Incident { at: Time::from_ms(20), what: IncidentKind::LinkUp(4) });
    let mut sim = Network::new(two_ways(restored)).unwrap();
    while sim.run(1_000_000) {}
    assert!((0..8).all(|f| sim.outcome(FlowId(f)).end == FlowEnd::Completed));
}

#[test]
fn a_host_without_a_link_sends_nothing_until_it_is_restored() {
    let udp = udp(1000, UdpPace::Burst);
    let spec = |incidents| {
        let mut spec =
            star(2, Rate::from_gbps(8), Span::from_us(1), udp.clone(), vec![flow(0, 1, 100_000, Time::ZERO)]);
        (spec.nic, spec.incidents) = (PULL, incidents);
        spec
    };
    let run = |incidents| {
        let mut sim = Network::new(spec(incidents)).unwrap();
        while sim.run_checked(100, 1).unwrap() {}
        (sim.outcome(FlowId(0)), sim.totals(PortId(0)).packets)
    };
    // The packet of [10, 11) us is on its way when the link fails at 10.5 us; so is the one before it.
    let fails = Incident { at: Time::from_ns(10_500), what: IncidentKind::LinkDown(0) };
    let (cut_off, sent) = run(vec![fails]);
    assert_eq!((cut_off.end, cut_off.delivered, sent), (FlowEnd::Unreachable, 9000, 11));
    // Restored at 50 us: the other 89 leave then; the two that were on the link are lost.
    let (restored, sent) =
        run(vec![fails, Incident { at: Time::from_us(50), what: IncidentKind::LinkUp(0) }]);
    assert_eq!((restored.delivered, sent), (98_000, 100), "datagrams are not sent again");
}

#[test]
fn lost_pause_frames_cost_packets_or_time_but_nothing_hangs() {
    let lossy_frames = |inputs, spec: &mut NetworkSpec| {
        spec.inputs = Some(inputs);
        spec.incidents = vec![Incident { at: Time::ZERO, what: IncidentKind::PauseLoss(None, 0.5) }];
    };
    let mut spec = two_racks(1, None, PULL, in_turns());
    lossy_frames(pfc(20_000, 20_000, 9000), &mut spec);
    let mut sim = Network::new(spec).unwrap();
    while sim.run_checked(1000, 100).unwrap() {}
    let frames = sim.lost_to_incidents().frames;
    assert!(frames > 0);
    // An XOFF that is lost overflows the headroom; an XON that is lost stops the port for good, unless the next one
    // comes through. TCP's timers notice the first; the run's clock ends the second.
    let ends: Vec<FlowEnd> = (0..80).map(|f| sim.outcome(FlowId(f)).end).collect();
    assert!(ends.contains(&FlowEnd::Completed));
    assert!(ends.iter().all(|end| matches!(end, FlowEnd::Completed | FlowEnd::Censored | FlowEnd::Stalled)));
}

#[test]
fn a_round_robin_nic_lets_flows_take_turns() {
    // Three flows of 10 packets from one host: packet by packet in turn, so they end within three packets of
    // each other; a queue would send flow by flow.
    let flows: Vec<FlowSpec> = (0..3).map(|_| flow(0, 1, 10_000, Time::ZERO)).collect();
    let spec = |nic| {
        let mut spec =
            star(2, Rate::from_gbps(8), Span::from_us(1), udp(1000, UdpPace::Burst), flows.clone());
        spec.nic = nic;
        spec
    };
    let ends = |nic| {
        let sim = run(spec(nic));
        (0..3).map(|f| sim.outcome(FlowId(f)).received.unwrap().ps() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(ends(PULL), [31, 32, 33]);
    assert_eq!(ends(NIC), [13, 23, 33]);
}
