//! LSTF as a push-in first-out queue and two header hooks (Mittal et al., NSDI 2016, §5) against its definition, which
//! looks at every packet's remaining slack anew at every decision (ups, UPS-H1); and FIFO+ as LSTF (ups, UPS-F3z).

use super::*;
use crate::slack::{SlackClock, SlackRule, SlackSpec};

/// A packet on its way through a chain of ports.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Travelling {
    /// Remaining slack, ps.
    slack: i64,
    /// Accumulated wait, ps.
    waited: i64,
    arrives: u64,
    wire: u32,
}

/// A port's packets in the order of arrival; who leaves when.
type Schedule = Vec<(usize, u64)>;

/// Which of those waiting (in order of arrival) goes, at this instant.
type Choose = fn(&[(usize, Travelling)], u64) -> usize;

/// Remaining slack of the last bit at `now`: what is left after the wait so far, and its own transmission.
fn least_slack(waiting: &[(usize, Travelling)], now: u64) -> usize {
    let slack = |p: &Travelling| p.slack - (now - p.arrives) as i64 + i64::from(p.wire) * 1000;
    (0..waiting.len()).min_by_key(|&i| (slack(&waiting[i].1), i)).unwrap()
}

/// FIFO+ with a class mean of zero: the packet that would have arrived first, had it not waited upstream.
fn longest_waited(waiting: &[(usize, Travelling)], _now: u64) -> usize {
    (0..waiting.len()).min_by_key(|&i| (waiting[i].1.arrives as i64 - waiting[i].1.waited, i)).unwrap()
}

/// One work-conserving port by definition. Updates slack and accumulated wait of each packet.
fn defined(packets: &mut [Travelling], choose: Choose) -> Schedule {
    let mut order: Vec<usize> = (0..packets.len()).collect();
    order.sort_by_key(|&i| packets[i].arrives);
    let (mut waiting, mut next, mut now, mut out) = (vec![], 0, 0u64, vec![]);
    while next < order.len() || !waiting.is_empty() {
        if waiting.is_empty() {
            now = now.max(packets[order[next]].arrives);
        }
        while next < order.len() && packets[order[next]].arrives <= now {
            waiting.push((order[next], packets[order[next]]));
            next += 1;
        }
        let (who, p) = waiting.remove(choose(&waiting, now));
        let wait = (now - p.arrives) as i64;
        packets[who].slack -= wait;
        packets[who].waited += wait;
        out.push((who, now));
        now += u64::from(p.wire) * 1000;
    }
    out
}

/// The same port as a PIFO whose network rewrites the header: + now on arrival, − now as transmission starts.
fn hooked(packets: &mut [Travelling]) -> Schedule {
    let mut port = Port::new(OrderSpec::lstf(), Limit::Unlimited);
    let mut order: Vec<usize> = (0..packets.len()).collect();
    order.sort_by_key(|&i| packets[i].arrives);
    let (mut next, mut now, mut out) = (0, 0u64, vec![]);
    while next < order.len() || !port.queue.is_empty() {
        if port.queue.is_empty() {
            now = now.max(packets[order[next]].arrives);
        }
        while next < order.len() && packets[order[next]].arrives <= now {
            let p = &mut packets[order[next]];
            p.slack += p.arrives as i64;
            port.arrive(data(1, p.slack, p.wire));
            next += 1;
        }
        let who = order[port.leave_at(0).unwrap() as usize];
        let p = &mut packets[who];
        p.slack -= now as i64;
        p.waited += (now - p.arrives) as i64;
        out.push((who, now));
        now += u64::from(p.wire) * 1000;
    }
    out
}

/// Through `hops` ports, with fresh cross traffic at each; every hop must agree, and all headers after it.
fn chain(seed: u64, same_size: bool, constant: Option<i64>, definition: Choose) {
    let mut draw = Stream::new(seed, "lstf", 0);
    let mut fresh = |n: u64| -> Vec<Travelling> {
        (0..n)
            .map(|_| Travelling {
                // Few values and instants: many ties.
                slack: constant.unwrap_or_else(|| draw.below(12) as i64 * 250_000 - 500_000),
                waited: 0,
                arrives: draw.below(40) * 250_000,
                wire: if same_size { 1000 } else { [250, 500, 1500][draw.below(3) as usize] },
            })
            .collect()
    };
    let mut a = fresh(12);
    let mut b = a.clone();
    for hop in 0..3 {
        let out = defined(&mut a, definition);
        assert_eq!(out, hooked(&mut b), "seed {seed}, hop {hop}");
        assert_eq!(a, b);
        // Half go on, in order of departure, together with new ones.
        let mut next: Vec<Travelling> = vec![];
        for (who, at) in out.into_iter().step_by(2) {
            next.push(Travelling { arrives: at + u64::from(a[who].wire) * 1000, ..a[who] });
        }
        next.extend(fresh(6));
        (a, b) = (next.clone(), next);
    }
}

#[test]
fn a_pifo_with_two_header_hooks_is_lstf() {
    (0..3000).for_each(|seed| chain(seed, false, None, least_slack));
}

#[test]
fn accumulated_wait_is_lstf_with_equal_slack_for_packets_of_equal_size() {
    (0..3000).for_each(|seed| chain(seed, true, Some(1_000_000_000_000), longest_waited));
}

/// UPS §3.3: slack + i(p) never falls within a flow, so LSTF keeps a flow's packets of equal size in order.
#[test]
fn packets_of_a_flow_are_never_reordered_by_the_slacks_of_the_heuristics() {
    let size = 1000u32;
    let rules = [
        SlackRule::Constant(Span::from_us(3)),
        SlackRule::FlowSize { unit: Span::from_ns(700), mss: 1000 },
        SlackRule::VirtualClock { rates: vec![Rate::from_gbps(2)], ack_full_size: None },
        SlackRule::VirtualClock { rates: vec![Rate::from_mbps(100)], ack_full_size: Some(1500) },
    ];
    for seed in 0..2000u64 {
        let rule = rules[seed as usize % 4].clone();
        let spec = SlackSpec { rule, class_offset: Span::ZERO };
        let mut draw = Stream::new(seed, "order", 0);
        // Three flows of a NIC each; then three ports, with fresh cross traffic of the same sizes at each.
        let mut travelling: Vec<(u32, Travelling)> = vec![];
        for flow in 0..3 {
            let (mut clock, mut begins, mut last) = (SlackClock::default(), 0, i64::MIN);
            for _ in 0..8 {
                begins += 1_000_000 + draw.below(3) * 1_500_000;
                let at = Time::from_ps(begins);
                let packet = data(flow, 0, size);
                let slack = spec.initial(&mut clock, 0, 9000 - 2000 * u64::from(flow), &packet, at);
                assert!(slack >= 0 && slack + begins as i64 >= last, "seed {seed}");
                last = slack + begins as i64;
                travelling
                    .push((flow, Travelling { slack, waited: 0, arrives: begins + 1_000_000, wire: size }));
            }
        }
        for _ in 0..3 {
            for _ in 0..8 {
                let slack = draw.below(12) as i64 * 500_000;
                let arrives = draw.below(60) * 500_000;
                travelling.push((9, Travelling { slack, waited: 0, arrives, wire: size }));
            }
            let mut packets: Vec<Travelling> = travelling.iter().map(|t| t.1).collect();
            let out = hooked(&mut packets);
            let numbers: Vec<usize> = out.iter().map(|o| o.0).collect();
            for flow in 0..3 {
                let of = |i: &&usize| travelling[**i].0 == flow;
                assert!(numbers.iter().filter(of).is_sorted(), "seed {seed}, flow {flow}: {numbers:?}");
            }
            let onward = |&(who, at): &(usize, u64)| {
                (travelling[who].0, Travelling { arrives: at + 1_000_000, ..packets[who] })
            };
            let next: Vec<_> = out.iter().filter(|o| travelling[o.0].0 < 9).map(onward).collect();
            travelling = next;
        }
    }
}
