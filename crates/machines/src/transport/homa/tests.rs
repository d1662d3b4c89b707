//! The two ends, packet by packet.

use super::super::*;
use super::{HomaReceiver, HomaSender};
use crate::transport::testing::{Sent, give, poll_one};
use proptest::prelude::*;
use thalweg_units::Bytes;
use thalweg_wire::{Flags, Kind, Message};

const US: fn(u64) -> Time = Time::from_us;

/// Packets of 1000 B; RTTbytes are three of them. Six levels, of which two are for unscheduled packets.
fn spec() -> HomaSpec {
    HomaSpec {
        payload: 1000,
        header: 40,
        control: 40,
        rtt_bytes: 2500,
        levels: 6,
        cutoffs: vec![2000],
        overcommitment: 4,
        resend: Span::from_us(100),
    }
}

fn ends(size: u64) -> (HomaSender, HomaReceiver) {
    let spec = spec();
    let start = spec.start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
    let mut sender = spec.sender(FlowId(5), size, &start, Stream::default()).expect("can work");
    sender.start(&spec, US(0));
    (sender, spec.receiver(FlowId(5), size, Stream::default()))
}
fn poll(end: &mut impl Endpoint<Spec = HomaSpec>, now: Time) -> Option<Sent> {
    poll_one(end, &spec(), now)
}
/// What a sender hands out: (first byte, class, sent again).
fn data(sender: &mut HomaSender, now: Time) -> Vec<(u64, u8, bool)> {
    std::iter::from_fn(|| poll(sender, now))
        .map(|p| (p.seq, p.class, p.flags.has(Flags::RETRANSMISSION)))
        .collect()
}
fn grant(sender: &mut HomaSender, now: Time, offset: u64, level: u8) {
    let grant = Message::Grant { offset, received: 1000, level };
    assert_eq!(give(sender, &spec(), now, &Sent::of(grant)), Reception::Taken);
}

#[test]
fn rtt_bytes_leave_at_once_at_the_level_of_the_size_and_the_rest_as_granted() {
    let (mut s, _) = ends(6500);
    let first = poll(&mut s, US(0)).expect("unscheduled");
    assert_eq!((first.seq, first.wire, first.class), (0, 1040, 1));
    assert_eq!(first.message(), Some(Message::Length { size: 6500 }));
    assert_eq!(data(&mut s, US(1)), [(1000, 1, false), (2000, 1, false)], "2500 B are three packets");
    assert_eq!(s.remaining(), 3500);
    grant(&mut s, US(9), 5000, 4);
    assert_eq!(data(&mut s, US(9)), [(3000, 4, false), (4000, 4, false)]);
    // A grant that was overtaken changes nothing.
    grant(&mut s, US(10), 4000, 5);
    grant(&mut s, US(10), 6500, 3);
    assert_eq!(data(&mut s, US(10)), [(5000, 3, false), (6000, 3, false)]);
    assert_eq!((s.remaining(), s.stats().acked_bytes, s.stats().in_flight), (0, 1000, Bytes::new(5500)));
}

#[test]
fn one_ack_ends_a_message_and_what_comes_later_is_answered_again() {
    let (mut s, mut r) = ends(1500);
    let packets: Vec<Sent> = std::iter::from_fn(|| poll(&mut s, US(0))).collect();
    assert_eq!(
        packets.iter().map(|p| (p.seq, p.payload, p.class)).collect::<Vec<_>>(),
        [(0, 1000, 0), (1000, 500, 0)]
    );
    assert!(packets[1].flags.has(Flags::LAST));
    give(&mut r, &spec(), US(5), &packets[1]);
    assert!(poll(&mut r, US(5)).is_none());
    give(&mut r, &spec(), US(6), &packets[0]);
    let ack = poll(&mut r, US(6)).expect("all has come");
    assert_eq!((ack.kind, ack.seq, r.is_done(), r.received()), (Kind::Ack, 1500, true, 1500));
    give(&mut r, &spec(), US(7), &packets[0]);
    assert!(poll(&mut r, US(7)).is_some());
    give(&mut s, &spec(), US(11), &ack);
    assert!(s.is_done() && s.timer().is_none() && s.stats().acked_bytes == 1500);
}

#[test]
fn a_silent_message_s_gap_is_requested_and_resent_at_the_highest_level() {
    let (mut s, mut r) = ends(6000);
    let packets: Vec<Sent> = std::iter::from_fn(|| poll(&mut s, US(0))).collect();
    assert_eq!(r.timer(), None, "nothing is known of it");
    give(&mut r, &spec(), US(5), &packets[2]);
    assert_eq!(r.timer(), Some(US(105)));
    r.on_timer(&spec(), US(105));
    let request = poll(&mut r, US(105)).expect("two are missing");
    assert_eq!(request.message(), Some(Message::Resend { from: 0, to: 2000 }));
    grant(&mut s, US(104), 4000, 4);
    give(&mut s, &spec(), US(110), &request);
    assert_eq!(data(&mut s, US(110)), [(0, 0, true), (1000, 0, true), (3000, 4, false)]);
    // What was not sent yet is not sent again.
    let request = Sent::of(Message::Resend { from: 5000, to: 6000 });
    give(&mut s, &spec(), US(111), &request);
    assert_eq!(data(&mut s, US(111)), []);
    assert_eq!(s.stats().retransmitted_packets, 2);
}

#[test]
fn a_first_packet_without_an_answer_is_resent() {
    let (mut s, _) = ends(6000);
    assert_eq!(data(&mut s, US(0)).len(), 3);
    assert_eq!(s.timer(), Some(US(100)));
    s.on_timer(&spec(), US(100));
    assert_eq!(data(&mut s, US(100)), [(0, 0, true)]);
    assert_eq!((s.stats().timeouts, s.timer()), (1, Some(US(200))));
}

#[test]
fn what_cannot_work_is_refused() {
    let start = spec().start(Rate::from_gbps(8), Span::from_us(10), Span::ZERO);
    let refused = |spec: HomaSpec, size| {
        spec.sender(FlowId(0), size, &start, Stream::default()).unwrap_err().to_string()
    };
    assert!(refused(spec(), u64::MAX).contains("an end"));
    assert!(refused(HomaSpec { overcommitment: 0, ..spec() }, 9).contains("overcommitment"));
    assert!(refused(HomaSpec { levels: 1, ..spec() }, 9).contains("levels"));
    assert!(refused(HomaSpec { rtt_bytes: 0, ..spec() }, 9).contains("unscheduled"));
}

proptest! {
    /// Any of the first 60 packets of either way may be lost, grants and requests too: every byte is delivered.
    #[test]
    fn every_byte_arrives_once_whatever_is_lost(size in 1u64..12_000, lost in prop::collection::vec(any::<bool>(), 60)) {
        use crate::host::{Came, End, HomaAgent, HostAgent};
        let (spec, (mut s, mut r)) = (spec(), ends(size));
        let mut agent = HomaAgent::of(&spec);
        let (mut now, mut n, mut over) = (US(0), 0, false);
        let mut lose = || { n += 1; n <= 60 && lost[n - 1] };
        for _ in 0..2000 {
            while let Some(packet) = poll(&mut s, now) {
                if lose() { continue }
                give(&mut r, &spec, now, &packet);
                if !over {
                    let (end, arrived) = (End::Destination, r.unique_bytes());
                    let came = Came { packet: &packet, side: packet.side(), end, arrived };
                    agent.on_packet(&spec, now, came);
                }
                if r.is_done() && !over {
                    over = true;
                    agent.on_over(&spec, now, FlowId(5), End::Destination);
                }
            }
            let mut back: Vec<Sent> = std::iter::from_fn(|| poll(&mut r, now)).collect();
            let (mut packet, mut side) = (Packet::default(), Side::Empty);
            while agent.poll_transmit(&spec, now, &mut packet, &mut side) == Transmit::Packet {
                back.push(Sent::from((packet, side)));
            }
            for packet in back.into_iter().filter(|_| !lose()) {
                give(&mut s, &spec, now, &packet);
            }
            if s.is_done() { break }
            now += Span::from_us(10);
            if s.timer().is_some_and(|at| at <= now) { s.on_timer(&spec, now); }
            if r.timer().is_some_and(|at| at <= now) { r.on_timer(&spec, now); }
            if agent.timer(&spec).is_some_and(|at| at <= now) { agent.on_timer(&spec, now); }
        }
        prop_assert!(s.is_done() && r.is_done());
        prop_assert_eq!((r.received(), r.unique_bytes()), (size, size));
    }
}

#[test]
fn a_first_packet_that_comes_again_does_not_put_off_the_request_for_what_is_missing() {
    let (mut sender, mut receiver) = ends(4000);
    let first = poll(&mut sender, US(0)).expect("unscheduled");
    give(&mut receiver, &spec(), US(5), &first);
    // The source receives nothing, and repeats it every 100 us: it arrives as the request falls due.
    give(&mut receiver, &spec(), US(105), &first);
    assert_eq!(receiver.timer(), Some(US(105)));
    receiver.on_timer(&spec(), US(105));
    let request = poll(&mut receiver, US(105)).expect("a request");
    assert_eq!((request.kind, request.seq), (Kind::Control, 1000));
}

#[test]
fn other_messages_grant_and_postpone_nothing() {
    let (mut s, _) = ends(6500);
    assert_eq!(data(&mut s, US(0)).len(), 3);
    let token = Sent::of(Message::Token { offset: 6000, number: 7, missing: 0 });
    assert_eq!(give(&mut s, &spec(), US(9), &token), Reception::Ignored);
    assert_eq!((data(&mut s, US(9)), s.stats().acked_bytes, s.timer()), (vec![], 0, Some(US(100))));
}
