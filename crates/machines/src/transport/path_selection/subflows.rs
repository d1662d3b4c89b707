//! Subflows: a few values for the life of a flow, in turn, as a connection over several paths has (MPTCP: Raiciu et
//! al., SIGCOMM 2011).
//!
//! ```text
//! CHOICE REPS §4: one window holds all subflows, and they take turns. Other reading: each has a window of its own,
//! so that a slow path carries less.
//! CHOICE REPS §4: subflows that drew the same value share it.
//! ```

use super::declare::{Choice, Parameters, VALUES};
use super::random::Random;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// A flow draws a few values and takes them in turn (Bonato et al., REPS, EuroSys 2026: MPTCP-like).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values.
    #[schemars(extend("minimum" = 2))]
    pub values: u32,
    /// Number of subflows: values that a flow draws.
    #[schemars(extend("minimum" = 1, "maximum" = 65536))]
    pub count: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { values: VALUES, count: 8 }
    }
}

impl Parameters for Params {
    type Machine = Subflows;

    fn values(&self) -> u32 {
        self.values
    }
    fn check(&self, problems: &mut Problems) {
        if !(1..=1 << 16).contains(&self.count) {
            problems.wrong("count", format!("{} subflows", self.count), "allowed: 1 to 65536");
        }
    }
    fn make(&self, stream: Stream) -> Subflows {
        let mut random = Random::from(stream);
        Subflows { drawn: (0..self.count).map(|_| random.draw(self.values)).collect(), turn: 0 }
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 5, count: 1 }, Self::default()]
    }
}

/// The values of one flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subflows {
    drawn: Box<[u32]>,
    turn: u32,
}

impl Choice for Subflows {
    type Params = Params;

    fn next(&mut self, p: &Params, _: Time, _: u64) -> u32 {
        let value = self.drawn[self.turn as usize];
        self.turn = (self.turn + 1) % p.count;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_values_take_turns() {
        let p = Params::default();
        let mut machine = p.make(Stream::new(1, "paths", 0));
        let mut round = || [(); 8].map(|()| machine.next(&p, Time::ZERO, 1));
        let first = round();
        assert_eq!(round(), first);
        assert!((1..8).all(|n| first[n] != first[0]), "{first:?}");
    }
}
