//! Recycling and penalties: a value that came back unmarked if there is one, otherwise the next without points.

use super::PathFeedback;
use super::bitmap::{self, Bitmap};
use super::declare::{Choice, Parameters};
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Stream, Time};

/// Reuses values that came back unmarked; if there are none, takes all values in turn but skips those with penalty
/// points (uet-htsim: `mixed`, its default).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values, a power of two.
    #[schemars(extend("minimum" = 2, "maximum" = 65536))]
    pub values: u32,
}

impl Default for Params {
    /// As of `bitmap`.
    fn default() -> Self {
        Self { values: bitmap::Params::default().values }
    }
}

impl Parameters for Params {
    type Machine = Mixed;

    fn values(&self) -> u32 {
        self.values
    }
    fn check(&self, problems: &mut Problems) {
        bitmap::Params { values: self.values }.check(problems);
    }
    fn make(&self, stream: Stream) -> Mixed {
        Mixed { good: VecDeque::new(), bitmap: Bitmap::new(stream, self.values) }
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 8 }, Self::default()]
    }
}

/// What one flow knows of its paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mixed {
    /// What came back unmarked and was not used since: at most as many as packets were in the network.
    good: VecDeque<u32>,
    bitmap: Bitmap,
}

impl Choice for Mixed {
    type Params = Params;

    fn next(&mut self, p: &Params, _: Time, _: u64) -> u32 {
        self.good.pop_front().unwrap_or_else(|| self.bitmap.pass_over(p.values))
    }

    fn on_feedback(&mut self, p: &Params, _: Time, value: u32, what: PathFeedback) {
        if what == PathFeedback::Good {
            self.good.push_back(value);
        }
        self.bitmap.learn(p.values, value, what);
    }

    fn on_timeout(&mut self, p: &Params, _: Time, value: u32, _: f64) {
        self.bitmap.time_out(p.values, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_unmarked_goes_before_the_sequence() {
        let p = Params { values: 64 };
        let mut machine = p.make(Stream::new(1, "paths", 0));
        let mut alone = bitmap::Params { values: 64 }.make(Stream::new(1, "paths", 0));
        let next = |machine: &mut Mixed| machine.next(&p, Time::ZERO, 9);
        assert_eq!(next(&mut machine), alone.pass_over(64));
        for (value, what) in [(5, PathFeedback::Good), (6, PathFeedback::Trimmed), (5, PathFeedback::Good)] {
            machine.on_feedback(&p, Time::ZERO, value, what);
        }
        assert_eq!([next(&mut machine), next(&mut machine)], [5, 5], "as often as it came back");
        alone.learn(64, 6, PathFeedback::Trimmed);
        assert!((0..200).all(|_| next(&mut machine) == alone.pass_over(64)));
    }
}
