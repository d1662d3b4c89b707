//! What can be replayed, by which schedulers, over how many congestion points: UPS-TH3, TH4, TH5, TH7, TH8.

use crate::candidate::{Candidate, Rule};
use crate::headers::Headers;
use crate::instance::Shape;
use crate::outcome::{Outcome, Trial, trials};

/// No packet late: what all but the claims of existence demand.
fn none_late(t: &mut Trial, replay: &crate::candidate::Replay) {
    let late = t.overdue(replay);
    t.expect(late.is_empty(), || format!("late: {late:?}"));
}

/// UPS-TH3 (N A.2, D A.1, theorems 1 and 2): omniscient initialisation with preemption replays every viable
/// schedule; every packet arrives everywhere no later than in the original and its last bit leaves α by
/// o(p,α) + T(p,α).
///
/// Why: by induction along the original's order in time. If all packets reach α by i(p,α), then at any time the
/// packets with o(·,α) up to some o(p,α) that are present are no more than the original had to serve by
/// o(p,α) + T(p,α), and they go before all others.
pub fn th3(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(9), |t| {
        let headers = Headers::timetable(&t.instance, &t.record);
        let replay = t.replay(&headers, Candidate::preemptive(Rule::Omniscient));
        none_late(t, &replay);
        for (p, hops) in replay.hops.iter().enumerate() {
            for (k, hop) in hops.iter().enumerate() {
                let original = t.record.hops[p][k];
                t.outcome.found += u64::from(original.start > original.arrive);
                t.expect(hop.arrive <= original.arrive, || format!("packet {p} is late at its hop {k}"));
                let by = original.start + t.instance.service(p, k);
                t.expect(hop.leave <= by, || format!("packet {p} leaves its hop {k} late"));
            }
        }
    })
}

/// UPS-TH4, first half (N A.6, D A.5): with one congestion point α_p per packet, static priorities
/// o(p) − t_min(p,α_p,dest) + T(p,α_p) replay everything, with preemption.
///
/// Why: with no queue after α_p the original leaves it at o(p) − t_min(p,α_p,dest) + T(p,α_p) for its last bit: the
/// order is that of o(p,α_p) + T(p,α_p), earliest deadline first on one server whose arrivals are the original's.
pub fn th4(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(1), |t| {
        let headers = Headers::local_exit(&t.instance, &t.record, |_| 0);
        let replay = t.replay(&headers, Candidate::preemptive(Rule::Priority));
        none_late(t, &replay);
        t.outcome.found += u64::from(t.record.hops.iter().flatten().any(|h| h.start > h.arrive));
    })
}

/// UPS-TH4, second half: the same with o(p) for priority, as an ingress must that does not know α_p: `found` counts
/// instances with late packets. (What remains after α_p differs between packets, and o(p) includes it.)
pub fn th4_black_box(instances: u32, seed: u64) -> Outcome {
    trials(instances, seed, Shape::hops(1), |t| {
        let headers = Headers::exit(&t.instance, &t.record);
        let replay = t.replay(&headers, Candidate::preemptive(Rule::Priority));
        let late = t.overdue(&replay);
        if !late.is_empty() {
            let index = t.index;
            t.outcome.found(|| format!("instance {index}: late (packet, ps) {late:?}"));
        }
    })
}

/// UPS-TH5 (N A.7, D A.6): preemptive LSTF replays everything with at most two congestion points per packet, and every
/// packet arrives at each of them by its local deadline: i'(p,α) ≤ o(p,α).
///
/// Why: a packet meets no queue before its first congestion point, so it arrives there when it did in the
/// original. At its last one, local and global deadline are one: from o(p,α) on it waits no more. Were it to
/// arrive later than that, its slack would have been negative when it left the first point, so by TH6
/// another packet arrived there after its local deadline: not one whose first point this is, hence one whose
/// last it is, and earlier; and so on back to a first one, which cannot exist. With three points the middle
/// one has neither guarantee (TH7).
pub fn th5(instances: u32, seed: u64) -> Outcome {
    th5_with(instances, seed, Candidate::preemptive(Rule::Lstf), 2)
}

fn th5_with(instances: u32, seed: u64, lstf: Candidate, max_hops: usize) -> Outcome {
    trials(instances, seed, Shape::hops(max_hops), |t| {
        let headers = Headers::slack(&t.instance, &t.record);
        let replay = t.replay(&headers, lstf);
        none_late(t, &replay);
        for (p, hops) in replay.hops.iter().enumerate() {
            for (k, hop) in hops.iter().enumerate() {
                t.outcome.found += u64::from(hops.len() == 2);
                let due = t.record.hops[p][k].start;
                t.expect(hop.arrive <= due, || format!("packet {p} is past its local deadline at hop {k}"));
            }
        }
    })
}

/// UPS-TH7 (N A.7.3, D A.6.3): with three congestion points there are schedules that preemptive LSTF cannot
/// replay: `found` counts instances with late packets.
pub fn th7(instances: u32, seed: u64) -> Outcome {
    existence(instances, seed, Shape::hops(3), &[Candidate::preemptive(Rule::Lstf)])
}

/// UPS-TH8: without preemption packets are late even with one congestion point, under LSTF, omniscient
/// initialisation and priorities alike: `found` counts the instances in which the rarest of the three fails.
pub fn th8(instances: u32, seed: u64) -> Outcome {
    let rules = [Rule::Lstf, Rule::Omniscient, Rule::Priority].map(Candidate::waiting);
    existence(instances, seed, Shape::hops(1), &rules)
}

fn existence(instances: u32, seed: u64, shape: Shape, candidates: &[Candidate]) -> Outcome {
    let mut failed = vec![0; candidates.len()];
    let mut outcome = trials(instances, seed, shape, |t| {
        for (i, candidate) in candidates.iter().enumerate() {
            let headers = match candidate.rule {
                Rule::Omniscient => Headers::timetable(&t.instance, &t.record),
                Rule::Priority => Headers::local_exit(&t.instance, &t.record, |_| 0),
                _ => Headers::slack(&t.instance, &t.record),
            };
            let replay = t.replay(&headers, *candidate);
            failed[i] += u64::from(!t.overdue(&replay).is_empty());
        }
    });
    outcome.found = failed.iter().copied().min().unwrap_or(0);
    if outcome.detail.is_empty() {
        let rules: Vec<_> =
            candidates.iter().zip(&failed).map(|(c, n)| format!("{:?} {n}", c.rule)).collect();
        outcome.detail = format!("instances with late packets: {}", rules.join(", "));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_without_preemption_or_three_with_it_are_too_much() {
        let waiting = th5_with(500, 1, Candidate::waiting(Rule::Lstf), 2);
        assert!(waiting.overdue > 0 && waiting.violations > 0, "{waiting:?}");
        let three = th5_with(5_000, 1, Candidate::preemptive(Rule::Lstf), 3);
        assert!(three.overdue > 0 && three.violations > 0, "{three:?}");
    }
}
