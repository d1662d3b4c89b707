//! Arithmetic that the papers state in passing: UPS-T1x, F11c, F4d.

use crate::outcome::Outcome;
use thalweg_machines::slack::{SlackClock, SlackRule, SlackSpec};
use thalweg_units::{Rate, Serializer, Span, Time};
use thalweg_wire::Packet;

/// Counts one comparison of a computed number with the stated one.
fn fact(outcome: &mut Outcome, what: &str, computed: u64, stated: u64) {
    outcome.instances += 1;
    outcome.found += 1;
    outcome.expect(computed == stated, || format!("{what}: {computed}, not {stated}"));
}

/// UPS-T1x: a packet of 1460 B takes 11.68 µs at 1 Gb/s ("≈ 12 µs").
pub fn packet_time(_: u32, _: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let span = Serializer::new(Rate::from_gbps(1), Span::ZERO).span(1460);
    fact(&mut outcome, "ps", span.ps(), 11_680_000);
    outcome
}

/// UPS-F11c: the slack of consecutive packets of 1500 B grows by 0.24 ms at r_est = 50 Mb/s; as the Virtual Clock of
/// the ingress gives it.
pub fn slack_step(_: u32, _: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let rule = SlackRule::VirtualClock { rates: vec![Rate::from_mbps(50)], ack_full_size: None };
    let spec = SlackSpec { rule, class_offset: Span::ZERO };
    let mut clock = SlackClock::default();
    let packet = Packet { wire: 1500, ..Packet::default() };
    // HandOver to the ingress at one instant: nothing is taken off in between.
    for i in 0..3 {
        let slack = spec.initial(&mut clock, 0, 1 << 20, &packet, Time::ZERO);
        fact(&mut outcome, "slack in ps", slack.unsigned_abs(), i * 240_000_000);
    }
    outcome
}

/// Internet2's core: links between its ten routers, their rates in Mb/s and how many ordered pairs of routers use each.
pub const CORE: [(usize, usize, u64, u64); 16] = [
    (0, 1, 5556, 5),
    (0, 2, 7778, 7),
    (0, 3, 14445, 13),
    (1, 2, 3334, 3),
    (2, 4, 3334, 3),
    (1, 5, 5556, 5),
    (4, 5, 1112, 1),
    (3, 5, 3334, 3),
    (3, 4, 5556, 5),
    (5, 6, 4445, 4),
    (3, 6, 10000, 9),
    (3, 7, 14445, 13),
    (7, 8, 1112, 1),
    (6, 8, 8889, 8),
    (8, 9, 2223, 2),
    (7, 9, 7778, 7),
];

/// UPS-F4d: with one flow per ordered pair of core routers, minimum hop count and ties to the lowest next hop, 1 to 13
/// flows share a core link in each direction, and the fair share is 1.111 Gb/s on every one (10/9 Gb/s, rates
/// rounded up to 1 Mb/s).
pub fn fair_share(_: u32, _: u64) -> Outcome {
    const ROUTERS: usize = 10;
    let mut outcome = Outcome::default();
    let neighbours = |at: usize| {
        let mut list: Vec<usize> = CORE
            .iter()
            .filter_map(|&(a, b, ..)| if a == at { Some(b) } else { (b == at).then_some(a) })
            .collect();
        list.sort_unstable();
        list
    };
    // Hops to `to` from everywhere.
    let distances = |to: usize| {
        let mut hops = [usize::MAX; ROUTERS];
        hops[to] = 0;
        let mut frontier = vec![to];
        while let Some(at) = (!frontier.is_empty()).then(|| frontier.remove(0)) {
            for next in neighbours(at) {
                if hops[next] == usize::MAX {
                    hops[next] = hops[at] + 1;
                    frontier.push(next);
                }
            }
        }
        hops
    };
    let mut used = [[0u64; ROUTERS]; ROUTERS];
    for to in 0..ROUTERS {
        let hops = distances(to);
        for from in (0..ROUTERS).filter(|&f| f != to) {
            let mut at = from;
            while at != to {
                let closer = neighbours(at).into_iter().find(|&n| hops[n] + 1 == hops[at]);
                let next = closer.expect("the graph is connected");
                used[at][next] += 1;
                at = next;
            }
        }
    }
    for (a, b, mbps, pairs) in CORE {
        for (from, to) in [(a, b), (b, a)] {
            fact(&mut outcome, "flows on the link", used[from][to], pairs);
        }
        // Rates are k·10/9 Gb/s rounded up to whole Mb/s.
        fact(&mut outcome, "rate", (pairs * 10_000).div_ceil(9), mbps);
        let kbps = mbps * 1_000 / pairs;
        outcome.expect((1_111_000..1_113_000).contains(&kbps), || format!("share of {a}-{b}: {kbps} kb/s"));
    }
    let k = || CORE.iter().map(|l| l.3);
    fact(&mut outcome, "fewest flows on a link", k().min().unwrap_or(0), 1);
    fact(&mut outcome, "most flows on a link", k().max().unwrap_or(0), 13);
    outcome
}
