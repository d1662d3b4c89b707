//! Dependencies between flows and computations: what follows each of them, and for how many others it still waits.

use super::record::FlowRecord;
use super::works::WorkRecord;
use thalweg_net::spec::{Edge, End, Precedence, Predecessor, Step};
use thalweg_units::{FlowId, Rows, Time, WorkId};

/// The inverse of [`Precedence`], with counts of what is left. It is not saved: it follows from the specification
/// and from the progress of flows and computations.
#[derive(Clone, Debug, Default)]
pub(super) struct Followers {
    /// A row per flow: what follows it, and which of its ends that waits for; no rows if nothing follows a flow.
    of_flows: Rows<(End, Step)>,
    /// A row per computation, likewise.
    of_works: Rows<(Edge, Step)>,
    /// Per flow: how many ends it still waits for.
    flows: Vec<u32>,
    /// Per computation: how many ends it still waits for.
    works: Vec<u32>,
}

impl Followers {
    pub fn new(precedence: &Precedence, flows: &[FlowRecord], works: &[WorkRecord]) -> Self {
        if precedence.is_empty() {
            return Self::default();
        }
        let is_open = |before: &&Predecessor| match before {
            Predecessor::Flow { flow, end } => flows[flow.at()].ended(*end) == Time::MAX,
            Predecessor::Work { work, edge } => works[work.at()].reached(*edge) == Time::MAX,
        };
        let open = |step: Step| precedence.of_step(step).iter().filter(is_open).count() as u32;
        let flow = |number: usize| Step::Flow(number.into());
        let work = |number: usize| Step::Work(number.into());
        let all = || (0..flows.len()).map(flow).chain((0..works.len()).map(work));
        let (mut after_flows, mut after_works) = (Vec::new(), Vec::new());
        for step in all() {
            for before in precedence.of_step(step) {
                match *before {
                    Predecessor::Flow { flow, end } => after_flows.push((flow.at(), (end, step))),
                    Predecessor::Work { work, edge } => after_works.push((work.at(), (edge, step))),
                }
            }
        }
        Self {
            of_flows: by_leader(flows.len(), after_flows),
            of_works: by_leader(works.len(), after_works),
            flows: (0..flows.len()).map(|number| open(flow(number))).collect(),
            works: (0..works.len()).map(|number| open(work(number))).collect(),
        }
    }

    /// What a flow releases when it reaches this end: followers that wait for nothing else.
    pub fn released_by(&mut self, flow: FlowId, end: End) -> impl Iterator<Item = Step> {
        let Self { of_flows, flows, works, .. } = self;
        let waiting = of_flows.row(flow.at()).iter().filter(move |(of, _)| *of == end);
        waiting.map(|(_, follower)| *follower).filter(|follower| count_down(flows, works, *follower))
    }

    /// What a computation releases when it reaches this edge.
    pub fn released_by_work(&mut self, work: WorkId, edge: Edge) -> impl Iterator<Item = Step> {
        let Self { of_works, flows, works, .. } = self;
        let waiting = of_works.row(work.at()).iter().filter(move |(of, _)| *of == edge);
        waiting.map(|(_, follower)| *follower).filter(|follower| count_down(flows, works, *follower))
    }
}

/// Counts one predecessor less. True if it was the last.
fn count_down(flows: &mut [u32], works: &mut [u32], step: Step) -> bool {
    let left = match step {
        Step::Flow(flow) => &mut flows[flow.at()],
        Step::Work(work) => &mut works[work.at()],
    };
    *left -= 1;
    *left == 0
}

/// A row of followers for each of `leaders` entities; no rows if nothing follows any.
fn by_leader<T: Ord + Copy>(leaders: usize, mut pairs: Vec<(usize, T)>) -> Rows<T> {
    let mut of = Rows::default();
    if pairs.is_empty() {
        return of;
    }
    pairs.sort_unstable();
    let mut left = pairs.into_iter().peekable();
    for leader in 0..leaders {
        let next = || left.next_if(|(before, _)| *before == leader);
        of.push(std::iter::from_fn(next).map(|(_, follower)| follower));
    }
    of
}
