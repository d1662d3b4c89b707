//! The two ends, packet by packet.

use super::super::*;
use super::{NdpReceiver, NdpSender};
use crate::transport::testing::{Sent, give, poll_one};
use thalweg_units::Bytes;
use thalweg_wire::{Flags, Kind, Message};

const US: fn(u64) -> Time = Time::from_us;

/// Full packets of 1000 B at 8 Gb/s, 1 us each; a first window of four.
const SPEC: NdpSpec = NdpSpec {
    payload: 960,
    header: 40,
    control: 40,
    window: 4,
    pull_share: 1.0,
    retry: Span::from_us(200),
    paths: Some(8),
};

fn sender(packets: u64) -> NdpSender {
    let start = SPEC.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
    let stream = Stream::new(1, "transport", 5);
    let mut sender = SPEC.sender(FlowId(5), packets * 960, &start, stream).expect("can work");
    sender.start(&SPEC, US(0));
    sender
}
fn receiver(packets: u64) -> NdpReceiver {
    SPEC.receiver(FlowId(5), packets * 960, Stream::new(1, "receiver", 5))
}
/// All that a sender hands out now.
fn sends(end: &mut NdpSender, now: Time) -> Vec<Sent> {
    std::iter::from_fn(|| poll_one(end, &SPEC, now)).collect()
}
fn numbers(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|packet| packet.seq / 960).collect()
}
fn pull(sender: &mut NdpSender, now: Time, number: u64) {
    assert_eq!(give(sender, &SPEC, now, &Sent::of(Message::Pull { number })), Reception::Taken);
}
/// What a receiver answers to a packet that comes whole, or as its header.
fn answer(receiver: &mut NdpReceiver, now: Time, data: &Sent, whole: bool) -> Sent {
    give(receiver, &SPEC, now, &if whole { *data } else { data.trimmed() });
    let answer = poll_one(receiver, &SPEC, now).expect("every packet is answered");
    assert!(poll_one(receiver, &SPEC, now).is_none(), "once");
    answer
}

#[test]
fn the_first_window_leaves_at_once_and_then_a_packet_per_pull_whatever_was_acked() {
    let (mut s, mut r) = (sender(8), receiver(8));
    let first = sends(&mut s, US(0));
    assert_eq!(numbers(&first), [0, 1, 2, 3]);
    let ack = answer(&mut r, US(5), &first[1], true);
    assert_eq!((ack.kind, ack.seq, ack.trigger, ack.wire), (Kind::Ack, 0, 960, 40));
    assert_eq!(give(&mut s, &SPEC, US(10), &ack), Reception::RoundTrip(Span::from_us(10)));
    assert_eq!(numbers(&sends(&mut s, US(10))), [0; 0]);
    pull(&mut s, US(11), 1);
    assert_eq!(numbers(&sends(&mut s, US(11))), [4]);
    // The third overtakes the second, which then says nothing new.
    pull(&mut s, US(12), 3);
    assert_eq!(numbers(&sends(&mut s, US(12))), [5, 6]);
    pull(&mut s, US(12), 2);
    assert_eq!(numbers(&sends(&mut s, US(12))), [0; 0]);
    pull(&mut s, US(13), 4);
    let last = sends(&mut s, US(13));
    assert_eq!(numbers(&last), [7]);
    assert!(last[0].flags.has(Flags::LAST) && !first[3].flags.has(Flags::LAST));
    assert_eq!((s.stats().acked_bytes, s.stats().in_flight), (960, Bytes::new(7 * 960)));
}

#[test]
fn what_was_nacked_goes_first_and_only_when_it_is_pulled() {
    let (mut s, mut r) = (sender(9), receiver(9));
    let first = sends(&mut s, US(0));
    for index in [3, 2] {
        let nack = answer(&mut r, US(5), &first[index], false);
        assert!(nack.flags.has(Flags::NACK) && nack.trigger == 960 * index as u64 && nack.payload == 0);
        give(&mut s, &SPEC, US(9), &nack);
        give(&mut s, &SPEC, US(9), &nack);
    }
    assert_eq!((r.received(), r.unique_bytes()), (0, 0));
    assert_eq!(numbers(&sends(&mut s, US(9))), [0; 0]);
    pull(&mut s, US(10), 3);
    let sent = sends(&mut s, US(10));
    assert_eq!(numbers(&sent), [3, 2, 4]);
    assert_eq!([0, 1, 2].map(|i: usize| sent[i].flags.has(Flags::RETRANSMISSION)), [true, true, false]);
    assert_eq!((s.stats().sent_packets, s.stats().retransmitted_packets), (7, 2));
}

/// On another path a pull may be faster than the NACK it goes with.
#[test]
fn a_pull_that_overtakes_its_nack_is_not_lost() {
    let (mut s, mut r) = (sender(2), receiver(2));
    let first = sends(&mut s, US(0));
    pull(&mut s, US(8), 1);
    assert_eq!(numbers(&sends(&mut s, US(8))), [0; 0]);
    let nack = answer(&mut r, US(5), &first[0], false);
    give(&mut s, &SPEC, US(9), &nack);
    assert_eq!(numbers(&sends(&mut s, US(9))), [0]);
}

/// The pull of a packet that came whole calls for nothing when all has been sent: what is NACKed later has its own.
#[test]
fn a_pull_that_finds_nothing_to_send_is_not_saved_up() {
    let (mut s, mut r) = (sender(3), receiver(3));
    let first = sends(&mut s, US(0));
    assert_eq!(numbers(&first), [0, 1, 2]);
    let ack = answer(&mut r, US(5), &first[0], true);
    give(&mut s, &SPEC, US(8), &ack);
    pull(&mut s, US(8), 1);
    assert_eq!(numbers(&sends(&mut s, US(8))), [0; 0]);
    let nack = answer(&mut r, US(6), &first[1], false);
    give(&mut s, &SPEC, US(9), &nack);
    assert_eq!(numbers(&sends(&mut s, US(9))), [0; 0]);
    pull(&mut s, US(10), 2);
    assert_eq!(numbers(&sends(&mut s, US(10))), [1]);
}

#[test]
fn each_packet_takes_the_next_path_and_eight_of_them_all_eight() {
    let mut s = sender(20);
    pull(&mut s, US(0), 16);
    let mut paths: Vec<u32> = sends(&mut s, US(0)).iter().take(8).map(|packet| packet.route).collect();
    paths.sort_unstable();
    assert_eq!(paths, (0..8).collect::<Vec<_>>());
}

#[test]
fn a_timeout_resends_what_was_neither_acked_nor_nacked() {
    let (mut s, mut r) = (sender(4), receiver(4));
    let first = sends(&mut s, US(0));
    for (index, whole) in [(0, true), (2, false)] {
        let answered = answer(&mut r, US(5), &first[index], whole);
        give(&mut s, &SPEC, US(10), &answered);
    }
    assert_eq!((s.timer(), s.on_timer(&SPEC, US(209))), (Some(US(210)), Expiry::Other));
    assert_eq!(s.on_timer(&SPEC, US(210)), Expiry::Retransmission);
    // As many as were not answered; the one that was NACKed is before them, and one is left over.
    assert_eq!(numbers(&sends(&mut s, US(210))), [2, 1]);
    assert_eq!(s.on_timer(&SPEC, US(410)), Expiry::Retransmission);
    assert_eq!(numbers(&sends(&mut s, US(410))), [3, 1]);
    for data in &first {
        let ack = answer(&mut r, US(500), data, true);
        give(&mut s, &SPEC, US(505), &ack);
    }
    assert!(s.is_done() && r.is_done() && s.timer().is_none());
    assert_eq!((s.stats().timeouts, s.stats().acked_bytes, r.received()), (2, 3840, 3840));
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let refuse = |spec: NdpSpec, size| {
        let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
        spec.sender(FlowId(0), size, &start, Stream::default())
            .map(|_: NdpSender| ())
            .unwrap_err()
            .to_string()
    };
    assert!(refuse(NdpSpec { payload: 0, ..SPEC }, 1).contains("packet"));
    assert!(refuse(NdpSpec { window: 0, ..SPEC }, 1).contains("window"));
    assert!(refuse(NdpSpec { pull_share: 0.0, ..SPEC }, 1).contains("pull_share"));
    assert!(refuse(NdpSpec { retry: Span::ZERO, ..SPEC }, 1).contains("retry"));
    assert!(refuse(NdpSpec { paths: Some(0), ..SPEC }, 1).contains("paths"));
    assert!(refuse(SPEC, u64::MAX).contains("end"));
}

#[test]
fn messages_of_others_change_nothing() {
    let mut s = sender(9);
    sends(&mut s, US(0));
    let timer = s.timer();
    let grant = Message::Grant { offset: 9000, received: 0, level: 0 };
    assert_eq!(give(&mut s, &SPEC, US(9), &Sent::of(grant)), Reception::Ignored);
    assert_eq!((numbers(&sends(&mut s, US(9))), s.timer()), (vec![], timer));
}
