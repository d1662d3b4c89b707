//! RFC 8290's FQ-CoDel: by hand, and against lists that are searched.

use super::*;
use crate::schedule::fq_codel::Params;
use crate::stage::{Codel, Departure, codel::Law};

/// CoDel never acts.
fn lax() -> Params {
    Params {
        exact: true,
        target: Span::from_secs(1000),
        interval: Span::from_secs(1001),
        ..Params::default()
    }
}

#[test]
fn fq_codels_defaults_are_the_rfcs() {
    let spelled = Params {
        quantum: Some(Bytes::new(1514)),
        bins: Some(1024),
        drop_batch: Some(64),
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        ecn: Some(true),
        ..Params::default()
    };
    let made = |order: Params| format!("{:?}", make(&spec(order.into(), Limit::Unlimited)));
    assert_eq!(made(spelled), made(Params::default()));
}

#[test]
fn flows_of_large_and_of_small_packets_share_the_bytes() {
    let mut port = Port::new(lax().into(), Limit::Unlimited);
    (0..100).for_each(|_| assert!(port.arrive(data(1, 0, 1500)).is_empty())); // 0 ... 99
    (0..500).for_each(|_| assert!(port.arrive(data(2, 0, 300)).is_empty()));
    let mut bytes = [0u64; 2];
    for _ in 0..300 {
        let packet = port.leave_at(0).unwrap();
        bytes[usize::from(packet >= 100)] += if packet >= 100 { 300 } else { 1500 };
    }
    // 300 packets: a sixth of them large.
    assert!(bytes[0].abs_diff(bytes[1]) <= 2 * 1514, "{bytes:?}");
}

#[test]
fn a_turn_lasts_until_the_credits_are_spent_and_what_was_overdrawn_is_owed() {
    let order = Params { quantum: Some(Bytes::new(1000)), ..lax() };
    let mut port = Port::new(order.into(), Limit::Unlimited);
    (0..6).for_each(|_| drop(port.arrive(data(1, 0, 600)))); // 0 ... 5
    (0..6).for_each(|_| drop(port.arrive(data(2, 0, 1000)))); // 6 ... 11
    // Flow 1: 1000, 400, -200; 800, 200, -400; 600, 0: spent. Flow 2: 0, spent, in every round.
    assert_eq!(port.drain(), [0, 1, 6, 2, 3, 7, 4, 8, 5, 9, 10, 11]);
}

#[test]
fn a_new_queue_goes_ahead_of_all_old_ones_and_found_empty_it_is_old_before_it_can_be_new_again() {
    let mut port = Port::new(lax().into(), Limit::Unlimited);
    (0..4).for_each(|_| drop(port.arrive(data(1, 0, 1514)))); // 0 ... 3
    assert_eq!(port.leave_at(0), Some(0), "and its credits are spent");
    port.arrive(data(2, 0, 100)); // 4: new
    assert_eq!(port.leave_at(0), Some(4), "flow 1 is old");
    port.arrive(data(2, 0, 100)); // 5: its queue is new still, and has credits
    assert_eq!(port.leave_at(0), Some(5));
    assert_eq!(port.leave_at(0), Some(1), "flow 2's empty queue is at the end of the old ones");
    port.arrive(data(2, 0, 100)); // 6: not new, though it had nothing waiting
    port.arrive(data(1, 0, 1514)); // 7
    assert_eq!(port.drain(), [6, 2, 3, 7], "flow 1 has spent its credits: it is flow 2's turn");
    port.arrive(data(1, 0, 1514)); // 8
    port.arrive(data(2, 0, 100)); // 9: its queue had left the list
    assert_eq!(port.drain(), [8, 9]);
}

/// §4.2: a link that is free asks; what it finds empty leaves the lists, and is new when it comes back.
#[test]
fn a_queue_that_an_idle_link_found_empty_is_new_again() {
    let order = |asked: bool| {
        let mut port = Port::new(lax().into(), Limit::Unlimited);
        port.arrive(data(1, 0, 1000)); // 0
        assert_eq!(port.leave_at(0), Some(0), "514 credits are left");
        if asked {
            port.queue.on_idle(Time::ZERO);
        }
        (0..2).for_each(|_| drop(port.arrive(data(1, 0, 1000)))); // 1, 2
        port.arrive(data(2, 0, 1000)); // 3
        port.drain()
    };
    assert_eq!(order(true), [1, 2, 3], "1514 credits are two packets");
    assert_eq!(order(false), [1, 3, 2], "its packets came while the first was on the link: 514 are one");
}

#[test]
fn a_full_port_drops_from_the_head_of_the_queue_with_most_bytes_half_of_them_at_most_64() {
    let mut port = Port::new(lax().into(), Limit::Packets(20));
    (0..4).for_each(|_| assert!(port.arrive(data(1, 0, 1500)).is_empty())); // 0 ... 3: 6000 B
    (0..16).for_each(|_| assert!(port.arrive(data(2, 0, 100)).is_empty())); // 4 ... 19: 1600 B
    assert_eq!(port.arrive(data(2, 0, 100)), [0, 1], "3000 of flow 1's 6000 B, though flow 2 has 17 packets");
    let one = Params { drop_batch: Some(1), ..lax() };
    let mut port = Port::new(one.into(), Limit::Packets(4));
    (0..4).for_each(|_| assert!(port.arrive(data(1, 0, 1500)).is_empty()));
    assert_eq!(port.arrive(data(2, 0, 100)), [0]);
    let mut port = Port::new(lax().into(), Limit::Packets(1000));
    (0..1000).for_each(|_| assert!(port.arrive(data(1, 0, 1500)).is_empty()));
    let mut gone = port.arrive(data(1, 0, 1500));
    gone.sort();
    assert_eq!(gone, (0..64).collect::<Vec<_>>());
    // The arriving packet may be among them: nothing else waits.
    let mut port = Port::new(lax().into(), Limit::Bytes(Bytes::new(1599)));
    assert!(port.arrive(data(1, 0, 100)).is_empty());
    assert_eq!(port.arrive(data(1, 0, 1500)), [0, 1]);
    assert_eq!((port.queue.packets(), port.queue.bytes()), (0, 0));
}

/// What left, and whether it was marked, at every `ms`; what was dropped.
fn standing(order: Params, ecn: Ecn, steps: u64) -> (Vec<u64>, Vec<u64>) {
    let mut port = Port::new(order.into(), Limit::Unlimited);
    (0..200).for_each(|_| drop(port.arrive(Packet { ecn, ..data(1, 0, 1500) })));
    let (mut marked, mut dropped) = (vec![], vec![]);
    for t in 1..=steps {
        let mut out = vec![];
        let served = port.queue.dequeue(Time::from_ms(t * 10), &mut out).unwrap();
        marked.extend(served.mark.then_some(t * 10));
        dropped.extend(out.iter().map(|_| t * 10));
    }
    (marked, dropped)
}

#[test]
fn codel_marks_capable_packets_when_it_would_drop_and_drops_the_others() {
    let order = Params { exact: true, ..Params::default() };
    // Above 5 ms from 10 ms on: due at 110, 210, 280.7, 338.4.
    assert_eq!(standing(order.clone(), Ecn::Ect0, 34), (vec![110, 210, 290, 340], vec![]));
    assert_eq!(standing(order.clone(), Ecn::NotEct, 34), (vec![], vec![110, 210, 290, 340]));
    let off = Params { ecn: Some(false), ..order };
    assert_eq!(standing(off, Ecn::Ect0, 34), (vec![], vec![110, 210, 290, 340]));
}

#[test]
fn what_waits_longer_than_the_threshold_is_marked_and_what_waits_as_long_is_not() {
    let order = Params { ce_threshold: Some(Span::from_ms(20)), ..lax() };
    assert_eq!(standing(order.clone(), Ecn::Ect1, 4), (vec![30, 40], vec![]));
    assert_eq!(standing(order.clone(), Ecn::NotEct, 4), (vec![], vec![]));
    assert_eq!(standing(order, Ecn::Ce, 4), (vec![], vec![]), "it is marked already");
}

#[test]
fn a_queue_of_a_packet_or_less_is_never_dropped_from_however_full_the_port() {
    let spec = Params { exact: true, law: Law::Rfc8289, ..Params::default() };
    let mut port = Port::new(spec.into(), Limit::Unlimited);
    (0..100).for_each(|_| drop(port.arrive(data(1, 0, 1500)))); // 0 ... 99
    let mut dropped = vec![];
    for t in 1..=40u64 {
        let mut out = vec![];
        port.arrive_at((t * 20 - 15) * 1_000_000, data(2, 0, 1500));
        (0..2).for_each(|_| assert!(port.queue.dequeue(Time::from_ms(t * 20), &mut out).is_some()));
        dropped.extend(out.iter().map(|h| h.0));
    }
    assert!(dropped.len() > 5 && dropped.iter().all(|&packet| packet < 100), "{dropped:?}");
}

#[test]
fn flows_are_hashed_differently_at_every_port() {
    let of = |entity| {
        let order = Params { bins: Some(64), exact: false, ..lax() };
        let queue = spec(order.into(), Limit::Unlimited);
        let mut port =
            Port { queue: queue.make(Stream::new(1, "queue", entity), RATE).unwrap(), arrivals: 0 };
        for flow in 0..64 {
            (0..3).for_each(|_| drop(port.arrive(data(flow, 0, 1514))));
        }
        port.drain()
    };
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

/// Number, bytes, ECN bits, arrival.
type Waits = (u32, u32, Ecn, Time);
/// Credits, CoDel, packets.
type Own = (i64, Codel, Vec<Waits>);

/// The same with lists that are searched and queues that never forget.
#[derive(Default)]
struct Naive {
    new: Vec<u32>,
    old: Vec<u32>,
    queues: std::collections::BTreeMap<u32, Own>,
}

impl Naive {
    fn packets(&self) -> usize {
        self.queues.values().map(|queue| queue.2.len()).sum()
    }
    fn arrive(&mut self, now: Time, packet: u32, p: &Packet, limit: usize) -> Vec<u32> {
        let queue = self.queues.entry(p.flow.0).or_default();
        queue.2.push((packet, p.wire, p.ecn, now));
        if !self.new.contains(&p.flow.0) && !self.old.contains(&p.flow.0) {
            queue.0 = 1514;
            self.new.push(p.flow.0);
        }
        let mut gone = vec![];
        if self.packets() > limit {
            let bytes = |queue: &Own| queue.2.iter().map(|p| p.1).sum::<u32>();
            let most = self.queues.values().map(bytes).max().unwrap();
            let fattest = self.queues.values_mut().find(|queue| bytes(queue) == most).unwrap();
            let mut freed = 0;
            while gone.len() < 64 && (gone.is_empty() || freed < most / 2) {
                let (packet, wire, ..) = fattest.2.remove(0);
                freed += wire;
                gone.push(packet);
            }
        }
        gone
    }
    fn leave(&mut self, spec: &codel::Params, now: Time, dropped: &mut Vec<u32>) -> Option<(u32, bool)> {
        loop {
            let fresh = !self.new.is_empty();
            let list = if fresh { &mut self.new } else { &mut self.old };
            let flow = *list.first()?;
            let (credits, codel, packets) = self.queues.get_mut(&flow).unwrap();
            if *credits <= 0 {
                *credits += 1514;
                list.remove(0);
                self.old.push(flow);
                continue;
            }
            let take = || {
                let (packet, wire, ecn, came) = (!packets.is_empty()).then(|| packets.remove(0))?;
                let left: u32 = packets.iter().map(|p| p.1).sum();
                let nearly_empty = u64::from(left) <= spec.mtu.get();
                Some(((packet, wire, ecn, false), Departure { waited: now.since(came), nearly_empty }))
            };
            let mark = |packet: &mut (u32, u32, Ecn, bool)| {
                packet.3 = packet.2 == Ecn::Ect0;
                packet.2 != Ecn::NotEct
            };
            match codel.serve(spec, now, take, mark, |packet| dropped.push(packet.0)) {
                Some((packet, wire, _, marked)) => {
                    *credits -= i64::from(wire);
                    return Some((packet, marked));
                }
                None => {
                    list.remove(0);
                    if fresh {
                        self.old.push(flow);
                    }
                }
            }
        }
    }
}

#[test]
fn it_equals_lists_that_are_searched_and_queues_that_never_forget() {
    let order = Params {
        exact: true,
        target: Span::from_us(3),
        interval: Span::from_us(10),
        mtu: Bytes::new(1000),
        ..Params::default()
    };
    let spec = codel::Params {
        target: order.target,
        interval: order.interval,
        mtu: order.mtu,
        ..Default::default()
    };
    let (mut drops, mut marks, mut full) = (0, 0, 0);
    for seed in 0..400u64 {
        let limit = [8, 40, 1000][seed as usize % 3];
        let mut port = Port::new(order.clone().into(), Limit::Packets(limit));
        let (mut naive, mut draw) = (Naive::default(), Stream::new(seed, "fq-codel", 0));
        let mut now = Time::ZERO;
        for step in 0..600 {
            let pause = step % 100 == 99;
            now += if pause { Span::from_us(draw.below(160)) } else { Span::from_ns(draw.below(1000)) };
            if draw.below(20) < if step % 100 < 60 { 13 } else { 2 } {
                let wire = [40, 300, 1000, 1500][draw.below(4) as usize];
                let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][draw.below(3) as usize];
                let packet = Packet { ecn, ..data(draw.below(4) as u32, 0, wire) };
                let mut expected = naive.arrive(now, port.arrivals, &packet, limit as usize);
                let (handle, mut out) = (Handle(port.arrivals), vec![]);
                port.arrivals += 1;
                if port.queue.enqueue(now, &packet, handle, &mut out) == Verdict::Dropped {
                    out.push(handle);
                }
                let mut gone: Vec<u32> = out.iter().map(|h| h.0).collect();
                gone.sort();
                expected.sort();
                assert_eq!(gone, expected, "seed {seed}, step {step}");
                full += gone.len();
            } else {
                let (mut expected, mut out) = (vec![], vec![]);
                let sent = naive.leave(&spec, now, &mut expected);
                let served = port.queue.dequeue(now, &mut out).map(|s| (s.handle.0, s.mark));
                assert_eq!(served, sent, "seed {seed}, step {step}");
                let mut gone: Vec<u32> = out.iter().map(|h| h.0).collect();
                gone.sort();
                expected.sort();
                assert_eq!(gone, expected, "seed {seed}, step {step}");
                drops += gone.len();
                marks += usize::from(served.is_some_and(|s| s.1));
            }
        }
    }
    assert!(drops > 1000 && marks > 1000 && full > 1000, "{drops} {marks} {full}");
}
