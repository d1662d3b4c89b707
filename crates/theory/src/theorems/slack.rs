//! What slack is: UPS-TH1, TH2, TH6, TH9.

use crate::candidate::{Candidate, Rule};
use crate::headers::Headers;
use crate::instance::Shape;
use crate::outcome::{Outcome, trials};

/// Most hops of a path where the statement is about any number of them.
const ANY: usize = 5;

const LSTF: [Candidate; 2] = [Candidate::waiting(Rule::Lstf), Candidate::preemptive(Rule::Lstf)];

/// UPS-TH1 (N A.4, D A.3): when a packet is enqueued at α at time t its header is o(p) − t − t_min(p,α,dest), with and
/// without preemption; `found` counts the arrivals looked at.
///
/// Why: at the source it is so by initialisation; from one node to the next the header loses what was waited, t
/// grows by the wait, service and propagation, and t_min loses the latter two.
pub fn th1(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(ANY), |t| {
        let headers = Headers::slack(&t.instance, &t.record);
        for lstf in LSTF {
            let replay = t.replay(&headers, lstf);
            t.overdue(&replay);
            for (p, hops) in replay.hops.iter().enumerate() {
                for (k, hop) in hops.iter().enumerate() {
                    let slack = t.record.exit[p] - hop.arrive - t.instance.t_min_from(p, k);
                    t.outcome.found += 1;
                    t.expect(hop.header_in == slack, || {
                        format!("packet {p}, hop {k}: header {}, slack {slack}", hop.header_in)
                    });
                }
            }
        }
    })
}

/// UPS-TH2 (N A.5, D A.4): LSTF and network-wide EDF give the same schedule, both with or both without preemption.
///
/// Why: slack(p,α,t) = (o(p) − t_min(p,α,dest) + T(p,α)) − t: EDF's key less the same t for all.
pub fn th2(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(ANY), |t| {
        let (slack, exit) = (Headers::slack(&t.instance, &t.record), Headers::exit(&t.instance, &t.record));
        for lstf in LSTF {
            let a = t.replay(&slack, lstf);
            let b = t.replay(&exit, Candidate { rule: Rule::Edf, ..lstf });
            t.overdue(&a);
            let packets = 0..t.instance.packets.len();
            let left = |r: &crate::candidate::Replay, p: usize| -> Vec<i64> {
                r.hops[p].iter().map(|h| h.leave).chain([r.exit[p]]).collect()
            };
            let differ = packets.filter(|&p| left(&a, p) != left(&b, p)).count();
            t.outcome.found += u64::from(a.service.len() > 1);
            t.outcome.differ(differ as u64, || format!("{lstf:?}: {:?} and EDF {:?}", a.hops, b.hops));
            t.expect(differ == 0 && a.service == b.service, || {
                format!("{differ} packets leave at other times")
            });
        }
    })
}

/// UPS-TH6 (N A.7.2, D A.6.2), any number of hops, preemptive LSTF: if p* leaves α at t* with negative slack,
/// some packet through α arrived there by t*, and after its local deadline o(p,α). `found`: departures with
/// negative slack.
///
/// Why: had all packets present by t* arrived by their local deadlines, serving them by o(p,α) would have
/// each out by o(p,α) + T(p,α), thus with slack left (TH9); and that order can be turned into LSTF's,
/// exchange by exchange, without making any slack negative (TH10).
pub fn th6(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(ANY), |t| {
        let headers = Headers::slack(&t.instance, &t.record);
        let replay = t.replay(&headers, Candidate::preemptive(Rule::Lstf));
        t.overdue(&replay);
        for p in 0..t.instance.packets.len() {
            for k in 0..t.instance.hops(p) {
                let (node, hop) = (t.instance.path(p)[k], replay.hops[p][k]);
                if hop.header_out >= 0 {
                    continue;
                }
                t.outcome.found(|| format!("packet {p} leaves its hop {k} with slack {}", hop.header_out));
                let culprit = (0..t.instance.packets.len()).any(|q| {
                    let at = t.instance.path(q).iter().position(|&n| n == node);
                    at.is_some_and(|at| {
                        let arrive = replay.hops[q][at].arrive;
                        arrive <= hop.leave && arrive > t.record.hops[q][at].start
                    })
                });
                t.expect(culprit, || {
                    format!("packet {p}, hop {k}: slack {}, no packet late", hop.header_out)
                });
            }
        }
    })
}

/// UPS-TH9 (N A.7.2, D A.6.2, observation 1): if all bits of p leave α by o(p,α) + T(p,α), its slack then is
/// at least what it waited after α in the original, hence not negative; exactly that if it leaves exactly
/// then.
///
/// Why: the original took it from there by o(p) with those waits; who leaves earlier has the difference besides.
pub fn th9(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(ANY), |t| {
        let headers = Headers::slack(&t.instance, &t.record);
        let replay = t.replay(&headers, Candidate::preemptive(Rule::Lstf));
        t.overdue(&replay);
        for (p, hops) in replay.hops.iter().enumerate() {
            for (k, hop) in hops.iter().enumerate() {
                let spare = t.record.hops[p][k].start + t.instance.service(p, k) - hop.leave;
                if spare < 0 {
                    continue;
                }
                t.outcome.found += 1;
                let after = t.record.waited_from(p, k + 1);
                let holds = hop.header_out >= after && after >= 0 && (spare > 0 || hop.header_out == after);
                t.expect(holds, || {
                    format!("packet {p}, hop {k}: slack {}, waits {after}, spare {spare}", hop.header_out)
                });
            }
        }
    })
}
