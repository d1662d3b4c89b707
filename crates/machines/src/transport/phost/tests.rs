//! The two ends, packet by packet.

use super::super::*;
use super::{PhostReceiver, PhostSender};
use crate::transport::testing::{Sent, give, poll_one};
use thalweg_units::Bytes;
use thalweg_wire::{Flags, Kind, Message};

const US: fn(u64) -> Time = Time::from_us;

/// Full packets of 1000 B at 8 Gb/s, 1 us each; free tokens for flows of two; tokens live for 2 us.
const SPEC: PhostSpec = PhostSpec {
    payload: 960,
    header: 40,
    control: 40,
    free: 2,
    free_for: FreeFor::Short,
    spacing: Some(Span::from_us(1)),
    window: 8,
    life: Some(Span::from_us(2)),
    patience: Some(Span::from_us(50)),
    again: Some(Span::from_us(9)),
    retry: Some(Span::from_us(200)),
    free_class: 1,
    token_class: 2,
};

fn sender_of(spec: PhostSpec, size: u64) -> PhostSender {
    let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
    let mut sender = spec.sender(FlowId(5), size, &start, Stream::default()).expect("can work");
    sender.start(&spec, US(0));
    sender
}
fn sender(size: u64) -> PhostSender {
    sender_of(SPEC, size)
}
fn poll(end: &mut impl Endpoint<Spec = PhostSpec>, now: Time) -> Option<Sent> {
    poll_one(end, &SPEC, now)
}
/// A token for a packet, with its number and the bytes that are missing.
fn token(sender: &mut PhostSender, now: Time, index: u64, number: u64, missing: u64) {
    let token = Message::Token { offset: index * 960, number, missing };
    assert_eq!(give(sender, &SPEC, now, &Sent::of(token)), Reception::Taken);
}
/// The number of the token that a packet of data answers.
fn number(data: &Sent) -> u64 {
    let Some(Message::TokenSpent { number }) = data.message() else { panic!("{data:?} answers no token") };
    number
}
/// What a sender hands out now: (packet, number of its token, class) of data.
fn data(sender: &mut PhostSender, now: Time) -> Vec<(u64, u64, u8)> {
    std::iter::from_fn(|| poll(sender, now)).map(|p| (p.seq / 960, number(&p), p.class)).collect()
}

#[test]
fn a_long_flow_requests_and_sends_per_token() {
    let mut s = sender(4000);
    let request = poll(&mut s, US(0)).expect("a request");
    assert_eq!((request.kind, request.seq, request.wire, request.class), (Kind::Syn, 4000, 40, 0));
    assert_eq!(request.message(), Some(Message::Request { size: 4000 }));
    assert_eq!(data(&mut s, US(0)), []);
    token(&mut s, US(9), 0, 1, 4000);
    token(&mut s, US(9), 1, 2, 4000);
    assert_eq!(data(&mut s, US(9)), [(0, 1, 2), (1, 2, 2)]);
    token(&mut s, US(10), 4, 3, 2080);
    let last = poll(&mut s, US(10)).expect("the rest");
    assert_eq!((last.seq, last.payload, last.wire), (3840, 160, 200));
    assert!(last.flags.has(Flags::LAST) && poll(&mut s, US(10)).is_none());
    assert_eq!((s.stats().acked_bytes, s.stats().in_flight), (1920, Bytes::new(960)));
}

#[test]
fn a_short_flow_has_tokens_of_its_own_and_a_long_one_only_if_all_have() {
    let mut s = sender(1900);
    poll(&mut s, US(0)).expect("a request");
    assert_eq!(data(&mut s, US(0)), [(0, 1, 1), (1, 2, 1)]);
    let mut s = sender_of(PhostSpec { free_for: FreeFor::All, ..SPEC }, 9600);
    poll(&mut s, US(0)).expect("a request");
    assert_eq!(data(&mut s, US(0)), [(0, 1, 1), (1, 2, 1)]);
    // They are worth something for as long as they take, and a token's life more.
    let mut s = sender(1900);
    poll(&mut s, US(0)).expect("a request");
    assert_eq!(poll(&mut s, US(4)).map(|p| number(&p)), Some(1));
    assert_eq!(data(&mut s, US(5)), []);
}

#[test]
fn tokens_that_are_too_old_are_worth_nothing() {
    let mut s = sender(9600);
    poll(&mut s, US(0));
    token(&mut s, US(9), 0, 1, 9600);
    token(&mut s, US(10), 1, 2, 9600);
    assert_eq!(data(&mut s, US(12)), [(1, 2, 2)]);
}

#[test]
fn what_a_token_names_again_is_sent_again_and_one_ack_ends_it() {
    let (mut s, mut r) = (sender(2880), SPEC.receiver(FlowId(5), 2880, Stream::default()));
    poll(&mut s, US(0));
    (0..3).for_each(|i| token(&mut s, US(1), i, i + 1, 2880));
    let sent: Vec<Sent> = std::iter::from_fn(|| poll(&mut s, US(1))).collect();
    for at in [0, 2] {
        give(&mut r, &SPEC, US(5), &sent[at]);
        assert!(poll(&mut r, US(5)).is_none(), "not all is there");
    }
    assert_eq!((r.received(), r.unique_bytes()), (960, 1920));
    token(&mut s, US(9), 1, 4, 960);
    let again = poll(&mut s, US(9)).expect("the packet");
    assert!(again.flags.has(Flags::RETRANSMISSION) && again.seq == 960 && number(&again) == 4);
    give(&mut r, &SPEC, US(12), &again);
    let ack = poll(&mut r, US(12)).expect("the ACK");
    assert_eq!((ack.kind, ack.seq, ack.wire, ack.stamp), (Kind::Ack, 2880, 40, US(9)));
    let reception = give(&mut s, &SPEC, US(15), &ack);
    assert_eq!(reception, Reception::RoundTrip(Span::from_us(6)));
    assert!(s.is_done() && r.is_done() && s.timer().is_none());
    assert_eq!((s.stats().acked_bytes, s.stats().retransmitted_packets), (2880, 1));
}

#[test]
fn a_request_without_an_answer_is_repeated_and_completion_acked() {
    let (mut s, mut r) = (sender(960), SPEC.receiver(FlowId(5), 960, Stream::default()));
    poll(&mut s, US(0));
    give(&mut r, &SPEC, US(3), &poll(&mut s, US(0)).expect("data"));
    poll(&mut r, US(3)).expect("an ACK, which is lost");
    assert_eq!(s.timer(), Some(US(200)));
    assert_eq!(s.on_timer(&SPEC, US(199)), Expiry::Other);
    assert_eq!(s.on_timer(&SPEC, US(200)), Expiry::Retransmission);
    let request = poll(&mut s, US(200)).expect("again");
    assert!(request.kind == Kind::Syn && request.flags.has(Flags::RETRANSMISSION));
    give(&mut r, &SPEC, US(203), &request);
    give(&mut s, &SPEC, US(206), &poll(&mut r, US(203)).expect("the ACK of all"));
    assert!(s.is_done());
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let refuse = |spec: PhostSpec, size| {
        let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
        spec.sender(FlowId(0), size, &start, Stream::default())
            .map(|_: PhostSender| ())
            .unwrap_err()
            .to_string()
    };
    assert!(refuse(PhostSpec { payload: 0, ..SPEC }, 1).contains("payload"));
    assert!(refuse(PhostSpec { window: 0, ..SPEC }, 1).contains("window"));
    assert!(refuse(PhostSpec { retry: Some(Span::ZERO), ..SPEC }, 1).contains("retry"));
    assert!(refuse(SPEC, u64::MAX).contains("size"));
    let _: PhostReceiver = SPEC.receiver(FlowId(0), u64::MAX, Stream::default());
}

/// A mistake that was made once: a fair rate of RoCC's was taken for a token, which named a packet and said that
/// nothing was missing.
#[test]
fn a_notice_of_a_congestion_point_is_no_token() {
    use thalweg_units::PortId;
    use thalweg_wire::{Notice, NoticeBody};
    let mut s = sender(4000);
    poll(&mut s, US(0)).expect("a request");
    let notice = Notice { point: PortId(3), body: NoticeBody::FairRate(Rate::from_gbps(1)) };
    assert_eq!(give(&mut s, &SPEC, US(9), &Sent::of(Message::Notice(notice))), Reception::Ignored);
    assert_eq!((data(&mut s, US(9)), s.stats().acked_bytes, s.timer()), (vec![], 0, Some(US(200))));
}
