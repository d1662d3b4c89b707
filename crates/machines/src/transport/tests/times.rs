//! Losses by time: RACK and TLP (RFC 8985). A round trip is 100 us, so a reordering window 25.

use super::super::testing::*;
use super::super::*;
use crate::congestion::{ControllerSpec, FeedbackKind};
use proptest::prelude::*;
use thalweg_wire::Flags;

fn iw(segments: u64, spec: TcpSpec) -> TcpSpec {
    TcpSpec { initial_window: Bytes::new(segments * MSS), ..spec }
}

/// These data packets, by number, arrive late by so much.
fn late(which: &'static [u64], us: u64) -> impl FnMut(Way, u64, &Packet) -> Fate {
    move |way, n, _| {
        let late = way == Way::ToReceiver && which.contains(&n);
        if late { Fate::Late(Span::from_us(us)) } else { Fate::Deliver }
    }
}

/// §7: the ACK of the rest comes at 100; two round trips later the last segment leaves once more.
#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_no_timer_expires() {
    let mut pair = Pair::new(rack(), 10);
    pair.run_losing(&[9]);
    assert_eq!(pair.sent(), ["0: 0 1 2 3 4 5 6 7 8 9", "300: 9r"]);
    assert_eq!((pair.stats().timeouts, pair.answered().last().unwrap().as_str()), (0, "350: a10"));
    let mut without = Pair::new(TcpSpec { loss: LossDetection::Rack { tail_probes: false }, ..tcp() }, 10);
    without.run_losing(&[9]);
    assert_eq!((without.stats().timeouts, without.sent().last().unwrap().as_str()), (1, "1100: 9r"));
}

/// §8: the SACK of segment 2 at 275 starts the reordering timer, which ends the probe's: both would expire at 300,
/// and the loss of segment 1 needs no probe.
#[test]
fn the_probe_timeout_ends_when_the_reordering_timer_starts() {
    let mut pair = Pair::new(iw(3, rack()), 3);
    pair.run(|way, n, _| match (way, n) {
        (Way::ToReceiver, 1) => Fate::Drop,
        (Way::ToReceiver, 2) => Fate::Late(Span::from_us(175)),
        _ => Fate::Deliver,
    });
    assert_eq!(pair.sent(), ["0: 0 1 2", "300: 1r"]);
    assert_eq!(pair.stats().timeouts, 0);
}

/// §7.3: segment 9 comes late, so its probe was for nothing; neither's ACK names the copy it answers. Segment 10,
/// written at 10 ms and lost, is not probed for two round trips later, but waits for the retransmission timer: no
/// round trip was measured since the last probe. Time stamps measure one.
#[test]
fn without_a_round_trip_measured_since_the_last_probe_the_retransmission_timer_runs() {
    let sent = |timestamps| {
        let writes = Writes { first: Bytes::new(10 * MSS), chunk: Bytes::new(MSS), every: Span::from_ms(10) };
        let mut pair = Pair::new(TcpSpec { writes: Some(writes), timestamps, ..rack() }, 11);
        pair.run(|way, n, _| match (way, n) {
            (Way::ToReceiver, 9) => Fate::Late(Span::from_us(250)),
            (Way::ToReceiver, 11) => Fate::Drop,
            _ => Fate::Deliver,
        });
        (pair.sent(), pair.stats().timeouts)
    };
    let flight = "0: 0 1 2 3 4 5 6 7 8 9";
    assert_eq!(sent(false), ([flight, "300: 9r", "10000: 10", "11000: 10r"].map(String::from).to_vec(), 1));
    assert_eq!(sent(true).0[..3], [flight, "300: 9r", "10000: 10"]);
    assert_eq!(sent(true).1, 0);
}

/// §7.3: nor is one measured before the first ACK. The handshake measures one.
#[test]
fn before_the_first_round_trip_is_measured_nothing_is_probed() {
    let sent = |handshake| {
        let mut pair = Pair::new(TcpSpec { handshake, ..iw(2, rack()) }, 2);
        let first = u64::from(handshake);
        pair.run(move |way, n, _| {
            if way == Way::ToReceiver && (first..first + 2).contains(&n) { Fate::Drop } else { Fate::Deliver }
        });
        pair.sent()
    };
    assert_eq!(sent(false)[..2], ["0: 0 1", "3000: 0r"]);
    assert_eq!(sent(true)[..3], ["0: S", "100: 0 1", "300: 1r"]);
}

#[test]
fn of_a_tail_of_three_the_probe_shows_the_lost_and_the_others_follow() {
    let mut pair = Pair::new(rack(), 10);
    pair.run_losing(&[7, 8, 9]);
    assert_eq!(pair.sent()[1..], ["300: 9r", "400: 7r 8r"]);
    assert_eq!(pair.stats().timeouts, 0);
    assert_eq!(
        pair.stats().threshold,
        Bytes::new(2000),
        "and the window was cut: half of three is two at least"
    );
}

/// §7.1: fast recovery answers the loss that the probe has shown. What is written later is acknowledged beyond the
/// probe, which says nothing more: half of ten stays five.
#[test]
fn fast_recovery_forgets_the_probe_that_began_it_and_the_window_is_cut_once() {
    let writes =
        Writes { first: Bytes::new(20 * MSS), chunk: Bytes::new(10 * MSS), every: Span::from_ms(10) };
    let mut pair = Pair::new(TcpSpec { writes: Some(writes), ..iw(20, rack()) }, 30);
    pair.run_losing(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    assert_eq!(pair.sent()[1], "300: 19r");
    assert_eq!((pair.stats().timeouts, pair.stats().threshold), (0, Bytes::new(5000)), "{:?}", pair.sent());
}

/// §7.3: what was never sent goes first, one segment beyond the window. Ten of forty leave, none arrives.
#[test]
fn a_probe_is_new_data_if_there_is_any_and_goes_beyond_the_window() {
    let mut pair = Pair::new(iw(2, rack()), 8);
    pair.run_losing(&[2, 3, 4, 5]);
    // ACKs of 0 and 1 at 100 release 2 to 5; 6 is the probe, and its ACK reveals the loss of all four.
    assert_eq!(pair.sent()[..3], ["0: 0 1", "100: 2 3 4 5", "300: 6"]);
    assert!(pair.sent()[3].starts_with("400: 2r"), "{:?}", pair.sent());
    assert_eq!((pair.stats().timeouts, pair.stats().acked_bytes), (0, 8000));
}

/// Segment 1 arrives 20 us after 2 and 3: they are too few to speak for a loss, and 25 us are waited for.
#[test]
fn segments_that_overtake_each_other_within_the_window_are_not_sent_again() {
    let mut pair = Pair::new(iw(4, rack()), 4);
    pair.run(late(&[1], 20));
    assert_eq!((pair.stats().retransmitted_packets, pair.stats().timeouts), (0, 0));
    // At 26 us the reordering timer has expired at 125.
    let mut pair = Pair::new(iw(4, rack()), 4);
    pair.run(late(&[1], 26));
    assert_eq!(pair.sent(), ["0: 0 1 2 3", "125: 1r"]);
    // Once reordering was seen, however many overtake; duplicate ACKs take it for a loss.
    let again = |spec| {
        let mut pair = Pair::new(iw(20, spec), 60);
        pair.run(late(&[17, 25], 20));
        pair.stats().retransmitted_packets
    };
    assert_eq!((again(rack()), again(tcp())), (0, 2));
}

/// The counterpart of `a_lost_retransmission_waits_for_the_timer`: the same losses.
#[test]
fn a_lost_retransmission_is_found_by_what_left_after_it() {
    let mut pair = Pair::new(rack(), 30);
    pair.run_losing(&[2, 16]);
    assert_eq!(pair.sent()[1], "100: 10 11 12 13 14 15 2r");
    assert!(pair.sent()[3].starts_with("300: 2r"), "{:?}", pair.sent());
    assert_eq!((pair.stats().timeouts, pair.stats().retransmitted_packets), (0, 2));
}

#[test]
fn a_burst_is_sent_again_at_once_and_the_window_is_cut_once() {
    for prr in [PrrRule::Off, PrrRule::Rfc9937] {
        let mut pair =
            Pair::new(TcpSpec { options: TcpOptions { prr, ..TcpOptions::default() }, ..rack() }, 30);
        pair.run_losing(&[2, 3, 4]);
        assert_eq!((pair.stats().timeouts, pair.stats().retransmitted_packets), (0, 3), "{:?}", pair.sent());
        assert_eq!(pair.stats().threshold, Bytes::new(6000));
    }
}

/// §6.3: the first, and what left more than a round trip and a window before.
/// RFC 8985 §6.2, step 4: three segments, however short the flow's last one is.
#[test]
fn a_short_last_segment_is_one_of_the_three_that_show_a_loss() {
    let mut pair = Pair::bytes(rack(), 4 * MSS + 700);
    pair.run_losing(&[1]);
    assert_eq!(pair.sent(), ["0: 0 1 2 3 4", "100: 1r"]);
}

/// Segments 1 and 3 are lost, and the ACK of 2: that of 4 reports 4 first, and then 2, which nothing has overtaken. The
/// third segment SACKed shows both losses, without a wait.
#[test]
fn segments_that_one_ack_reports_newest_first_have_not_overtaken_each_other() {
    let mut pair = Pair::new(rack(), 10);
    pair.run(|way, i, packet| {
        let lost = match way {
            Way::ToReceiver => i < 10 && [1, 3].contains(&(packet.seq / MSS)),
            Way::ToSender => i == 1,
        };
        if lost { Fate::Drop } else { Fate::Deliver }
    });
    assert_eq!(pair.sent()[1], "100: 1r 3r");
}

#[test]
fn a_timeout_does_not_lose_what_left_a_moment_ago() {
    let mut pair =
        Pair::new(TcpSpec { rto: RtoRule::Fixed { value: Span::from_us(150) }, ..iw(2, rack()) }, 8);
    pair.run_losing(&[2, 3, 4, 5]);
    assert_eq!((pair.stats().acked_bytes, pair.stats().retransmitted_packets >= 4), (8000, true));
}

#[test]
fn without_sack_or_by_another_count_of_what_is_in_flight_it_is_refused() {
    for spec in [TcpSpec { sack: Sack::Off, ..rack() }, TcpSpec { flight: Flight::Span, ..rack() }] {
        let start = spec.start(Rate::from_gbps(10), ONE_WAY + ONE_WAY, Span::ZERO);
        let made = TransportSpec::Tcp(spec).sender(FlowId(7), 1000, &start, Stream::new(1, "test", 0));
        assert!(made.unwrap_err().to_string().contains("losses by time need SACK"));
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        2 => (0u64..150).prop_map(|us| Fate::Late(Span::from_us(us))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Under every controller that TCP can carry and that needs nothing of the network, with proportional
    /// rate reduction and without.
    #[test]
    fn every_byte_arrives_under_every_controller(
        data in prop::collection::vec(fate(), 0..60), acks in prop::collection::vec(fate(), 0..60), size in 1u64..80_000
    ) {
        for controller in ControllerSpec::all() {
            let needs = controller.needs();
            let alone = needs.feedback == FeedbackKind::None && !needs.marks.required();
            if controller.key() == "custom" || !needs.fit_tcp() || !alone {
                continue;
            }
            for prr in [PrrRule::Off, PrrRule::Rfc9937] {
                let options = TcpOptions { prr, ..TcpOptions::default() };
                let mut pair = Pair::bytes(TcpSpec { controller: controller.clone(), options, ..rack() }, size);
                pair.run(scripted([data.clone(), acks.clone()]));
                prop_assert_eq!(pair.receiver.received(), size, "{}", controller.key());
                prop_assert_eq!(pair.sender.timer(), None);
            }
        }
    }
}

/// RFC 6298 §5 (5.4), RFC 8985 §6.3: the timer resends the first segment though what left in the last round trip is
/// not yet taken for lost and fills the window of one. From segment 10 on, 500 us, all are lost until the timer
/// expires, a millisecond after the ACK of segment 9 came.
#[test]
fn the_timer_resends_the_first_segment_whatever_is_still_in_flight() {
    let writes = Writes { first: Bytes::new(MSS), chunk: Bytes::new(MSS), every: Span::from_us(50) };
    let loss = LossDetection::Rack { tail_probes: false };
    let mut pair = Pair::new(iw(100, TcpSpec { writes: Some(writes), loss, ..tcp() }), 60);
    let mut last = 0;
    pair.run(|way, n, packet| {
        let again = packet.flags.has(Flags::RETRANSMISSION);
        last = last.max(n);
        if way == Way::ToReceiver && n >= 10 && !again && last < 40 { Fate::Drop } else { Fate::Deliver }
    });
    let first = pair.sent().into_iter().find(|sent| sent.contains(" 10r")).expect("it is sent again");
    assert!(first.starts_with("1550: "), "{first}: {:?}", pair.sent());
}
