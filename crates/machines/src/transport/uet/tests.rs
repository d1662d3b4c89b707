//! The two ends, packet by packet, with a fixed window.

use super::super::*;
use super::window::{FixedSpec, UnboundedSpec, WindowSpec};
use super::{UetReceiver, UetSender};
use crate::transport::testing::{Sent, give, poll_one};
use thalweg_units::Bytes;
use thalweg_wire::{Ecn, Flags, Kind, Message, PacketAck};

const US: fn(u64) -> Time = Time::from_us;

/// Full packets of 1000 B; a window of four; a round trip of 10 us.
fn windowed() -> UetSpec {
    UetSpec {
        payload: 960,
        header: 40,
        control: 40,
        window: WindowSpec::Fixed(FixedSpec { size: Bytes::new(4000) }),
        credits: None,
        path_selection: Some(PathSelectionSpec::default()),
        ack_every: 3000,
        ack_values: AckValues::One,
        retry: Span::from_us(100),
        back_off: 0,
        base_rtt: Span::from_us(10),
    }
}
/// Two packets of credit at first, pulls of four quanta, a packet and a bit.
fn credited() -> UetSpec {
    let credits = CreditSpec { initial: Bytes::new(2000), share: 1.0, quanta: 4, closes: false };
    UetSpec { window: WindowSpec::Unbounded(UnboundedSpec), credits: Some(credits), ..windowed() }
}
fn sender(spec: &UetSpec, packets: u64) -> UetSender {
    let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
    let stream = Stream::new(1, "transport", 5);
    let mut sender: UetSender = spec.sender(FlowId(5), packets * 960, &start, stream).expect("can work");
    sender.start(spec, US(0));
    sender
}
fn receiver(spec: &UetSpec, packets: u64) -> UetReceiver {
    spec.receiver(FlowId(5), packets * 960, Stream::new(1, "receiver", 5))
}
fn sends(end: &mut UetSender, spec: &UetSpec, now: Time) -> Vec<Sent> {
    std::iter::from_fn(|| poll_one(end, spec, now)).collect()
}
fn numbers(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|packet| packet.trigger).collect()
}
fn requests_ack(packet: &Sent) -> bool {
    packet.flags.has(Flags::ACK_REQUEST)
}
fn marked(data: &Sent) -> Sent {
    let packet = Packet { ecn: Ecn::Ce, ..**data };
    Sent::from((packet, data.side().copied().unwrap_or_default()))
}
/// What a receiver answers, if it does.
fn answer(receiver: &mut UetReceiver, spec: &UetSpec, now: Time, data: &Sent) -> Option<Sent> {
    give(receiver, spec, now, data);
    let answer = poll_one(receiver, spec, now);
    assert!(poll_one(receiver, spec, now).is_none(), "once");
    answer
}
fn ack_of(sent: &Sent) -> PacketAck {
    let Some(Message::PacketAck(ack)) = sent.message() else { panic!("{:?}", sent.message()) };
    ack
}

#[test]
fn a_window_of_four_packets_lets_four_leave_and_the_last_requests_an_ack() {
    let spec = windowed();
    let mut s = sender(&spec, 9);
    let first = sends(&mut s, &spec, US(0));
    assert_eq!(numbers(&first), [0, 1, 2, 3]);
    // A further one would have filled the window with the third.
    assert_eq!(first.iter().map(requests_ack).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(first.iter().all(|packet| packet.ecn == Ecn::Ect0 && packet.kind == Kind::Data));
    assert_eq!(s.stats().in_flight, Bytes::new(4 * 960));
}

#[test]
fn the_first_packet_is_acknowledged_and_then_one_for_every_three_kilobytes() {
    let spec = windowed();
    let (mut s, mut r) = (
        sender(&UetSpec { window: WindowSpec::Fixed(FixedSpec { size: Bytes::kb(20) }), ..spec.clone() }, 9),
        receiver(&spec, 9),
    );
    let all = sends(&mut s, &spec, US(0));
    let drawn: Vec<u64> = all
        .iter()
        .take(8)
        .filter(|data| answer(&mut r, &spec, US(5), data).is_some())
        .map(|d| d.trigger)
        .collect();
    assert_eq!(drawn, [0, 3, 6]);
    let last = answer(&mut r, &spec, US(6), &all[8]).expect("it asks");
    assert_eq!(
        ack_of(&last),
        PacketAck { number: 8, expected: 9, received: 9000, base: 8, above: 1, ..Default::default() }
    );
    assert!((last.seq, last.trigger, last.wire) == (8640, 7680, 40) && r.is_done());
}

#[test]
fn a_mark_and_a_duplicate_are_acknowledged_at_once_and_a_mark_is_echoed() {
    let spec = windowed();
    let (mut s, mut r) = (sender(&spec, 9), receiver(&spec, 9));
    let first = sends(&mut s, &spec, US(0));
    answer(&mut r, &spec, US(5), &first[0]).expect("the first");
    let echo = answer(&mut r, &spec, US(5), &marked(&first[1])).expect("a mark");
    assert!(echo.flags.has(Flags::ECE) && echo.route == first[1].route);
    let again = answer(&mut r, &spec, US(5), &first[1]).expect("a duplicate");
    assert!(!again.flags.has(Flags::ECE));
    assert_eq!(ack_of(&again).received, 2000);
}

/// Every value that came back unmarked is used again, in the order of the packets.
#[test]
fn an_ack_may_bring_back_the_values_of_all_packets_that_came_unmarked() {
    for (ack_values, again) in [(AckValues::One, vec![4]), (AckValues::All, vec![0, 1, 3, 4])] {
        let window = WindowSpec::Fixed(FixedSpec { size: Bytes::kb(6) });
        let spec = UetSpec { ack_values, window, ack_every: 100_000, ..windowed() };
        let (mut s, mut r) = (sender(&spec, 20), receiver(&spec, 20));
        let first = sends(&mut s, &spec, US(0));
        let values: Vec<u32> = first.iter().map(|data| data.route).collect();
        // The first draws an ACK, which is lost.
        answer(&mut r, &spec, US(5), &first[5]).expect("the first");
        let acks: Vec<Sent> = [0, 1, 3, 2, 4]
            .into_iter()
            .filter_map(|at| {
                let data = if at == 2 { marked(&first[at]) } else { first[at] };
                answer(&mut r, &spec, US(5), &data)
            })
            .collect();
        // The mark of 2 draws one for 0, 1 and 3; 4 requests one.
        assert_eq!(acks.len(), 2);
        acks.iter().for_each(|ack| {
            give(&mut s, &spec, US(10), ack);
        });
        let used: Vec<u32> = sends(&mut s, &spec, US(10)).iter().map(|data| data.route).collect();
        let wanted: Vec<u32> = again.iter().map(|at| values[*at]).collect();
        assert_eq!(used[..wanted.len()], wanted);
        assert!(used[wanted.len()..].iter().all(|value| !values.contains(value)), "drawn");
    }
}

/// The bits of an unmarked packet's ACK begin as far below it as they reach, of one that asks for it at the packet.
#[test]
fn an_ack_lists_what_is_there_above_what_is_missing() {
    let spec = UetSpec { ack_every: 1, ..windowed() };
    let wide = UetSpec { window: WindowSpec::Fixed(FixedSpec { size: Bytes::kb(300) }), ..spec.clone() };
    let (mut s, mut r) = (sender(&wide, 200), receiver(&spec, 200));
    let all = sends(&mut s, &wide, US(0));
    for at in [0, 3, 4] {
        answer(&mut r, &spec, US(5), &all[at]);
    }
    let far = ack_of(&answer(&mut r, &spec, US(5), &all[100]).expect("an ACK"));
    assert_eq!((far.number, far.expected, far.base, far.above), (100, 1, 37, 1 << 63));
    let near = ack_of(&answer(&mut r, &spec, US(5), &all[6]).expect("an ACK"));
    assert_eq!((near.expected, near.base, near.above), (1, 2, 0b1_0110));
}

/// A request is remembered while a packet is missing: what closes the gap is acknowledged, too.
#[test]
fn what_closes_the_last_gap_after_a_request_is_acknowledged() {
    let spec = windowed();
    let (mut s, mut r) = (sender(&spec, 9), receiver(&spec, 9));
    let first = sends(&mut s, &spec, US(0));
    answer(&mut r, &spec, US(5), &first[0]).expect("the first");
    assert!(answer(&mut r, &spec, US(5), &first[3]).is_some(), "it asks");
    let quiet = UetSpec { ack_every: 100_000, ..spec.clone() };
    let plain = |at: usize| {
        let flags = Flags(first[at].flags.0 & !Flags::ACK_REQUEST.0);
        Sent::from((Packet { flags, ..*first[at] }, Side::Empty))
    };
    assert!(answer(&mut r, &quiet, US(6), &plain(1)).is_none());
    assert_eq!(ack_of(&answer(&mut r, &quiet, US(6), &plain(2)).expect("closed")).expected, 4);
}

#[test]
fn what_is_trimmed_is_nacked_and_goes_first_once_there_is_room_and_requests_an_ack() {
    let spec = windowed();
    let (mut s, mut r) = (sender(&spec, 9), receiver(&spec, 9));
    let first = sends(&mut s, &spec, US(0));
    for at in [2, 1] {
        let nack = answer(&mut r, &spec, US(5), &first[at].trimmed()).expect("a NACK");
        assert!(
            nack.flags.has(Flags::NACK) && ack_of(&nack).number == at as u64 && nack.route == first[at].route
        );
        give(&mut s, &spec, US(10), &nack);
        give(&mut s, &spec, US(10), &nack);
    }
    let again = sends(&mut s, &spec, US(10));
    assert_eq!(numbers(&again), [1, 2]);
    assert!(again.iter().all(|data| data.flags.has(Flags::RETRANSMISSION.with(Flags::ACK_REQUEST))));
    assert_eq!((s.stats().retransmitted_packets, s.stats().sent_packets), (2, 6));
    // The header of what has come whole by another way is ACKed.
    answer(&mut r, &spec, US(15), &again[0]).expect("asked for");
    let ack = answer(&mut r, &spec, US(16), &again[0].trimmed()).expect("an answer");
    assert!(!ack.flags.has(Flags::NACK));
}

/// What is under way falls by what the receiver says it has, whichever packets an ACK names.
#[test]
fn an_ack_makes_room_for_as_much_as_has_come() {
    let spec = windowed();
    let mut s = sender(&spec, 20);
    sends(&mut s, &spec, US(0));
    let ack = PacketAck { number: 2, expected: 0, received: 3000, base: 2, above: 0b1, ..Default::default() };
    let mut sent = Sent::of(Message::Pull { number: 0 });
    let say = |ack| {
        let packet = Packet { kind: Kind::Ack, side: 0, flow: FlowId(5), ..Packet::default() };
        Sent::from((packet, Side::Message(Message::PacketAck(ack))))
    };
    sent.clone_from(&say(ack));
    assert_eq!(give(&mut s, &spec, US(10), &sent), Reception::RoundTrip(Span::from_us(10)));
    assert_eq!(numbers(&sends(&mut s, &spec, US(10))), [4, 5, 6]);
    assert_eq!(s.stats().acked_bytes, 960);
    // An older one says nothing new.
    assert_eq!(give(&mut s, &spec, US(11), &sent), Reception::Taken);
    assert_eq!(numbers(&sends(&mut s, &spec, US(11))), [0; 0]);
    give(
        &mut s,
        &spec,
        US(12),
        &say(PacketAck { number: 3, expected: 5, received: 5000, base: 3, above: 0, ..Default::default() }),
    );
    assert_eq!((s.stats().acked_bytes, numbers(&sends(&mut s, &spec, US(12)))), (5 * 960, vec![7, 8]));
}

#[test]
fn a_timeout_resends_what_was_sent_longest_ago_and_doubles_as_often_as_it_may() {
    let spec =
        UetSpec { back_off: 1, window: WindowSpec::Fixed(FixedSpec { size: Bytes::kb(8) }), ..windowed() };
    let mut s = sender(&spec, 2);
    assert_eq!(numbers(&sends(&mut s, &spec, US(0))), [0, 1]);
    assert_eq!((s.timer(), s.on_timer(&spec, US(99))), (Some(US(100)), Expiry::Other));
    assert_eq!(s.on_timer(&spec, US(100)), Expiry::Retransmission);
    assert_eq!(numbers(&sends(&mut s, &spec, US(100))), [0, 1]);
    assert_eq!(s.timer(), Some(US(300)));
    s.on_timer(&spec, US(300));
    sends(&mut s, &spec, US(300));
    assert_eq!((s.timer(), s.stats().timeouts), (Some(US(500)), 4));
}

#[test]
fn credit_is_spent_and_what_was_at_ones_own_risk_ends_with_the_first_answer() {
    let spec = credited();
    let mut s = sender(&spec, 9);
    let first = sends(&mut s, &spec, US(0));
    assert_eq!(numbers(&first), [0, 1]);
    // 9 packets wait; a first credit of 2000 B is the most; 1000 and 0 are left: 4 and 8 quanta.
    let targets: Vec<_> = first.iter().map(Sent::message).collect();
    let target = |quanta| Some(Message::PullTarget { quanta, probe: None });
    assert_eq!(targets, [target(4), target(8)]);
    give(&mut s, &spec, US(10), &Sent::of(Message::Pull { number: 4 }));
    // 1024 B of credit: one packet, and then one more than there is.
    let next = sends(&mut s, &spec, US(10));
    assert_eq!((numbers(&next), requests_ack(&next[0]), requests_ack(&next[1])), (vec![2, 3], false, true));
    give(&mut s, &spec, US(11), &Sent::of(Message::Pull { number: 4 }));
    give(&mut s, &spec, US(11), &Sent::of(Message::Pull { number: 3 }));
    assert_eq!(numbers(&sends(&mut s, &spec, US(11))), [0; 0]);
}

/// Where two other flows contend, a third of what it wants: 2 packets are the most, of which 1 and 2 have left.
#[test]
fn what_a_sender_calls_for_is_its_part_of_the_link() {
    let spec = credited();
    let mut s = sender(&spec, 9);
    let mut target = || {
        s.on_contending(2);
        assert!(s.claim_turn(&spec));
        let sent = poll_one(&mut s, &spec, US(0)).expect("credit");
        let Some(Message::PullTarget { quanta, .. }) = sent.message() else { panic!("{sent:?}") };
        quanta
    };
    assert_eq!([target(), target()], [2, 3]);
    assert!(!s.claim_turn(&spec), "no credit is left");
}

/// With a retransmission waiting already a further timeout sends a request: nothing else would call for credit.
#[test]
fn without_credit_a_timeout_sends_a_request_which_is_numbered_and_acknowledged() {
    let spec = credited();
    let (mut s, mut r) = (sender(&spec, 2), receiver(&spec, 2));
    sends(&mut s, &spec, US(0));
    s.on_timer(&spec, US(100));
    let sent = sends(&mut s, &spec, US(100));
    assert_eq!(sent.len(), 1, "one for both");
    assert_eq!((sent[0].kind, sent[0].wire), (Kind::Syn, 40));
    let Some(Message::PullTarget { quanta: 8, probe: Some(2) }) = sent[0].message() else {
        panic!("{:?}", sent[0].message())
    };
    let ack = answer(&mut r, &spec, US(105), &sent[0]).expect("at once");
    assert_eq!(
        ack_of(&ack),
        PacketAck { number: 2, expected: 0, received: 0, base: 2, above: 1, ..Default::default() }
    );
    give(&mut s, &spec, US(110), &ack);
    give(&mut s, &spec, US(110), &Sent::of(Message::Pull { number: 8 }));
    let data = sends(&mut s, &spec, US(110));
    assert_eq!(numbers(&data), [0, 1]);
    for packet in &data {
        if let Some(ack) = answer(&mut r, &spec, US(115), packet) {
            give(&mut s, &spec, US(120), &ack);
        }
    }
    assert!(s.is_done() && r.is_done() && s.timer().is_none());
    assert_eq!((r.unique_bytes(), s.stats().acked_bytes), (1920, 1920));
}

/// Everything that was sent has come, and the pulls that it called for have been lost.
#[test]
fn a_source_without_credit_and_with_nothing_under_way_sends_a_request_in_time() {
    let spec = credited();
    let (mut s, mut r) = (sender(&spec, 9), receiver(&spec, 9));
    let first = sends(&mut s, &spec, US(0));
    for (data, at) in first.iter().zip([10, 11]) {
        let ack = answer(&mut r, &spec, US(5), data);
        if let Some(ack) = &ack {
            give(&mut s, &spec, US(at), ack);
        }
    }
    assert_eq!((s.timer(), numbers(&sends(&mut s, &spec, US(11)))), (Some(US(111)), vec![]));
    s.on_timer(&spec, US(111));
    let sent = sends(&mut s, &spec, US(111));
    assert_eq!((sent.len(), sent[0].kind, s.timer()), (1, Kind::Syn, Some(US(211))));
    // The request is numbered: if it is lost, too, it is sent again.
    s.on_timer(&spec, US(211));
    assert_eq!(sends(&mut s, &spec, US(211)).len(), 1);
    give(&mut s, &spec, US(220), &Sent::of(Message::Pull { number: 8 }));
    assert_eq!(
        numbers(&sends(&mut s, &spec, US(220))).len(),
        3,
        "2048 B of credit, and one more than there is"
    );
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let refuse = |spec: UetSpec, size| {
        let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
        let made: Result<UetSender, _> = spec.sender(FlowId(0), size, &start, Stream::default());
        made.map(|_| ()).unwrap_err().to_string()
    };
    let none = CreditSpec { initial: Bytes::ZERO, share: 1.0, quanta: 4, closes: false };
    assert!(refuse(UetSpec { payload: 0, ..windowed() }, 1).contains("packet"));
    assert!(
        refuse(UetSpec { window: WindowSpec::Unbounded(UnboundedSpec), ..windowed() }, 1).contains("window")
    );
    assert!(refuse(UetSpec { retry: Span::ZERO, ..windowed() }, 1).contains("retry"));
    assert!(refuse(UetSpec { credits: Some(none), ..windowed() }, 1).contains("credit"));
    assert!(
        refuse(UetSpec { credits: Some(CreditSpec { quanta: 0, ..none }), ..windowed() }, 1)
            .contains("credit")
    );
    assert!(refuse(windowed(), u64::MAX).contains("end"));
}
