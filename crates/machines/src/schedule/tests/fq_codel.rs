//! CoDel in every bin, and in front of a FIFO: by hand, and against bins that never forget.

use super::*;
use crate::stage::codel::Law;
use crate::stage::{Codel, Departure};
use std::collections::BTreeMap;

#[test]
fn fq_codel_with_a_target_that_no_packet_reaches_is_plain_round_robin() {
    let lax = codel::Params {
        target: Span::from_secs(1000),
        interval: Span::from_secs(1001),
        mtu: Bytes::new(1500),
        law: Law::Rfc8289,
        ecn: None,
    };
    for seed in 0..500u64 {
        let limit = Limit::Packets([5, 1000][seed as usize % 2]);
        let mut plain = Port::new(OrderSpec::round_robin(), limit);
        let mut codel = Port::new(fq_codel(None, lax), limit);
        let mut draw = Stream::new(seed, "lax", 0);
        for now in 0..100 {
            if draw.below(20) < 11 {
                let packet = data(draw.below(5) as u32, 0, 1500);
                assert_eq!(
                    plain.arrive_at(now * 1_000_000, packet),
                    codel.arrive_at(now * 1_000_000, packet)
                );
            } else {
                assert_eq!(plain.leave_at(now * 1_000_000), codel.leave_at(now * 1_000_000));
            }
        }
    }
}

#[test]
fn fq_codel_drops_from_the_bin_that_stands_and_never_a_bins_last_packet() {
    let spec = codel::Params {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        mtu: Bytes::new(1500),
        law: Law::Acm2012,
        ecn: None,
    };
    let mut port = Port::new(fq_codel(None, spec), Limit::Unlimited);
    let ms = |t: u64| Time::from_ms(t);
    (0..200).for_each(|_| assert!(port.arrive(data(1, 0, 1500)).is_empty())); // 0 ... 199 at 0
    let (mut sent, mut dropped) = (vec![], vec![]);
    // A packet of flow 2 every 20 ms, and as late as can be: it waits for its whole life.
    for t in 1..=20u64 {
        let mut out = vec![];
        port.arrive_at((t * 20 - 15) * 1_000_000, data(2, 0, 1500)); // 200 ...
        for _ in 0..2 {
            sent.push(port.queue.dequeue(ms(t * 20), &mut out).unwrap().handle.0);
        }
        dropped.extend(out.iter().map(|h| (t * 20, h.0)));
    }
    // Flow 1's delay is above target from its first departure at 20 ms: drops at 120, then due 220, 290.7,
    // 348.4, 398.4.
    let times: Vec<u64> = dropped.iter().map(|d| d.0).collect();
    assert_eq!(times, [120, 220, 300, 360, 400]);
    assert!(
        dropped.iter().all(|d| d.1 < 200),
        "flow 2's bin holds one packet at a time, 15 ms old: {dropped:?}"
    );
    assert_eq!(sent.iter().filter(|&&p| p >= 200).count(), 20);
    assert_eq!(port.queue.packets(), 200 - 20 - 5);
    assert_eq!(port.queue.bytes(), 175 * 1500);
}

#[test]
fn codel_in_front_of_a_fifo_drops_as_packets_leave() {
    let codel = codel::Params {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        mtu: Bytes::new(1500),
        law: Law::Acm2012,
        ecn: None,
    };
    let spec =
        DisciplineSpec { stage: StageSpec::Codel(codel), ..spec(OrderSpec::fifo(), Limit::Packets(50)) };
    let mut port = Port { queue: make(&spec), arrivals: 0 };
    (0..40).for_each(|_| assert!(port.arrive(data(1, 0, 1500)).is_empty()));
    let (mut sent, mut dropped) = (vec![], vec![]);
    for t in 1..=31u64 {
        let mut out = vec![];
        sent.push(port.queue.dequeue(Time::from_ms(t * 10), &mut out).unwrap().handle.0);
        dropped.extend(out.iter().map(|h| (t * 10, h.0)));
    }
    // Above since 10 ms: drops at 110, 210, 280.7 -> 290: the packets that were next then.
    assert_eq!(dropped, [(110, 10), (210, 21), (290, 30)]);
    assert_eq!(sent, (0..34).filter(|p| ![10, 21, 30].contains(p)).collect::<Vec<_>>());
    assert_eq!(port.queue.packets(), 6);
    // The last packet, and one that leaves no more than an MTU behind, are sent however long they waited.
    let rest = std::iter::from_fn(|| {
        let mut out = vec![];
        port.queue.dequeue(Time::from_ms(10_000), &mut out).map(|s| (s.handle.0, out.len()))
    });
    let rest: Vec<_> = rest.collect();
    assert_eq!(rest, [(38, 4), (39, 0)]);
}

/// FQ-CoDel with bins that never forget anything.
#[derive(Default)]
struct NaiveCodel {
    list: Vec<(u32, bool)>,
    bins: BTreeMap<u32, (Codel, Vec<(u32, Time)>)>,
}

impl NaiveCodel {
    fn arrive(&mut self, now: Time, bin: u32, packet: u32) {
        if !self.list.iter().any(|b| b.0 == bin) {
            let at = self.list.iter().position(|b| !b.1).unwrap_or(self.list.len());
            self.list.insert(at, (bin, true));
        }
        self.bins.entry(bin).or_default().1.push((packet, now));
    }
    fn leave(&mut self, spec: &codel::Params, now: Time, dropped: &mut Vec<u32>) -> Option<u32> {
        while !self.list.is_empty() {
            let (bin, _) = self.list.remove(0);
            let mut all: usize = self.bins.values().map(|b| b.1.len()).sum();
            let (codel, packets) = self.bins.get_mut(&bin).unwrap();
            if packets.is_empty() {
                continue;
            }
            self.list.push((bin, false));
            let take = || {
                let (packet, came) = (!packets.is_empty()).then(|| packets.remove(0))?;
                all -= 1;
                let nearly_empty = packets.is_empty() || all * 1000 <= spec.mtu.get() as usize;
                Some((packet, Departure { waited: now.since(came), nearly_empty }))
            };
            return codel.serve(spec, now, take, |_| false, |packet| dropped.push(packet));
        }
        None
    }
}

#[test]
fn fq_codel_equals_one_whose_bins_never_forget() {
    let spec = codel::Params {
        target: Span::from_us(3),
        interval: Span::from_us(10),
        mtu: Bytes::new(1000),
        law: Law::Rfc8289,
        ecn: None,
    };
    let (mut total, mut again) = (0, 0);
    for seed in 0..400u64 {
        let mut port = Port::new(fq_codel(None, spec), Limit::Unlimited);
        let (mut naive, mut draw) = (NaiveCodel::default(), Stream::new(seed, "fq-codel", 0));
        let mut now = Time::ZERO;
        for step in 0..600 {
            // Bursts that build a queue, and pauses of up to 16 intervals in which it empties.
            let pause = step % 100 == 99;
            now += if pause { Span::from_us(draw.below(160)) } else { Span::from_ns(draw.below(1000)) };
            if draw.below(20) < if step % 100 < 60 { 13 } else { 2 } {
                let flow = draw.below(3) as u32;
                naive.arrive(now, flow * 2, port.arrivals);
                assert!(port.arrive_at(now.ps() / 1000, data(flow, 0, 1000)).is_empty());
            } else {
                let (mut expected, mut out) = (vec![], vec![]);
                let sent = naive.leave(&spec, now, &mut expected);
                assert_eq!(
                    port.queue.dequeue(now, &mut out).map(|s| s.handle.0),
                    sent,
                    "seed {seed}, step {step}"
                );
                let mut dropped: Vec<u32> = out.iter().map(|h| h.0).collect();
                dropped.sort();
                assert_eq!(dropped, expected, "seed {seed}, step {step}");
                total += dropped.len();
                again += usize::from(dropped.len() == 1 && step > 100);
            }
        }
    }
    assert!(total > 10_000 && again > 1000, "{total} {again}");
}
