//! The port by hand.

use super::*;
use crate::stage::{MarkAt, red_ecn};
use thalweg_wire::Kind;

fn made(limit: Limit, params: Params, stage: &StageSpec) -> Result<Trimming, Invalid> {
    let (rate, stream) = (Rate::from_gbps(8), Stream::new(1, "q", 0));
    let at = At { rate, back: rate, stream, preemptive: false };
    params.make(&at).unwrap().queue(limit, stage, &at)
}
/// Data of 1000 B, 40 of them header.
fn port(packets: u32, params: Params) -> Trimming {
    made(Limit::Packets(packets), params, &StageSpec::default()).unwrap()
}
fn arriving() -> Params {
    Params { victim: Victim::Arriving, ..Params::default() }
}
fn data() -> Packet {
    Packet { wire: 1000, payload: 960, ..Packet::default() }
}
fn ack() -> Packet {
    Packet { kind: Kind::Ack, wire: 40, ..Packet::default() }
}
/// Arrives as number `n`: what became of it, and who was pushed out.
fn join(port: &mut Trimming, packet: &Packet, n: u32) -> (Verdict, Vec<u32>) {
    let mut out = vec![];
    let verdict = port.enqueue(Time::ZERO, packet, Handle(n), &mut out);
    (verdict, out.iter().map(|handle| handle.0).collect())
}
fn leave(port: &mut Trimming) -> Option<(u32, u32)> {
    let look = |_| unreachable!("it knows its packets");
    port.serve(Time::ZERO, &mut vec![], look).map(|(entry, _)| (entry.handle.0, entry.wire))
}

/// Ten packets, where eight fit: the last two are trimmed, and their headers leave first.
#[test]
fn of_an_incast_of_two_packets_more_than_the_queue_holds_two_headers_overtake_the_data() {
    let mut p = port(8, arriving());
    (0..8).for_each(|n| assert_eq!(join(&mut p, &data(), n), (Verdict::Queued, vec![])));
    (8..10).for_each(|n| assert_eq!(join(&mut p, &data(), n), (Verdict::Trimmed(Handle(n)), vec![])));
    assert_eq!((p.packets(), p.bytes()), (10, 8080));
    let all: Vec<_> = std::iter::from_fn(|| leave(&mut p)).collect();
    let full = (0..8).map(|n| (n, 1000));
    assert_eq!(all, [(8, 40), (9, 40)].into_iter().chain(full).collect::<Vec<_>>());
    assert_eq!((p.packets(), p.bytes()), (0, 0));
}

#[test]
fn a_fair_coin_trims_the_tail_of_the_queue_instead_and_the_arriving_packet_takes_its_place() {
    let (mut at_tail, mut p) = (0, port(8, Params::default()));
    (0..8).for_each(|n| drop(join(&mut p, &data(), n)));
    let mut last = 7;
    for n in 8..1008 {
        let (Verdict::Trimmed(Handle(cut)), _) = join(&mut p, &data(), n) else { panic!("all are trimmed") };
        assert!(cut == n || cut == last, "{cut} is neither the arriving one nor the tail");
        if cut == last {
            (at_tail, last) = (at_tail + 1, n);
        }
        assert_eq!(p.data.packets.back().map(|w| w.entry.handle.0), Some(last));
    }
    // A thousand throws: 500, give or take three standard deviations.
    assert!((453..=547).contains(&at_tail), "{at_tail}");
}

#[test]
fn ten_headers_leave_for_a_packet_of_data_while_both_wait_and_alone_each_has_the_link() {
    let mut p = port(8, Params { turns: 2, ..arriving() });
    (0..3).for_each(|n| drop(join(&mut p, &ack(), n)));
    assert_eq!(leave(&mut p), Some((0, 40)), "no turn is counted while nothing else waits");
    (10..13).for_each(|n| drop(join(&mut p, &data(), n)));
    (3..6).for_each(|n| drop(join(&mut p, &ack(), n)));
    let order: Vec<u32> = std::iter::from_fn(|| leave(&mut p)).map(|(n, _)| n).collect();
    assert_eq!(order, [1, 2, 10, 3, 4, 11, 5, 12]);
}

#[test]
fn headers_that_find_their_queue_full_are_dropped_and_so_is_what_is_nothing_but_header() {
    let mut p = port(1, Params { headers: Bytes::new(80), ..arriving() });
    join(&mut p, &data(), 0);
    assert_eq!(join(&mut p, &Packet { payload: 0, ..data() }, 1), (Verdict::Dropped, vec![]));
    let mut trimmed = data();
    trimmed.trim();
    assert_eq!(join(&mut p, &trimmed, 2), (Verdict::Queued, vec![]));
    assert_eq!(join(&mut p, &data(), 3), (Verdict::Trimmed(Handle(3)), vec![]));
    assert_eq!(join(&mut p, &ack(), 4), (Verdict::Dropped, vec![]));
    assert_eq!(join(&mut p, &data(), 5), (Verdict::Dropped, vec![]));
    // Where the coin chooses the tail, that one is discarded and the arriving packet waits.
    let mut p = port(1, Params { headers: Bytes::new(1), ..Params::default() });
    join(&mut p, &data(), 0);
    let out: Vec<_> = (1..20).map(|n| join(&mut p, &data(), n)).collect();
    assert!(out.contains(&(Verdict::Dropped, vec![])) && out.iter().any(|(v, _)| *v == Verdict::Queued));
    assert_eq!((p.packets(), p.bytes()), (1, 1000));
}

#[test]
fn a_tail_too_small_to_make_room_stays() {
    let mut p = made(Limit::Bytes(Bytes::new(1900)), Params::default(), &StageSpec::default()).unwrap();
    join(&mut p, &data(), 0);
    join(&mut p, &Packet { wire: 140, payload: 100, ..data() }, 1);
    (2..12).for_each(|n| assert_eq!(join(&mut p, &data(), n).0, Verdict::Trimmed(Handle(n))));
}

#[test]
fn where_the_tail_is_the_victim_every_packet_that_comes_takes_its_place() {
    let mut p = port(8, Params { victim: Victim::Tail, turns: 99, ..Params::default() });
    (0..8).for_each(|n| drop(join(&mut p, &data(), n)));
    (8..20).for_each(|n| assert_eq!(join(&mut p, &data(), n), (Verdict::Trimmed(Handle(n - 1)), vec![])));
    let all: Vec<_> = std::iter::from_fn(|| leave(&mut p)).collect();
    let headers = (7..19).map(|n| (n, 40));
    assert_eq!(all, headers.chain((0..7).chain([19]).map(|n| (n, 1000))).collect::<Vec<_>>());
}

/// As `leave`, and whether it is marked.
fn marked(port: &mut Trimming) -> Option<(u32, bool)> {
    let look = |_| unreachable!("it knows its packets");
    port.serve(Time::ZERO, &mut vec![], look).map(|(entry, mark)| {
        assert_eq!(mark, entry.ecn == Ecn::Ce);
        (entry.handle.0, mark)
    })
}

/// A step above 2000 B: headers do not count, and are never marked.
#[test]
fn data_is_marked_as_it_leaves_by_the_data_behind_it() {
    let size = Bytes::new(2000);
    let step = red_ecn::Params { min: size, max: size, at: MarkAt::Departure, ..red_ecn::Params::default() };
    let mut p = made(Limit::Packets(4), arriving(), &step.into()).unwrap();
    let capable = Packet { ecn: Ecn::Ect0, ..data() };
    (0..4).for_each(|n| drop(join(&mut p, &capable, n)));
    (4..9).for_each(|n| assert_eq!(join(&mut p, &capable, n).0, Verdict::Trimmed(Handle(n))));
    join(&mut p, &Packet { ecn: Ecn::Ect0, ..ack() }, 9);
    for n in 4..10 {
        assert_eq!(marked(&mut p), Some((n, false)), "a header");
    }
    // 3000 B behind the first, then 2000 and less.
    assert_eq!([0; 4].map(|_| marked(&mut p)), [(0, true), (1, false), (2, false), (3, false)].map(Some));
    // What is not capable is not marked.
    (0..4).for_each(|n| drop(join(&mut p, &data(), n)));
    assert_eq!(marked(&mut p), Some((0, false)));
}

/// Between 1000 and 5000 B: with 3000 B behind it one packet in two.
#[test]
fn between_two_sizes_marks_come_in_proportion() {
    let (min, max) = (Bytes::new(1000), Bytes::new(5000));
    let ramp = red_ecn::Params { min, max, max_probability: 1.0, at: MarkAt::Departure };
    let mut p = made(Limit::Packets(8), arriving(), &ramp.into()).unwrap();
    let capable = Packet { ecn: Ecn::Ect0, ..data() };
    (0..3).for_each(|n| drop(join(&mut p, &capable, n)));
    let marks = (0..4000).filter(|n| {
        join(&mut p, &capable, 3 + n);
        marked(&mut p).is_some_and(|(_, mark)| mark)
    });
    let marks = marks.count();
    assert!(marks.abs_diff(2000) < 95, "{marks}");
}

#[test]
fn stages_that_mark_arrivals_or_drop_are_refused() {
    for stage in [StageSpec::red_ecn(), StageSpec::codel(), StageSpec::random_ecn()] {
        let refused = made(Limit::Packets(4), arriving(), &stage).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains(stage.key()), "{refused}");
    }
}

/// 1 us a packet. While one is sent there are seven places, and eight again with its last bit, or while a header is
/// sent.
#[test]
fn a_packet_in_transmission_takes_a_place_of_its_queue_if_that_is_wanted() {
    let mut p = port(8, Params { counts_in_service: true, ..arriving() });
    let at = Time::from_ns;
    let serve = |p: &mut Trimming, now| {
        let look = |_| unreachable!("it knows its packets");
        p.serve(now, &mut vec![], look).map(|(entry, _)| entry.handle.0)
    };
    let arrives = |p: &mut Trimming, now, n| p.enqueue(now, &data(), Handle(n), &mut vec![]);
    assert_eq!(arrives(&mut p, at(0), 0), Verdict::Queued);
    assert_eq!(serve(&mut p, at(0)), Some(0));
    (1..8).for_each(|n| assert_eq!(arrives(&mut p, at(500), n), Verdict::Queued));
    assert_eq!(arrives(&mut p, at(999), 8), Verdict::Trimmed(Handle(8)));
    assert_eq!(arrives(&mut p, at(1000), 9), Verdict::Queued);
    // The header's 40 ns: data is full with eight.
    assert_eq!(serve(&mut p, at(1000)), Some(8));
    assert_eq!(arrives(&mut p, at(1020), 10), Verdict::Trimmed(Handle(10)));
    assert_eq!([1040, 1080].map(|now| serve(&mut p, at(now))), [Some(10), Some(1)]);
    assert_eq!(arrives(&mut p, at(1090), 11), Verdict::Trimmed(Handle(11)));
    assert_eq!((p.data.packets.len(), serve(&mut p, at(2080))), (7, Some(11)));
    assert_eq!(arrives(&mut p, at(2081), 12), Verdict::Queued);
}

#[test]
fn where_nothing_is_trimmed_the_victim_is_dropped() {
    let mut p = port(2, Params { trim: false, ..arriving() });
    (0..2).for_each(|n| drop(join(&mut p, &data(), n)));
    assert_eq!(join(&mut p, &data(), 2), (Verdict::Dropped, vec![]));
    let mut p = port(2, Params { trim: false, victim: Victim::Tail, ..Params::default() });
    (0..2).for_each(|n| drop(join(&mut p, &data(), n)));
    assert_eq!(join(&mut p, &data(), 2), (Verdict::Queued, vec![1]));
    join(&mut p, &ack(), 3);
    assert_eq!([0; 3].map(|_| leave(&mut p)), [(3, 40), (0, 1000), (2, 1000)].map(Some));
}
