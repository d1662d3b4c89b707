//! Numbers that a claim can be judged by, and the loop over random instances that collects them.

use crate::candidate::{self, Candidate, Replay};
use crate::engine;
use crate::headers::Headers;
use crate::instance::{Instance, Shape};
use crate::original::{self, Record};
use thalweg_units::Stream;

/// What came of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Inputs examined.
    pub instances: u64,
    /// Packets in them.
    pub packets: u64,
    /// How often the statement was false. Exact claims: 0.
    pub violations: u64,
    /// Packets that left the replay later than the original.
    pub overdue: u64,
    /// How often that occurred which the statement is about: of claims of existence at least 1; of implications how
    /// often the premise held, so that they are not true for lack of cases.
    pub found: u64,
    /// Replays that were also run by the production simulator.
    pub engine_runs: u64,
    /// Packets whose arrivals, departures, header or exit differ between two ways to the same schedule: definition and
    /// production simulator, and whatever else the statement calls identical. Always 0.
    pub schedule_differences: u64,
    /// The first violation or difference, else what was found; for people.
    pub detail: String,
}

impl Outcome {
    /// Counts a violation unless `holds`.
    pub fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            if self.violations == 0 {
                self.detail = what();
            }
            self.violations += 1;
        }
    }

    /// Counts a case of what the statement is about.
    pub fn found(&mut self, what: impl FnOnce() -> String) {
        if self.found == 0 && self.detail.is_empty() {
            self.detail = what();
        }
        self.found += 1;
    }

    /// Counts packets that differ.
    pub fn differ(&mut self, packets: u64, what: impl FnOnce() -> String) {
        if packets > 0 && self.schedule_differences == 0 {
            self.detail = what();
        }
        self.schedule_differences += packets;
    }

    /// Counts an instance.
    pub fn count(&mut self, instance: &Instance) {
        self.instances += 1;
        self.packets += instance.packets.len() as u64;
    }

    /// Runs `candidate` by its definition and, if the production simulator has it, there too; counts where they differ.
    pub fn replay(&mut self, instance: &Instance, headers: &Headers, candidate: Candidate) -> Replay {
        let replay = candidate::replay(instance, headers, candidate);
        if engine::can(candidate) {
            self.engine_runs += 1;
            match engine::replay(instance, headers, candidate) {
                Ok(ran) => {
                    let differ = engine::differences(instance, &replay, &ran, candidate);
                    self.differ(differ, || {
                        format!("{candidate:?} on {instance:?}: {replay:?}, simulator {ran:?}")
                    });
                }
                Err(what) => self.differ(instance.packets.len() as u64, || format!("simulator: {what}")),
            }
        }
        replay
    }
}

/// One random instance, its original schedule, and where results go.
pub struct Trial<'a> {
    /// Nodes, flows, packets.
    pub instance: Instance,
    /// The arbitrary schedule to be replayed.
    pub record: Record,
    /// Chance for the check's own use.
    pub stream: Stream,
    /// Its number, in messages.
    pub index: u64,
    /// What has been counted.
    pub outcome: &'a mut Outcome,
}

impl Trial<'_> {
    /// See [`Outcome::replay`].
    pub fn replay(&mut self, headers: &Headers, candidate: Candidate) -> Replay {
        self.outcome.replay(&self.instance, headers, candidate)
    }

    /// Counts packets later than in the original, and returns them.
    pub fn overdue(&mut self, replay: &Replay) -> Vec<(usize, i64)> {
        let late = replay.overdue(&self.record.exit);
        self.outcome.overdue += late.len() as u64;
        late
    }

    /// Counts a violation unless `holds`.
    pub fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        let index = self.index;
        self.outcome.expect(holds, || format!("instance {index}: {}", what()));
    }
}

/// Runs `each` on `instances` random instances with an arbitrary original schedule each.
pub fn trials(instances: u32, seed: u64, shape: Shape, mut each: impl FnMut(&mut Trial)) -> Outcome {
    let mut outcome = Outcome::default();
    for index in 0..u64::from(instances) {
        let instance = Instance::random(shape, seed, index);
        let record = original::random(&instance, seed, index);
        outcome.count(&instance);
        let stream = Stream::new(seed, "ups check", index);
        let mut trial = Trial { instance, record, stream, index, outcome: &mut outcome };
        let viable = trial.record.check(&trial.instance);
        trial.expect(viable.is_ok(), || format!("not viable: {viable:?}"));
        each(&mut trial);
    }
    outcome
}
