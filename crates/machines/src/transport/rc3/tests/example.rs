//! The worked example of §2.1.2 and the arithmetic of levels.

use super::*;

/// §2.1.2: 66 segments, initial window 4, a pipe of 50 packets; segments 21 and 22 of the RLP loop are lost.
#[test]
fn the_worked_example_packet_by_packet() {
    let mut p = path(rc3(), 66);
    p.run(|(_, segment, class)| class > 0 && (21..=22).contains(&segment));
    // Once each, backwards: 40 at the first level, 22 at the second.
    assert_eq!(p.handed_in(1), (27..=66).rev().collect::<Vec<_>>());
    assert_eq!(p.handed_in(2), (5..=26).rev().collect::<Vec<_>>());
    // The first round trip on the wire.
    let order: Vec<u64> = p.wire.iter().take(50).map(|w| w.1).collect();
    let expected: Vec<u64> = (1..=4).chain((27..=66).rev()).chain((21..=26).rev()).collect();
    assert_eq!(order, expected);
    // The second: the window has doubled, then the NIC finishes.
    let second: Vec<u64> = p.wire.iter().filter(|w| (50..100).contains(&w.0)).map(|w| w.1).collect();
    assert_eq!(second, (5..=12).chain((5..=20).rev()).collect::<Vec<_>>());
    // The third: copies of what is still on its way, the two that were lost, and nothing above them.
    assert_eq!(p.handed_in(0), (1..=22).collect::<Vec<_>>());
    for segment in [21, 22] {
        let (slot, class) = p.first[&segment];
        assert!((100..150).contains(&slot) && class == 0, "segment {segment} in slot {slot}");
    }
    let by_primary: Vec<u64> = p.first.iter().filter(|f| f.1.1 == 0).map(|f| *f.0).collect();
    assert_eq!(by_primary, (1..=12).chain(21..=22).collect::<Vec<_>>());
    assert!((100..150).contains(&p.received_in) && (150..200).contains(&p.done_in));
    let stats = p.sender.stats();
    assert_eq!((stats.timeouts, stats.retransmitted_packets), (0, 0));
    assert_eq!(stats.threshold, Bytes::MAX, "no loss was ever inferred");
}

#[test]
fn levels_end_40_440_4440_segments_before_the_tail() {
    let level = |x| rc3().level(x);
    assert_eq!([1, 40, 41, 440, 441, 4440, 4441].map(level), [1, 1, 2, 2, 3, 3, 4]);
    assert_eq!(level(u64::MAX), 4, "what would be below the last level is of the last");
    let linux = Rc3Spec { borders: Borders::Distances, ..rc3() };
    assert_eq!([40, 41, 400, 401, 4000, 4001].map(|x| linux.level(x)), [1, 2, 2, 3, 3, 4]);
    let tens = Rc3Spec { first: 10, ..rc3() };
    assert_eq!([10, 11, 110, 111, 1110, 1111].map(|x| tens.level(x)), [1, 2, 2, 3, 3, 4]);
    let single = Rc3Spec { levels: 1, ..rc3() };
    assert_eq!([1, 41, 4441].map(|x| single.level(x)), [1; 3]);
}

/// §2.3.2, footnote 4.
#[test]
fn sixteen_priorities_are_enough_for_a_petabyte() {
    let segments = (0..15).map(|k| 40 * 10u128.pow(k)).sum::<u128>();
    assert!(segments * 1460 >= 10u128.pow(15));
    let deep = Rc3Spec { levels: 15, ..rc3() };
    assert_eq!(deep.level(u64::try_from(segments).unwrap()), 15);
}

/// §2.3.2: super-segments of 43 packets take the priority of the worst of them.
#[test]
fn super_segments_leave_forwards_and_mislabel_at_most_43_packets_at_a_border() {
    let mut p = path(Rc3Spec { together: 43, ..rc3() }, 600);
    p.run(|_| false);
    let low: Vec<_> = p.handed.iter().filter(|h| h.2 > 0).collect();
    assert_eq!(low.iter().take(43).map(|h| h.1).collect::<Vec<_>>(), (558..=600).collect::<Vec<_>>());
    for border in [40, 440] {
        let right = rc3().level(border);
        let wrong = low.iter().filter(|h| {
            let x = 600 - h.1 + 1;
            x <= border && rc3().level(x) == right && h.2 > right
        });
        assert!(wrong.count() <= 43, "border {border}");
    }
}

/// Trap 4: the window grows by a segment, however far an ACK jumps; ACKs that repeat a bump are no duplicates.
#[test]
fn a_bump_is_worth_one_segment_and_repeating_it_is_no_loss() {
    // All of the RLP loop arrives: after the first round trip every ACK of the primary loop names far more
    // than it has sent.
    let mut p = path(rc3(), 30);
    p.run(|_| false);
    let grown: Vec<u64> = p.windows.iter().map(|w| w.1).collect();
    assert!(grown.windows(2).all(|w| w[1] - w[0] <= 1), "{grown:?}");
    assert_eq!(p.sender.stats().threshold, Bytes::MAX);
}

/// M10: each write is like a flow of its own: its tail first, and nothing of earlier writes again.
#[test]
fn every_write_is_sent_from_its_own_tail() {
    let mut spec = rc3();
    let every = Span::from_us(400);
    spec.primary.writes = Some(Writes { first: Bytes::new(20 * MSS), chunk: Bytes::new(10 * MSS), every });
    let mut p = path(spec, 40);
    p.run(|_| false);
    let low: Vec<Sent> = p.handed.iter().filter(|h| h.2 > 0).copied().collect();
    let of = |slot: u64| low.iter().filter(|h| h.0 == slot).map(|h| h.1).collect::<Vec<_>>();
    assert_eq!(of(0), (5..=20).rev().collect::<Vec<_>>());
    // By then the window takes a whole write: nothing is left for the RLP loop.
    assert!(low.iter().all(|h| h.0 == 0 || h.1 > 20));
    assert!(p.handed.iter().all(|h| h.1 <= 20 || h.0 >= 400), "nothing is sent before it is written");
    assert!(p.handed.iter().all(|h| h.1 <= 30 || h.0 >= 800));
}

#[test]
fn without_sack_the_rest_is_harvested_by_bumps() {
    let mut spec = rc3();
    spec.primary.sack = Sack::Off;
    let mut p = path(spec, 66);
    p.run(|(_, segment, class)| class > 0 && (21..=22).contains(&segment));
    assert_eq!(p.sender.stats().timeouts, 0);
    let plain = TcpSpec { sack: Sack::Off, ..rc3().primary };
    let mut tcp = Slots::new(TransportSpec::Tcp(plain), 66);
    tcp.run(|_| false);
    assert!(p.received_in < tcp.received_in, "{} {}", p.received_in, tcp.received_in);
}

#[test]
fn what_cannot_share_its_buffer_is_refused() {
    let start = rc3().start(Rate::from_gbps(1), Span::from_us(50), Span::ZERO);
    let made = |spec: Rc3Spec, size| Rc3Sender::new(&spec, FlowId(0), size, &start).map(|_| ());
    assert!(made(rc3(), MSS).is_ok());
    assert!(made(rc3(), u64::MAX).unwrap_err().to_string().contains("tail"));
    assert!(made(Rc3Spec { levels: 0, ..rc3() }, MSS).unwrap_err().to_string().contains("levels"));
    let mut spec = rc3();
    spec.primary.acks_in_class = false;
    assert!(made(spec, MSS).unwrap_err().to_string().contains("class"));
    let mut spec = rc3();
    spec.primary.loss = LossDetection::TimeoutOnly;
    assert!(made(spec, MSS).unwrap_err().to_string().contains("duplicate"));
}

/// The example of §2.1.2 in pull mode, nothing lost: while the NIC sends 5 to 12 nothing waits in it, so that
/// the RLP loop goes on with 20 and stops at 13.
#[test]
fn in_pull_mode_nothing_is_handed_over_while_there_is_anything_else_to_send() {
    let mut p = path(Rc3Spec { handed: Handed::Pull, ..rc3() }, 66);
    p.run(|_| false);
    let on_wire = |slots: std::ops::Range<u64>| {
        let there: Vec<_> = p.wire.iter().filter(|w| slots.contains(&w.0)).collect();
        assert!(there.windows(2).all(|w| w[1].0 == w[0].0 + 1), "no slot is left out: {there:?}");
        there.iter().map(|w| w.1).collect::<Vec<_>>()
    };
    assert_eq!(on_wire(0..50), (1..=4).chain((21..=66).rev()).collect::<Vec<_>>());
    assert_eq!(on_wire(50..100), (5..=12).chain((13..=20).rev()).collect::<Vec<_>>());
    // Their ACKs are still on the way.
    assert_eq!(on_wire(100..200), (13..=20).collect::<Vec<_>>());
    assert_eq!(p.handed_in(1), (27..=66).rev().collect::<Vec<_>>());
    assert_eq!(p.handed_in(2), (13..=26).rev().collect::<Vec<_>>());
    assert_eq!((p.received_in, p.done_in), (90, 115));
    // Pushed, 5 to 12 wait there a second time, and leave.
    let mut pushed = path(rc3(), 66);
    pushed.run(|_| false);
    assert_eq!(pushed.handed_in(2), (5..=26).rev().collect::<Vec<_>>());
}

#[test]
fn in_pull_mode_every_write_is_pulled_from_its_tail() {
    let mut spec = Rc3Spec { handed: Handed::Pull, ..rc3() };
    let every = Span::from_us(400);
    spec.primary.writes = Some(Writes { first: Bytes::new(60 * MSS), chunk: Bytes::new(60 * MSS), every });
    let mut p = path(spec, 180);
    p.run(|_| false);
    assert_eq!(p.handed_in(1)[..40], (21..=60).rev().collect::<Vec<_>>());
    assert!(p.handed.iter().all(|h| h.1 <= 60 || h.0 >= 400), "nothing is sent before it is written");
}

#[test]
fn what_is_handed_over_one_by_one_is_neither_several_at_once_nor_to_be_taken_back() {
    let start = rc3().start(Rate::from_gbps(1), Span::from_us(50), Span::ZERO);
    let made = |spec: Rc3Spec| Rc3Sender::new(&spec, FlowId(0), MSS, &start).map(|_| ());
    let pull = Rc3Spec { handed: Handed::Pull, ..rc3() };
    assert!(made(pull.clone()).is_ok());
    assert!(made(Rc3Spec { together: 2, ..pull.clone() }).unwrap_err().to_string().contains("one by one"));
    assert!(made(Rc3Spec { flush: true, ..pull.clone() }).unwrap_err().to_string().contains("one by one"));
    assert!(pull.needs().when_idle && !pull.needs().discards_queued);
    assert!(Rc3Spec { flush: true, ..rc3() }.needs().discards_queued);
}
