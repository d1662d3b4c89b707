//! Routing rules that choose hop by hop, in a network: schedules by hand, laws, snapshots, failures.
use crate::common::*;
use crate::lossless::pfc;
use crate::reference::rdma;
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::route::{adaptive, conga, flowlet, least_loaded, ugal, valiant};
use thalweg_machines::schedule::{DisciplineSpec, Limit};
use thalweg_machines::stage::{MarkAt, step_ecn};
use thalweg_machines::transport::*;
use thalweg_net::spec::*;
use thalweg_units::notation::Length;
use thalweg_units::{Bytes, PortId, Rate, Span, Stream, Time};

/// Host 0 – leaf 2 – spine 4 or 5 – leaf 3 – host 1; the links of spine 5 have the rate `slow`. Links 2 and 3 lead up
/// from leaf 2.
fn two_spines(slow: Rate, transport: TransportSpec, flows: Vec<FlowSpec>) -> NetworkSpec {
    let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
    let links = vec![
        link(0, 2, rate, delay),
        link(1, 3, rate, delay),
        link(2, 4, rate, delay),
        link(2, 5, slow, delay),
        link(3, 4, rate, delay),
        link(3, 5, slow, delay),
    ];
    network(2, 4, links, transport, flows)
}

/// Up from leaf 2, to the first and to the second spine.
const UP: [PortId; 2] = [PortId(4), PortId(6)];

fn sent_up(sim: &Network) -> [u64; 2] {
    UP.map(|port| sim.totals(port).packets)
}

/// Four leaves under two spines, two hosts each, and the rules that choose hop by hop.
fn fabrics() -> Vec<NetworkSpec> {
    let rules = [
        RouteSpec::spray_random(),
        RouteSpec::spray_round_robin(),
        flowlet::Params { timeout: Span::from_us(3), entries: 16, ..Default::default() }.into(),
        flowlet::Params { timeout: Span::from_us(3), aging: flowlet::Aging::AgeBit, ..Default::default() }
            .into(),
        RouteSpec::least_loaded(),
        least_loaded::Params { samples: 1, memory: 3 }.into(),
        RouteSpec::adaptive(),
        adaptive::Params { every: Span::ZERO, hashed_below: Bytes::ZERO }.into(),
        RouteSpec::entropy(),
        RouteSpec::conga(),
        conga::Params {
            timeout: Span::from_us(3),
            interval: Span::from_us(1),
            forget: Span::from_us(9),
            ..Default::default()
        }
        .into(),
        RouteSpec::valiant(),
        valiant::Params { per: valiant::Per::Flow }.into(),
        RouteSpec::ugal(),
        ugal::Params { bias: Bytes::kb(6) }.into(),
    ];
    let irn = Recovery::Irn { sack: true, nack_threshold: 3, enter_on_advance: false };
    let fabric = |rule: RouteSpec| {
        let mut transport = rdma(
            irn,
            RdmaTimer::Fixed { value: Span::from_us(300) },
            ControllerSpec::Fixed(Default::default()),
        );
        if let TransportSpec::Rdma(rdma) = &mut transport {
            rdma.path_values = Some(PathValues { count: 64, recycle: true });
        }
        let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
        let mut links: Vec<LinkSpec> = (0..8).map(|host| link(host, 8 + host / 2, rate, delay)).collect();
        links.extend((0..8).map(|n| link(8 + n / 2, 12 + n % 2, rate, delay)));
        let mut spec = network(8, 6, links, transport, random_flows(3, 60, 8, 60_000, 100_000));
        spec.disciplines = vec![DisciplineSpec { limit: Limit::Bytes(Bytes::new(30_000)), ..fifo() }];
        spec.stop.until = Time::from_ms(20);
        spec.routing = rule.into();
        spec
    };
    rules.into_iter().map(fabric).collect()
}

/// Datagrams of 1250 B, which take 1 us, one every `every`: where each of 40 goes.
fn flowlets(every: Span) -> [u64; 2] {
    let pace = UdpPace::Constant(Rate::from_bps(1250 * 8 * 1_000_000_000_000 / every.ps()));
    let flows = vec![flow(0, 1, 40 * 1250, Time::ZERO)];
    let mut spec = two_spines(Rate::from_gbps(10), udp(1250, pace), flows);
    spec.routing =
        RouteSpec::from(flowlet::Params { timeout: Span::from_us(10), ..Default::default() }).into();
    sent_up(&run(spec))
}

/// Two paths. Datagrams that come every 10 us belong to one flowlet with a timeout of 10 us: the first draw of the leaf
/// decides for all. At 12 us each draws for itself.
#[test]
fn letflow_keeps_a_port_within_the_timeout_and_draws_behind_longer_gaps() {
    let mut leaf = Stream::new(1, "flowlet", 0);
    let mut all = [0; 2];
    all[leaf.clone().below(2) as usize] = 40;
    assert_eq!(flowlets(Span::from_us(10)), all);
    let mut each = [0; 2];
    (0..40).for_each(|_| each[leaf.below(2) as usize] += 1);
    assert_eq!(flowlets(Span::from_us(12)), each);
    assert!(each[0] > 10 && each[1] > 10, "{each:?}");
}

/// Datagrams at 10 Gb/s over a path of 10 and one of 1 Gb/s: 1 us and 10 us each. While the first path keeps up with
/// what comes, the slow one takes a packet only when drawn and no longer than the other: no more than the two ports
/// together can send, and hardly ever one behind another.
#[test]
fn drill_passes_by_a_port_that_is_slower() {
    let flows = || vec![flow(0, 1, 2000 * 1250, Time::ZERO)];
    let full = udp(1250, UdpPace::Constant(Rate::from_gbps(10)));
    let slow = Rate::from_gbps(1);
    let mut spec = two_spines(slow, full.clone(), flows());
    spec.routing = RouteSpec::least_loaded().into();
    let sim = run(spec);
    let sent = sent_up(&sim);
    // 2000 us have room for 200 packets on the slow path.
    assert!((60..=210).contains(&sent[1]), "{sent:?}");
    assert!(UP.map(|port| sim.totals(port).max_queue).iter().all(|most| *most <= 5 * 1250), "{sent:?}");
    let mut sprayed = two_spines(slow, full, flows());
    sprayed.routing = RouteSpec::spray_random().into();
    let sim = run(sprayed);
    assert!(sim.totals(UP[1]).max_queue > 500_000, "half of them take the slow path");
}

/// The same, and queues of 100 packets: the slow path has at most 20, the twentieth on its way, when a packet finds it
/// below 20 %, and the fast one never gets there.
#[test]
fn an_adaptive_switch_leaves_a_port_whose_queue_fills() {
    let full = udp(1250, UdpPace::Constant(Rate::from_gbps(10)));
    let mut spec = two_spines(Rate::from_gbps(1), full, vec![flow(0, 1, 2000 * 1250, Time::ZERO)]);
    spec.disciplines = vec![DisciplineSpec { limit: Limit::Bytes(Bytes::new(125_000)), ..fifo() }];
    spec.routing = RouteSpec::adaptive().into();
    let sim = run(spec);
    let sent = sent_up(&sim);
    // 2000 us have room for 200 packets on the slow path, which is full to 5 % soon.
    assert!((190..=215).contains(&sent[1]), "{sent:?}");
    assert!(sim.totals(UP[1]).max_queue <= 7 * 1250, "{}", sim.totals(UP[1]).max_queue);
    assert!(sim.totals(UP[0]).max_queue <= 2 * 1250, "{}", sim.totals(UP[0]).max_queue);
}

/// A sender that uses values again that came back unmarked leaves the path that marks.
#[test]
fn a_sender_that_recycles_path_values_leaves_the_path_that_is_congested() {
    let irn = Recovery::Irn { sack: true, nack_threshold: 1000, enter_on_advance: false };
    let up = |recycle| {
        let mut transport = rdma(
            irn,
            RdmaTimer::Fixed { value: Span::from_ms(50) },
            ControllerSpec::Fixed(Default::default()),
        );
        let TransportSpec::Rdma(spec) = &mut transport else { unreachable!("made above") };
        spec.path_values = Some(PathValues { count: 1 << 16, recycle });
        (spec.notification, spec.cap) = (Notification::Echo, Some(16));
        let mut spec = two_spines(Rate::from_gbps(1), transport, vec![flow(0, 1, 2_000_000, Time::ZERO)]);
        let threshold = Length::Packets(1);
        let stage = step_ecn::Params { threshold, at: MarkAt::Arrival, include_self: false }.into();
        // Hosts mark nothing.
        spec.disciplines = vec![DisciplineSpec { stage, ..fifo() }, fifo()];
        (spec.port_discipline[0], spec.port_discipline[2]) = (1, 1);
        spec.routing = RouteSpec::entropy().into();
        sent_up(&run(spec))
    };
    let (drawn, recycled) = (up(false), up(true));
    assert!(drawn[0].abs_diff(drawn[1]) < 200, "of 2000, half each: {drawn:?}");
    assert!(recycled[1] * 4 < recycled[0], "{recycled:?}");
}

/// Packets are conserved, a run repeats itself, and one that is saved and loaded goes on as it would have.
#[test]
fn every_rule_keeps_the_laws_and_its_runs_repeat_also_when_cut() {
    for spec in fabrics() {
        let rule = spec.routing.rule.clone();
        let straight = run_checked(spec.clone(), 97);
        assert!((0..60).all(|n| straight.outcome(thalweg_units::FlowId(n)).received.is_some()), "{rule:?}");
        assert_eq!(straight.digest(), run(spec.clone()).digest(), "{rule:?}");
        let cut = run_cut(spec.clone(), vec![700, 1300, 2900]);
        assert_eq!((cut.digest(), cut.counters()), (straight.digest(), straight.counters()), "{rule:?}");
        let other = run(NetworkSpec { seed: 2, ..spec });
        assert_ne!(other.digest(), straight.digest(), "{rule:?}");
    }
}

/// Both links of the first leaf's first spine fail for a while: what is on them is lost and sent again, packets take
/// what is left once the routes have converged, and both ways after the repair.
#[test]
fn every_rule_goes_on_with_the_candidates_that_are_left() {
    for mut spec in fabrics() {
        let rule = spec.routing.rule.clone();
        let up = PortId(16); // link 8: from the first leaf to the first spine
        let at = |us, what| Incident { at: Time::from_us(us), what };
        spec.incidents = vec![at(20, IncidentKind::LinkDown(8)), at(400, IncidentKind::LinkUp(8))];
        spec.convergence = Span::from_us(30);
        let sent = |until| {
            let mut spec = spec.clone();
            spec.stop.until = Time::from_us(until);
            run(spec).totals(up).packets
        };
        assert_eq!(sent(60), sent(390), "{rule:?}: nothing leaves by a link that has failed");
        let sim = run_checked(spec.clone(), 97);
        assert!((0..60).all(|n| sim.outcome(thalweg_units::FlowId(n)).received.is_some()), "{rule:?}");
        let cut = run_cut(spec, vec![400, 900, 2000]);
        assert_eq!(cut.digest(), sim.digest(), "{rule:?}");
    }
}

/// Nothing is dropped where inputs make their neighbours pause, whatever the rule.
#[test]
fn every_rule_goes_with_pauses() {
    for mut spec in fabrics() {
        let rule = spec.routing.rule.clone();
        spec.disciplines = vec![fifo()];
        spec.inputs = Some(pfc(20_000, 15_000, 12_000));
        let sim = run_checked(spec.clone(), 97);
        assert_eq!(sim.counters().packets_dropped, 0, "{rule:?}");
        assert!(sim.counters().pause_frames > 0, "{rule:?}: it is a test");
        let cut = run_cut(spec, vec![400, 900, 2000]);
        assert_eq!(cut.digest(), sim.digest(), "{rule:?}");
    }
}

/// What goes by flows' paths refuses rules that have none.
#[test]
fn a_network_in_which_a_path_must_be_known_refuses_rules_that_choose_packet_by_packet() {
    for mut spec in fabrics() {
        spec.point = Some(crate::reference::points()[0]);
        assert!(Network::new(spec).unwrap_err().to_string().contains("packet by packet"));
    }
}
