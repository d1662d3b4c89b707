//! ECN at the ends: RFC 3168 §6.1 and RFC 8257 §3.

use super::super::testing::*;
use super::super::*;
use crate::congestion::{ControllerSpec, dctcp};

fn iw(segments: u64, spec: TcpSpec) -> TcpSpec {
    TcpSpec { initial_window: Bytes::new(segments * MSS), ..spec }
}

fn marking(numbers: &'static [u64]) -> impl FnMut(Way, u64, &Packet) -> Fate {
    move |way, i, _| if way == Way::ToReceiver && numbers.contains(&i) { Fate::Mark } else { Fate::Deliver }
}

#[test]
fn a_classic_echo_is_latched_until_cwr_arrives() {
    let mut pair = Pair::new(iw(4, TcpSpec { ecn: EcnSpec::Classic, ..tcp() }), 20);
    pair.run(marking(&[2, 3]));
    assert_eq!(
        pair.sent()[..4],
        // Window 6 after two clean ACKs, halved by the third; four are out, so nothing until 200 us.
        ["0: 0 1 2 3", "100: 4 5 6 7", "200: 8c 9 10", "300: 11 12 13"]
    );
    assert_eq!(
        pair.answered()[..3],
        ["50: a1 a2 a3! a4!", "150: a5! a6! a7! a8!", "250: a9 a10 a11"] // 8 carries CWR
    );
    assert_eq!(pair.stats().threshold, Bytes::new(3000));
}

#[test]
fn a_loss_also_sets_cwr_and_resends_are_not_ecn_capable() {
    let mut pair = Pair::new(TcpSpec { ecn: EcnSpec::Classic, ..tcp() }, 30);
    pair.run_losing(&[2]);
    assert_eq!(pair.sent()[2], "200: 16c 17 18 19 20 21");
    let resent = pair.wire_log.iter().find(|p| p.flags.has(thalweg_wire::Flags::RETRANSMISSION)).unwrap();
    assert_eq!(resent.ecn, thalweg_wire::Ecn::NotEct);
}

#[test]
fn accurate_echoes_follow_every_packet() {
    let mut pair = Pair::new(iw(6, TcpSpec { ecn: EcnSpec::Accurate, ..tcp() }), 6);
    pair.run(marking(&[1, 4]));
    assert_eq!(pair.answered(), ["50: a1 a2! a3 a4 a5! a6"]);
}

#[test]
fn with_delayed_acks_a_change_of_marks_is_acked_now() {
    let ack = AckSpec { every: 2, delay: Span::from_us(40) };
    let spec = iw(6, TcpSpec { ecn: EcnSpec::Accurate, ack, ..tcp() });
    let mut pair = Pair::new(spec.clone(), 6);
    pair.run(marking(&[1]));
    // 0 waits; 1 is marked, so 0 is acknowledged without echo; 2 is not, so 1 is with one.
    assert_eq!(pair.answered(), ["50: a1 a2! a4 a6"]);
    let mut pair = Pair::new(spec, 6);
    pair.run(marking(&[2, 3]));
    assert_eq!(pair.answered(), ["50: a2 a4! a6"]);
}

#[test]
fn marks_do_nothing_where_ecn_is_off() {
    let mut pair = Pair::new(tcp(), 30);
    pair.run(marking(&[0, 1, 2, 3]));
    assert_eq!(pair.stats().threshold, Bytes::MAX);
    assert!(!pair.log.iter().any(|(_, what)| what.contains('!')));
}

/// RFC 3168 §6.1.5: the marked original comes when its retransmission has been acknowledged, and the window was cut for
/// its loss.
#[test]
fn the_mark_of_a_packet_that_had_arrived_before_is_not_echoed() {
    let mut pair = Pair::new(iw(1, TcpSpec { ecn: EcnSpec::Classic, ..tcp() }), 3);
    let (mut first, late) = (true, Span::from_us(3300));
    let mut fate = |way, i, packet: &Packet| match (way, i) {
        (Way::ToReceiver, 0) if first => {
            first = false;
            assert_eq!(packet.ecn, thalweg_wire::Ecn::Ect0);
            Fate::Late(late)
        }
        _ => Fate::Deliver,
    };
    while pair.now < Time::from_us(3300) {
        pair.step(&mut fate);
    }
    let old = Packet {
        ecn: thalweg_wire::Ecn::Ce,
        payload: 1000,
        kind: thalweg_wire::Kind::Data,
        ..Packet::default()
    };
    pair.receiver.on_packet(&pair.spec, pair.now, &old, None);
    let mut answer = Packet::default();
    pair.receiver.poll_transmit(&pair.spec, pair.now, &mut answer, &mut Side::default());
    assert!(answer.seq > 0 && !answer.flags.has(thalweg_wire::Flags::ECE));
}

/// RFC 8257 §3.6, and RFC 3168 §6.1.1 and §6.1.4: pure ACKs and classic SYNs are not ECN-capable.
#[test]
fn with_accurate_echoes_syns_are_ecn_capable_too_and_their_marks_are_ignored() {
    for (ecn, syns) in
        [(EcnSpec::Accurate, thalweg_wire::Ecn::Ect0), (EcnSpec::Classic, thalweg_wire::Ecn::NotEct)]
    {
        let mut pair = Pair::new(TcpSpec { ecn, handshake: true, ..tcp() }, 2);
        pair.run(marking(&[0]));
        let of = |kind| pair.wire_log.iter().filter(move |p| p.kind == kind).map(|p| p.ecn);
        assert!(of(thalweg_wire::Kind::Syn).chain(of(thalweg_wire::Kind::SynAck)).all(|is| is == syns));
        assert!(of(thalweg_wire::Kind::Ack).all(|is| is == thalweg_wire::Ecn::NotEct));
        assert!(of(thalweg_wire::Kind::Data).all(|is| is == thalweg_wire::Ecn::Ect0));
        assert!(!pair.log.iter().any(|(_, what)| what.contains('!')));
    }
}

#[test]
fn dctcp_cuts_by_half_of_alpha_once_per_window() {
    let controller = ControllerSpec::Dctcp(dctcp::Params {
        gain: 1.0 / 16.0,
        initial_alpha: 1.0,
        growth: dctcp::Growth::OutsideCwr,
        cut_without_marks: false,
        losses: dctcp::Losses::default(),
    });
    let mut pair = Pair::new(TcpSpec { controller, ecn: EcnSpec::Accurate, ..tcp() }, 40);
    // Everything of the first window is marked: α stays 1, the first echo halves 10 to 5; the second
    // window's first ACK is unmarked.
    pair.run(marking(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    // Five of ten are out when the window allows 5: then one leaves per ACK.
    assert_eq!(pair.sent()[..3], ["0: 0 1 2 3 4 5 6 7 8 9", "100: 10 11 12 13 14", "200: 15 16 17 18 19"]);
    assert_eq!(pair.stats().threshold, Bytes::new(5000));
}

/// ABC in both codepoints (§2.4.2, §2.6): DCTCP's machine with a third state. What a mark has erased is neither.
#[test]
fn acks_distinguish_accelerate_brake_and_marks() {
    let ack = AckSpec { every: 2, delay: Span::from_us(40) };
    let spec = iw(8, TcpSpec { ecn: EcnSpec::Codepoints, ack, ..tcp() });
    let mut pair = Pair::new(spec, 8);
    pair.run(|way, n, _| match (way, n) {
        (Way::ToReceiver, 1 | 4) => Fate::Brake,
        (Way::ToReceiver, 5) => Fate::Mark,
        _ => Fate::Deliver,
    });
    // 0 accelerates alone; 1 brakes alone; 2 and 3 accelerate together; 4 brakes, 5 is marked; 6 and 7 accelerate.
    assert_eq!(pair.answered(), ["50: a1+ a2 a4+ a5 a6! a8+"]);
}
