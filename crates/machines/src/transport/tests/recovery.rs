//! Losses, bursts, reordering: fast retransmit and recovery, with SACK (RFC 6675) and without (RFC 6582).
//!
//! Two segments of slow start leave per ACK; windows in the comments are in segments.

use super::super::testing::*;
use super::super::*;
use thalweg_wire::{Flags, Kind};

fn iw(segments: u64, spec: TcpSpec) -> TcpSpec {
    TcpSpec { initial_window: Bytes::new(segments * MSS), ..spec }
}

/// The n-th data packet arrives late by this much, all else in time.
fn late(n: u64, us: u64) -> impl FnMut(Way, u64, &Packet) -> Fate {
    move |way, i, _| {
        if way == Way::ToReceiver && i == n { Fate::Late(Span::from_us(us)) } else { Fate::Deliver }
    }
}

/// The first ten arrive 10 us apart, except that segment 2 takes `us`.
fn spaced_with_third_at(us: u64) -> impl FnMut(Way, u64, &Packet) -> Fate {
    move |way, i, _| {
        let late = if i == 2 { us } else { 10 * i };
        if way == Way::ToReceiver && i < 10 { Fate::Late(Span::from_us(late)) } else { Fate::Deliver }
    }
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let mut pair = Pair::new(iw(2, tcp()), 14);
    pair.run_losing(&[]);
    assert_eq!(pair.sent(), ["0: 0 1", "100: 2 3 4 5", "200: 6 7 8 9 10 11 12 13"]);
}

#[test]
fn a_single_loss_costs_one_resend_and_half_the_window() {
    let mut pair = Pair::new(tcp(), 30);
    pair.run_losing(&[2]);
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            // Two ACKs grow the window to 12; two duplicates release 14 and 15; the third resends.
            "100: 10 11 12 13 14 15 2r",
            // Window 6: of 14 outstanding 7 are SACKed, 2 is lost and resent, so the pipe is 7; the
            // third SACK of this round trip makes room for 16.
            "200: 16 17 18 19 20 21",
            "300: 22 23 24 25 26 27",
            "400: 28 29",
        ]
    );
    assert_eq!(pair.answered()[0], "50: a1 a2 a2[3-4] a2[3-5] a2[3-6] a2[3-7] a2[3-8] a2[3-9] a2[3-10]");
    assert_eq!(pair.stats().threshold, Bytes::new(6000));
}

#[test]
fn without_sack_a_single_loss_takes_the_same_course() {
    let mut pair = Pair::new(reno(), 30);
    pair.run_losing(&[2]);
    // Each duplicate inflates by one what SACK would have taken out of the pipe.
    assert_eq!(pair.sent()[1..3], ["100: 10 11 12 13 14 15 2r", "200: 16 17 18 19 20 21"]);
}

#[test]
fn sack_repairs_a_burst_in_one_round_trip_after_the_first_resend() {
    let mut pair = Pair::new(tcp(), 30);
    pair.run_losing(&[2, 3, 4]);
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            "100: 10 11 12 13 14 15 2r",
            "200: 3r 4r 16 17 18 19",
            "300: 20 21 22 23 24 25",
            "400: 26 27 28 29",
        ]
    );
}

#[test]
fn without_sack_every_partial_ack_repairs_one_hole_per_round_trip() {
    let mut pair = Pair::new(reno(), 30);
    pair.run_losing(&[2, 3, 4]);
    assert_eq!(
        pair.sent(),
        [
            "0: 0 1 2 3 4 5 6 7 8 9",
            "100: 10 11 12 13 14 15 2r",
            // Duplicates 6 to 11 inflate; the partial ACK of 3 resends it.
            "200: 16 17 18 3r",
            "300: 19 20 21 22 4r",
            "400: 23 24 25 26 27 28",
            "500: 29",
        ]
    );
}

#[test]
fn an_impatient_sender_restarts_its_timer_at_the_first_partial_ack_only() {
    let ends = |impatient| {
        let rto = RtoRule::Fixed { value: Span::from_us(250) };
        let mut pair = Pair::new(TcpSpec { impatient, rto, ..reno() }, 30);
        pair.run_losing(&[2, 3, 4, 5, 6]);
        (pair.stats().timeouts, pair.stats().acked_bytes)
    };
    // Partial ACKs at 200, 300, 400 and 500: a deadline of 450 set by the first passes before the last hole
    // is repaired.
    assert_eq!((ends(false), ends(true)), ((0, 30_000), (1, 30_000)));
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    for spec in [tcp(), reno()] {
        let mut pair = Pair::new(spec, 22);
        pair.run_losing(&[2, 16]); // the 17th packet is 2's resend
        assert_eq!(pair.sent()[1], "100: 10 11 12 13 14 15 2r");
        // The last advancing ACK came at 100 us, the timer is 1 ms; all else had arrived by then.
        assert_eq!(pair.sent().last().unwrap(), "1100: 2r");
        assert_eq!(pair.answered().last().unwrap(), "1150: a22");
        // Halved at the loss to 6; at the timeout again, from the window, not from what was SACKed.
        assert_eq!(pair.stats().threshold, Bytes::new(3000));
    }
}

#[test]
fn sack_still_sends_new_data_while_a_lost_retransmission_blocks_the_front() {
    let mut pair = Pair::new(tcp(), 30);
    pair.run_losing(&[2, 16]);
    assert_eq!(
        pair.sent()[2..],
        ["200: 16 17 18 19 20", "300: 21 22 23 24 25", "400: 26 27 28 29", "1100: 2r"]
    );
}

#[test]
fn two_losses_in_one_window_cut_it_once() {
    let mut pair = Pair::new(tcp(), 30);
    pair.run_losing(&[2, 12]);
    assert_eq!(pair.sent()[1..3], ["100: 10 11 12 13 14 15 2r", "200: 16 17 18 12r 19 20"]);
    assert_eq!(pair.stats().threshold, Bytes::new(6000));
}

#[test]
fn the_rescue_saves_a_lost_tail_from_the_timer() {
    let mut pair = Pair::new(tcp(), 12);
    pair.run_losing(&[2, 10, 11]);
    // Nothing is SACKed above 10 and 11, so they are not "lost"; NextSeg's rule 4 resends the last one
    // and its SACK gives 10 away.
    assert_eq!(pair.sent()[1..], ["100: 10 11 2r 11r", "200: 10r"]);
    assert_eq!(pair.stats().timeouts, 0);
}

/// What is sent again is the last segment, not the last MSS of bytes: the ACKs of a segment count for all of it.
#[test]
fn the_rescue_of_a_short_tail_is_that_tail() {
    let mut pair = Pair::bytes(tcp(), 11 * MSS + 300);
    pair.run_losing(&[2, 10, 11]);
    let again = |p: &&Packet| p.kind == Kind::Data && p.flags.has(Flags::RETRANSMISSION);
    let resent: Vec<(u64, u32)> = pair.wire_log.iter().filter(again).map(|p| (p.seq, p.payload)).collect();
    assert_eq!(resent[..2], [(2 * MSS, 1000), (11 * MSS, 300)]);
}

#[test]
fn overtaken_by_two_is_not_lost() {
    let mut pair = Pair::new(tcp(), 20);
    pair.run(spaced_with_third_at(45));
    assert_eq!(pair.answered()[2..5], ["80: a2[3-4]", "90: a2[3-5]", "95: a5"]);
    // Limited transmit keeps the clock going: one new segment per duplicate.
    assert_eq!(pair.sent()[1..6], ["100: 10 11", "110: 12 13", "130: 14", "140: 15", "145: 16 17"]);
    assert_eq!((pair.stats().retransmitted_packets, pair.stats().threshold), (0, Bytes::MAX));
}

#[test]
fn overtaken_by_three_is_taken_for_lost() {
    let mut pair = Pair::new(tcp(), 20);
    pair.run(spaced_with_third_at(55));
    assert_eq!(pair.sent()[5], "150: 2r");
    assert_eq!((pair.stats().retransmitted_packets, pair.stats().threshold), (1, Bytes::new(6000)));
}

/// RFC 6582 §5: the originals' ACKs look like partial ones, so each hole that is none is resent; but the
/// duplicates which that causes must not start a second recovery (§3.2 step 2).
#[test]
fn without_sack_a_false_alarm_resends_much_but_cuts_once() {
    let mut pair = Pair::new(reno(), 20);
    pair.run(spaced_with_third_at(55));
    assert_eq!(pair.sent()[5], "150: 2r");
    assert!(pair.stats().retransmitted_packets > 5);
    assert_eq!((pair.stats().threshold, pair.stats().timeouts), (Bytes::new(6000), 0));
}

#[test]
fn the_duplicate_threshold_is_a_parameter() {
    let mut pair = Pair::new(TcpSpec { loss: LossDetection::DupAck { threshold: 8 }, ..tcp() }, 20);
    pair.run(late(2, 1)); // overtaken by seven
    assert_eq!(pair.stats().retransmitted_packets, 0);
}

/// RFC 6675 §5: an ACK that advances resets DupAcks, and counts itself if it SACKs something new. (Of full segments
/// IsLost would have found it as early.)
#[test]
fn an_ack_that_advances_and_sacks_something_new_is_the_first_duplicate() {
    let resent = |blocks: &[(u64, u64)]| {
        let mut pair = Pair::new(tcp(), 20);
        pair.step(&mut |_, _, _| Fate::Drop);
        let (mut packet, mut side) = (Packet::default(), Side::default());
        for &(start, end) in blocks {
            side.new_sack().push(start, end);
            let ack = Packet {
                kind: thalweg_wire::Kind::Ack,
                seq: 1000,
                payload: 1000,
                side: 0,
                ..Packet::default()
            };
            pair.sender.on_packet(&pair.spec, Time::from_us(100), &ack, Some(&side));
        }
        let mut out = Side::default();
        pair.sender.poll_transmit(&pair.spec, Time::from_us(100), &mut packet, &mut out);
        packet.seq == 1000
    };
    assert!(!resent(&[(2000, 3000), (2000, 3200)]), "two, and no more than two segments");
    assert!(resent(&[(2000, 3000), (2000, 3200), (2000, 3400)]), "three");
    assert!(!resent(&[(2000, 3000), (2000, 3200), (2000, 3200)]), "the last one brings nothing new");
}

#[test]
fn limited_transmit_rescues_a_window_of_three_from_the_timer() {
    for spec in [tcp(), reno()] {
        let mut pair = Pair::new(iw(3, spec.clone()), 8);
        pair.run_losing(&[0]);
        assert_eq!(pair.sent(), ["0: 0 1 2", "100: 3 4", "200: 0r 5", "300: 6 7"]);
        let mut pair = Pair::new(TcpSpec { limited_transmit: false, ..iw(3, spec) }, 8);
        pair.run_losing(&[0]);
        assert_eq!(pair.sent()[..3], ["0: 0 1 2", "3000: 0r", "3100: 3 4"]);
        assert_eq!(pair.stats().timeouts, 1);
    }
}

#[test]
fn lost_acks_do_not_matter_if_a_later_one_comes() {
    let mut pair = Pair::new(tcp(), 20);
    pair.run(|way, i, _| if way == Way::ToSender && i < 9 { Fate::Drop } else { Fate::Deliver });
    // One ACK for ten segments: the window grows by one, and eleven may be out.
    assert_eq!(pair.sent(), ["0: 0 1 2 3 4 5 6 7 8 9", "100: 10 11 12 13 14 15 16 17 18 19"]);
}

#[test]
fn a_packet_names_its_payload() {
    let mut pair = Pair::bytes(TcpSpec { ecn: EcnSpec::Classic, ..tcp() }, 2500);
    pair.run_losing(&[]);
    let data = |i: usize| pair.wire_log[i];
    assert_eq!((data(0).seq, data(0).payload, data(0).wire, data(0).rank), (0, 1000, 1040, 2500));
    assert_eq!((data(2).seq, data(2).payload, data(2).wire, data(2).rank), (2000, 500, 540, 2500));
    assert!(data(2).flags.has(thalweg_wire::Flags::LAST) && !data(1).flags.has(thalweg_wire::Flags::LAST));
    assert_eq!(
        (data(0).ecn, data(0).side, data(0).flow),
        (thalweg_wire::Ecn::Ect0, thalweg_wire::NO_SIDE, FlowId(7))
    );
    let ack = data(3);
    assert_eq!(
        (ack.kind, ack.seq, ack.trigger, ack.payload, ack.wire),
        (thalweg_wire::Kind::Ack, 1000, 0, 1000, 40)
    );
    assert_eq!((ack.ecn, ack.stamp), (thalweg_wire::Ecn::NotEct, Time::ZERO));
}

#[test]
fn sack_blocks_lengthen_acks_if_configured() {
    let mut pair = Pair::new(TcpSpec { sack: Sack::Blocks { blocks: 2, on_wire: true }, ..tcp() }, 10);
    pair.run_losing(&[1, 3, 5]);
    let acks: Vec<_> =
        pair.wire_log.iter().filter(|p| p.kind == thalweg_wire::Kind::Ack).map(|p| p.wire).collect();
    assert_eq!(acks[..4], [40, 52, 60, 60]); // 2 + 8n up to a multiple of 4; two blocks at most
    assert_eq!(
        pair.answered()[0],
        "50: a1 a1[2-3] a1[4-5,2-3] a1[6-7,4-5] a1[6-8,4-5] a1[6-9,4-5] a1[6-10,4-5]"
    );
}

#[test]
fn remaining_counts_what_was_sacked_and_the_packet_itself() {
    let mut pair = Pair::new(tcp(), 30);
    pair.run_losing(&[2]);
    let resent = pair.wire_log.iter().find(|p| p.flags.has(thalweg_wire::Flags::RETRANSMISSION)).unwrap();
    assert_eq!(resent.rank, 30_000 - 2_000 - 3_000);
}

#[test]
fn a_pace_spreads_a_window() {
    use crate::congestion::*;
    // No controller of this crate paces yet: a registered one does.
    #[derive(Clone)]
    struct Paced;
    impl CongestionControl for Paced {
        fn on_ack(&mut self, _: &AckSample) {}
        fn on_loss(&mut self, _: &Loss) {}
        fn on_timeout(&mut self, _: &Loss) {}
        fn permit(&self) -> Permit {
            Permit { pace: Some(Rate::from_mbps(416)), ..Permit::window(Bytes::new(3 * MSS)) }
        }
    }
    impl crate::congestion::custom::PluggedController for Paced {
        fn name(&self) -> &str {
            "paced"
        }
        fn boxed_clone(&self) -> Box<dyn crate::congestion::custom::PluggedController> {
            Box::new(self.clone())
        }
        fn save(&self) -> Vec<u8> {
            vec![]
        }
    }
    crate::congestion::custom::register_controller(
        "paced",
        crate::congestion::custom::ControllerFactory {
            make: |_, _, _| Ok(Box::new(Paced)),
            load: |_, _| Ok(Box::new(Paced)),
        },
    );
    let controller = ControllerSpec::Custom(custom::Params { name: "paced".into(), ..Default::default() });
    let mut pair = Pair::new(TcpSpec { controller, ..tcp() }, 6);
    pair.run_losing(&[]);
    // 1040 B on the wire at 416 Mb/s: 20 us apart; a window of three per round trip
    assert_eq!(pair.sent(), ["0: 0", "20: 1", "40: 2", "100: 3", "120: 4", "140: 5"]);
}

#[test]
fn windows_that_are_exact_cut_segments_to_what_fits() {
    use crate::congestion::{ControllerSpec, sprout};
    let program = sprout::Params { independent: false, ..Default::default() };
    let paper = sprout::Params { any_size: false, bytes: false, ..program };
    let lengths = |params| {
        let mut pair = Pair::new(TcpSpec { controller: ControllerSpec::Sprout(params), ..tcp() }, 40);
        for _ in 0..400 {
            pair.step(&mut |_, _, _| Fate::Deliver);
        }
        let data = pair.wire_log.iter().filter(|p| p.kind == thalweg_wire::Kind::Data);
        data.map(|p| u64::from(p.payload)).collect::<Vec<_>>()
    };
    assert!(lengths(paper).iter().all(|length| *length == MSS));
    let cut = lengths(program);
    assert!(cut.iter().any(|length| *length < MSS) && cut.iter().all(|length| *length <= MSS), "{cut:?}");
}

#[test]
fn parameters_that_cannot_work_are_refused_by_name() {
    let refusal = |spec: TcpSpec| {
        let start = spec.start(Rate::from_gbps(10), Span::from_us(100), Span::ZERO);
        TransportSpec::Tcp(spec)
            .sender(FlowId(0), 1, &start, Stream::new(1, "test", 0))
            .unwrap_err()
            .to_string()
    };
    assert!(refusal(TcpSpec { mss: 0, ..tcp() }).contains("mss"));
    assert!(refusal(iw(0, tcp())).contains("initial_window"));
    assert!(refusal(TcpSpec { sack: Sack::Blocks { blocks: 17, on_wire: false }, ..tcp() }).contains("17"));
    assert!(refusal(TcpSpec { rto: RtoRule::Fixed { value: Span::ZERO }, ..tcp() }).contains("timeout"));
    let crossed =
        RtoRule::Rfc6298 { initial: Span::from_ms(1), min: Span::from_ms(2), max: Span::from_ms(1) };
    assert!(refusal(TcpSpec { rto: crossed, ..tcp() }).contains("2ms"));
}
