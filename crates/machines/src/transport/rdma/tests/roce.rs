//! Go-back-N on a link, acknowledgement policies, notifications, and what controllers are given.

use super::link::*;
use super::recorder::*;
use super::*;
use crate::congestion::{AckSample, Loss};
use crate::transport::testing::{Fate, Way};
use thalweg_wire::{Ecn, Flags, Kind};

#[test]
fn one_nack_per_gap_and_everything_from_there_again() {
    let mut link = Link::new(roce(), 8);
    link.run_losing(&[2]);
    // 3 arrives at 14 us: NACK; 4 to 7 are discarded in silence. The NACK is there at 24 us.
    assert_eq!(link.sent(), ["0", "1", "2", "3", "4", "5", "6", "7", "2r", "3r", "4r", "5r", "6r", "7r"]);
    assert_eq!(link.times("2r"), [24]);
    assert_eq!(link.answered()[..3], [(11, "a1"), (12, "a2"), (14, "n2<3")]);
    assert_eq!(
        link.answered()[3..],
        [35, 36, 37, 38, 39, 40].map(|t| (t, ["a3", "a4", "a5", "a6", "a7", "a8"][t as usize - 35]))
    );
    assert_eq!(link.sender.stats().timeouts, 0);
    // What is fetched first leaves 2 us later, all that follows behind it.
    let mut later = Link::new(RdmaSpec { fetch_delay: Span::from_us(2), ..roce() }, 8);
    later.run_losing(&[2]);
    assert_eq!((later.times("2r"), later.times("3r"), later.fct()), (vec![26], vec![27], link.fct() + 2));
}

#[test]
fn a_lost_nack_is_repaired_by_the_timer_alone_unless_it_is_repeated() {
    let lose_nacks = |way: Way, n: u64, p: &Packet| {
        let lost = match way {
            Way::ToReceiver => n == 2,
            Way::ToSender => p.flags.has(Flags::NACK) && p.stamp < Time::from_us(100),
        };
        if lost { Fate::Drop } else { Fate::Deliver }
    };
    let mut link = Link::new(roce(), 200);
    link.run(lose_nacks);
    // The last ACK of progress, of packet 1, came at 22 us.
    assert_eq!(link.times("2r"), [342]);
    assert_eq!(link.sender.stats().timeouts, 1);
    assert_eq!(link.answered().iter().filter(|a| a.1.starts_with('n')).count(), 1);

    let recovery = Recovery::GoBackN { repeat_nack: Some(Span::from_us(100)) };
    let mut link = Link::new(RdmaSpec { recovery, ..roce() }, 200);
    link.run(lose_nacks);
    // 3 was refused at 14 us; what arrives at 114 us is refused aloud again.
    assert_eq!((link.times("2r"), link.sender.stats().timeouts), (vec![124], 0));
}

#[test]
fn over_a_lossless_fabric_no_ack_is_sent_and_the_sender_is_done_when_all_is_out() {
    let mut link = Link::new(lossless(), 8);
    link.run_until(Time::from_us(7), |_, _, _| Fate::Deliver);
    assert!(link.sender.is_done() && !link.receiver.is_done());
    link.run(|_, _, _| Fate::Deliver);
    assert_eq!((link.handed, link.fct()), ([8, 0], 18));
    assert_eq!((link.sender.timer(), link.sender.stats().acked_bytes), (None, 8000));
    // Should a packet be lost after all, the NACK makes it send again.
    let mut link = Link::new(lossless(), 8);
    link.run_losing(&[6]);
    assert_eq!(link.sent()[8..], ["6r", "7r"]);
    assert!(link.sender.is_done() && link.receiver.is_done());
}

#[test]
fn go_back_n_counts_what_it_sends_again_against_the_cap() {
    let mut link = Link::new(RdmaSpec { cap: Some(4), ..roce() }, 8);
    link.run_losing(&[0]);
    assert_eq!(link.times("0r"), [22]);
    assert_eq!((link.times("3r"), link.times("4")), (vec![25], vec![43]));
}

#[test]
fn an_ack_may_cover_a_group_of_packets() {
    let rtt = RoundTrips { segment: 4, less_serialization: false, ..super::spec().rtt };
    let mut link = Link::new(RdmaSpec { acks: RdmaAcks::PerSegment, rtt, ..roce() }, 10);
    link.run_losing(&[]);
    assert_eq!(link.answered(), [(14, "a4"), (18, "a8"), (20, "a10")]);
    assert!(link.sender.is_done());
    // The ACK of the second group is lost, then the last one: the timer repairs it, duplicates are answered.
    let mut link = Link::new(RdmaSpec { acks: RdmaAcks::PerSegment, rtt, ..roce() }, 10);
    link.run(|way, n, _| if way == Way::ToSender && n > 0 && n < 3 { Fate::Drop } else { Fate::Deliver });
    assert!(link.sender.is_done());
    assert_eq!(link.times("4r"), [24 + 320]);
}

#[test]
fn congestion_notifications_are_spaced_and_count_discarded_packets() {
    let notification = Notification::Packet { interval: Span::from_us(50), rule: CnpRule::Spaced, wire: 82 };
    for base in [roce(), spec()] {
        let spec = RdmaSpec { notification, controller: recorder(), ..base };
        let mut link = Link::new(spec, 150);
        // The first marked packet, 4, comes out of order: 3 is lost.
        link.run(|way, n, _| match (way, n) {
            (Way::ToReceiver, 3) => Fate::Drop,
            (Way::ToReceiver, 4..) => Fate::Mark,
            _ => Fate::Deliver,
        });
        let at: Vec<u64> = link.times("c");
        assert_eq!(at[..3], [15, 65, 115], "{at:?}");
        let reported: Vec<Time> = calls()
            .iter()
            .filter_map(|c| if let Call::Notification(t) = c { Some(*t) } else { None })
            .collect();
        assert_eq!(reported[..2], [Time::from_us(25), Time::from_us(75)]);
        for p in &link.wire_log {
            assert_eq!(p.ecn, if p.kind == Kind::Data { Ecn::Ect0 } else { Ecn::NotEct });
            assert!(p.kind != Kind::Control || p.wire == 82);
            assert!(!p.flags.has(Flags::ECE));
        }
    }
    let mut off = Link::new(spec(), 3);
    off.run_losing(&[]);
    assert!(off.wire_log.iter().all(|p| p.ecn == Ecn::NotEct));
}

/// DCQCN §3.1, Figure 6: marked packets come at 0, 20 and 120 us.
#[test]
fn a_mark_within_the_interval_is_owed_until_it_is_over_or_forgotten() {
    for (rule, expected) in [(CnpRule::Spaced, vec![0, 120]), (CnpRule::Windows, vec![0, 50, 120])] {
        let notification = Notification::Packet { interval: Span::from_us(50), rule, wire: 82 };
        let spec = RdmaSpec { notification, ..spec() };
        let (mut r, mut sent) = (RdmaReceiver::new(&spec, FlowId(0), u64::MAX), Vec::new());
        for us in 0..150 {
            let now = Time::from_us(us);
            let ecn = if [0, 20, 120].contains(&us) { Ecn::Ce } else { Ecn::Ect0 };
            let seq = us * u64::from(spec.payload);
            r.on_packet(&spec, now, &Packet { seq, payload: spec.payload, ecn, ..Packet::default() }, None);
            if r.timer() == Some(now) {
                r.on_timer(&spec, now);
            }
            let (mut packet, mut side) = (Packet::default(), Side::default());
            while r.poll_transmit(&spec, now, &mut packet, &mut side) == Transmit::Packet {
                sent.extend((packet.kind == Kind::Control).then_some(us));
            }
        }
        assert_eq!(sent, expected, "{rule:?}");
    }
}

#[test]
fn an_echo_is_a_notification_and_counts_the_bytes_it_covers() {
    let spec = RdmaSpec { notification: Notification::Echo, controller: recorder(), ..spec() };
    let mut link = Link::new(spec, 4);
    link.run(|way, n, _| if way == Way::ToReceiver && n == 2 { Fate::Mark } else { Fate::Deliver });
    assert_eq!(link.answered(), [(11, "a1"), (12, "a2"), (13, "a3!"), (14, "a4")]);
    let marked: Vec<u64> = samples().iter().map(|s| s.marked.get()).collect();
    assert_eq!(marked, [0, 0, 1000, 0]);
    assert!(calls().contains(&Call::Notification(Time::from_us(23))));
}

#[test]
fn samples_add_up_to_what_was_delivered_and_recovery_is_entered_once() {
    let mut link = Link::bytes(RdmaSpec { controller: recorder(), ..spec() }, 9_500);
    link.run_losing(&[2, 5]);
    // 0..9 leave by 9.75 us; NACKs for 3, 4, 6, 7, 8, 9 return from 24 us on.
    let all = samples();
    assert_eq!(all.iter().map(|s| s.acked.get() + s.sacked.get()).sum::<u64>(), 9_500);
    assert_eq!(
        all.iter().map(|s| s.sacked.get()).collect::<Vec<_>>(),
        [0, 0, 1000, 1000, 1000, 1000, 1000, 500, 0, 0]
    );
    assert_eq!(
        all.iter().map(|s| s.acked.get()).collect::<Vec<_>>(),
        [1000, 1000, 0, 0, 0, 0, 0, 0, 1000, 1000]
    );
    let rounded = |s: &AckSample| (s.acked_to, s.sent_to, s.in_flight.get(), s.in_recovery, s.app_limited);
    assert_eq!(rounded(&all[0]), (1000, 9500, 8500, false, true));
    assert_eq!(rounded(&all[2]), (2000, 9500, 6500, false, true)); // the NACK that finds the loss
    assert_eq!(rounded(&all[3]), (2000, 9500, 5500, true, false)); // something to send: what was lost
    assert_eq!(rounded(&all[8]), (5000, 9500, 1000, true, false));
    assert_eq!(rounded(&all[9]), (9500, 9500, 0, true, true));
    let losses: Vec<Loss> =
        calls().into_iter().filter_map(|c| if let Call::Loss(l) = c { Some(l) } else { None }).collect();
    let found = Time::from_us(24);
    assert_eq!(losses, [Loss { now: found, in_flight: Bytes::new(7500), acked_to: 2000, sent_to: 9500 }]);
    assert!(!calls().iter().any(|c| matches!(c, Call::Timeout(_))));
}

#[test]
fn a_timeout_is_not_reported_as_a_loss_too() {
    for spec in [spec(), roce()] {
        let mut link = Link::new(RdmaSpec { controller: recorder(), ..spec }, 2);
        link.run_losing(&[0, 1]);
        let reported = calls();
        assert_eq!(reported.iter().filter(|c| matches!(c, Call::Timeout(_))).count(), 1);
        assert!(!reported.iter().any(|c| matches!(c, Call::Loss(_))));
        assert!(link.sender.is_done());
        assert!(samples().iter().all(|s| s.rtt.is_none() || !s.in_recovery));
    }
}

#[test]
fn go_back_n_reports_a_loss_per_nack_with_its_flight() {
    let mut link = Link::new(RdmaSpec { controller: recorder(), ..roce() }, 8);
    link.run_losing(&[2]);
    let losses: Vec<Call> = calls().into_iter().filter(|c| matches!(c, Call::Loss(_))).collect();
    let expected =
        Loss { now: Time::from_us(24), in_flight: Bytes::new(6000), acked_to: 2000, sent_to: 8000 };
    assert_eq!(losses, [Call::Loss(expected)]);
    assert_eq!(samples().iter().map(|s| s.acked.get()).sum::<u64>(), 8000);
}

#[test]
fn the_dynamic_timeout_follows_the_round_trip() {
    let timer = RdmaTimer::Dynamic { initial: Span::from_us(320), min: Span::from_us(30) };
    let mut link = Link::new(RdmaSpec { timer, ..spec() }, 1);
    link.run_losing(&[0]);
    assert_eq!(link.times("0r"), [320]);
    // After 20 round trips of 21 us: SRTT + 4 RTTVAR is about to meet the floor; the last packet is lost.
    let mut link = Link::new(RdmaSpec { timer, ..spec() }, 60);
    link.run_losing(&[59]);
    // The ACK of 58 came at 79 us and started the timer.
    assert_eq!(link.times("59r"), [109]);
}
