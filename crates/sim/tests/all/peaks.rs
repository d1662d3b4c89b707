//! The most that switch memories have held, against what the recorded packets show.
use crate::common::*;
use std::collections::BTreeMap;
use thalweg_machines::buffer::{InputMemory, InputSpec};
use thalweg_machines::pause::pfc::{Params, Threshold};
use thalweg_machines::pause::{Claims, PauseSpec};
use thalweg_machines::schedule::{DisciplineSpec, OrderSpec};
use thalweg_net::spec::*;
use thalweg_sim::MemoryPeaks;
use thalweg_units::{Bytes, Serializer, Span};

/// Two racks of four hosts behind a trunk as fast as one host; all hosts send to all. Nothing is ever lost.
fn two_racks(seed: u64, inputs: InputSpec) -> NetworkSpec {
    let mut spec = racks(seed, wide_open());
    spec.disciplines = vec![DisciplineSpec { order: OrderSpec::input_round_robin(), ..fifo() }];
    spec.inputs = Some(inputs);
    spec.nic.order = NicOrder::RoundRobin;
    // To the last ACK: only packets that leave are recorded.
    spec.stop.when_measured_done = false;
    spec.probes.memory = true;
    spec
}

fn memory(memory: InputMemory, threshold: Option<Threshold>, release_at_start: bool) -> InputSpec {
    let pfc = threshold.map(|threshold| Params {
        threshold,
        headroom: Some(Bytes::new(12_000)),
        ..Params::default()
    });
    InputSpec { memory, pause: pfc.map(PauseSpec::Pfc), release_at_start, one_per_input: false }
}

fn kinds() -> Vec<(&'static str, InputSpec)> {
    let still = Threshold::Static { xoff: Some(Bytes::new(20_000)), xon: Some(Bytes::new(15_000)) };
    let moving = Threshold::Dynamic { alpha: 0.125, reserve: Bytes::new(2000), hysteresis: Bytes::new(1500) };
    let own = |bytes| InputMemory::PerInput(Bytes::new(bytes));
    let shared = |bytes| InputMemory::Shared(Bytes::new(bytes));
    vec![
        ("own, never full", memory(own(10_000_000), None, false)),
        ("own, never full, release at start", memory(own(10_000_000), None, true)),
        ("shared, never full", memory(shared(10_000_000), None, false)),
        ("own, pfc", memory(own(32_000), Some(still), false)),
        ("shared, pfc", memory(shared(400_000), Some(still), true)),
        ("shared, dynamic", memory(shared(300_000), Some(moving), false)),
    ]
}

fn straight(spec: NetworkSpec) -> Network {
    let mut sim = Network::new(spec).expect("a network");
    while sim.run(1_000_000) {}
    sim
}

/// When each input of each switch took bytes, and when it gave them back: (time, 0 taken or 1 given, input, bytes).
type Ledger = BTreeMap<usize, Vec<(u64, u8, usize, i64)>>;

/// The ledger as the recorded packets give it, nothing of the memory's own.
fn ledger(spec: &NetworkSpec, at_start: bool) -> Ledger {
    let mut spec = spec.clone();
    spec.probes.record = Some(RecordSpec { hops: true });
    let mut sim = straight(spec.clone());
    let r = sim.take_recorded(true);
    let span = Serializer::new(spec.links[0].rate(), Span::ZERO);
    let (mut ledger, mut next) = (Ledger::new(), 0);
    for row in 0..r.flow.len() {
        let flow = &spec.flows[r.flow[row] as usize];
        let (from, to) = if r.forward[row] == 1 { (flow.src, flow.dst) } else { (flow.dst, flow.src) };
        let (first, last) = (from.0 as usize / 4, to.0 as usize / 4);
        // Inputs are numbered in the order of links: four hosts, then the trunk.
        let way = if first == last {
            vec![(first, from.0 as usize % 4)]
        } else {
            vec![(first, from.0 as usize % 4), (last, 4)]
        };
        assert_eq!(way.len(), usize::from(r.hops[row]));
        for (switch, input) in way {
            let (came, began) = (r.visits.arrivals[next], r.visits.starts[next]);
            let gone = if at_start { began } else { began + span.span(r.wire[row]).ps() };
            let wire = i64::from(r.wire[row]);
            let book = ledger.entry(switch).or_default();
            book.extend([(came, 0, input, wire), (gone, 1, input, -wire)]);
            next += 1;
        }
    }
    // What comes at an instant is there before what leaves then has left: ports choose after arrivals have landed.
    ledger.values_mut().for_each(|book| book.sort_unstable());
    ledger
}

/// Most bytes by input, and in all, of one switch.
fn most(book: &[(u64, u8, usize, i64)]) -> (Vec<u64>, u64) {
    let (mut now, mut most, mut most_in_all) = (vec![0i64; 5], vec![0i64; 5], 0i64);
    for (_, _, input, bytes) in book {
        now[*input] += bytes;
        most[*input] = most[*input].max(now[*input]);
        most_in_all = most_in_all.max(now.iter().sum());
    }
    assert!(now.iter().all(|left| *left == 0));
    (most.into_iter().map(|b| b as u64).collect(), most_in_all as u64)
}

#[test]
fn the_most_held_is_exact_although_releases_are_deferred() {
    for seed in 1..4 {
        for (name, inputs) in kinds() {
            let mut spec = two_racks(seed, inputs);
            spec.seed = seed;
            let sim = straight(spec.clone());
            for (switch, book) in ledger(&spec, inputs.release_at_start) {
                let (by_input, in_all) = most(&book);
                let peaks = &sim.memory_peaks()[switch];
                assert_eq!(peaks.inputs, by_input, "{name}, seed {seed}, switch {switch}");
                match (inputs.memory, inputs.claims()) {
                    (InputMemory::PerInput(_), _) => assert_eq!(peaks.shared, 0),
                    (_, Claims::Dynamic { .. }) => assert!(peaks.shared < in_all),
                    _ => assert_eq!(peaks.shared, in_all, "{name}, seed {seed}, switch {switch}"),
                }
            }
        }
    }
}

#[test]
fn probes_and_checks_change_nothing() {
    for (name, inputs) in kinds() {
        let spec = two_racks(4, inputs);
        let mut unprobed = spec.clone();
        unprobed.probes.memory = false;
        let (probed, unprobed) = (straight(spec.clone()), straight(unprobed));
        assert_eq!(probed.digest(), unprobed.digest(), "{name}");
        assert!(unprobed.memory_peaks().is_empty());
        let mut stepped = Network::new(spec).expect("a network");
        while stepped.run_checked(1000, 1).unwrap_or_else(|v| panic!("{name}: {v}")) {}
        assert_eq!(stepped.memory_peaks(), probed.memory_peaks(), "{name}: caught up after every event");
        let saved = Network::load(&probed.save()).expect("a saved run");
        assert_eq!(saved.memory_peaks(), probed.memory_peaks());
    }
}

#[test]
fn a_dynamic_threshold_has_its_headroom_counted_apart() {
    let (_, inputs) = kinds().pop().expect("dynamic");
    let sim = straight(two_racks(1, inputs));
    let headroom = |p: &MemoryPeaks| p.headrooms.iter().copied().max().unwrap_or(0);
    let most = sim.memory_peaks().iter().map(headroom).max().unwrap_or(0);
    assert!(most > 0 && most <= 12_000, "{most}");
    assert!(sim.counters().pause_frames > 0);
}
