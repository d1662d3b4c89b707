//! Computations: one that is ready waits for its processor, first come, first served, and then occupies it for its
//! duration.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use thalweg_net::spec::{Edge, WorkSpec};
use thalweg_units::{Time, WorkId};

/// The results of a computation so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// When it got its processor; [`Time::MAX`]: not yet.
    pub begun: Time,
    /// When it ended; [`Time::MAX`]: not yet.
    pub ended: Time,
}

impl Default for WorkRecord {
    fn default() -> Self {
        Self { begun: Time::MAX, ended: Time::MAX }
    }
}

impl WorkRecord {
    /// When it reached this edge; [`Time::MAX`]: not yet.
    pub fn reached(&self, edge: Edge) -> Time {
        match edge {
            Edge::Begun => self.begun,
            Edge::Ended => self.ended,
        }
    }
}

/// A processor of a host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Processor {
    busy: bool,
    /// Computations that are ready, in the order in which they became so.
    waiting: VecDeque<WorkId>,
}

/// All computations, and the processors that they share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Works {
    records: Vec<WorkRecord>,
    /// The processors, by host and number.
    processors: Vec<Processor>,
    /// Number of measured computations that are not over.
    left: u64,
    /// By computation: index of its processor, if it needs one.
    #[serde(skip)]
    on: Vec<Option<u32>>,
}

impl Works {
    pub fn new(works: &[WorkSpec]) -> Self {
        let named = |work: &WorkSpec| work.cpu.map(|cpu| (work.host, cpu));
        let mut places: BTreeMap<_, u32> = works.iter().filter_map(named).map(|named| (named, 0)).collect();
        (0..).zip(places.values_mut()).for_each(|(place, of)| *of = place);
        Self {
            records: vec![WorkRecord::default(); works.len()],
            processors: vec![Processor::default(); places.len()],
            left: works.iter().filter(|work| work.measured).count() as u64,
            on: works.iter().map(|work| named(work).map(|named| places[&named])).collect(),
        }
    }

    /// Puts saved computations in place of these freshly built ones.
    pub fn resume(self, saved: Self) -> Result<Self, String> {
        let fits = saved.records.len() == self.records.len()
            && saved.processors.len() == self.processors.len()
            && saved.processors.iter().flat_map(|of| &of.waiting).all(|work| work.at() < self.records.len());
        if !fits {
            return Err("its computations do not fit its network".into());
        }
        Ok(Self { on: self.on, ..saved })
    }

    pub fn records(&self) -> &[WorkRecord] {
        &self.records
    }

    pub fn set_record(&mut self, work: WorkId, record: WorkRecord) {
        self.records[work.at()] = record;
    }

    /// Number of measured computations that are not over.
    pub fn left(&self) -> u64 {
        self.left
    }

    pub fn set_left(&mut self, left: u64) {
        self.left = left;
    }

    /// Whether it has begun.
    pub fn is_under_way(&self, work: WorkId) -> bool {
        self.records[work.at()].begun != Time::MAX
    }

    /// A computation is ready: claims its processor, or queues for it. True if it has the processor.
    pub fn claim_processor(&mut self, work: WorkId) -> bool {
        let Some(place) = self.on[work.at()] else { return true };
        let processor = &mut self.processors[place as usize];
        if processor.busy {
            processor.waiting.push_back(work);
            return false;
        }
        processor.busy = true;
        true
    }

    pub fn begin(&mut self, work: WorkId, now: Time) {
        self.records[work.at()].begun = now;
    }

    /// Ends a computation. Returns the next one of its processor.
    pub fn end(&mut self, work: WorkId, now: Time) -> Option<WorkId> {
        self.records[work.at()].ended = now;
        let processor = &mut self.processors[self.on[work.at()]? as usize];
        let next = processor.waiting.pop_front();
        processor.busy = next.is_some();
        next
    }

    /// Counts a measured computation that is over.
    pub fn count_done(&mut self) {
        self.left -= 1;
    }
}
