//! REPS before its ring: values in turn for the first window, then those that came back unmarked, first in, first
//! out.

use super::PathFeedback;
use super::declare::{Choice, Parameters, VALUES};
use super::random::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Stream, Time};

/// The first window takes values in turn; after that, values that came back unmarked are reused (uet-htsim:
/// `reps_legacy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values.
    #[schemars(extend("minimum" = 2))]
    pub values: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { values: VALUES }
    }
}

impl Parameters for Params {
    type Machine = RepsLegacy;

    fn values(&self) -> u32 {
        self.values
    }
    fn make(&self, stream: Stream) -> RepsLegacy {
        RepsLegacy { random: Random::from(stream), sent: 0, good: VecDeque::new() }
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 5 }, Self::default()]
    }
}

/// What one flow knows of its paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepsLegacy {
    random: Random,
    /// Packets that have a value, up to that of the first window.
    sent: u32,
    /// What came back unmarked and was not used since. A packet takes one and brings back one, so that there are
    /// never more than packets were in the network.
    good: VecDeque<u32>,
}

impl Choice for RepsLegacy {
    type Params = Params;

    fn next(&mut self, p: &Params, _: Time, window: u64) -> u32 {
        if u64::from(self.sent) < window.min(u64::from(p.values)) {
            self.sent += 1;
            return self.sent % p.values;
        }
        // A window that grows afterwards is no first one.
        self.sent = u32::MAX;
        self.good.pop_front().unwrap_or_else(|| self.random.draw(p.values))
    }

    fn on_feedback(&mut self, _: &Params, _: Time, value: u32, what: PathFeedback) {
        if what == PathFeedback::Good {
            self.good.push_back(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_window_counts_and_the_rest_takes_what_came_back() {
        let p = Params { values: 1000 };
        let mut machine = p.make(Stream::new(1, "paths", 0));
        let next = |machine: &mut RepsLegacy, window| machine.next(&p, Time::ZERO, window);
        assert_eq!([(); 3].map(|()| next(&mut machine, 3)), [1, 2, 3]);
        for (value, what) in [(7, PathFeedback::Good), (8, PathFeedback::Marked), (9, PathFeedback::Good)] {
            machine.on_feedback(&p, Time::ZERO, value, what);
        }
        assert_eq!([(); 2].map(|()| next(&mut machine, 3)), [7, 9]);
        // Drawn from here on, even if the window has grown.
        next(&mut machine, 3);
        machine.on_feedback(&p, Time::ZERO, 8, PathFeedback::Good);
        assert_eq!(next(&mut machine, 10), 8);
    }

    #[test]
    fn a_window_of_more_packets_than_values_counts_once_around() {
        let p = Params { values: 4 };
        let mut machine = p.make(Stream::new(1, "paths", 0));
        assert_eq!([(); 4].map(|()| machine.next(&p, Time::ZERO, 9)), [1, 2, 3, 0]);
    }
}
