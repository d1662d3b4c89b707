//! What waits for each flow, and for how many flows it still waits.

use super::record::FlowRecord;
use thalweg_net::spec::{End, Precedence, Predecessor};
use thalweg_units::{FlowId, Rows, Time};

/// [`Precedence`] the other way round, with what is left of it. Nothing of it is saved: it follows from the
/// specification and from how far flows are.
#[derive(Clone, Debug, Default)]
pub(super) struct Followers {
    /// A row per flow: those that follow it, and which of its ends they wait for; none if no flow follows another.
    of: Rows<(End, FlowId)>,
    /// Per flow: how many ends it still waits for.
    open: Vec<u32>,
}

impl Followers {
    pub fn new(precedence: &Precedence, records: &[FlowRecord]) -> Self {
        if precedence.is_empty() {
            return Self::default();
        }
        let flows = || (0..records.len()).map(FlowId::from);
        let mut pairs: Vec<(Predecessor, FlowId)> =
            flows().flat_map(|flow| precedence.of(flow).iter().map(move |before| (*before, flow))).collect();
        pairs.sort_unstable();
        let mut left = pairs.into_iter().peekable();
        let mut of = Rows::default();
        for flow in flows() {
            let next = || left.next_if(|(before, _)| before.flow == flow);
            of.push(std::iter::from_fn(next).map(|(before, follower)| (before.end, follower)));
        }
        let is_open = |before: &&Predecessor| records[before.flow.at()].ended(before.end) == Time::MAX;
        let open = flows().map(|flow| precedence.of(flow).iter().filter(is_open).count() as u32).collect();
        Self { of, open }
    }

    /// A flow has come to this end: those that wait for nothing else any more.
    pub fn released_by(&mut self, flow: FlowId, end: End) -> impl Iterator<Item = FlowId> {
        let Self { of, open } = self;
        let waiting = of.row(flow.at()).iter().filter(move |(of, _)| *of == end);
        waiting.map(|(_, follower)| *follower).filter(|follower| {
            let left = &mut open[follower.at()];
            *left -= 1;
            *left == 0
        })
    }
}
