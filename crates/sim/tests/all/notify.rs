//! Policies that notify: their switches send CNPs to the sources of the packets, at that instant.
use crate::common::*;
use crate::lossless::pfc;
use crate::reference::{agree, rdma};
use thalweg_machines::congestion::{ControllerSpec, Observation, dcqcn};
use thalweg_machines::point::policy as own_point;
use thalweg_machines::schedule::{DisciplineSpec, OrderSpec, policy};
use thalweg_machines::transport::{RdmaTimer, Recovery, TransportSpec};
use thalweg_net::spec::*;
use thalweg_units::{PortId, Rate, Span, Time};

fn dcqcn() -> TransportSpec {
    let timer = RdmaTimer::Fixed { value: Span::from_us(500) };
    let recovery = Recovery::GoBackN { repeat_nack: None };
    rdma(recovery, timer, ControllerSpec::Dcqcn(dcqcn::Params::default()))
}

fn notifying(text: &str) -> DisciplineSpec {
    let order: OrderSpec = policy::Params::of(text).into();
    assert!(order.needs().notifies, "{text}");
    DisciplineSpec { order, ..fifo() }
}

/// Host 0, 8 Gb/s, a switch, 4 Gb/s, host 1; 1 us each. Packets of 1048 B; the policy is that of the way out.
fn line(text: &str) -> NetworkSpec {
    let links = [(Rate::from_gbps(8), Span::from_us(1)), (Rate::from_gbps(4), Span::from_us(1))];
    let mut spec = chain(&links, dcqcn(), vec![flow(0, 1, 8_000, Time::ZERO)]);
    spec.disciplines.push(notifying(text));
    spec.port_discipline[2] = 1;
    spec.point = Some(own_point::Params::default().into());
    spec.probes.decisions = true;
    spec
}

/// When the controller of the only flow is notified, in ns.
fn notified(spec: NetworkSpec) -> Vec<u64> {
    let mut sim = run(spec);
    assert_eq!(sim.counters().flows_done, 1);
    let logs = sim.take_decisions();
    let seen = logs.iter().flat_map(|log| log.decisions()).map(|one| one.expect("a record").observation);
    let instants = seen.filter_map(|one| match one {
        Observation::Notification { now } => Some(now.ps() / 1000),
        _ => None,
    });
    instants.collect()
}

/// Packet k is at the switch 1000 + 1048 (k + 1) ns after the start, and one leaves every 2096 ns from 2048 on. The
/// fifth, at 6240, is the first that finds two waiting (as those that leave at its instant have not left), the sixth
/// comes 1048 later. The CNP's 82 B take 82 ns, the wire a microsecond.
#[test]
fn a_cnp_leaves_as_the_packet_joins_and_reaches_its_sender_a_way_later() {
    let cnps = notified(line("q = Queue(60 pkts); out = Port(q); q.congestion = (length >= 2, notify);"));
    assert_eq!(cnps[..2], [6240 + 82 + 1000, 7288 + 82 + 1000], "{cnps:?}");
    let buffer =
        "q = Queue(60 pkts); b = Buffer(60 pkts, q); out = Port(q); b.postAdmAct = (currSize >= 3, notify);";
    assert_eq!(notified(line(buffer)), cnps, "three with the packet that has joined");
}

/// The first two packets leave the switch at 2048 and 4144 ns.
#[test]
fn a_cnp_leaves_as_the_packet_is_scheduled() {
    let cnps = notified(line("q = Queue(60 pkts); out = Port(q); out.postSchedAct = (length >= 0, notify);"));
    assert_eq!(cnps[..2], [2048 + 82 + 1000, 4144 + 82 + 1000], "{cnps:?}");
    assert_eq!(cnps.len(), 8, "one for each packet of data, none for ACKs and CNPs");
}

#[test]
fn a_notification_has_the_bytes_of_its_point() {
    let mut spec = line("q = Queue(60 pkts); out = Port(q); q.congestion = (length >= 2, notify);");
    let message = thalweg_units::Bytes::new(500);
    spec.point = Some(own_point::Params { message }.into());
    assert_eq!(notified(spec)[0], 6240 + 500 + 1000);
}

/// Notifies as packets come and as they leave, at hosts too, whose queues have no point; later others do.
const BOTH: &str =
    "q = Queue(30 pkts); out = Port(q); q.congestion = (length >= 9, drop(1) & notify).(length >= 4, notify);
                    out.postSchedAct = (length >= 3, notify & mark);";

fn crowd(seed: u64) -> NetworkSpec {
    let flows = random_flows(seed, 40, 8, 60_000, 60_000);
    let (rate, delay) = (Rate::from_gbps(10), Span::from_ns(987));
    let mut links: Vec<LinkSpec> = (0..8).map(|h| link(h, 8 + h / 4, rate, delay)).collect();
    links.push(link(8, 9, rate, delay));
    let mut spec = network(8, 2, links, dcqcn(), flows);
    spec.seed = seed;
    let late = "q = Queue(30 pkts); out = Port(q); q.postAdmAct = (length >= 2, notify);";
    let text = Some(policy::Text::new(late));
    let change = policy::Change { at: Span::from_us(60), file: None, text, ports: None };
    let params = policy::Params { changes: vec![change], ..policy::Params::of(BOTH) };
    let order = if seed.is_multiple_of(2) { policy::Params::of(BOTH) } else { params };
    spec.disciplines = vec![DisciplineSpec { order: order.into(), ..fifo() }];
    spec.point = Some(own_point::Params::default().into());
    let ports: Vec<PortId> = (0..18).map(PortId).collect();
    spec.probes.queues = Some((Span::from_us(7), ports));
    spec.stop = StopSpec { until: Time::from_ms(9), when_measured_done: false, max_events: u64::MAX };
    match seed % 3 {
        0 => {}
        1 => {
            spec.inputs = Some(pfc(40_000, 15_000, 12_000));
            spec.control_first = true;
        }
        _ => {
            let at = |us, what| Incident { at: Time::from_us(us), what };
            spec.incidents = vec![at(20, IncidentKind::LinkDown(8)), at(45, IncidentKind::LinkUp(8))];
            spec.convergence = Span::from_us(5);
        }
    }
    spec
}

#[test]
fn rates_fall_and_neither_short_cuts_nor_cuts_change_a_network_that_notifies() {
    for seed in 0..6 {
        let spec = crowd(seed);
        let straight = run_checked(spec.clone(), 97);
        assert!(straight.counters().flows_done > 30, "{seed}: {}", straight.counters().flows_done);
        let cut = run_cut(spec.clone(), vec![101, 1000, 777, 5000, 3]);
        assert_eq!(straight.digest(), cut.digest(), "{seed}");
        agree(spec).unwrap_or_else(|why| panic!("{seed}: {why}"));
    }
}

#[test]
fn what_a_policy_notifies_of_needs_a_point_of_its_own() {
    let both = "queues that notify of packets and congestion points of their own go together";
    let refused = |spec| Network::new(spec).expect_err("refused").to_string();
    let spec = line("q = Queue(60 pkts); out = Port(q); q.congestion = (length >= 2, notify);");
    assert!(refused(NetworkSpec { point: None, ..spec.clone() }).contains(both));
    assert!(
        refused(NetworkSpec { point: Some(crate::reference::points()[1]), ..spec.clone() }).contains(both)
    );
    let silent = NetworkSpec { disciplines: vec![fifo()], port_discipline: vec![0; 4], ..spec };
    assert!(refused(silent).contains(both));
}
