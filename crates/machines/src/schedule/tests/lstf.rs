//! LSTF as a push-in first-out queue and two header hooks (Mittal et al., NSDI 2016, §5) against its definition, which
//! looks at everybody's remaining slack anew at every decision (ups, UPS-H1); and FIFO+ as LSTF (ups, UPS-F3z).

use super::*;

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

/// FIFO+ with a class mean of zero: whoever would have arrived first, had it not waited upstream.
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
    let mut port = Port::new(OrderSpec::Pifo { add_transmission: true }, Limit::Unlimited);
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
