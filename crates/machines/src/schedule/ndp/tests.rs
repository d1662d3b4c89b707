//! The port by hand.

use super::*;
use thalweg_units::Rate;
use thalweg_wire::Kind;

/// Data of 1000 B, 40 of them header.
fn port(packets: u32, params: Params) -> Trimming {
    let at = At {
        rate: Rate::from_gbps(8),
        back: Rate::from_gbps(8),
        stream: Stream::new(1, "q", 0),
        preemptive: false,
    };
    let limit = Limit::Packets(packets);
    params.make(&at).unwrap().queue(limit, &StageSpec::default(), &at).unwrap()
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
    let at = At {
        rate: Rate::from_gbps(8),
        back: Rate::from_gbps(8),
        stream: Stream::new(1, "q", 0),
        preemptive: false,
    };
    let limit = Limit::Bytes(Bytes::new(1900));
    let mut p = Params::default().make(&at).unwrap().queue(limit, &StageSpec::default(), &at).unwrap();
    join(&mut p, &data(), 0);
    join(&mut p, &Packet { wire: 140, payload: 100, ..data() }, 1);
    (2..12).for_each(|n| assert_eq!(join(&mut p, &data(), n).0, Verdict::Trimmed(Handle(n))));
}
