//! UPS-TH10: from a feasible schedule to LSTF's by exchanges.

use crate::candidate::{self, Candidate, Rule};
use crate::headers::Headers;
use crate::instance::{Flow, Instance, Node, Packet};
use crate::outcome::Outcome;
use crate::transformation::{Job, Slot, random_jobs, transform};
use thalweg_units::Stream;

/// The jobs as an instance of one node, a slot being a picosecond, with LSTF's headers.
fn instance(jobs: &[Job]) -> (Instance, Headers) {
    let packet = |job: &Job| Packet { flow: 0, size: job.length, arrival: job.arrive };
    let instance = Instance {
        nodes: vec![Node { per_size: 1 }],
        flows: vec![Flow { path: vec![0], delays: vec![0, 0] }],
        packets: jobs.iter().map(packet).collect(),
    };
    let slack = |job: &Job| job.deadline() - job.arrive - job.length;
    (instance, Headers { value: jobs.iter().map(slack).collect(), times: Vec::new() })
}

/// The slots of preemptive LSTF, by its definition.
fn lstf(jobs: &[Job]) -> Vec<Slot> {
    let (instance, headers) = instance(jobs);
    let replay = candidate::replay(&instance, &headers, Candidate::preemptive(Rule::Lstf));
    let mut sent = vec![0; jobs.len()];
    let mut slots = Vec::new();
    for service in replay.service {
        for at in service.from..service.to {
            slots.push(Slot { at, job: service.packet, bit: sent[service.packet] });
            sent[service.packet] += 1;
        }
    }
    slots
}

/// UPS-TH10 (N A.7.2, D A.6.2): on one node with integer slots the exchanges of [`transform`], taken at
/// random, end, stay feasible throughout, and lead to LSTF's schedule. `found`: exchanges.
pub fn th10(instances: u32, seed: u64) -> Outcome {
    let mut outcome = Outcome::default();
    for index in 0..u64::from(instances) {
        let mut stream = Stream::new(seed, "ups exchange", index);
        let jobs = random_jobs(&mut stream);
        outcome.instances += 1;
        outcome.packets += jobs.len() as u64;
        let expected = lstf(&jobs);
        outcome.overdue += expected.iter().filter(|s| s.at + 1 > jobs[s.job].deadline()).count() as u64;
        match transform(&jobs, &mut stream) {
            Ok((slots, exchanges)) => {
                outcome.found += exchanges;
                let differ = slots.iter().zip(&expected).filter(|(a, b)| a != b).count()
                    + slots.len().abs_diff(expected.len());
                outcome.differ(differ as u64, || format!("{jobs:?}: {slots:?}, LSTF {expected:?}"));
                outcome.expect(differ == 0, || format!("{jobs:?} does not end in LSTF's schedule"));
            }
            Err(what) => outcome.expect(false, || format!("{jobs:?}: {what}")),
        }
    }
    outcome
}
