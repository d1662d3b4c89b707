//! The two ends, packet by packet.

use super::super::*;
use super::{TokenReceiver, TokenSender};
use crate::packet::{Flags, Kind};

const US: fn(u64) -> Time = Time::from_us;

/// Full packets of 1000 B, two free ones; tokens live for 2 us.
const SPEC: TokenSpec = TokenSpec {
    payload: 960,
    header: 40,
    control: 40,
    free: 2,
    window: 8,
    life: Span::from_us(2),
    patience: Span::from_us(50),
    retry: Span::from_us(200),
    free_class: 1,
    token_class: 2,
};

fn sender(size: u64) -> TokenSender {
    let start = SPEC.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
    let mut sender = SPEC.sender(FlowId(5), size, &start, Stream::default()).expect("can work");
    sender.start(&SPEC, US(0));
    sender
}
fn poll(end: &mut impl Endpoint<Spec = TokenSpec>, now: Time) -> Option<Packet> {
    let (mut packet, mut side) = (Packet::default(), Side::default());
    (end.poll_transmit(&SPEC, now, &mut packet, &mut side) == Transmit::Packet).then_some(packet)
}
fn token(sender: &mut TokenSender, now: Time) {
    sender.on_packet(&SPEC, now, &Packet { kind: Kind::Control, ..Packet::default() }, None);
}
/// What a sender hands out now: (offset, class) of data.
fn data(sender: &mut TokenSender, now: Time) -> Vec<(u64, u8)> {
    std::iter::from_fn(|| poll(sender, now)).map(|p| (p.seq, p.class)).collect()
}

#[test]
fn a_request_names_the_size_then_free_packets_leave_and_then_one_per_token() {
    let mut s = sender(4000);
    let request = poll(&mut s, US(0)).expect("a request");
    assert_eq!((request.kind, request.seq, request.wire, request.class), (Kind::Syn, 4000, 40, 0));
    assert_eq!(data(&mut s, US(0)), [(0, 1), (960, 1)]);
    token(&mut s, US(9));
    token(&mut s, US(9));
    assert_eq!(data(&mut s, US(9)), [(1920, 2), (2880, 2)]);
    token(&mut s, US(10));
    let last = poll(&mut s, US(10)).expect("the rest");
    assert_eq!((last.seq, last.payload, last.wire), (3840, 160, 200));
    assert!(last.flags.has(Flags::LAST) && poll(&mut s, US(10)).is_none());
}

#[test]
fn tokens_which_age_are_spent_before_free_packets_which_do_not() {
    let mut s = sender(9600);
    poll(&mut s, US(0));
    let next = |s: &mut TokenSender| poll(s, US(0)).map(|p| (p.seq, p.class));
    assert_eq!(next(&mut s), Some((0, 1)));
    token(&mut s, US(0));
    assert_eq!([next(&mut s), next(&mut s), next(&mut s)], [Some((960, 2)), Some((1920, 1)), None]);
}

#[test]
fn a_token_that_is_too_old_is_worth_nothing() {
    let mut s = sender(4000);
    for _ in 0..3 {
        poll(&mut s, US(0));
    }
    token(&mut s, US(9));
    token(&mut s, US(10));
    assert_eq!(data(&mut s, US(12)), [(1920, 2)]);
}

#[test]
fn what_was_lost_is_sent_again_for_later_tokens_each_hole_in_turn() {
    let (mut s, mut r) = (sender(4800), SPEC.receiver(FlowId(5), 4800));
    poll(&mut s, US(0));
    let mut sent: Vec<Packet> = std::iter::from_fn(|| poll(&mut s, US(0))).collect();
    (0..3).for_each(|_| token(&mut s, US(1)));
    sent.extend(std::iter::from_fn(|| poll(&mut s, US(1))));
    // Packets 1 and 3 of five are lost.
    for at in [0, 2, 4] {
        r.on_packet(&SPEC, US(5), &sent[at], None);
        let ack = poll(&mut r, US(5)).expect("an ACK each");
        assert_eq!((ack.kind, ack.echo, ack.wire), (Kind::Ack, sent[at].seq, 40));
        s.on_packet(&SPEC, US(9), &ack, None);
    }
    assert_eq!((r.received(), r.unique_bytes(), s.stats().acked_bytes), (960, 2880, 960));
    (0..3).for_each(|_| token(&mut s, US(9)));
    let again: Vec<Packet> = std::iter::from_fn(|| poll(&mut s, US(9))).collect();
    assert_eq!(again.iter().map(|p| p.seq).collect::<Vec<_>>(), [960, 2880, 960], "and from the beginning");
    assert!(again.iter().all(|p| p.flags.has(Flags::RETRANSMISSION)));
    for packet in &again[..2] {
        r.on_packet(&SPEC, US(12), packet, None);
        s.on_packet(&SPEC, US(15), &poll(&mut r, US(12)).expect("an ACK"), None);
    }
    assert!(s.is_done() && r.is_done() && s.timer().is_none());
    assert_eq!((s.stats().acked_bytes, s.stats().retransmitted_packets), (4800, 3));
}

#[test]
fn a_source_that_hears_nothing_asks_again_and_a_destination_that_has_all_says_so() {
    let (mut s, mut r) = (sender(960), SPEC.receiver(FlowId(5), 960));
    poll(&mut s, US(0));
    r.on_packet(&SPEC, US(3), &poll(&mut s, US(0)).expect("data"), None);
    poll(&mut r, US(3)).expect("an ACK, which is lost");
    assert_eq!(s.timer(), Some(US(200)));
    assert_eq!(s.on_timer(&SPEC, US(199)), Expiry::Other);
    assert_eq!(s.on_timer(&SPEC, US(200)), Expiry::Retransmission);
    let request = poll(&mut s, US(200)).expect("again");
    assert!(request.kind == Kind::Syn && request.flags.has(Flags::RETRANSMISSION));
    r.on_packet(&SPEC, US(203), &request, None);
    s.on_packet(&SPEC, US(206), &poll(&mut r, US(203)).expect("the ACK of all"), None);
    assert!(s.is_done());
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let refuse = |spec: TokenSpec, size| {
        let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
        spec.sender(FlowId(0), size, &start, Stream::default()).map(|_: TokenSender| ()).unwrap_err()
    };
    assert!(refuse(TokenSpec { payload: 0, ..SPEC }, 1).contains("payload"));
    assert!(refuse(TokenSpec { window: 0, ..SPEC }, 1).contains("window"));
    assert!(refuse(TokenSpec { retry: Span::ZERO, ..SPEC }, 1).contains("retry"));
    assert!(refuse(SPEC, u64::MAX).contains("size"));
    let _: TokenReceiver = SPEC.receiver(FlowId(0), u64::MAX);
}
