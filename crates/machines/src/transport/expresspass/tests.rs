//! The two ends, packet by packet, and feedback step by step.

use super::super::*;
use super::feedback::Feedback;
use super::{ExpressPassReceiver, ExpressPassSender};
use crate::transport::testing::{Sent, give, poll_one};
use thalweg_wire::{Flags, Kind, Message};

const US: fn(u64) -> Time = Time::from_us;

/// Credits of 100 B, no jitter, at most one per microsecond; half of that to start with.
const SPEC: ExpressPassSpec = ExpressPassSpec {
    payload: 1000,
    header: 40,
    control: 84,
    credit_min: 100,
    credit_max: 100,
    max_rate: Rate::from_mbps(800),
    alpha: 0.5,
    w_init: 0.0625,
    w_min: 0.01,
    target_loss: 0.125,
    jitter: 0.0,
    retry: Span::from_us(100),
};

fn ends(size: u64) -> (ExpressPassSender, ExpressPassReceiver) {
    let start = SPEC.start(Rate::from_gbps(10), Span::from_us(10), Span::ZERO);
    let mut sender = SPEC.sender(FlowId(5), size, &start, Stream::default()).expect("can work");
    sender.start(&SPEC, US(0));
    (sender, SPEC.receiver(FlowId(5), size, Stream::default()))
}
fn poll(end: &mut impl Endpoint<Spec = ExpressPassSpec>, now: Time) -> Option<Sent> {
    poll_one(end, &SPEC, now)
}
/// The number of a credit.
fn number(credit: &Sent) -> u64 {
    let Some(Message::Credit { number, .. }) = credit.message() else { panic!("{credit:?} is no credit") };
    number
}

#[test]
fn a_flow_requests_credits_sends_a_packet_for_each_and_stops() {
    let (mut s, mut r) = ends(1500);
    let request = poll(&mut s, US(0)).expect("a request");
    assert_eq!((request.kind, request.seq, request.wire), (Kind::Syn, 1500, 84));
    assert_eq!(request.message(), Some(Message::CreditRequest { size: 1500 }));
    assert!(poll(&mut s, US(0)).is_none() && r.timer().is_none());
    give(&mut r, &SPEC, US(5), &request);
    // A credit at once, and then one every 2 us: half of the largest rate.
    let first = poll(&mut r, US(5)).expect("a credit");
    assert_eq!((first.kind, first.wire, number(&first)), (Kind::Control, 100, 1));
    assert!(poll(&mut r, US(6)).is_none() && r.timer() == Some(US(7)));
    let others: Vec<Sent> = (7..12).filter_map(|at| poll(&mut r, US(at))).collect();
    assert_eq!(others.iter().map(number).collect::<Vec<_>>(), [2, 3, 4]);
    give(&mut s, &SPEC, US(10), &first);
    let one = poll(&mut s, US(10)).expect("data");
    assert_eq!((one.seq, one.wire, one.rank), (0, 1040, 0));
    assert_eq!(one.message(), Some(Message::CreditSpent { number: 1, sent_at: US(5) }));
    give(&mut s, &SPEC, US(12), &others[0]);
    let two = poll(&mut s, US(12)).expect("data");
    assert_eq!((two.seq, two.payload, two.flags.has(Flags::LAST)), (1000, 500, true));
    let stop = poll(&mut s, US(12)).expect("a stop");
    assert_eq!(
        (stop.kind, stop.message(), stop.wire),
        (Kind::Syn, Some(Message::CreditStop { size: 1500 }), 84)
    );
    // The other two credits are wasted, one of them after the end.
    give(&mut s, &SPEC, US(14), &others[1]);
    assert!(poll(&mut s, US(14)).is_none());
    give(&mut r, &SPEC, US(15), &one);
    give(&mut r, &SPEC, US(16), &two);
    let ack = poll(&mut r, US(16)).expect("all has come");
    assert_eq!((ack.kind, r.is_done(), r.timer()), (Kind::Ack, true, None));
    give(&mut s, &SPEC, US(21), &ack);
    give(&mut s, &SPEC, US(22), &others[2]);
    assert_eq!((s.is_done(), s.stats().wasted_credits, s.timer()), (true, 2, None));
}

#[test]
fn what_is_missing_when_all_was_sent_is_named_by_further_credits() {
    let (mut s, mut r) = ends(3000);
    let request = poll(&mut s, US(0)).expect("a request");
    give(&mut r, &SPEC, US(0), &request);
    for at in [0, 2, 4] {
        let credit = poll(&mut r, US(at)).expect("a credit");
        give(&mut s, &SPEC, US(at), &credit);
    }
    let packets: Vec<Sent> = std::iter::from_fn(|| poll(&mut s, US(4))).collect();
    assert_eq!(packets.len(), 4);
    // The first two are lost.
    give(&mut r, &SPEC, US(5), &packets[2]);
    give(&mut r, &SPEC, US(5), &packets[3]);
    let named: Vec<u64> = [6, 8]
        .map(|at| {
            let credit = poll(&mut r, US(at)).expect("a credit");
            give(&mut s, &SPEC, US(at), &credit);
            credit.seq
        })
        .into();
    assert_eq!(named, [0, 1000]);
    for again in std::iter::from_fn(|| poll(&mut s, US(9))) {
        assert!(again.flags.has(Flags::RETRANSMISSION));
        give(&mut r, &SPEC, US(10), &again);
    }
    assert!(r.is_done() && s.stats().retransmitted_packets == 2);
}

#[test]
fn a_request_or_stop_without_an_answer_is_repeated() {
    let (mut s, _) = ends(1000);
    poll(&mut s, US(0)).expect("a request");
    assert_eq!(s.timer(), Some(US(100)));
    s.on_timer(&SPEC, US(100));
    let again = poll(&mut s, US(100)).expect("again");
    assert!(again.flags.has(Flags::RETRANSMISSION));
    assert_eq!(again.message(), Some(Message::CreditRequest { size: 1000 }));
    let credit = Sent::of(Message::Credit { number: 1, offset: None });
    give(&mut s, &SPEC, US(150), &credit);
    assert_eq!(std::iter::from_fn(|| poll(&mut s, US(150))).count(), 2, "data and a stop");
    s.on_timer(&SPEC, US(250));
    let stop = poll(&mut s, US(250)).expect("a stop");
    assert_eq!(stop.message(), Some(Message::CreditStop { size: 1000 }));
    assert_eq!(s.stats().timeouts, 2);
}

#[test]
fn without_losses_the_rate_rises_by_w_which_rises_from_the_second_time_on() {
    let mut f = Feedback::new(&SPEC, US(0));
    assert_eq!((f.rate(), f.w()), (400e6, 0.0625));
    let mut step = |now, number| {
        f.answered(number, Span::from_us(10));
        f.update(&SPEC, US(now));
        (f.rate() / 1e6, f.w())
    };
    assert_eq!(step(5, 1), (400.0, 0.0625), "not a round trip yet");
    assert_eq!(step(10, 2), (425.0, 0.0625), "0.0625 · 800 + 0.9375 · 400");
    let (rate, w) = step(20, 3);
    assert_eq!(w, 0.1125);
    assert!((rate - (0.1125 * 800.0 + 0.8875 * 425.0)).abs() < 1e-9);
    // Nine steps on: w is at its most.
    let last = (3..15).map(|i| step(10 * i, i + 1)).last().unwrap();
    assert_eq!(last.1, 0.5);
    assert!(last.0 > 799.0 && last.0 <= 800.0);
}

#[test]
fn losses_above_the_target_leave_what_was_delivered_and_halve_w() {
    let mut f = Feedback::new(&SPEC, US(0));
    // Of the credits 1 to 10 two were dropped: 20 % are more than (1 − 400/800) · 12.5 %.
    (1..=10).filter(|n| n % 5 != 0).for_each(|n| f.answered(n, Span::from_us(10)));
    f.answered(11, Span::from_us(10));
    f.update(&SPEC, US(40));
    // 9 of 100 B in 40 us are 180 Mb/s, and a sixteenth more.
    assert!((f.rate() - 180e6 * 1.0625).abs() < 1.0, "{}", f.rate());
    assert_eq!(f.w(), 0.03125);
    // No loss: it rises, and w does not yet.
    f.answered(12, Span::from_us(10));
    f.update(&SPEC, US(50));
    assert!((f.rate() - (0.03125 * 800e6 + 0.96875 * 191.25e6)).abs() < 1.0);
    assert_eq!(f.w(), 0.03125);
}

#[test]
fn a_credit_per_round_trip_is_the_least_and_losses_at_the_target_count_as_none() {
    let mut f = Feedback::new(&SPEC, US(0));
    f.answered(1, Span::from_us(10));
    f.answered(1000, Span::from_us(10));
    f.update(&SPEC, US(100_000));
    assert_eq!(f.rate(), 80e6, "100 B in 10 us");
    let mut f = Feedback::new(&SPEC, US(0));
    // One of 16 is 6.25 %, which is (1 − 400/800) · 12.5 %.
    (1..=16).filter(|n| *n != 8).for_each(|n| f.answered(n, Span::from_us(10)));
    f.update(&SPEC, US(40));
    assert_eq!(f.rate(), 425e6);
}

/// The stop and a packet are lost: credits go on, call for nothing, and do not keep the stop from being repeated.
#[test]
fn credits_that_call_for_nothing_are_no_answer_to_a_stop() {
    let (mut s, _) = ends(1000);
    poll(&mut s, US(0)).expect("a request");
    let credit = Sent::of(Message::Credit { number: 1, offset: None });
    give(&mut s, &SPEC, US(50), &credit);
    assert_eq!(std::iter::from_fn(|| poll(&mut s, US(50))).count(), 2, "data and a stop");
    for at in (60..150).step_by(2) {
        give(&mut s, &SPEC, US(at), &credit);
        assert!(poll(&mut s, US(at)).is_none());
    }
    assert_eq!(s.timer(), Some(US(150)));
    s.on_timer(&SPEC, US(150));
    assert_eq!(poll(&mut s, US(150)).expect("a stop").message(), Some(Message::CreditStop { size: 1000 }));
}

#[test]
fn only_a_credit_is_a_credit() {
    let (mut s, _) = ends(1000);
    poll(&mut s, US(0)).expect("a request");
    let grant = Sent::of(Message::Grant { offset: 1000, received: 0, level: 0 });
    assert_eq!(give(&mut s, &SPEC, US(1), &grant), Reception::Ignored);
    assert!(poll(&mut s, US(1)).is_none() && s.timer() == Some(US(100)));
}
