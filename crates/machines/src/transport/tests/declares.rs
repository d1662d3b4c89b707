//! What a transport declares is what it does: sizes on the wire, classes, acknowledgements.

use super::super::testing::tcp;
use super::super::*;
use crate::congestion::ControllerSpec;
use thalweg_units::Bytes;
use thalweg_wire::{Kind, NO_SIDE};

/// One of each kind.
fn all() -> Vec<TransportSpec> {
    let stream = TcpSpec { handshake: true, syn_wire: 60, sack: Sack::Off, ..tcp() };
    let udp = UdpSpec { payload: 1000, header: 28, pace: UdpPace::Burst, rank: Rank::None };
    let rdma = RdmaSpec {
        controller: ControllerSpec::Fixed(Default::default()),
        payload: 1024,
        header: 66,
        extra_header: 16,
        answers: AnswerSpec { ack: 70, nack: 74 },
        recovery: Recovery::GoBackN { repeat_nack: None },
        cap: Some(4),
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
    };
    vec![TransportSpec::Tcp(stream), TransportSpec::Udp(udp), TransportSpec::Rdma(rdma)]
}

/// Every packet of a flow of class 3 over a network without delay, losses or marks.
fn packets(spec: &TransportSpec, size: u64) -> Vec<Packet> {
    let start = Start { class: 3, ..spec.start(Rate::from_gbps(10), Span::from_us(10), Span::ZERO) };
    let mut sender = spec.sender(FlowId(1), size, &start, Stream::new(1, "says", 0)).expect("can work");
    let mut receiver = spec.receiver(FlowId(1), size, Stream::default());
    let (mut packet, mut side, mut all) = (Packet::default(), Side::default(), Vec::new());
    sender.start(spec, Time::ZERO);
    for us in 0..1000 {
        let now = Time::from_us(us);
        if sender.poll_transmit(spec, now, &mut packet, &mut side) == Transmit::Packet {
            all.push(packet);
            receiver.on_packet(spec, now, &packet, None);
        }
        while receiver.poll_transmit(spec, now, &mut packet, &mut side) == Transmit::Packet {
            all.push(packet);
            sender.on_packet(spec, now, &packet, None);
        }
    }
    assert!(sender.is_done() && receiver.is_done(), "{spec:?}");
    all
}

#[test]
fn packets_have_the_sizes_of_their_transport() {
    for spec in all() {
        let (wire, size) = (spec.wire(), 4500);
        let packets = packets(&spec, size);
        let of = |kind| packets.iter().filter(move |p| p.kind == kind);
        assert_eq!(of(Kind::Data).count() as u64, wire.packets(size), "{spec:?}");
        for (n, data) in (1..).zip(of(Kind::Data)) {
            let whole = n < wire.packets(size);
            let full = if whole { wire.full() } else { wire.last(size) };
            assert_eq!(data.wire, full + wire.extra_header, "{spec:?}");
            assert_eq!(data.payload + wire.header, full);
            assert!(data.wire <= wire.largest() && data.side == NO_SIDE);
        }
        assert!(of(Kind::Ack).all(|ack| Some(ack.wire) == wire.ack), "{spec:?}");
        assert_eq!(of(Kind::Ack).count() as f64, wire.acks * wire.packets(size) as f64, "{spec:?}");
        let set_up = wire.set_up.map(|s| [s.request, s.answer]).into_iter().flatten();
        let sent = packets.iter().filter(|p| matches!(p.kind, Kind::Syn | Kind::SynAck)).map(|p| p.wire);
        assert!(sent.eq(set_up), "{spec:?}");
    }
}

#[test]
fn senders_write_their_flows_class_and_what_comes_back_is_served_first() {
    for spec in all() {
        for packet in packets(&spec, 4500) {
            let forward = matches!(packet.kind, Kind::Data | Kind::Syn);
            assert_eq!(packet.class, if forward { 3 } else { 0 }, "{packet:?}");
        }
    }
}

#[test]
fn the_windows_reported_to_controllers_follow_from_the_parameters() {
    let reported = |spec: &TransportSpec| {
        let start = spec.start(Rate::from_gbps(40), Span::from_us(12), Span::from_ns(1));
        assert_eq!((start.mss, start.base_rtt), (spec.wire().payload, Span::from_us(12)));
        (start.initial_window, start.max_window)
    };
    let all = all();
    assert_eq!(reported(&all[1]), (Bytes::MAX, Bytes::MAX));
    assert_eq!(reported(&all[2]), (Bytes::new(4096), Bytes::new(4096)), "as much as its cap");
}
