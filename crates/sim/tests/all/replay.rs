//! Recorded schedules: complete, in order, and the same when they are run again.
use crate::common::*;
use thalweg_machines::schedule::{DisciplineSpec, FairOverflow, Limit, OrderSpec, drr, priority};
use thalweg_machines::slack::{SlackRule, SlackSpec};
use thalweg_machines::stage::{CarriedSpec, EdgeSpec, StageSpec};
use thalweg_machines::transport::{EcnSpec, LossDetection, TransportSpec, UdpPace};
use thalweg_net::spec::*;
use thalweg_sim::{Exit, Injection, Recorded};
use thalweg_units::{Bytes, FlowId, Rate, Span, Time};

/// Two switches, three hosts on each; a link of 5 Gb/s between them.
fn dumbbell(transport: TransportSpec, flows: Vec<FlowSpec>) -> NetworkSpec {
    let mut links: Vec<LinkSpec> =
        (0..6).map(|h| link(h, 6 + h / 3, Rate::from_gbps(10), Span::from_us(2))).collect();
    links.push(link(6, 7, Rate::from_gbps(5), Span::from_us(5)));
    let mut spec = network(6, 2, links, transport, flows);
    spec.stop.when_measured_done = false;
    spec.stop.until = Time::from_ms(50);
    spec
}

fn six_hosts(seed: u64, count: usize) -> Vec<FlowSpec> {
    random_flows(seed, count, 6, 40_000, 300_000)
}

fn ordered(order: OrderSpec) -> DisciplineSpec {
    DisciplineSpec {
        order,
        limit: Limit::Unlimited,
        front: Vec::new(),
        stage: StageSpec::tail_drop(),
        preemptive: false,
    }
}

/// Runs to the end and returns everything recorded, taken in several helpings.
fn record(mut spec: NetworkSpec, hops: bool) -> Recorded {
    spec.probes.record = Some(RecordSpec { hops });
    let mut sim = Network::new(spec).expect("a network");
    let mut all = Recorded::default();
    let mut add = |more: Recorded| {
        all.flow.extend(more.flow);
        all.forward.extend(more.forward);
        all.seq.extend(more.seq);
        all.wire.extend(more.wire);
        all.handed.extend(more.handed);
        all.ingress.extend(more.ingress);
        all.exit.extend(more.exit);
        all.waited.extend(more.waited);
        all.queues.extend(more.queues);
        all.hops.extend(more.hops);
        all.kind.extend(more.kind);
        all.losses.at.extend(more.losses.at);
        all.losses.port.extend(more.losses.port);
        all.losses.on_link.extend(more.losses.on_link);
        all.marked.extend(more.marked);
        all.visits.arrivals.extend(more.visits.arrivals);
        all.visits.starts.extend(more.visits.starts);
        all.visits.ports.extend(more.visits.ports);
    };
    while sim.run_checked(500, 100).expect("laws hold") {
        add(sim.take_recorded(false));
    }
    add(sim.take_recorded(true));
    all
}

/// Injects a recording into `spec`, a few packets at a time.
fn replay(mut spec: NetworkSpec, recorded: &Recorded, header: impl Fn(&Network, usize) -> i64) -> Vec<Exit> {
    spec.replay = true;
    spec.stop.until = Time::MAX;
    let mut sim = Network::new(spec).expect("a network");
    let mut exits = Vec::new();
    let mut next = 0;
    assert!(sim.needs_input());
    loop {
        while sim.run_checked(300, 50).expect("laws hold") {}
        exits.extend(sim.take_exits());
        if !sim.needs_input() {
            return exits;
        }
        for row in next..(next + 7).min(recorded.flow.len()) {
            sim.push(Injection {
                flow: FlowId(recorded.flow[row]),
                forward: recorded.forward[row] == 1,
                wire: recorded.wire[row],
                number: row as u64,
                at: Time::from_ps(recorded.ingress[row]),
                header: header(&sim, row),
                times: &[],
            });
        }
        next += 7;
        if next >= recorded.flow.len() {
            sim.push_end();
        }
    }
}

#[test]
fn a_recording_holds_every_packet_once_in_the_order_of_entry() {
    for (order, seed) in [(OrderSpec::fifo(), 1), (priority::Params::from(2).into(), 2)] {
        let mut tcp = wide_open();
        tcp.initial_window = Bytes::new(30_000);
        let mut spec = dumbbell(TransportSpec::Tcp(tcp), six_hosts(seed, 80));
        spec.disciplines = vec![ordered(order)];
        let packets: u64 = spec.flows.iter().map(|f| f.size.div_ceil(1460)).sum();
        let recorded = record(spec, true);
        assert_eq!(recorded.flow.len() as u64, 2 * packets, "data and ACKs");
        assert!(recorded.ingress.is_sorted());
        assert!(recorded.exit.iter().all(|t| *t != u64::MAX));
        let mut hop = 0;
        for row in 0..recorded.flow.len() {
            let hops = usize::from(recorded.hops[row]);
            let times = hop..hop + hops;
            hop += hops;
            assert!(recorded.handed[row] <= recorded.ingress[row]);
            assert!(recorded.ingress[row] < recorded.visits.arrivals[times.start]);
            let waits = recorded.visits.arrivals[times.clone()].iter().zip(&recorded.visits.starts[times]);
            assert_eq!(waits.map(|(a, s)| s - a).sum::<u64>(), recorded.waited[row]);
        }
        assert_eq!(hop, recorded.visits.arrivals.len());
    }
}

#[test]
fn the_same_discipline_replays_a_schedule_exactly() {
    for seed in 0..10 {
        let transport =
            if seed % 2 == 0 { udp(1000, UdpPace::Burst) } else { TransportSpec::Tcp(wide_open()) };
        let spec = dumbbell(transport, six_hosts(seed, 120));
        let recorded = record(spec.clone(), false);
        // Express, lazily decided and eagerly decided FIFO ports must all agree.
        for variant in 0..2 {
            let mut spec = spec.clone();
            if variant == 1 {
                spec.disciplines = vec![ordered(priority::Params::from(1).into())];
                spec.disciplines.push(ordered(OrderSpec::fifo()));
                (0..6).for_each(|host| spec.port_discipline[2 * host] = 1);
            }
            let exits = replay(spec, &recorded, |_, _| 0);
            assert_eq!(exits.len(), recorded.flow.len());
            for exit in exits {
                let row = exit.number as usize;
                assert_eq!(exit.at.ps(), recorded.exit[row], "seed {seed}, variant {variant}, packet {row}");
                assert_eq!(exit.waited.ps(), recorded.waited[row]);
            }
        }
    }
}

#[test]
fn least_time_to_exit_is_what_an_empty_network_takes() {
    let spec = dumbbell(udp(1000, UdpPace::Burst), vec![flow(0, 4, 1000, Time::ZERO)]);
    let recorded = record(spec.clone(), false);
    let sim = Network::new(spec).expect("a network");
    assert_eq!(sim.t_min(FlowId(0), true, 1000).ps(), recorded.exit[0] - recorded.ingress[0]);
    // Back the same way, three links, two of them twice as fast: 40 B take 32 + 64 + 32 ns, propagation 9 us.
    assert_eq!(sim.t_min(FlowId(0), false, 40), Span::from_ns(9_128));
}

/// A schedule under random service (hosts FIFO), and the network to replay it in.
fn random_service(seed: u64) -> (NetworkSpec, Recorded) {
    let mut spec = dumbbell(udp(1000, UdpPace::Burst), six_hosts(seed, 150));
    spec.seed = seed;
    spec.disciplines = vec![ordered(OrderSpec::random()), ordered(OrderSpec::fifo())];
    (0..6).for_each(|host| spec.port_discipline[2 * host] = 1);
    let recorded = record(spec.clone(), false);
    (spec, recorded)
}

fn candidate(
    mut spec: NetworkSpec,
    rule: CarriedSpec,
    add_transmission: bool,
    preemptive: bool,
) -> NetworkSpec {
    spec.carried = rule;
    spec.disciplines[0] = DisciplineSpec {
        preemptive,
        ..ordered(if add_transmission { OrderSpec::lstf() } else { OrderSpec::pifo() })
    };
    spec
}

/// LSTF and what its header holds when packets leave.
fn lstf(spec: &NetworkSpec, recorded: &Recorded, preemptive: bool) -> Vec<Exit> {
    let spec = candidate(spec.clone(), CarriedSpec::Slack, true, preemptive);
    replay(spec, recorded, |sim, row| {
        let t_min = sim.t_min(FlowId(recorded.flow[row]), recorded.forward[row] == 1, recorded.wire[row]);
        (recorded.exit[row] - recorded.ingress[row]) as i64 - t_min.ps() as i64
    })
}

#[test]
fn slack_left_at_the_exit_is_how_early_a_packet_is() {
    let mut late = [0, 0];
    for (seed, preemptive) in (0..12).map(|i| (i / 2, i % 2 == 1)) {
        let (spec, recorded) = random_service(seed);
        let exits = lstf(&spec, &recorded, preemptive);
        assert_eq!(exits.len(), recorded.flow.len());
        for exit in exits {
            let o = recorded.exit[exit.number as usize] as i64;
            assert_eq!(exit.header, o - exit.at.ps() as i64, "seed {seed}, preemptive {preemptive}");
            late[usize::from(preemptive)] += i32::from(exit.header < 0);
        }
    }
    // At most two congestion points each, so only what cannot be interrupted makes packets late (UPS, appendix F).
    assert!(late[0] > 0 && late[1] == 0, "{late:?}");
}

#[test]
fn least_slack_and_network_wide_earliest_deadline_first_are_one_schedule() {
    for (seed, preemptive) in (0..6).map(|i| (i / 2, i % 2 == 1)) {
        let (spec, recorded) = random_service(seed);
        let edf = candidate(spec.clone(), CarriedSpec::Deadline, true, preemptive);
        let edf = replay(edf, &recorded, |_, row| recorded.exit[row] as i64);
        let lstf = lstf(&spec, &recorded, preemptive);
        for (a, b) in lstf.iter().zip(&edf) {
            assert_eq!((a.number, a.at, a.waited), (b.number, b.at, b.waited), "seed {seed}");
            assert_eq!(b.header as u64, recorded.exit[b.number as usize], "the deadline never changes");
        }
    }
}

#[test]
fn an_interrupted_transmission_is_resumed_where_it_was() {
    // One switch, everything to host 2 at 1 Gb/s: 1000 B take 8 us. A big packet of little urgency begins at 10 us;
    // at 12 us comes an urgent one, at 14 us a less urgent one, at 15 us the most urgent.
    let rates = [Rate::INFINITE, Rate::INFINITE, Rate::from_gbps(1)];
    let links = (0..3).map(|h| link(h, 3, rates[h as usize], Span::ZERO)).collect();
    let mut spec = network(3, 1, links, udp(1000, UdpPace::Burst), vec![flow(0, 2, 1000, Time::ZERO)]);
    spec.replay = true;
    spec.stop.until = Time::MAX;
    spec.disciplines = vec![DisciplineSpec { preemptive: true, ..ordered(OrderSpec::pifo()) }];
    let mut sim = Network::new(spec).expect("a network");
    let us = |t: u64| Time::from_ps(t * 1_000_000);
    for (number, at, header, wire) in [(0, 10, 9, 1000), (1, 12, 5, 500), (2, 14, 7, 250), (3, 15, 1, 125)] {
        sim.push(Injection { flow: FlowId(0), forward: true, wire, number, at: us(at), header, times: &[] });
    }
    sim.push_end();
    while sim.run_checked(1, 1).expect("laws hold") {}
    let exits: Vec<_> = sim.take_exits().into_iter().map(|e| (e.number, e.at, e.waited)).collect();
    // 0: 10-12, 1: 12-15, 3: 15-16, 1: 16-17, 2: 17-19, 0: 19-25.
    let expected = [(3, 16, 0), (1, 17, 1), (2, 19, 3), (0, 25, 7)];
    assert_eq!(exits, expected.map(|(n, at, waited)| (n, us(at), Span::from_us(waited))));
}

#[test]
fn a_replay_cut_anywhere_saved_and_loaded_goes_on_alike() {
    let (spec, recorded) = random_service(3);
    let spec = NetworkSpec {
        replay: true,
        stop: StopSpec { until: Time::MAX, ..spec.stop },
        ..candidate(spec, CarriedSpec::Slack, true, true)
    };
    let start = |sim: &mut Network| {
        for row in 0..recorded.flow.len() {
            let flow = FlowId(recorded.flow[row]);
            sim.push(Injection {
                flow,
                forward: recorded.forward[row] == 1,
                wire: recorded.wire[row],
                number: row as u64,
                at: Time::from_ps(recorded.ingress[row]),
                header: (recorded.exit[row] - recorded.ingress[row]) as i64,
                times: &[],
            });
        }
        sim.push_end();
    };
    let mut straight = Network::new(spec.clone()).expect("a network");
    start(&mut straight);
    while straight.run(1_000_000) {}
    for cut in [1, 10, 100, 1000, 3000] {
        let mut sim = Network::new(spec.clone()).expect("a network");
        start(&mut sim);
        sim.run(cut);
        let mut sim = Network::load(&sim.save()).expect("a saved run");
        while sim.run(1_000_000) {}
        assert_eq!(sim.digest(), straight.digest(), "cut after {cut} events");
    }
}

#[test]
fn slack_used_is_the_time_spent_waiting_whatever_the_discipline() {
    // Edge ECN sees nothing but slack used (UPS §3.2.2); a recording adds up the waits by itself.
    let threshold = Span::from_us(20);
    for order in [
        OrderSpec::fifo(),
        drr::Params { overflow: FairOverflow::Tail, ..Default::default() }.into(),
        OrderSpec::random(),
    ] {
        let mut tcp = wide_open();
        tcp.ecn = EcnSpec::Classic;
        tcp.loss = LossDetection::TimeoutOnly; // what is sent again is not ECN-capable: nothing may be
        let mut spec = dumbbell(TransportSpec::Tcp(tcp), six_hosts(5, 100));
        spec.disciplines = vec![ordered(order.clone())];
        spec.carried = CarriedSpec::Slack;
        spec.slack =
            Some(SlackSpec { rule: SlackRule::Constant(Span::from_secs(1)), class_offset: Span::ZERO });
        spec.edge = Some(EdgeSpec::Ecn { threshold });
        spec.probes.record = Some(RecordSpec { hops: false });
        let sim = run(spec.clone());
        let marked = sim.counters().edge.marked;
        let recorded = record(spec, false);
        let long = |row: &usize| recorded.forward[*row] == 1 && recorded.waited[*row] > threshold.ps();
        let waited = (0..recorded.flow.len()).filter(long).count() as u64;
        assert_eq!(marked, waited, "{order:?}");
        assert!(marked > 50, "{order:?}: {marked}");
    }
}

#[test]
fn a_network_that_looks_ahead_is_replayed_too() {
    // 1100 hosts around a switch: more ports than fit the caches, so memory is fetched ahead of time.
    let flows =
        (0..400).map(|i| flow(i, 1 + (i + 13) % 1000, 20_000, Time::from_ns(u64::from(i) * 10))).collect();
    let mut spec = star(1100, Rate::from_gbps(10), Span::from_us(1), udp(1000, UdpPace::Burst), flows);
    spec.stop.when_measured_done = false;
    spec.stop.until = Time::from_ms(1);
    let recorded = record(spec.clone(), false);
    let exits = replay(spec, &recorded, |_, _| 0);
    assert!(exits.iter().all(|exit| exit.at.ps() == recorded.exit[exit.number as usize]));
}

#[test]
fn a_flow_without_end_has_slack_without_end() {
    // Slack by size saturates; added to the time of day it must not come out as the most urgent of all.
    let udp = udp(1000, UdpPace::Constant(Rate::from_gbps(10)));
    let flows = vec![flow(0, 2, u64::MAX, Time::ZERO), flow(1, 2, 20_000, Time::from_us(100))];
    let mut spec = star(3, Rate::from_gbps(10), Span::from_us(1), udp, flows);
    spec.disciplines = vec![ordered(OrderSpec::lstf()), fifo()];
    (0..3).for_each(|host| spec.port_discipline[2 * host] = 1);
    spec.carried = CarriedSpec::Slack;
    let rule = SlackRule::FlowSize { unit: Span::from_secs(1), mss: 1000 };
    spec.slack = Some(SlackSpec { rule, class_offset: Span::ZERO });
    spec.stop.until = Time::from_us(300);
    let sim = run(spec);
    let outcome = sim.outcome(FlowId(1));
    let alone = outcome.ideal + Span::from_ns(800); // at most one packet of the other flow is in the way
    assert!(outcome.received.expect("done").since(outcome.started.expect("begun")) <= alone);
}
