//! IRN on a link: what a loss costs. A packet takes 1 us, a round trip 21 us, RTO_low 100 us, RTO_high 320 us.

use super::link::*;
use super::recorder::*;
use super::*;
use crate::transport::testing::{Fate, Way};

fn without_sack() -> RdmaSpec {
    let recovery = Recovery::Irn { sack: false, nack_threshold: 1, enter_on_advance: false };
    RdmaSpec { recovery, ..spec() }
}

#[test]
fn a_lost_single_packet_message_costs_rto_low_more() {
    let mut whole = Link::new(spec(), 1);
    whole.run_losing(&[]);
    assert_eq!((whole.fct(), whole.handed), (11, [1, 1]));
    let mut lossy = Link::new(spec(), 1);
    lossy.run_losing(&[0]);
    assert_eq!(lossy.fct(), 100 + 11);
    assert_eq!((lossy.sent(), lossy.sender.stats().timeouts), (vec!["0", "0r"], 1));
    assert!(lossy.sender.is_done() && lossy.sender.timer().is_none());
}

#[test]
fn the_timer_starts_again_when_the_lowest_packet_is_sent_again() {
    let mut link = Link::new(spec(), 3);
    link.run_losing(&[0, 3]); // and its retransmission
    assert_eq!(link.times("0r"), [22, 122]);
}

#[test]
fn every_answer_starts_the_timer_again_where_it_measures_silence() {
    let silence = RdmaSpec { timer_restart: TimerRestart::Answer, ..spec() };
    let mut link = Link::new(silence.clone(), 3);
    link.run_losing(&[0, 3]); // as above, but the NACK of 2 comes at 23 us
    assert_eq!(link.times("0r"), [22, 123]);
    assert!(link.sender.is_done() && link.sender.timer().is_none());
}

#[test]
fn with_more_than_n_packets_in_flight_a_lost_message_costs_rto_high() {
    for (packets, first_again) in [(3, 100), (4, 320)] {
        let mut link = Link::new(spec(), packets);
        let all: Vec<u64> = (0..packets).collect();
        link.run_losing(&all);
        assert_eq!(link.times("0r"), [first_again]);
        assert_eq!(link.receiver.received(), packets * 1000);
    }
}

/// Packets 10 to 9 + k of 20 are lost: X2 of IRN's study.
#[test]
fn k_losses_in_a_window_cost_a_round_trip_and_k_packets_with_sack_and_k_round_trips_without() {
    for k in 1..=8 {
        let lost: Vec<u64> = (10..10 + k).collect();
        let mut link = Link::new(spec(), 20);
        link.run_losing(&lost);
        // The last of them would have arrived after 10 + k us, and 10 us on the way.
        assert_eq!(link.fct(), (20 + k) + 21 + k, "{k}");
        assert_eq!(link.sender.stats().retransmitted_packets, k);

        let mut link = Link::new(without_sack(), 20);
        link.run_losing(&lost);
        assert_eq!(link.fct(), (20 + k) + 21 * k + 1, "{k}");
        assert_eq!((link.sender.stats().retransmitted_packets, link.sender.stats().timeouts), (k, 0));
    }
}

#[test]
fn the_answers_name_what_came_and_what_is_missing() {
    let mut link = Link::new(spec(), 5);
    link.run_losing(&[1, 3]);
    // Data arrive at 11, 13, 15 us; 1 is sent again at 23, and 3, whose loss the NACK of 4 shows, at 25.
    assert_eq!(link.sent(), ["0", "1", "2", "3", "4", "1r", "3r"]);
    assert_eq!(link.answered(), [(11, "a1"), (13, "n1<2"), (15, "n1<4"), (34, "a3"), (36, "a5")]);
}

#[test]
fn a_retransmission_that_arrived_is_answered_by_a_plain_ack() {
    // The only ACK is lost; the timer resends, the receiver knows it.
    let mut link = Link::new(spec(), 1);
    link.run(|way, n, _| if way == Way::ToSender && n == 0 { Fate::Drop } else { Fate::Deliver });
    assert_eq!(link.answered(), [(11, "a1"), (111, "a1")]);
    assert!(link.sender.is_done());
}

#[test]
fn what_is_found_lost_leaves_two_microseconds_later_and_nothing_new_before() {
    let slow = RdmaSpec { fetch_delay: Span::from_us(2), ..spec() };
    let (mut at_once, mut later) = (Link::new(spec(), 40), Link::new(slow, 40));
    at_once.run_losing(&[3, 5]);
    later.run_losing(&[3, 5]);
    // The NACK of 4 arrives at 25 us; that of 6 at 27 us, when the search takes the opportunity of a new packet.
    assert_eq!(
        (at_once.times("3r"), at_once.times("26"), at_once.times("5r")),
        (vec![25], vec![27], vec![28])
    );
    // Here 6 is known when 3 leaves at last, so 5 is found at once and waits in its turn.
    assert_eq!((later.times("3r"), later.times("5r"), later.times("25")), (vec![27], vec![29], vec![30]));
    assert_eq!(later.fct(), at_once.fct() + 3); // 25, 26, 28: nothing leaves
}

#[test]
fn the_cap_holds_back_new_packets_and_lets_retransmissions_pass() {
    let mut link = Link::new(RdmaSpec { cap: Some(8), ..spec() }, 30);
    link.run_losing(&[2]);
    // 0..7 leave by 8 us; ACKs return from 21 us on.
    assert_eq!(link.times("7"), [7]);
    assert_eq!((link.times("8"), link.times("9")), (vec![21], vec![22]));
    assert_eq!(link.times("2r"), [24]); // 10 may not: 2 to 9 are in flight
    assert_eq!(link.times("10"), [45]);
    assert_eq!(link.receiver.received(), 30_000);
}

#[test]
fn the_controllers_window_lowers_the_cap_but_never_to_nothing() {
    for (window, packets) in [(3999, 3), (1, 1), (1 << 40, 8)] {
        let mut link = Link::new(RdmaSpec { cap: Some(8), controller: recorder(), ..spec() }, 30);
        permit(Permit::window(Bytes::new(window)));
        link.run_until(Time::from_us(20), |_, _, _| Fate::Deliver);
        assert_eq!(link.handed[0], packets);
        link.run(|_, _, _| Fate::Deliver);
        assert!(link.sender.is_done());
    }
}

#[test]
fn where_acks_cover_groups_a_retransmission_is_answered_all_the_same() {
    let rtt = RoundTrips { segment: 8, ..spec().rtt };
    let grouped = RdmaSpec { acks: RdmaAcks::PerSegment, timer: RdmaTimer::Off, rtt, ..without_sack() };
    let mut link = Link::new(grouped, 8);
    link.run_losing(&[1, 2]);
    // The first NACK also acknowledges 0, so the second begins the recovery.
    assert_eq!((link.times("1r"), link.times("2r")), (vec![25], vec![46]));
    assert!(link.sender.is_done());
}

#[test]
fn without_a_timer_a_lost_last_packet_stays_lost() {
    let mut link = Link::new(RdmaSpec { timer: RdmaTimer::Off, ..spec() }, 5);
    link.run_losing(&[4]);
    assert!(!link.sender.is_done() && !link.receiver.is_done());
    assert_eq!((link.sender.timer(), link.now), (None, Time::from_us(24)));
    assert_eq!(link.receiver.received(), 4000);
}

#[test]
fn extra_headers_lengthen_every_packet_on_the_wire() {
    let mut link = Link::bytes(RdmaSpec { extra_header: 16, ..spec() }, 1500);
    link.run_losing(&[0]);
    let wires: Vec<u32> = link.wire_log.iter().filter(|p| !p.is_control()).map(|p| p.wire).collect();
    assert_eq!(wires, [1266, 766, 1266]);
    let answers: Vec<u32> = link.wire_log.iter().filter(|p| p.is_control()).map(|p| p.wire).collect();
    assert_eq!(answers, [74, 70]); // a NACK is longer than an ACK
}

/// PSNs are 24 bits; a flow that crosses the wrap behaves like one that does not.
#[test]
fn the_wrap_of_the_numbers_changes_nothing() {
    use super::super::irn::{IrnOptions, IrnReceiver, IrnSender};
    use super::super::{Psn, receiver::Arrived, recovery::LossRecovery};
    let story = |first: u32| {
        let mut link = Link::new(spec(), 400);
        let psn = Psn::new(first);
        link.sender.repair.recovery =
            LossRecovery::Selective { irn: IrnSender::new(IrnOptions::default(), psn), una: 0 };
        link.receiver.arrived = Arrived::Selective { irn: IrnReceiver::new(psn), e: 0 };
        link.run(|way, n, _| if way == Way::ToReceiver && n % 7 == 3 { Fate::Drop } else { Fate::Deliver });
        assert_eq!(link.receiver.received(), 400_000);
        link.log
    };
    let calm = story(0);
    for first in [(1 << 24) - 1, (1 << 24) - 37, (1 << 24) - 399, 1 << 23] {
        assert_eq!(story(first), calm);
    }
}

#[test]
fn a_flow_without_end_goes_on() {
    for spec in [spec(), without_sack(), roce(), lossless(), RdmaSpec { cap: None, ..spec() }] {
        let mut link = Link::bytes(spec, u64::MAX);
        link.run_until(Time::from_ms(3), |_, n, _| if n % 997 == 5 { Fate::Drop } else { Fate::Deliver });
        assert!(!link.sender.is_done() && link.sender.stats().sent_packets > 2900);
        assert!(link.receiver.received() > 0);
    }
}
