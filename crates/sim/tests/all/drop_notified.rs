//! Switches that notify senders of every packet they drop (HPCC without PFC in BFC: Goyal, MIT 2022,
//! §3.6.2.1).
use crate::common::*;
use crate::lossless::lossy;
use crate::streams::queue_pair;
use thalweg_machines::congestion::{ControllerSpec, fixed};
use thalweg_machines::schedule::Limit;
use thalweg_machines::transport::{AnswerSpec, RdmaSpec, RdmaTimer, Recovery, TransportSpec};
use thalweg_net::spec::*;
use thalweg_units::{FlowId, Rate, Span, Time};

/// 1000 B on the wire with every packet, ACKs of 64 B, and this recovery.
fn reported(recovery: Recovery) -> TransportSpec {
    let fixed = ControllerSpec::Fixed(fixed::Params {});
    let TransportSpec::Rdma(usual) = queue_pair(recovery, fixed) else {
        unreachable!("they are queue pairs")
    };
    TransportSpec::Rdma(RdmaSpec {
        payload: 980,
        header: 20,
        answers: AnswerSpec { ack: 64, nack: 64 },
        cap: Some(1000),
        timer: RdmaTimer::Fixed { value: Span::from_ms(10) },
        ..usual
    })
}

const NIC: NicSpec = NicSpec { order: NicOrder::RoundRobin, pause_control: true };

/// Hosts 0 and 1 send to host 2, over one switch that keeps 3000 B of each, 3 us from every host.
fn two_to_one(packets: u64, recovery: Recovery) -> NetworkSpec {
    let flows = (0..2).map(|src| flow(src, 2, 980 * packets, Time::ZERO)).collect();
    let spec = star(3, Rate::from_gbps(8), Span::from_us(3), reported(recovery), flows);
    NetworkSpec { inputs: Some(lossy(3000)), nic: NIC, ..spec }
}

/// By hand: a packet takes 1 us. The switch gets one of each host at 4, 5, 6, .. us and passes one on per us.
/// What comes at t is dropped if three packets of its host are there.
#[test]
fn what_a_switch_drops_and_nothing_else_is_sent_again_when_the_word_has_come_back() {
    let sim = run(two_to_one(20, Recovery::DropNotified));
    let of: Vec<_> = (0..2).map(|f| sim.outcome(FlowId(f))).collect();
    let again: u64 = of.iter().map(|f| f.counts.retransmitted).sum();
    assert_eq!(again, sim.counters().packets_dropped, "once for every drop");
    assert!(again > 0 && of.iter().all(|f| f.counts.timeouts == 0));
    // 40 packets through a link of one per us, which never runs dry: word is back within 3 us and the packet
    // there 4 us later, with six more waiting.
    let last = (0..2).filter_map(|f| sim.outcome(FlowId(f)).received).max().expect("complete");
    assert!(last >= Time::from_us(4 + 40 + 3) && last <= Time::from_us(4 + 40 + 3 + 10), "{last:?}");
}

#[test]
fn it_is_quicker_than_to_find_out_from_acks_and_never_sends_in_vain() {
    let end = |recovery| {
        let sim = run(two_to_one(300, recovery));
        let last = (0..2).filter_map(|f| sim.outcome(FlowId(f)).received).max().expect("complete");
        (last, sim.counters().packets_dropped)
    };
    let (reported, _) = end(Recovery::DropNotified);
    let (named, _) = end(Recovery::Irn { sack: true, nack_threshold: 1, enter_on_advance: false });
    assert!(reported < named, "{reported:?} {named:?}");
}

#[test]
fn runs_with_word_on_its_way_are_saved_and_taken_up_again() {
    let spec = two_to_one(100, Recovery::DropNotified);
    let straight = run(spec.clone());
    assert_eq!(run_cut(spec, vec![150, 300, 700]).digest(), straight.digest());
}

#[test]
fn a_sprayed_packet_has_no_way_back() {
    let spec =
        NetworkSpec { routing: RouteSpec::spray_random().into(), ..two_to_one(9, Recovery::DropNotified) };
    assert!(Network::new(spec).unwrap_err().to_string().contains("packet by packet"));
}

#[test]
fn the_reference_lane_agrees() {
    let spec = two_to_one(60, Recovery::DropNotified);
    let slow = run(NetworkSpec { shortcuts: false, ..spec.clone() });
    let fast = run(spec);
    let ends = |sim: &Network| (0..2).map(|f| sim.outcome(FlowId(f)).received).collect::<Vec<_>>();
    assert_eq!(ends(&fast), ends(&slow));
    assert_eq!(fast.counters().packets_dropped, slow.counters().packets_dropped);
}

/// Twenty packets at once, a queue of ten at the host's own NIC, which sends one per us: the other ten are sent again
/// one by one, as the link takes one off the queue, and each once.
#[test]
fn what_a_sender_s_own_nic_drops_is_sent_again_as_room_comes_and_once() {
    let spec = star(2, Rate::from_gbps(8), Span::from_us(3), reported(Recovery::DropNotified), vec![]);
    for flows in [1, 2] {
        let flows = (0..flows).map(|_| flow(0, 1, 980 * 20 / flows, Time::ZERO)).collect();
        let mut spec = NetworkSpec { flows, ..spec.clone() };
        spec.disciplines[0].limit = Limit::Packets(10);
        let sim = run(spec.clone());
        assert_eq!(sim.counters().packets_dropped, 10);
        let of: Vec<_> = (0..spec.flows.len()).map(|f| sim.outcome(FlowId::from(f))).collect();
        assert_eq!(of.iter().map(|f| f.counts.retransmitted).sum::<u64>(), 10);
        // Twenty packets' time on the host's link, a packet's on the next, and the way: the link never waited.
        let last = of.iter().filter_map(|f| f.received).max();
        assert_eq!(last, Some(Time::from_us(20 + 1 + 6)));
        assert_eq!(run_cut(spec, vec![7, 30, 60]).digest(), sim.digest());
    }
}
