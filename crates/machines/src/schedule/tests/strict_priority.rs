//! What strict priority with push-out promises to class 0 (RC3, NSDI 2014, §2.5): whatever else comes, a
//! packet of class 0 waits at most for the one on the wire, and none is dropped that would not have been.

use super::*;
use crate::schedule::priority::{Control, Params};
use proptest::prelude::*;

/// A packet: nanosecond, class, bytes, whether it is an ACK.
type Arrived = (u64, u8, u32, bool);

/// The port serves one packet after another; when the packets of class 0 begin to leave, and who of them is dropped.
fn class_zero(arrivals: &[Arrived], low: bool, limit: u64) -> (Vec<Option<u64>>, Vec<bool>) {
    let order = Params { classes: 5, control: Control::ByClass };
    let mut queue = make(&spec(order.into(), Limit::Bytes(Bytes::new(limit))));
    let (mut begins, mut dropped) = (vec![None; arrivals.len()], vec![false; arrivals.len()]);
    let (mut free, mut out) = (0u64, vec![]);
    let mut low_waiting = 0usize;
    let is_low = |number: usize| usize::from(arrivals[number].1 > 0);
    let mut serve = |queue: &mut Queue, free: &mut u64, waiting: &mut usize, until: u64| {
        while *free <= until
            && let Some(served) = queue.dequeue(Time::from_ns(*free), &mut vec![])
        {
            let number = served.handle.0 as usize;
            begins[number] = Some(*free);
            *waiting -= is_low(number);
            *free += u64::from(arrivals[number].2); // a byte is a nanosecond
        }
    };
    for (i, &(at, class, wire, ack)) in arrivals.iter().enumerate() {
        if class > 0 && !low {
            continue;
        }
        serve(&mut queue, &mut free, &mut low_waiting, at.saturating_sub(1));
        free = free.max(at);
        let kind = if ack { Kind::Ack } else { Kind::Data };
        let packet = Packet { class, wire, kind, ..Packet::default() };
        out.clear();
        if queue.enqueue(Time::from_ns(at), &packet, Handle(i as u32), &mut out) == Verdict::Dropped {
            dropped[i] = true;
        } else {
            low_waiting += is_low(i);
        }
        for victim in out.iter().map(|v| v.0 as usize) {
            dropped[victim] = true;
            low_waiting -= is_low(victim);
        }
        assert!(!(dropped[i] && class == 0 && low_waiting > 0), "class 0 is dropped while others wait");
    }
    serve(&mut queue, &mut free, &mut low_waiting, u64::MAX / 2);
    (begins, dropped)
}

proptest! {
    #[test]
    fn low_classes_delay_class_zero_by_at_most_a_packet_and_drop_none_of_it(
        gaps in prop::collection::vec((0u64..1200, 0u8..5, prop_oneof![Just(40u32), Just(1500)], any::<bool>()), 1..120),
        limit in 3000u64..20_000,
    ) {
        let mut at = 0;
        let arrivals: Vec<Arrived> = gaps.iter().map(|&(gap, class, wire, ack)| {
            at += gap;
            (at, class, wire, ack)
        }).collect();
        let (alone, lost_alone) = class_zero(&arrivals, false, u64::MAX);
        let (among, lost_among) = class_zero(&arrivals, true, u64::MAX);
        for (i, a) in arrivals.iter().enumerate().filter(|(_, a)| a.1 == 0) {
            prop_assert!(!lost_alone[i] && !lost_among[i]);
            let (one, two) = (alone[i].unwrap(), among[i].unwrap());
            prop_assert!(one <= two && two <= one + 1500, "packet {i} at {}: {one} {two}", a.0);
        }
        // A packet of class 0 is refused only where class 0 alone fills the port: asserted as packets come.
        class_zero(&arrivals, true, limit);
    }
}

/// RC3's switch (artifact): a packet is dropped, or the tail of the worst queue below it, while used + len >=
/// B. Limits here are used + len > limit: B − 1 is the same to the byte.
#[test]
fn the_tail_of_the_worst_queue_gives_way_and_b_minus_one_is_the_authors_limit() {
    let order = Params { classes: 5, control: Control::ByClass };
    let mut port = Port::new(order.into(), Limit::Bytes(Bytes::new(4499)));
    let packet = |class| Packet { class, wire: 1500, ..Packet::default() };
    assert_eq!(port.arrive(packet(2)), [] as [u32; 0]);
    assert_eq!(port.arrive(packet(4)), [] as [u32; 0]);
    assert_eq!(
        port.arrive(packet(4)),
        [2],
        "three would be B: the newest of the worst class is the one that comes"
    );
    assert_eq!(port.arrive(packet(3)), [1]);
    assert_eq!(port.arrive(Packet { kind: Kind::Ack, wire: 40, ..packet(1) }), [] as [u32; 0]);
    assert_eq!(port.arrive(packet(0)), [3]);
    assert_eq!(port.drain(), [5, 4, 0]);
}
