//! Timeouts, probes, set-up, delayed ACKs.

use super::super::testing::*;
use super::super::*;
use crate::congestion::{ControllerSpec, dctcp_rate};

fn iw(segments: u64, spec: TcpSpec) -> TcpSpec {
    TcpSpec { initial_window: Bytes::new(segments * MSS), ..spec }
}

#[test]
fn a_lost_tail_is_resent_by_the_timer_in_slow_start_then_avoidance() {
    let mut pair = Pair::new(tcp(), 14);
    pair.run_losing(&[10, 11, 12, 13]);
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            "100: 10 11 12 13",
            // Restarted by the ACK of 9 at 100 us; floor 1 ms. Four outstanding: threshold 2.
            "1100: 10r",
            "1200: 11r 12r",
            "1300: 13r",
        ]
    );
    assert_eq!((pair.stats().timeouts, pair.stats().threshold), (1, Bytes::new(2000)));
}

#[test]
fn after_a_timeout_what_was_sacked_is_not_resent() {
    let mut pair = Pair::new(TcpSpec { limited_transmit: false, ..iw(4, tcp()) }, 8);
    pair.run_losing(&[0, 2]); // two SACKs: too few for fast retransmit
    assert_eq!(pair.sent(), ["0: 0 1 2 3", "3000: 0r", "3100: 2r 4", "3200: 5 6", "3300: 7"]);
    assert_eq!(pair.stats().retransmitted_packets, 2);
}

#[test]
fn without_sack_a_timeout_goes_back_to_the_first_hole() {
    let mut pair = Pair::new(reno(), 12);
    pair.run_losing(&[8, 9, 10]);
    // 11 was received but the sender cannot know: the ACK that jumps over it comes too late.
    assert_eq!(pair.sent()[2..], ["1100: 8r", "1200: 9r 10r", "1300: 11r"]);
}

#[test]
fn the_timeout_doubles_at_every_expiry_and_ambiguous_acks_give_no_sample() {
    let mut pair = Pair::new(tcp(), 2);
    pair.run_losing(&[0, 1, 2, 3, 4]);
    assert_eq!(pair.sent(), ["0: 0 1", "3000: 0r", "9000: 0r", "21000: 0r", "45000: 0r", "45100: 1r"]);
    // Karn: all that was ever acknowledged had been resent.
    assert_eq!(pair.stats().srtt, Span::ZERO);
}

#[test]
fn a_sample_from_new_data_ends_the_back_off() {
    let mut pair = Pair::new(iw(1, tcp()), 4);
    pair.run_losing(&[0, 4]);
    // The resend of 0 gives no sample; 1 and 2 do: 100 us, so the floor of 1 ms, not doubled.
    assert_eq!(pair.sent(), ["0: 0", "3000: 0r", "3100: 1 2", "3200: 3", "4200: 3r"]);
    assert_eq!(pair.stats().srtt, Span::from_us(100));
}

/// RFC 7323: the stamp shows which of the two was acknowledged. For the statistics it always does.
#[test]
fn with_time_stamps_resends_give_samples_too() {
    for (timestamps, smoothed) in [(false, Span::ZERO), (true, Span::from_us(100))] {
        let mut pair = Pair::new(TcpSpec { timestamps, ..iw(1, tcp()) }, 1);
        pair.run_losing(&[0]);
        assert_eq!(pair.sent(), ["0: 0", "3000: 0r"]);
        assert_eq!(pair.stats().srtt, smoothed);
        assert_eq!((pair.stats().rtt_samples, pair.stats().mean_rtt()), (1, Some(Span::from_us(100))));
    }
}

/// Segments 0 to 3 come 10, 20, 30, 40 us late; 1 is lost and sent again: its ACK covers the others.
#[test]
fn the_mean_round_trip_counts_every_ack_of_new_data_once() {
    let mut pair = Pair::new(iw(4, tcp()), 4);
    assert_eq!(pair.stats().mean_rtt(), None);
    pair.run(|way, i, _| match (way, i) {
        (Way::ToReceiver, 1) => Fate::Drop,
        (Way::ToReceiver, i) if i < 4 => Fate::Late(Span::from_us(10 * (i + 1))),
        _ => Fate::Deliver,
    });
    // 110 us for segment 0, 100 us for 1 sent again; duplicate ACKs measure nothing.
    assert_eq!(pair.stats().rtt_samples, 2, "{:?}", pair.sent());
    assert_eq!(pair.stats().rtt_sum, u128::from(Span::from_us(210).ps()));
}

#[test]
fn an_ack_of_a_resend_restarts_the_doubled_timer() {
    let mut pair = Pair::new(iw(1, tcp()), 3);
    pair.run_losing(&[0, 1, 3, 4]);
    // 3 ms doubled twice runs from the ACK of 0 at 9100 us.
    assert_eq!(pair.sent()[..5], ["0: 0", "3000: 0r", "9000: 0r", "9100: 1 2", "21100: 1r"]);
}

#[test]
fn a_spurious_timeout_resends_but_breaks_nothing() {
    let mut pair = Pair::new(iw(4, tcp()), 12);
    // The whole first window is held up for 3.2 ms, 0.2 ms longer than the first timeout.
    pair.run(|way, i, _| match way {
        Way::ToReceiver if i < 4 => Fate::Late(Span::from_us(3200 + i)),
        _ => Fate::Deliver,
    });
    assert_eq!(
        pair.sent(),
        ["0: 0 1 2 3", "3000: 0r", "3100: 1r 2r", "3200: 3r 4", "3300: 5 6 7", "3400: 8 9 10 11"]
    );
    // The originals answered twice are no duplicates in SACK's sense: nothing is taken for lost.
    assert_eq!((pair.stats().timeouts, pair.stats().retransmitted_packets), (1, 4));
}

#[test]
fn mintcp_ignores_duplicates_and_resends_only_what_is_missing_after_the_timeout() {
    let mut pair = Pair::new(min_tcp(), 20);
    pair.run_losing(&[0, 3]);
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            // What was SACKed is out of the network: eight SACKs, eight new packets.
            "100: 10 11 12 13 14 15 16 17",
            "200: 18 19",
            // Nothing advanced: the fixed timer of 300 us runs from the start. Window 1.
            "300: 0r",
            "400: 3r",
        ]
    );
    assert_eq!((pair.stats().threshold, pair.stats().timeouts), (Bytes::new(5000), 1));
}

#[test]
fn mintcp_counting_a_span_sends_only_when_an_ack_advances() {
    let mut pair = Pair::new(TcpSpec { flight: Flight::Span, ..min_tcp() }, 20);
    pair.run_losing(&[0, 3]);
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            // Window 1 and eight SACKed reach up to 9: both holes at once, the rest is skipped.
            "300: 0r 3r",
            // ACK of 3: window 2, seven SACKed above, up to 12; then ACK of 10: window 3, up to 13.
            "400: 10 11 12",
            "500: 13 14 15 16 17",
            "600: 18 19",
        ]
    );
}

#[test]
fn mintcp_grows_back_by_slow_start_up_to_half_the_old_window() {
    let mut pair = Pair::new(min_tcp(), 60);
    pair.run_losing(&(0..10).collect::<Vec<_>>());
    let lines = pair.sent();
    assert_eq!(lines[..4], ["0: 0 1 2 3 4 5 6 7 8 9", "300: 0r", "400: 1r 2r", "500: 3r 4r 5r 6r"]);
    // Threshold 5: the window is 5 after four ACKs, 6 after five more, 7 after six more.
    assert_eq!(lines[4], "600: 7r 8r 9r 10 11");
}

#[test]
fn probes_replace_resends_after_so_many_timeouts_and_any_ack_ends_them() {
    let mut pair = Pair::new(TcpSpec { probe_after: Some(3), ..min_tcp() }, 14);
    pair.run_losing(&(0..14).collect::<Vec<_>>()); // ten, two resends, two probes
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            "300: 0r",
            "600: 0r",
            "900: p0",
            "1200: p0",
            "1500: p0",
            "1600: 0r",
            "1700: 1r 2r",
            "1800: 3r 4r 5r",
            "1900: 6r 7r 8r 9r",
            "2000: 10 11 12 13",
        ]
    );
    let probe = pair.wire_log.iter().find(|p| p.payload == 0).unwrap();
    assert_eq!((probe.wire, probe.kind), (40, thalweg_wire::Kind::Data));
}

#[test]
fn a_fixed_timer_is_restarted_by_every_ack_that_advances() {
    let mut pair =
        Pair::new(TcpSpec { rto: RtoRule::Fixed { value: Span::from_us(150) }, ..iw(2, min_tcp()) }, 12);
    pair.run_losing(&[]);
    assert_eq!(pair.stats().timeouts, 0);
    let mut pair =
        Pair::new(TcpSpec { rto: RtoRule::Fixed { value: Span::from_us(150) }, ..iw(2, min_tcp()) }, 6);
    pair.run_losing(&[5]);
    assert_eq!(pair.sent(), ["0: 0 1", "100: 2 3 4 5", "350: 5r"]); // last advance at 200 us
}

#[test]
fn the_handshake_costs_a_round_trip_and_gives_the_first_sample() {
    let mut pair = Pair::new(TcpSpec { handshake: true, ..iw(2, tcp()) }, 3);
    let syn_only = |p: &Pair| p.stats().srtt;
    let mut deliver = |_: Way, _: u64, _: &Packet| Fate::Deliver;
    pair.step(&mut deliver); // SYN
    pair.step(&mut deliver); // SYN-ACK
    pair.step(&mut deliver); // data
    assert_eq!(syn_only(&pair), Span::from_us(100));
    pair.run_losing(&[]);
    assert_eq!(pair.sent(), ["0: S", "100: 0 1", "200: 2"]);
    assert_eq!((pair.wire_log[0].wire, pair.wire_log[1].wire), (41, 40));
    assert_eq!(pair.answered()[0], "50: S/");
}

#[test]
fn a_lost_syn_is_resent_by_the_doubling_timer_and_gives_no_sample() {
    let mut pair = Pair::new(TcpSpec { handshake: true, ..iw(2, tcp()) }, 3);
    pair.run_losing(&[0, 1]);
    assert_eq!(pair.sent(), ["0: S", "3000: S", "9000: S", "9100: 0", "9200: 1 2"]);
    assert_eq!((pair.stats().timeouts, pair.stats().sent_packets), (2, 3));
    // A lost SYN-ACK looks the same to the sender.
    let mut pair = Pair::new(TcpSpec { handshake: true, ..iw(2, tcp()) }, 3);
    pair.run(|way, i, _| if way == Way::ToSender && i == 0 { Fate::Drop } else { Fate::Deliver });
    assert_eq!(pair.sent(), ["0: S", "3000: S", "3100: 0", "3200: 1 2"]);
}

/// RFC 5681 §3.1, with every controller: slow start or whatever else it does begins with one segment.
#[test]
fn after_a_lost_syn_one_segment_leaves_and_the_next_after_its_ack_whatever_the_controller() {
    for controller in [
        ControllerSpec::NewReno(Default::default()),
        ControllerSpec::Cubic(Default::default()),
        ControllerSpec::Dctcp(Default::default()),
        ControllerSpec::Vegas(Default::default()),
        ControllerSpec::Bbr(Default::default()),
        ControllerSpec::Bbr3(Default::default()),
        ControllerSpec::Copa(Default::default()),
        ControllerSpec::Fixed(Default::default()),
        ControllerSpec::Timely(Default::default()),
        ControllerSpec::MinTcp(Default::default()),
    ] {
        let spec = TcpSpec { controller, handshake: true, ..tcp() };
        let mut pair = Pair::new(spec.clone(), 20);
        pair.run_losing(&[0]);
        let sent = pair.sent();
        assert_eq!(sent[..3], ["0: S", "3000: S", "3100: 0"], "{:?}", spec.controller);
        assert!(sent[3].starts_with("3200: 1"), "{:?}: {sent:?}", spec.controller);
    }
}

/// The answer to the first SYN comes late: without time stamps that looks like a loss, with them it does not.
#[test]
fn a_late_syn_ack_counts_as_lost_without_time_stamps() {
    let late = |timestamps| {
        let mut pair = Pair::new(TcpSpec { handshake: true, timestamps, ..iw(2, tcp()) }, 3);
        let delay = Span::from_us(3950);
        pair.run(|way, i, _| if way == Way::ToSender && i == 0 { Fate::Late(delay) } else { Fate::Deliver });
        (pair.sent(), pair.stats().srtt)
    };
    // The answer to the second SYN, sent at 3000, comes at 3100, that to the first at 4050: it is ignored.
    assert_eq!(late(false).0, ["0: S", "3000: S", "3100: 0", "3200: 1 2"]);
    let first_alone = |timestamps| {
        let mut pair = Pair::new(TcpSpec { handshake: true, timestamps, ..iw(2, tcp()) }, 3);
        pair.run(|way, i, packet| match (way, i) {
            (Way::ToSender, 0) => Fate::Late(Span::from_us(3950)),
            (Way::ToReceiver, 1) if packet.kind == thalweg_wire::Kind::Syn => Fate::Drop,
            _ => Fate::Deliver,
        });
        pair.sent()
    };
    assert_eq!(first_alone(false), ["0: S", "3000: S", "4050: 0", "4150: 1 2"]);
    assert_eq!(first_alone(true), ["0: S", "3000: S", "4050: 0 1", "4150: 2"]);
}

/// RFC 6298 §3: of a SYN that was sent twice no sample is taken, whichever of both is answered.
#[test]
fn the_answer_to_a_syn_that_was_sent_twice_gives_a_sample_with_time_stamps_only() {
    for (timestamps, srtt) in [(false, 0), (true, 4050)] {
        let mut pair = Pair::new(TcpSpec { handshake: true, timestamps, ..tcp() }, 3);
        let mut fate = |way, i, _: &Packet| match (way, i) {
            (Way::ToSender, 0) => Fate::Late(Span::from_us(3950)),
            (Way::ToReceiver, 1) => Fate::Drop,
            _ => Fate::Deliver,
        };
        while pair.now < Time::from_us(4050) {
            pair.step(&mut fate);
        }
        assert_eq!(pair.stats().srtt, Span::from_us(srtt));
    }
}

/// RFC 6298 §5.7: the first data is lost, too.
#[test]
fn after_a_lost_syn_the_timer_of_the_first_data_runs_for_three_seconds() {
    let ms = Span::from_ms;
    let rto = RtoRule::Rfc6298 { initial: ms(1000), min: ms(200), max: ms(60_000) };
    let sent = |syn_loss, lost: &[u64]| {
        let options = TcpOptions { syn_loss, ..TcpOptions::default() };
        let mut pair = Pair::new(TcpSpec { rto, options, handshake: true, ..tcp() }, 1);
        pair.run_losing(lost);
        pair.sent().join(", ")
    };
    assert_eq!(sent(SynLoss::Rfc, &[0, 2]), "0: S, 1000000: S, 1000100: 0, 4000100: 0r");
    assert_eq!(sent(SynLoss::Ignored, &[0, 2]), "0: S, 1000000: S, 1000100: 0, 3000100: 0r");
    // Two SYNs: the timeout had doubled to 4 s, which is not below 3 s.
    let two = "0: S, 1000000: S, 3000000: S, 3000100: 0";
    assert_eq!(sent(SynLoss::Rfc, &[0, 1, 3]), format!("{two}, 7000100: 0r"));
    assert_eq!(sent(SynLoss::Linux, &[0, 1, 3]), format!("{two}, 6000100: 0r"));
}

/// RFC 6298 §3 (Karn): the original was late, its retransmission unnecessary. Only time stamps show which of
/// both is acknowledged.
#[test]
fn an_original_that_arrives_after_its_retransmission_was_sent_gives_a_sample_with_time_stamps_only() {
    for (timestamps, srtt) in [(false, 0), (true, 3500)] {
        let mut pair = Pair::new(TcpSpec { timestamps, ..iw(1, tcp()) }, 2);
        let late = Span::from_us(3400);
        let mut fate = |way, i, _: &Packet| match (way, i) {
            (Way::ToReceiver, 0) => Fate::Late(late),
            (Way::ToReceiver, 1) => Fate::Late(Span::from_us(1000)),
            _ => Fate::Deliver,
        };
        while pair.stats().acked_bytes == 0 {
            pair.step(&mut fate);
        }
        assert_eq!((pair.sent()[1].as_str(), pair.now), ("3000: 0r", Time::from_us(3500)));
        assert_eq!(pair.stats().srtt, Span::from_us(srtt));
    }
}

#[test]
fn linux_forgives_the_first_lost_syn_and_simulators_forgive_all() {
    let sent = |syn_loss, lost: &[u64]| {
        let options = TcpOptions { syn_loss, ..TcpOptions::default() };
        let mut pair = Pair::new(TcpSpec { options, handshake: true, ..iw(2, tcp()) }, 3);
        pair.run_losing(lost);
        pair.sent().pop().unwrap()
    };
    assert_eq!(sent(SynLoss::Rfc, &[0]), "3200: 1 2");
    assert_eq!(sent(SynLoss::Linux, &[0]), "3200: 2");
    assert_eq!(sent(SynLoss::Linux, &[0, 1]), "9200: 1 2");
    assert_eq!(sent(SynLoss::Ignored, &[0, 1]), "9200: 2");
}

#[test]
fn delayed_acks_come_every_second_segment_after_a_delay_and_at_once_out_of_order() {
    let ack = AckSpec { every: 2, delay: Span::from_us(40) };
    let mut pair = Pair::new(TcpSpec { ack, ..iw(5, tcp()) }, 13);
    pair.run_losing(&[6]);
    assert_eq!(
        pair.answered(),
        [
            "50: a2 a4",
            "90: a5", // the odd one, 40 us later
            // 5 waits for a second one; 7 comes out of order and is answered at once, as are all above the hole
            "150: a6[7-8] a6[7-9] a6[7-10] a6[7-11]",
            "190: a6[7-12] a6[7-13]",
            "250: a13", // fills the hole: at once
            "290: a13", // the rescue of 12, sent when nothing above it was SACKed: a duplicate, at once
        ]
    );
}

#[test]
fn the_last_segment_is_acknowledged_at_once() {
    let ack = AckSpec { every: 2, delay: Span::from_us(40) };
    let mut pair = Pair::new(TcpSpec { ack, ..tcp() }, 3);
    pair.run_losing(&[]);
    assert_eq!(pair.answered(), ["50: a2 a3"]);
}

#[test]
fn round_trips_measured_through_delayed_acks_include_the_delay() {
    let ack = AckSpec { every: 2, delay: Span::from_us(40) };
    let mut pair = Pair::new(TcpSpec { ack, ..iw(1, tcp()) }, 2);
    let mut deliver = |_: Way, _: u64, _: &Packet| Fate::Deliver;
    while pair.stats().acked_bytes == 0 {
        pair.step(&mut deliver);
    }
    assert_eq!(pair.stats().srtt, Span::from_us(140));
}

#[test]
fn gaps_of_a_pace_are_cut_to_the_time_quantum() {
    // 1040 B at 10 Gb/s: 832 ns; the HPCC simulator's 1 ns clock would keep them, one of 100 ns cuts them to 800.
    let spec = TcpSpec {
        controller: ControllerSpec::DctcpRate(dctcp_rate::Params {
            gain: 0.0625,
            initial_alpha: 1.0,
            step: Rate::from_mbps(100),
            min_rate: Rate::from_mbps(100),
        }),
        ..tcp()
    };
    for (quantum, gap) in [(Span::ZERO, 832), (Span::from_ns(100), 800)] {
        let start =
            Start { time_quantum: quantum, ..spec.start(Rate::from_gbps(10), ONE_WAY + ONE_WAY, Span::ZERO) };
        let all = TransportSpec::Tcp(spec.clone());
        let mut sender = all.sender(FlowId(7), 5000, &start, Stream::new(1, "test", 0)).unwrap();
        sender.start(&all, Time::ZERO);
        let (mut packet, mut side) = (Packet::default(), Side::default());
        assert_eq!(sender.poll_transmit(&all, Time::ZERO, &mut packet, &mut side), Transmit::Packet);
        let next = sender.poll_transmit(&all, Time::ZERO, &mut packet, &mut side);
        assert_eq!(next, Transmit::At(Time::from_ns(gap)));
    }
}
