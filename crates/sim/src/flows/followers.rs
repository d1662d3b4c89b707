//! What waits for each flow, and for how many flows it still waits.

use super::record::FlowRecord;
use crate::precedence::Precedence;
use thalweg_units::{FlowId, Time};

/// [`Precedence`] the other way round, with what is left of it. Nothing of it is saved: it follows from the
/// specification and from which flows have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Followers {
    /// Per flow, where its followers end in `listed`; empty if none follows another.
    ends: Vec<u32>,
    listed: Vec<FlowId>,
    /// Per flow: how many of those that it follows have not arrived whole.
    open: Vec<u32>,
}

impl Followers {
    pub fn new(precedence: &Precedence, records: &[FlowRecord]) -> Self {
        if precedence.is_empty() {
            return Self::default();
        }
        let flows = || (0..records.len()).map(FlowId::from);
        let mut ends = vec![0u32; records.len()];
        for before in flows().flat_map(|flow| precedence.of(flow)) {
            ends[before.at()] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            // Where they begin, until they have been put there.
            (*end, sum) = (sum, sum + *end);
        }
        let mut listed = vec![FlowId::NONE; sum as usize];
        let mut open = vec![0; records.len()];
        for flow in flows() {
            for before in precedence.of(flow) {
                let place = &mut ends[before.at()];
                listed[*place as usize] = flow;
                *place += 1;
                open[flow.at()] += u32::from(records[before.at()].received == Time::MAX);
            }
        }
        Self { ends, listed, open }
    }

    /// A flow has arrived whole: those that wait for nothing else any more.
    pub fn released_by(&mut self, flow: FlowId) -> impl Iterator<Item = FlowId> {
        let Self { ends, listed, open } = self;
        let end = ends.get(flow.at()).map_or(0, |end| *end as usize);
        let begin =
            if end == 0 { 0 } else { flow.at().checked_sub(1).map_or(0, |before| ends[before] as usize) };
        listed[begin..end].iter().copied().filter(|follower| {
            let left = &mut open[follower.at()];
            *left -= 1;
            *left == 0
        })
    }
}
