//! Inputs that send one packet at a time: by hand, and against a crossbar written down step by step.
use crate::common::*;
use crate::lossless::{in_turns, lossy, one_per_input, pfc};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use thalweg_machines::buffer::InputSpec;
use thalweg_machines::transport::UdpPace;
use thalweg_net::spec::*;
use thalweg_units::{FlowId, Rate, Serializer, Span, Time};

/// Hosts around one switch, 8 Gb/s: a packet of 1000 B takes 1 us, and a link 1 us.
fn around(hosts: u32, flows: Vec<FlowSpec>, inputs: InputSpec) -> NetworkSpec {
    let udp = udp(1000, UdpPace::Burst);
    let mut spec = star(hosts, Rate::from_gbps(8), Span::from_us(1), udp, flows);
    spec.inputs = Some(inputs);
    spec.disciplines = vec![in_turns()];
    spec
}

/// Host 0 sends 0 -> 2 twice, then 0 -> 1; host 1 sends 1 -> 2. At the switch: both inputs have a packet for
/// output 2 at 2 us, input 0 its second at 3 us, and that for output 1 at 4 us.
#[test]
fn three_ends_by_hand() {
    let flows =
        || vec![flow(0, 2, 2000, Time::ZERO), flow(0, 1, 1000, Time::ZERO), flow(1, 2, 1000, Time::ZERO)];
    let received = |inputs| {
        let sim = run(around(3, flows(), inputs));
        (0..3)
            .map(|f| sim.outcome(FlowId(f)).received.expect("completed").ps() / 1_000_000)
            .collect::<Vec<_>>()
    };
    // Output 2: input 0 at 2, input 1 at 3, input 0 at 4 us; output 1 at 4 us.
    assert_eq!(received(lossy(1 << 20)), [6, 6, 5]);
    // At 4 us outputs 1 and 2 both offer themselves to input 0, which served output 2 last: output 1 at 4,
    // output 2 at 5 us.
    assert_eq!(received(one_per_input(lossy(1 << 20))), [7, 6, 5]);
}

/// An input has packets for two outputs, one of them paused from far away: the other is served meanwhile, and
/// nothing is lost.
#[test]
fn a_paused_output_keeps_no_input() {
    let (rate, delay) = (Rate::from_gbps(8), Span::from_us(1));
    // 0, 1, 2 – 5 – 6 – 3, 4.
    let links = vec![
        link(0, 5, rate, delay),
        link(1, 5, rate, delay),
        link(2, 5, rate, delay),
        link(3, 6, rate, delay),
        link(4, 6, rate, delay),
        link(5, 6, rate, delay),
    ];
    // Both 0 and 4 fill host 3's link: the trunk is paused. 0's packets for 2 follow those for 3.
    let flows = vec![
        flow(0, 3, 40_000, Time::ZERO),
        flow(4, 3, 40_000, Time::ZERO),
        flow(0, 2, 40_000, Time::from_ns(500)),
    ];
    let mut spec = network(5, 2, links, udp(1000, UdpPace::Burst), flows);
    spec.inputs = Some(one_per_input(pfc(3000, 2000, 10_000)));
    spec.disciplines = vec![in_turns()];
    spec.probes.pauses = true;
    let mut sim = Network::new(spec).unwrap();
    while sim.run_checked(1000, 1).unwrap() {}
    assert!(sim.pauses().iter().any(|p| p.port.0 == 10), "the trunk pauses");
    assert_eq!(sim.counters().packets_dropped, 0);
    assert!((0..3).all(|f| sim.outcome(FlowId(f)).received.is_some()));
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let spec = || around(3, vec![flow(0, 2, 2000, Time::ZERO)], one_per_input(lossy(1 << 20)));
    let why = |spec: NetworkSpec| Network::new(spec).map(|_| ()).expect_err("refused").to_string();
    let fifos = NetworkSpec { disciplines: vec![fifo()], ..spec() };
    assert!(why(fifos).contains("need outputs that serve them in turn"));
    assert!(why(NetworkSpec { control_first: true, ..spec() }).contains("nothing passes them"));
    assert!(why(NetworkSpec { shortcuts: false, ..spec() }).contains("plain links"));
}

/// A packet at the switch: when it was there, its ends, how long it is sent for, when that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    came: u64,
    input: usize,
    output: usize,
    lasts: u64,
    began: u64,
}

/// When every packet begins to cross, by a switch that looks at all its queues at every instant at which
/// anything happens.
fn by_steps(hosts: usize, packets: &[Crossing]) -> Vec<Crossing> {
    let mut queues = vec![vec![VecDeque::new(); hosts]; hosts];
    let (mut output_free, mut input_free) = (vec![0u64; hosts], vec![0u64; hosts]);
    let (mut grant, mut accept) = (vec![0; hosts], vec![0; hosts]);
    let mut instants: BTreeSet<u64> = packets.iter().map(|p| p.came).collect();
    let (mut done, mut next) = (Vec::new(), 0);
    while let Some(now) = instants.pop_first() {
        while let Some(packet) = packets.get(next).filter(|p| p.came == now) {
            queues[packet.input][packet.output].push_back(*packet);
            next += 1;
        }
        for round in 0.. {
            let mut offers = vec![Vec::new(); hosts];
            for output in (0..hosts).filter(|o| output_free[*o] <= now) {
                let requests = |i: &usize| input_free[*i] <= now && !queues[*i][output].is_empty();
                if let Some(input) = (0..hosts).map(|k| (grant[output] + k) % hosts).find(requests) {
                    offers[input].push(output);
                }
            }
            if offers.iter().all(Vec::is_empty) {
                break;
            }
            for input in 0..hosts {
                let taken =
                    (0..hosts).map(|k| (accept[input] + k) % hosts).find(|o| offers[input].contains(o));
                let Some(output) = taken else { continue };
                let packet: Crossing = queues[input][output].pop_front().expect("it waits");
                let ends = now + packet.lasts;
                (output_free[output], input_free[input]) = (ends, ends);
                instants.insert(ends);
                done.push(Crossing { began: now, ..packet });
                if round == 0 {
                    (grant[output], accept[input]) = ((input + 1) % hosts, (output + 1) % hosts);
                }
            }
        }
    }
    done.sort_unstable();
    done
}

/// What the simulator's switch did.
fn recorded(spec: &NetworkSpec) -> Vec<Crossing> {
    let mut spec = spec.clone();
    spec.probes.record = Some(RecordSpec { hops: true });
    let mut sim = Network::new(spec.clone()).unwrap();
    while sim.run_checked(100, 1).unwrap() {}
    assert_eq!(sim.counters().packets_dropped, 0);
    let rows = sim.take_recorded(true);
    let span = Serializer::new(spec.links[0].rate(), Span::ZERO);
    let mut crossings: Vec<Crossing> = (0..rows.flow.len())
        .map(|row| {
            let flow = &spec.flows[rows.flow[row] as usize];
            assert_eq!(rows.hops[row], 1);
            Crossing {
                came: rows.visits.arrivals[row],
                input: flow.src.at(),
                output: flow.dst.at(),
                lasts: span.span(rows.wire[row]).ps(),
                began: rows.visits.starts[row],
            }
        })
        .collect();
    crossings.sort_unstable();
    crossings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Every packet begins to cross when it should, whatever comes: short packets and long, many at one instant.
    #[test]
    fn packets_cross_as_in_a_switch_written_down(
        hosts in 2u32..7,
        flows in proptest::collection::vec((any::<u32>(), any::<u32>(), 1u64..30_000, 0u64..20), 1..30),
    ) {
        let mut flows: Vec<FlowSpec> = flows
            .into_iter()
            .map(|(a, b, size, start)| {
                let src = a % hosts;
                flow(src, (src + 1 + b % (hosts - 1)) % hosts, size, Time::from_us(start))
            })
            .collect();
        flows.sort_by_key(|flow| flow.start);
        let spec = around(hosts, flows, one_per_input(lossy(1 << 30)));
        let crossed = recorded(&spec);
        prop_assert_eq!(&by_steps(hosts as usize, &crossed), &crossed);
    }
}

/// Every host has much for every other: no output is idle but for what a host does not send to itself, and all
/// pairs get the same.
#[test]
fn full_queues_are_served_equally_at_full_rate() {
    let hosts = 5;
    let flows = (0..hosts)
        .flat_map(|from| (1..hosts).map(move |step| flow(from, (from + step) % hosts, 200_000, Time::ZERO)))
        .collect();
    let mut spec = around(hosts, flows, one_per_input(lossy(1 << 30)));
    // Hosts mix their flows; else they would be served one after the other.
    spec.nic.order = NicOrder::RoundRobin;
    let sim = run(spec);
    // 800 packets of 1 us each into every host, the links and the first packets' time at the NICs.
    let last = (0..20).map(|f| sim.outcome(FlowId(f)).received.expect("completed")).max().unwrap();
    assert!(last < Time::from_us(800 + 10), "{last:?}");
}
