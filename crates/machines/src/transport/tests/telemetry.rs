//! In-band telemetry at the ends: senders make room for it, receivers send it back with the next ACK.

use super::super::rdma::{RdmaReceiver, RdmaSender};
use super::super::testing::*;
use super::super::*;
use crate::congestion::{ControllerSpec, hpcc, rcp};
use thalweg_wire::{Explicit, IntHop, IntStack, Kind, NO_SIDE};

fn hpcc(variant: hpcc::Variant) -> ControllerSpec {
    let base_rtt = Some(Span::from_us(10));
    ControllerSpec::Hpcc(hpcc::Params { base_rtt, variant, ..hpcc::Params::default() })
}

fn rdma(controller: ControllerSpec) -> RdmaSpec {
    RdmaSpec {
        controller,
        payload: 1000,
        header: 90,
        extra_header: 0,
        answers: AnswerSpec { ack: 88, nack: 88 },
        recovery: Recovery::GoBackN { repeat_nack: None },
        cap: None,
        acks: RdmaAcks::PerPacket,
        timer: RdmaTimer::Off,
        timer_restart: TimerRestart::Progress,
        fetch_delay: Span::ZERO,
        rank: Rank::None,
        notification: Notification::Off,
        rtt: RoundTrips {
            segment: 1,
            less_serialization: false,
            nacks: false,
            resent: false,
            noise: Span::ZERO,
        },
        segments: None,
        path_values: None,
    }
}

fn hop(us: u64, tx_bytes: u64) -> IntHop {
    IntHop { at: Time::from_us(us), tx_bytes, queue: 125_000, rate: Rate::from_gbps(100) }
}

fn stack(hops: &[IntHop]) -> Side {
    Side::Int(IntStack::of(1, hops))
}

/// What leaves an end now, with its telemetry.
fn leaves<E: Endpoint>(end: &mut E, spec: &E::Spec, now: Time) -> Option<(Packet, Option<Vec<IntHop>>)> {
    let (mut packet, mut side) = (Packet::default(), Side::Empty);
    if end.poll_transmit(spec, now, &mut packet, &mut side) != Transmit::Packet {
        return None;
    }
    let hops = match side {
        Side::Int(stack) if packet.side != NO_SIDE => Some(stack.as_slice().to_vec()),
        _ => None,
    };
    Some((packet, hops))
}

fn sender(spec: &RdmaSpec) -> RdmaSender {
    let start = spec.start(Rate::from_gbps(100), Span::from_us(10), Span::ZERO);
    let mut sender = RdmaSender::new(spec, FlowId(0), 500_000, &start, Stream::default()).unwrap();
    sender.start(spec, Time::ZERO);
    sender
}

#[test]
fn queue_pairs_make_room_and_every_answer_carries_back_what_its_packet_brought() {
    let spec = rdma(hpcc(hpcc::Variant::Published));
    let mut sender = sender(&spec);
    let (data, room) = leaves(&mut sender, &spec, Time::ZERO).unwrap();
    assert_eq!((data.wire, room), (1090, Some(vec![])));
    let mut receiver = RdmaReceiver::new(&spec, FlowId(0), 500_000);
    receiver.on_packet(&spec, Time::from_us(4), &data, Some(&stack(&[hop(1, 7), hop(2, 8)])));
    let (ack, echo) = leaves(&mut receiver, &spec, Time::from_us(4)).unwrap();
    assert_eq!((ack.kind, ack.seq, echo), (Kind::Ack, 1000, Some(vec![hop(1, 7), hop(2, 8)])));
    // A gap: the NACK too.
    let late = Packet { seq: 5000, ..data };
    receiver.on_packet(&spec, Time::from_us(5), &late, Some(&stack(&[hop(3, 9)])));
    let (nack, echo) = leaves(&mut receiver, &spec, Time::from_us(5)).unwrap();
    assert_eq!((nack.seq, echo), (1000, Some(vec![hop(3, 9)])));
}

#[test]
fn without_a_request_there_is_no_room() {
    let fixed = ControllerSpec::Fixed(crate::congestion::fixed::Params {});
    let spec = rdma(fixed);
    let mut sender = sender(&spec);
    let (data, room) = leaves(&mut sender, &spec, Time::ZERO).unwrap();
    assert_eq!((data.side, room), (NO_SIDE, None));
    let mut receiver = RdmaReceiver::new(&spec, FlowId(0), 500_000);
    receiver.on_packet(&spec, Time::ZERO, &data, None);
    assert_eq!(leaves(&mut receiver, &spec, Time::ZERO).unwrap().1, None);
}

/// 125 000 B wait: the line's rate, 100 Gb/s, falls to about a half; 87.2 ns of a packet's gap become more.
fn gap_after_an_ack(variant: hpcc::Variant) -> Option<Time> {
    let spec = rdma(hpcc(variant));
    let mut sender = sender(&spec);
    for ns in [0, 88] {
        leaves(&mut sender, &spec, Time::from_ps(ns * 1000)).unwrap();
    }
    let ack = |n: u64| Packet {
        kind: Kind::Ack,
        seq: n * 1000,
        trigger: (n - 1) * 1000,
        payload: 1000,
        side: 0,
        ..Packet::default()
    };
    let hops = [stack(&[hop(1, 0)]), stack(&[hop(11, 125_000)])];
    for (n, side) in [(1, &hops[0]), (2, &hops[1])] {
        sender.on_packet(&spec, Time::from_ps(100_000), &ack(n), Some(side));
    }
    let pace = sender.stats().pace.unwrap();
    assert!((46_000..50_000).contains(&(pace.bps() / 1_000_000)), "{pace:?}");
    sender.next_departure()
}

#[test]
fn only_in_the_simulator_does_a_new_rate_move_the_departure_that_was_planned() {
    assert_eq!(gap_after_an_ack(hpcc::Variant::Published), Some(Time::ZERO));
    let (additive, min_rate) = (Rate::from_mbps(40), Rate::from_gbps(1));
    let moved = gap_after_an_ack(hpcc::Variant::Simulator { additive, min_rate }).unwrap();
    // 88 ns + 1090 B at 47.54 Gb/s.
    assert_eq!(moved.ps() / 1_000_000, 0);
    assert!((88 + 174..88 + 190).contains(&(moved.ps() / 1000)), "{moved:?}");
}

#[test]
fn tcp_receivers_send_back_the_newest_and_gaps_go_before() {
    let ack = AckSpec { every: 2, delay: Span::from_us(40) };
    let spec = TcpSpec {
        controller: hpcc(hpcc::Variant::Published),
        ack,
        sack: Sack::Blocks { blocks: 4, on_wire: false },
        ..tcp()
    };
    let start = spec.start(Rate::from_gbps(10), Span::from_us(10), Span::ZERO);
    let mut sender = tcp::TcpSender::new(&spec, FlowId(0), 50_000, &start).unwrap();
    sender.start(&spec, Time::ZERO);
    let (data, room) = leaves(&mut sender, &spec, Time::ZERO).unwrap();
    assert_eq!(room, Some(vec![]));
    let mut receiver = tcp::TcpReceiver::new(FlowId(0), 50_000);
    let segment = |n: u64| Packet { seq: n * 1000, ..data };
    receiver.on_packet(&spec, Time::from_us(4), &segment(0), Some(&stack(&[hop(1, 7)])));
    assert_eq!(leaves(&mut receiver, &spec, Time::from_us(4)), None);
    receiver.on_packet(&spec, Time::from_us(5), &segment(1), Some(&stack(&[hop(2, 8)])));
    let (ack, echo) = leaves(&mut receiver, &spec, Time::from_us(5)).unwrap();
    assert_eq!((ack.seq, echo), (2000, Some(vec![hop(2, 8)])));
    // A gap is named instead.
    receiver.on_packet(&spec, Time::from_us(6), &segment(3), Some(&stack(&[hop(3, 9)])));
    let (gap, echo) = leaves(&mut receiver, &spec, Time::from_us(6)).unwrap();
    assert_eq!((gap.seq, gap.side, echo), (2000, 0, None));
    // The sender passes it on to its controller.
    let window = sender.stats().window;
    for (n, us) in [(1, 1), (2, 31)] {
        let side = stack(&[IntHop { queue: 100_000, rate: Rate::from_gbps(10), ..hop(us, us * 1250) }]);
        let ack = Packet { kind: Kind::Ack, seq: n * 1000, payload: 1000, side: 0, ..Packet::default() };
        leaves(&mut sender, &spec, Time::from_us(us));
        sender.on_packet(&spec, Time::from_us(us), &ack, Some(&side));
    }
    assert!(sender.stats().window < window, "{window:?} {:?}", sender.stats());
}

/// What routers have written, as it travels.
fn rate(mbps: Option<f64>) -> Side {
    let mut side = Side::Empty;
    let rate = mbps.map(|mbps| Rate::from_bps((mbps * 1e6) as u64));
    side.new_explicit(Explicit::Rate(rate));
    side
}

/// 1040 B at 83.2 Mb/s: a packet every 100 us.
#[test]
fn the_first_data_leave_at_the_rate_that_the_syn_requested() {
    for at_once in [false, true] {
        let controller = ControllerSpec::Rcp(rcp::Params { at_once, ..rcp::Params::default() });
        let spec = TcpSpec { controller, handshake: true, ..tcp() };
        let start = spec.start(Rate::from_gbps(10), Span::from_us(100), Span::ZERO);
        let mut sender = TcpSender::new(&spec, FlowId(0), 100 * MSS, &start).unwrap();
        let mut receiver = TcpReceiver::new(FlowId(0), 100 * MSS);
        sender.start(&spec, Time::ZERO);
        let (mut packet, mut side) = (Packet::default(), Side::Empty);
        let polls = |sender: &mut TcpSender, us| {
            let (mut packet, mut side) = (Packet::default(), Side::Empty);
            (sender.poll_transmit(&spec, Time::from_us(us), &mut packet, &mut side), packet, side)
        };
        let (answer, syn, requested) = polls(&mut sender, 0);
        assert_eq!((answer, syn.kind, syn.side, requested), (Transmit::Packet, Kind::Syn, 0, rate(None)));
        receiver.on_packet(&spec, Time::from_us(50), &syn, Some(&rate(Some(83.2))));
        let answer = receiver.poll_transmit(&spec, Time::from_us(50), &mut packet, &mut side);
        assert_eq!((answer, packet.kind, packet.side), (Transmit::Packet, Kind::SynAck, 0));
        assert_eq!(side, rate(Some(83.2)));
        sender.on_packet(&spec, Time::from_us(100), &packet, Some(&side));
        assert_eq!(sender.stats().pace, Some(Rate::from_bps(83_200_000)));
        let (answer, first, room) = polls(&mut sender, 100);
        assert_eq!((answer, first.kind, first.seq), (Transmit::Packet, Kind::Data, 0));
        let mut unwritten = Side::Empty;
        unwritten.request_explicit(Explicit::Rate(None), Span::from_us(100), Bytes::MAX);
        assert_eq!(room, unwritten, "it knows its round trip");
        assert_eq!(polls(&mut sender, 100).0, Transmit::At(Time::from_us(200)));
        // A rate twice as high comes back 40 us later.
        receiver.on_packet(&spec, Time::from_us(140), &first, Some(&rate(Some(166.4))));
        receiver.poll_transmit(&spec, Time::from_us(140), &mut packet, &mut side);
        sender.on_packet(&spec, Time::from_us(140), &packet, Some(&side));
        let next = if at_once { 150 } else { 200 };
        assert_eq!(polls(&mut sender, 140).0, Transmit::At(Time::from_us(next)), "at once: {at_once}");
        assert_eq!(polls(&mut sender, next).0, Transmit::Packet);
        assert_eq!(polls(&mut sender, next).0, Transmit::At(Time::from_us(next + 50)));
    }
}

#[test]
fn only_flows_that_need_a_rate_request_one() {
    for kind in ["xcp", "newreno"] {
        let controller = match kind {
            "xcp" => ControllerSpec::Xcp(Default::default()),
            _ => ControllerSpec::NewReno(Default::default()),
        };
        let spec = TcpSpec { controller, handshake: true, ..tcp() };
        let start = spec.start(Rate::from_gbps(10), Span::from_us(100), Span::ZERO);
        let mut sender = TcpSender::new(&spec, FlowId(0), MSS, &start).unwrap();
        sender.start(&spec, Time::ZERO);
        let (mut packet, mut side) = (Packet::default(), Side::Empty);
        assert_eq!(sender.poll_transmit(&spec, Time::ZERO, &mut packet, &mut side), Transmit::Packet);
        assert_eq!((packet.kind, packet.side), (Kind::Syn, NO_SIDE), "{kind}");
    }
}
