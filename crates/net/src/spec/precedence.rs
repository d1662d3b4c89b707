//! Which flows wait for which: of each flow what must have happened to others before it starts.

use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Rows};

/// An end of a flow that another waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum End {
    /// Its last byte has arrived.
    #[default]
    Received,
    /// Its sender has nothing left to wait for: the last ACK has come or, where nothing is acknowledged, the last byte
    /// has been sent.
    Acked,
}

/// A flow that comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Predecessor {
    /// Which one.
    pub flow: FlowId,
    /// The end that is waited for.
    pub end: End,
}

/// Of each flow those that it follows. They come before it in the list of flows, so nothing waits in a circle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precedence {
    /// A row per flow; none if no flow follows another.
    of: Rows<Predecessor>,
}

impl Precedence {
    /// Per flow, in the order of the flows, those that it follows. One that is named twice is followed once.
    pub fn new<L: IntoIterator<Item = Predecessor>>(flows: impl IntoIterator<Item = L>) -> Self {
        let mut row = Vec::new();
        let mut of = Rows::default();
        for predecessors in flows {
            row.extend(predecessors);
            row.sort_unstable();
            row.dedup();
            of.push(row.drain(..));
        }
        if of.items().is_empty() { Self::default() } else { Self { of } }
    }

    /// No flow follows another.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Those that a flow follows, in rising order; none: it starts by the clock.
    #[inline]
    pub fn of(&self, flow: FlowId) -> &[Predecessor] {
        self.of.row(flow.at())
    }

    /// It starts after others, not by the clock.
    #[inline]
    pub fn follows(&self, flow: FlowId) -> bool {
        !self.of(flow).is_empty()
    }

    /// Fits so many flows, of which each comes after those that it follows.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, flows: usize) -> Result<(), String> {
        if !self.of.is_sound() || !(self.of.is_empty() || self.of.len() == flows) {
            return Err("what flows follow does not fit the flows".into());
        }
        for flow in (0..self.of.len()).map(FlowId::from) {
            let before = self.of(flow);
            if before.last().is_some_and(|last| last.flow >= flow) {
                return Err(format!("flow {flow} must come after the flows that it follows"));
            }
            if !before.is_sorted_by(|a, b| a < b) {
                return Err(format!("flow {flow} follows a flow twice"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_has_its_own_set_of_predecessors() {
        let received = |flow: &u32| Predecessor { flow: FlowId(*flow), end: End::Received };
        let acked = |flow: u32| Predecessor { flow: FlowId(flow), end: End::Acked };
        let all = |of: &[u32]| of.iter().map(received).collect::<Vec<_>>();
        let p =
            Precedence::new([all(&[]), all(&[]), all(&[1, 0, 1]), all(&[2]), vec![acked(3), received(&3)]]);
        assert_eq!((p.of(FlowId(0)), p.of(FlowId(2))), (&all(&[])[..], &all(&[0, 1])[..]));
        assert_eq!((p.of(FlowId(3)), p.follows(FlowId(1))), (&all(&[2])[..], false));
        assert_eq!(p.of(FlowId(4)), [received(&3), acked(3)]);
        assert_eq!((p.check(5), p.check(6).is_err()), (Ok(()), true));
        assert!(Precedence::new([all(&[]), all(&[])]).is_empty());
        let e = Precedence::new([all(&[1]), all(&[])]).check(2).expect_err("backwards");
        assert_eq!(e, "flow 0 must come after the flows that it follows");
    }
}
