//! What waits for each flow, and for how many flows it still waits.

use super::record::FlowRecord;
use thalweg_net::spec::Precedence;
use thalweg_units::{FlowId, Rows, Time};

/// [`Precedence`] the other way round, with what is left of it. Nothing of it is saved: it follows from the
/// specification and from which flows have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Followers {
    /// A row per flow: those that follow it; none if no flow follows another.
    of: Rows<FlowId>,
    /// Per flow: how many of those that it follows have not arrived whole.
    open: Vec<u32>,
}

impl Followers {
    pub fn new(precedence: &Precedence, records: &[FlowRecord]) -> Self {
        if precedence.is_empty() {
            return Self::default();
        }
        let flows = || (0..records.len()).map(FlowId::from);
        let mut pairs: Vec<(FlowId, FlowId)> =
            flows().flat_map(|flow| precedence.of(flow).iter().map(move |before| (*before, flow))).collect();
        pairs.sort_unstable();
        let mut left = pairs.into_iter().peekable();
        let mut of = Rows::default();
        for flow in flows() {
            of.push(
                std::iter::from_fn(|| left.next_if(|(before, _)| *before == flow))
                    .map(|(_, follower)| follower),
            );
        }
        let is_open = |before: &&FlowId| records[before.at()].received == Time::MAX;
        let open = flows().map(|flow| precedence.of(flow).iter().filter(is_open).count() as u32).collect();
        Self { of, open }
    }

    /// A flow has arrived whole: those that wait for nothing else any more.
    pub fn released_by(&mut self, flow: FlowId) -> impl Iterator<Item = FlowId> {
        let Self { of, open } = self;
        of.row(flow.at()).iter().copied().filter(|follower| {
            let left = &mut open[follower.at()];
            *left -= 1;
            *left == 0
        })
    }
}
