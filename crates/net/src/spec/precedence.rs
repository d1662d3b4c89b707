//! Which flows and computations wait for which: of each what must have happened to others before it starts.

use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Rows, WorkId};

/// An instant in the life of a flow that another waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum End {
    /// Its last byte has arrived.
    #[default]
    Received,
    /// Its sender has nothing left to wait for: the last ACK has come or, where nothing is acknowledged, the last byte
    /// has been sent.
    Acked,
    /// It has started: its sender has it.
    Started,
}

/// An instant in the life of a computation that another waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Edge {
    /// It is over.
    #[default]
    Ended,
    /// It has its processor.
    Begun,
}

/// What comes before a flow or a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Predecessor {
    /// A flow.
    Flow {
        /// Which one.
        flow: FlowId,
        /// What of it is waited for.
        end: End,
    },
    /// A computation.
    Work {
        /// Which one.
        work: WorkId,
        /// What of it is waited for.
        edge: Edge,
    },
}

/// What others follow, and what follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// A flow.
    Flow(FlowId),
    /// A computation.
    Work(WorkId),
}

impl Predecessor {
    /// Whose instant it is.
    #[inline]
    pub fn step(&self) -> Step {
        match *self {
            Self::Flow { flow, .. } => Step::Flow(flow),
            Self::Work { work, .. } => Step::Work(work),
        }
    }
}

/// Of each flow and each computation those that it follows. Flows come after the flows that they follow, and
/// computations after the computations, in their lists; nothing waits in a circle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precedence {
    /// A row per flow; none if no flow follows another.
    flows: Rows<Predecessor>,
    /// A row per computation; none if none follows another.
    works: Rows<Predecessor>,
}

impl Precedence {
    /// Per flow, in the order of the flows, those that it follows. One that is named twice is followed once.
    pub fn new<L: IntoIterator<Item = Predecessor>>(flows: impl IntoIterator<Item = L>) -> Self {
        Self { flows: rows(flows), works: Rows::default() }
    }

    /// With what computations follow, per computation, in their order.
    #[must_use]
    pub fn with_works<L: IntoIterator<Item = Predecessor>>(self, works: impl IntoIterator<Item = L>) -> Self {
        Self { works: rows(works), ..self }
    }

    /// Nothing follows anything.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.works.is_empty()
    }

    /// Those that a flow follows, in rising order; none: it starts by the clock.
    #[inline]
    pub fn of(&self, flow: FlowId) -> &[Predecessor] {
        self.flows.row(flow.at())
    }

    /// Those that a computation follows, in rising order; none: it is ready by the clock.
    #[inline]
    pub fn of_work(&self, work: WorkId) -> &[Predecessor] {
        self.works.row(work.at())
    }

    /// Those that it follows.
    #[inline]
    pub fn of_step(&self, step: Step) -> &[Predecessor] {
        match step {
            Step::Flow(flow) => self.of(flow),
            Step::Work(work) => self.of_work(work),
        }
    }

    /// It starts after others, not by the clock.
    #[inline]
    pub fn follows(&self, flow: FlowId) -> bool {
        !self.of(flow).is_empty()
    }

    /// Fits so many flows and computations, of which each comes after those that it follows.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, flows: usize, works: usize) -> Result<(), String> {
        for (rows, count) in [(&self.flows, flows), (&self.works, works)] {
            if !rows.is_sound() || !(rows.is_empty() || rows.len() == count) {
                return Err("what flows follow does not fit the flows".into());
            }
            if (0..rows.len()).any(|row| !rows.row(row).is_sorted_by(|a, b| a < b)) {
                return Err("something follows another twice".into());
            }
        }
        for step in steps(flows, works) {
            for before in self.of_step(step) {
                match (step, before.step()) {
                    (Step::Flow(flow), Step::Flow(other)) if other >= flow => {
                        return Err(format!("flow {flow} must come after the flows that it follows"));
                    }
                    (Step::Work(work), Step::Work(other)) if other >= work => {
                        return Err(format!(
                            "computation {work} must come after the computations that it follows"
                        ));
                    }
                    (_, Step::Flow(other)) if other.at() >= flows => {
                        return Err(format!("there is no flow {other} to follow"));
                    }
                    (_, Step::Work(other)) if other.at() >= works => {
                        return Err(format!("there is no computation {other} to follow"));
                    }
                    _ => {}
                }
            }
        }
        // By their numbers alone flows and computations could still wait for each other.
        if works > 0 && self.order(flows, works).len() < flows + works {
            return Err("flows and computations wait for each other in a circle".into());
        }
        Ok(())
    }

    /// So many flows and computations in an order in which each comes after those that it follows; those that wait in a
    /// circle are left out.
    pub fn order(&self, flows: usize, works: usize) -> Vec<Step> {
        let place = |step: Step| match step {
            Step::Flow(flow) => flow.at(),
            Step::Work(work) => flows + work.at(),
        };
        let mut open = vec![0u32; flows + works];
        let mut pairs: Vec<(u32, Step)> = Vec::new();
        for step in steps(flows, works) {
            for before in self.of_step(step) {
                open[place(step)] += 1;
                pairs.push((place(before.step()) as u32, step));
            }
        }
        pairs.sort_unstable();
        let first = |at: usize| pairs.partition_point(|(before, _)| (*before as usize) < at);
        // Kahn's algorithm.
        let mut order: Vec<Step> = steps(flows, works).filter(|step| open[place(*step)] == 0).collect();
        let mut next = 0;
        while let Some(at) = order.get(next).map(|step| place(*step)) {
            for (_, follower) in pairs[first(at)..].iter().take_while(|(before, _)| *before as usize == at) {
                open[place(*follower)] -= 1;
                if open[place(*follower)] == 0 {
                    order.push(*follower);
                }
            }
            next += 1;
        }
        order
    }
}

/// All flows, then all computations.
fn steps(flows: usize, works: usize) -> impl Iterator<Item = Step> {
    let works = (0..works).map(|work| Step::Work(work.into()));
    (0..flows).map(|flow| Step::Flow(flow.into())).chain(works)
}

fn rows<L: IntoIterator<Item = Predecessor>>(of: impl IntoIterator<Item = L>) -> Rows<Predecessor> {
    let mut row = Vec::new();
    let mut rows = Rows::default();
    for predecessors in of {
        row.extend(predecessors);
        row.sort_unstable();
        row.dedup();
        rows.push(row.drain(..));
    }
    if rows.items().is_empty() { Rows::default() } else { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(flow: u32) -> Predecessor {
        Predecessor::Flow { flow: FlowId(flow), end: End::Received }
    }

    fn ended(work: u32) -> Predecessor {
        Predecessor::Work { work: WorkId(work), edge: Edge::Ended }
    }

    #[test]
    fn every_flow_has_its_own_set_of_predecessors() {
        let acked = |flow: u32| Predecessor::Flow { flow: FlowId(flow), end: End::Acked };
        let all = |of: &[u32]| of.iter().map(|flow| received(*flow)).collect::<Vec<_>>();
        let p =
            Precedence::new([all(&[]), all(&[]), all(&[1, 0, 1]), all(&[2]), vec![acked(3), received(3)]]);
        assert_eq!((p.of(FlowId(0)), p.of(FlowId(2))), (&all(&[])[..], &all(&[0, 1])[..]));
        assert_eq!((p.of(FlowId(3)), p.follows(FlowId(1))), (&all(&[2])[..], false));
        assert_eq!(p.of(FlowId(4)), [received(3), acked(3)]);
        assert_eq!((p.check(5, 0), p.check(6, 0).is_err()), (Ok(()), true));
        assert!(Precedence::new([all(&[]), all(&[])]).is_empty());
        let e = Precedence::new([all(&[1]), all(&[])]).check(2, 0).expect_err("backwards");
        assert_eq!(e, "flow 0 must come after the flows that it follows");
    }

    #[test]
    fn flows_and_computations_follow_each_other_but_not_in_a_circle() {
        let p = Precedence::new([vec![ended(1)], vec![]]).with_works([vec![], vec![received(1), ended(0)]]);
        assert_eq!(p.check(2, 2), Ok(()));
        let (flow, work) = (|n| Step::Flow(FlowId(n)), |n| Step::Work(WorkId(n)));
        assert_eq!(p.order(2, 2), [flow(1), work(0), work(1), flow(0)]);
        let wrong = |flows: [Vec<Predecessor>; 1], works: [Vec<Predecessor>; 1]| {
            Precedence::new(flows).with_works(works).check(1, 1).expect_err("wrong")
        };
        let circle = wrong([vec![ended(0)]], [vec![received(0)]]);
        assert_eq!(circle, "flows and computations wait for each other in a circle");
        assert_eq!(wrong([vec![]], [vec![received(1)]]), "there is no flow 1 to follow");
        assert_eq!(wrong([vec![ended(1)]], [vec![]]), "there is no computation 1 to follow");
        let itself = wrong([vec![]], [vec![ended(0)]]);
        assert_eq!(itself, "computation 0 must come after the computations that it follows");
    }
}
