//! RC3's second loop at NICs: packets that are handed over when nothing else is there to send, and packets
//! that are taken back.

use crate::common::*;
use crate::reference::agree;
use proptest::prelude::*;
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::link::{LinkSpec as Way, LossSpec as Losses};
use thalweg_machines::schedule::{DisciplineSpec, Limit, priority};
use thalweg_machines::transport::{Borders, Handed, Rc3Spec, RtoRule, TcpSpec, TransportSpec};
use thalweg_net::spec::*;
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};

pub const PUSH: (Handed, bool) = (Handed::Push, false);
pub const PULL: (Handed, bool) = (Handed::Pull, false);
pub const FLUSH: (Handed, bool) = (Handed::Push, true);

pub fn rc3((handed, flush): (Handed, bool)) -> TransportSpec {
    let primary = TcpSpec {
        controller: ControllerSpec::NewReno(Default::default()),
        initial_window: Bytes::new(4 * 1460),
        acks_in_class: true,
        handshake: true,
        rto: RtoRule::Rfc6298 { initial: Span::from_ms(1), min: Span::from_us(500), max: Span::from_ms(100) },
        ..wide_open()
    };
    TransportSpec::Rc3(Rc3Spec {
        primary,
        first: 10,
        levels: 4,
        borders: Borders::Quotas,
        together: 1,
        handed,
        flush,
    })
}

/// Six hosts; switches whose ports hold 60 kB, NICs that hold everything.
fn crowd(seed: u64, mode: (Handed, bool)) -> NetworkSpec {
    let flows = random_flows(seed, 25, 6, 400_000, 300_000);
    let mut spec = star(6, Rate::from_gbps(10), Span::from_us(10), rc3(mode), flows);
    let order = priority::Params { classes: 5, control: priority::Control::ByClass };
    let kind = DisciplineSpec { order: order.into(), ..fifo() };
    spec.disciplines = vec![kind.clone(), DisciplineSpec { limit: Limit::Bytes(Bytes::new(60_000)), ..kind }];
    // Links lead from hosts to the switch, and back.
    spec.port_discipline = (0..12).map(|port| port % 2).collect();
    spec.seed = seed;
    // Time for a few timeouts of up to 100 ms, one after the other.
    spec.stop.until = Time::from_ms(2000);
    spec
}

fn lossy(spec: &mut NetworkSpec) {
    for link in &mut spec.links {
        for way in [&mut link.ab, &mut link.ba] {
            way.loss = Some(Losses::Independent { probability: 0.01 });
        }
    }
}

/// One flow alone, 10 Gb/s, 100 us: 200 segments. Pushed, all of the second loop waits at once, and what TCP
/// sends meanwhile leaves twice; pulled, nothing but the first window ever waits, and hardly anything leaves
/// twice.
#[test]
fn a_nic_that_pulls_holds_little_and_repeats_nothing_of_tcp() {
    let alone = |mode| {
        let flows = vec![flow(0, 1, 200 * 1460, Time::ZERO)];
        let spec = NetworkSpec { flows, ..crowd(1, mode) };
        let sim = run_checked(spec, 1);
        let fct = sim.outcome(FlowId(0)).received.expect("complete");
        let nic = sim.totals(PortId(0));
        (nic.max_queue / 1500, nic.packets, fct)
    };
    let (push, pull) = (alone(PUSH), alone(PULL));
    assert!(push.0 >= 190 && pull.0 < 60, "{push:?} {pull:?}");
    assert!(pull.1 < push.1, "{push:?} {pull:?}");
    assert!(pull.2 <= push.2, "{push:?} {pull:?}");
}

/// Packets of several flows that wait for the same NIC leave in the order of their classes.
#[test]
fn a_nic_pulls_the_most_important_packet() {
    let mut spec = crowd(1, PULL);
    spec.flows = vec![flow(0, 1, 90 * 1460, Time::ZERO), flow(0, 2, 30 * 1460, Time::ZERO)];
    spec.probes.record = Some(RecordSpec { hops: false });
    let mut sim = run_checked(spec, 1);
    let rows = sim.take_recorded(true);
    let data = (0..rows.seq.len()).filter(|row| rows.forward[*row] == 1 && rows.wire[*row] == 1500);
    let sent: Vec<(u32, u64)> = data.map(|row| (rows.flow[row], rows.seq[row] / 1460 + 1)).collect();
    // Both initial windows, then in turn the ten last segments of each, then in turn what is of the second level.
    assert!(sent[..8].iter().all(|(_, segment)| *segment <= 4), "{sent:?}");
    let in_turn: Vec<(u32, u64)> = (0..10).flat_map(|n| [(0, 90 - n), (1, 30 - n)]).collect();
    assert_eq!(sent[8..28], in_turn);
    assert_eq!(sent[28..30], [(0, 80), (1, 20)]);
}

#[test]
fn a_flow_that_is_over_takes_back_what_waits_in_the_queue_of_its_nic() {
    let (kept, taken) = (run_checked(crowd(3, PUSH), 1), run_checked(crowd(3, FLUSH), 1));
    let nics = |sim: &Network| (0..6).map(|n| sim.totals(PortId(2 * n)).dropped).sum::<u64>();
    assert_eq!(nics(&kept), 0);
    assert!(nics(&taken) > 0);
    let done = |sim: &Network| sim.counters().flows_done;
    assert_eq!((done(&kept), done(&taken)), (25, 25));
    let left = |sim: &Network| (0..6).map(|n| sim.totals(PortId(2 * n)).packets).sum::<u64>();
    assert!(left(&taken) < left(&kept), "{} {}", left(&taken), left(&kept));
}

#[test]
fn what_has_no_such_queue_is_refused() {
    let refused = |spec: NetworkSpec| Network::new(spec).map(|_| ()).unwrap_err().to_string();
    for (mode, reason) in [(PULL, "NICs must have queues"), (FLUSH, "strict priority can be searched")] {
        let mut spec = crowd(1, mode);
        spec.nic.order = NicOrder::RoundRobin;
        assert!(refused(spec).contains(reason));
    }
    let mut spec = crowd(1, FLUSH);
    spec.disciplines[0] = fifo();
    assert!(refused(spec).contains("strict priority can be searched"));
    let mut spec = crowd(1, PULL);
    spec.cut_through = Some(CutThrough { header: 64 });
    assert!(refused(spec).contains("store and forward only"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is lost and fails: laws hold, every flow ends, short cuts change nothing.
    #[test]
    fn short_cuts_change_nothing_where_nics_pull(
        seed in 0u64..1000, pull: bool, loses: bool, fails: bool,
    ) {
        let mut spec = crowd(seed, if pull { PULL } else { FLUSH });
        if loses {
            lossy(&mut spec);
        }
        if fails {
            let (down, up) = (IncidentKind::LinkDown(seed as u32 % 6), IncidentKind::LinkUp(seed as u32 % 6));
            let at = |us| Time::from_us(100 + seed % 200 + us);
            spec.incidents = vec![Incident { at: at(0), what: down }, Incident { at: at(150), what: up }];
        }
        let sim = run_checked(spec.clone(), 1);
        prop_assert_eq!(sim.counters().flows_done, 25);
        agree(spec)?;
    }

    #[test]
    fn a_cut_run_goes_on_as_if_it_had_not_been_cut(
        seed in 0u64..1000, pull: bool, loses: bool, cuts in proptest::collection::vec(1u64..3000, 1..4),
    ) {
        let mut spec = crowd(seed, if pull { PULL } else { FLUSH });
        if loses {
            lossy(&mut spec);
        }
        let straight = run(spec.clone());
        let sim = run_cut(spec, cuts);
        prop_assert_eq!(sim.digest(), straight.digest());
        prop_assert_eq!(sim.counters(), straight.counters());
        prop_assert_eq!(sim.check(), Ok(()));
    }
}

/// RFC 6675: what is in flight is what was sent and is not known to have left. The first loop skips what the second has
/// delivered, and that changes nothing of it: it sends no more than its window.
#[test]
fn the_first_loop_keeps_to_its_window_where_it_skips_what_has_arrived() {
    let TransportSpec::Rc3(spec) = rc3(PUSH) else { panic!("RC3") };
    let primary = TcpSpec {
        initial_window: Bytes::new(2 * 1460),
        max_window: Bytes::new(4 * 1460),
        handshake: false,
        ..spec.primary
    };
    let transport = TransportSpec::Rc3(Rc3Spec { primary, first: 40, ..spec });
    let mut net = NetworkSpec { flows: vec![flow(1, 0, 40 * 1460, Time::ZERO)], ..crowd(1, PUSH) };
    net.transports = vec![transport];
    net.links[0].ba = Way::fixed(Rate::from_mbps(2500), Span::from_us(20));
    net.disciplines[1].limit = Limit::Bytes(Bytes::new(6000));
    net.probes.controllers = Some((Span::from_ns(100), vec![FlowId(0)]));
    let sim = run_checked(net, 1);
    let seen = &sim.probes().controllers;
    let above: Vec<_> = seen.iter().filter(|s| s.in_flight > s.window).collect();
    assert!(seen.len() > 100 && above.is_empty(), "{:?}", above.first());
}
