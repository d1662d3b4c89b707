//! What LSTF is and is not, besides replay: UPS-F3z, H1a, L1, L2, L3.

use crate::candidate::{Candidate, Replay, Rule};
use crate::headers::Headers;
use crate::instance::{Instance, Shape, UNIT};
use crate::outcome::{Outcome, Trial, trials};
use thalweg_machines::slack::{SlackClock, SlackRule, SlackSpec};
use thalweg_units::{Span, Time};
use thalweg_wire::Packet;

const LSTF: [Candidate; 2] = [Candidate::waiting(Rule::Lstf), Candidate::preemptive(Rule::Lstf)];

/// UPS-F3z (N§3.2, D§5.2.2): FIFO+, kept as accumulated waiting, and LSTF with the same slack in every packet
/// give the same schedule; packets of equal size. `found`: instances in which that is not what plain FIFO
/// does.
pub fn fifo_plus(instances: u32, seed: u64) -> Outcome {
    let shape = Shape { max_hops: 5, equal_sizes: true };
    trials(instances, seed, shape, |t| {
        let slack = t.stream.below(100) as i64 * UNIT;
        let (constant, nothing) = (Headers::constant(&t.instance, slack), Headers::constant(&t.instance, 0));
        let lstf = t.replay(&constant, Candidate::waiting(Rule::Lstf));
        let plus = t.replay(&nothing, Candidate::waiting(Rule::FifoPlus));
        let fifo = t.replay(&nothing, Candidate::waiting(Rule::Priority));
        t.outcome.found += u64::from(fifo.service != lstf.service);
        let differ = (0..plus.exit.len()).filter(|&p| plus.exit[p] != lstf.exit[p]).count();
        let same = differ == 0 && plus.service == lstf.service;
        t.outcome.differ(differ as u64, || format!("FIFO+ {plus:?}, LSTF {lstf:?}"));
        t.expect(same, || "FIFO+ and LSTF with constant slack serve in different orders".into());
    })
}

/// UPS-H1a (N§5, D§5.4): a priority queue that never re-sorts with two rewrites of a header field (on arrival
/// slack + t, at transmission that − t), as the production simulator has it, schedules as the definition does
/// that looks at every packet's slack whenever it chooses. On every instance: replay slack and slack at
/// random, negative too. `found`: packets compared.
pub fn pifo_with_hooks(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(5), |t| {
        let replay_slack = Headers::slack(&t.instance, &t.record);
        let mut random = replay_slack.clone();
        random.value.iter_mut().for_each(|v| *v = (t.stream.below(17) as i64 - 4) * UNIT / 2);
        for headers in [replay_slack, random] {
            for lstf in LSTF {
                let before = (t.outcome.schedule_differences, t.outcome.engine_runs);
                t.replay(&headers, lstf);
                let compared = t.outcome.engine_runs - before.1;
                t.outcome.found += compared * t.instance.packets.len() as u64;
                let differ = t.outcome.schedule_differences - before.0;
                t.expect(differ == 0, || format!("{lstf:?}: {differ} packets"));
            }
        }
    })
}

/// UPS-L1: LSTF cannot shape: no node idles while a packet is there. `found`: nodes that did in the original.
pub fn work_conserving(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(5), |t| {
        let headers = Headers::slack(&t.instance, &t.record);
        for lstf in LSTF {
            let replay = t.replay(&headers, lstf);
            t.overdue(&replay);
            let idle = idle_nodes(&t.instance, |p, k| (replay.hops[p][k].arrive, replay.hops[p][k].leave));
            t.expect(idle == 0, || format!("{lstf:?}: {idle} nodes idle while a packet waits"));
        }
        let original = |p: usize, k: usize| {
            let hop = t.record.hops[p][k];
            (hop.arrive, hop.start + t.instance.service(p, k))
        };
        t.outcome.found += idle_nodes(&t.instance, original);
    })
}

/// How many nodes idled while a packet was there: the time at which any was, less the service they had.
fn idle_nodes(instance: &Instance, at: impl Fn(usize, usize) -> (i64, i64)) -> u64 {
    let mut stays = vec![Vec::new(); instance.nodes.len()];
    let mut service = vec![0; instance.nodes.len()];
    for p in 0..instance.packets.len() {
        for (k, &node) in instance.path(p).iter().enumerate() {
            stays[node].push(at(p, k));
            service[node] += instance.service(p, k);
        }
    }
    let occupied = |mut stays: Vec<(i64, i64)>| {
        stays.sort_unstable();
        let (mut sum, mut until) = (0, i64::MIN);
        for (arrive, leave) in stays {
            sum += (leave - arrive.max(until)).max(0);
            until = until.max(leave);
        }
        sum
    };
    stays.into_iter().zip(service).filter(|(stays, service)| occupied(stays.clone()) != *service).count()
        as u64
}

/// UPS-L2 (N§3.4): with a constant larger than everything added to the slack per class, no packet is served
/// while one of a more important class (a smaller number) waits: with preemption at no time, without at no
/// start of service. `found`: services given while a less important packet was there.
pub fn class_order(instances: u32, seed: u64) -> Outcome {
    // Longer than any run, hence than any slack or wait.
    let offset = Span::from_ps(1_000 * UNIT as u64);
    let spec = SlackSpec { rule: SlackRule::Constant(Span::ZERO), class_offset: offset };
    trials(instances, seed, Shape::hops(5), |t| {
        let classes: Vec<u8> = t.instance.packets.iter().map(|_| t.stream.below(3) as u8).collect();
        let mut headers = Headers::slack(&t.instance, &t.record);
        for (value, class) in headers.value.iter_mut().zip(&classes) {
            let packet = Packet { class: *class, ..Packet::default() };
            *value += spec.initial(&mut SlackClock::default(), 0, 1, &packet, Time::ZERO);
        }
        for lstf in LSTF {
            let replay = t.replay(&headers, lstf);
            count_classes(t, &replay, &classes, lstf.preemptive);
        }
    })
}

fn count_classes(t: &mut Trial, replay: &Replay, classes: &[u8], preemptive: bool) {
    for s in &replay.service {
        for (q, hops) in replay.hops.iter().enumerate() {
            let Some(k) = t.instance.path(q).iter().position(|&n| n == s.node) else { continue };
            let (arrive, leave) = (hops[k].arrive, hops[k].leave);
            let there =
                if preemptive { arrive < s.to && leave > s.from } else { arrive <= s.from && leave > s.from };
            if q == s.packet || !there {
                continue;
            }
            t.outcome.found += u64::from(classes[q] > classes[s.packet]);
            let holds = classes[q] >= classes[s.packet];
            t.expect(holds, || format!("packet {} is served while {q} waits at node {}", s.packet, s.node));
        }
    }
}

/// UPS-L3 (N§4): slack at the ingress less slack at the egress is exactly what the packet waited on its way, hence its
/// delay less t_min. `found`: packets that waited at all.
pub fn used_slack(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(5), |t| {
        let headers = Headers::slack(&t.instance, &t.record);
        for lstf in LSTF {
            let replay = t.replay(&headers, lstf);
            t.overdue(&replay);
            for p in 0..t.instance.packets.len() {
                let last = replay.hops[p].last().expect("a path has nodes");
                let used = headers.value[p] - last.header_out;
                let waited = replay.waited_from(&t.instance, p, 0);
                let delay = replay.exit[p] - t.instance.packets[p].arrival;
                t.outcome.found += u64::from(waited > 0);
                let holds = used == waited && waited == delay - t.instance.t_min(p);
                t.expect(holds, || format!("packet {p}: used {used}, waited {waited}, delay {delay}"));
            }
        }
    })
}
