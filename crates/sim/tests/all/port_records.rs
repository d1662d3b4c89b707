//! Ports of a simulated network, recorded and replayed without the network.
use crate::common::*;
use crate::reference::{build, choices};
use crate::state::{busy, marking, orders};
use crate::trimming::around;
use proptest::prelude::*;
use thalweg_machines::link::{LinkSpec as Direction, LossSpec};
use thalweg_machines::schedule::{OrderSpec, priority};
use thalweg_machines::sharing::SharingSpec;
use thalweg_machines::stage::StageSpec;
use thalweg_net::spec::*;
use thalweg_record::replay::{Replayed, replay};
use thalweg_sim::parts::Plan;
use thalweg_units::{Bytes, PortId, Rate, Span, Time};

/// The network with all of its ports recorded that can be.
fn recording(mut spec: NetworkSpec) -> NetworkSpec {
    let all = (0..2 * spec.links.len()).map(PortId::from);
    spec.probes.ports =
        all.filter(|id| spec.recorded_port(*id).is_ok()).map(|id| (id, format!("port {}", id.0))).collect();
    spec
}

/// The records of a run, by port.
fn records(sim: &Network) -> Vec<(PortId, Vec<u8>)> {
    sim.probes().ports.whole(sim.now()).collect()
}

/// What replays of all records of a run find, which has the digest of the run without records.
fn replayed(spec: NetworkSpec) -> Vec<Replayed> {
    let plain = {
        let mut sim = Network::new(spec.clone()).unwrap();
        while sim.run(1 << 20) {}
        sim.digest()
    };
    let sim = run_checked(recording(spec), 997);
    assert_eq!(sim.digest(), plain, "records change nothing");
    records(&sim).iter().map(|(_, record)| replay(&record[..]).unwrap()).collect()
}

/// Sums over ports, none of which differs.
fn all_the_same(spec: NetworkSpec) -> Replayed {
    let mut sum = Replayed::default();
    for found in replayed(spec) {
        assert_eq!((&found.difference, found.whole), (&None, true), "{found:?}");
        sum.arrived += found.arrived;
        sum.together += found.together;
        sum.sent += found.sent;
        sum.lost += found.lost;
        sum.marked += found.marked;
        sum.dropped += found.dropped;
        sum.trimmed += found.trimmed;
    }
    assert!(sum.sent + sum.dropped <= sum.arrived);
    sum
}

/// Eight hosts that send in step: many packets come to a port at one instant.
fn in_step(order: OrderSpec, stage: StageSpec) -> NetworkSpec {
    let mut spec = busy(5, order, stage);
    spec.flows.iter_mut().enumerate().for_each(|(i, flow)| {
        flow.start = Time::from_us(10 * (i as u64 / 20));
        (flow.src.0, flow.dst.0, flow.class) = (i as u32 % 7, 7, (i % 4) as u8);
    });
    spec
}

#[test]
fn every_discipline_replays_with_packets_that_come_together() {
    for (seed, order) in (0..).zip(orders()) {
        let spec = in_step(order.clone(), marking(seed));
        let ports = recording(spec.clone()).probes.ports.len();
        if ports == 0 {
            continue;
        }
        let sum = all_the_same(spec);
        assert!(ports == 8 && sum.together > 100 && sum.sent > 1000, "{order:?}: {sum:?}");
        assert!(sum.dropped > 0, "{order:?}: {sum:?}");
    }
}

#[test]
fn trimmed_packets_are_in_the_record() {
    let sum = all_the_same(around(11, (1..=10).map(|src| flow(src, 0, 40_000, Time::ZERO)).collect()));
    assert!(sum.trimmed > 50 && sum.together > 50, "{sum:?}");
}

#[test]
fn links_that_lose_and_vary_replay_with_their_chances() {
    let mut spec = in_step(OrderSpec::fq_codel(), StageSpec::tail_drop());
    for link in &mut spec.links {
        link.ba.loss = Some(LossSpec::Independent { probability: 0.02 });
    }
    let sum = all_the_same(spec);
    assert!(sum.lost > 10, "{sum:?}");
}

#[test]
fn a_run_that_is_saved_and_loaded_leaves_the_same_records() {
    let spec = recording(in_step(priority::Params::from(4).into(), marking(1)));
    let straight = records(&run_cut(spec.clone(), vec![]));
    assert!(straight.len() == 8 && straight == records(&run_cut(spec, vec![700, 1, 5000])));
}

#[test]
fn a_changed_record_names_the_first_decision_that_differs() {
    let sim = run_checked(recording(in_step(OrderSpec::srpt(), marking(3))), 10_000);
    let (_, record) = records(&sim).pop().unwrap();
    let whole = replay(&record[..]).unwrap();
    let sent = whole.sent;
    assert!(sent > 1000 && whole.difference.is_none());
    let mut differing = 0;
    for at in record.len() / 2..record.len() / 2 + 300 {
        let mut other = record.clone();
        other[at] ^= 1;
        if let Ok(Replayed { difference: Some((recorded, replayed)), sent: same, .. }) = replay(&other[..]) {
            assert!(recorded != replayed && same < sent, "{recorded}; {replayed}");
            differing += 1;
        }
    }
    assert!(differing > 100, "{differing} of 300 bytes");
}

#[test]
fn what_depends_on_more_than_the_port_is_refused_by_key() {
    let plain = || busy(1, OrderSpec::fifo(), StageSpec::tail_drop());
    let refused = |spec: &NetworkSpec, port: u32| spec.recorded_port(PortId(port)).unwrap_err().to_string();
    let switch = 1;
    assert!(plain().recorded_port(PortId(switch)).is_ok());
    assert!(refused(&plain(), 0).contains("it belongs to a host"));
    assert!(refused(&plain(), 16).contains("there is no port 16"));
    let mut shared = plain();
    shared.shared_buffer = Some(SharedBufferSpec { total: Bytes::kb(90), sharing: SharingSpec::complete() });
    assert!(refused(&shared, switch).starts_with("`switch.shared_buffer`"));
    let mut paused = plain();
    paused.inputs = Some(crate::lossless::pfc(20_000, 15_000, 12_000));
    assert!(refused(&paused, switch).starts_with("`switch.inputs`"));
    let mut instant = plain();
    instant.links[0].ba = Direction::fixed(Rate::INFINITE, Span::ZERO);
    assert!(refused(&instant, switch).contains("takes no time"));
    let mut failing = plain();
    failing.incidents = vec![Incident { at: Time::from_us(9), what: IncidentKind::LinkDown(0) }];
    assert!(refused(&failing, switch).starts_with("`incident`") && failing.recorded_port(PortId(3)).is_ok());
    let mut telemetry = plain();
    telemetry.stages = vec![StageSpec::int()];
    assert!(refused(&telemetry, switch).starts_with("`switch.marking`"));
    // The simulator refuses it, too.
    shared.probes.ports = vec![(PortId(switch), "port 1".into())];
    let why = Network::new(shared).unwrap_err().to_string();
    assert!(why.contains("port 1: `switch.shared_buffer`"), "{why}");
}

#[test]
fn a_run_whose_ports_are_recorded_stays_whole() {
    let mut spec = racks(1, wide_open());
    assert!(Plan::new(&Network::new(spec.clone()).unwrap(), 2).is_ok());
    spec.probes.ports = vec![(PortId(1), "port 1".into())];
    let why = Plan::new(&Network::new(spec).unwrap(), 2).unwrap_err().to_string();
    assert!(why.contains("recorded in the order of the whole network"), "{why}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_network_replays_port_by_port(choice in choices(0..1, 0..4)) {
        for found in replayed(build(&choice)) {
            prop_assert_eq!((&found.difference, found.whole), (&None, true), "{:?}", found);
        }
    }
}
