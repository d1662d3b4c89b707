//! PLB: protective load balancing (Qureshi et al., "PLB: Congestion Signals are Simple and Effective for Network Load
//! Balancing", SIGCOMM 2022): a flow keeps its value until several round trips in a row were congested.
//!
//! ```text
//! CHOICE PLB §3: a round is over when as many packets were sent as the window held at its start. Other reading:
//! when a packet of its start is acknowledged.
//! CHOICE PLB §3: a round without feedback is not congested, and a trimmed packet counts as marked.
//! Left out: changes after idle times, and the pause after a timeout (both Linux). The section is from memory.
//! ```

use super::PathFeedback;
use super::declare::{Choice, Parameters, VALUES};
use super::random::Random;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// A flow keeps its value until rounds in a row were marked, or a packet timed out (Qureshi et al., PLB, SIGCOMM
/// 2022).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values.
    #[schemars(extend("minimum" = 2))]
    pub values: u32,
    /// A round is congested if more than this fraction of its feedback is marked.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub share: f64,
    /// Number of congested rounds in a row after which a new value is drawn.
    #[schemars(extend("minimum" = 1))]
    pub rounds: u32,
}

impl Default for Params {
    /// Half of the packets, three rounds.
    fn default() -> Self {
        Self { values: VALUES, share: 0.5, rounds: 3 }
    }
}

impl Parameters for Params {
    type Machine = Plb;

    fn values(&self) -> u32 {
        self.values
    }
    fn check(&self, problems: &mut Problems) {
        if !(0.0..1.0).contains(&self.share) {
            problems.wrong("share", format!("{} is out of range", self.share), "allowed: 0 to below 1");
        }
        if self.rounds == 0 {
            problems.wrong("rounds", "after 0 rounds every packet would draw", "at least 1, or `random`");
        }
    }
    fn make(&self, stream: Stream) -> Plb {
        let mut random = Random::from(stream);
        let value = random.draw(self.values);
        Plb { random, value, left: 0, congested: 0, fed: 0, marked: 0 }
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 5, share: 0.0, rounds: 1 }, Self::default()]
    }
}

/// The value of one flow, and how its round goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plb {
    random: Random,
    value: u32,
    /// Packets of this round that are still to be sent.
    left: u32,
    /// Rounds in a row.
    congested: u32,
    /// Feedback of this round.
    fed: u32,
    /// How much of it is marked.
    marked: u32,
}

impl Plb {
    fn judge(&mut self, p: &Params) {
        let bad = f64::from(self.marked) > p.share * f64::from(self.fed);
        self.congested = if bad { self.congested + 1 } else { 0 };
        (self.fed, self.marked) = (0, 0);
        if self.congested >= p.rounds {
            self.change(p);
        }
    }

    fn change(&mut self, p: &Params) {
        self.value = self.random.draw(p.values);
        (self.congested, self.fed, self.marked) = (0, 0, 0);
    }
}

impl Choice for Plb {
    type Params = Params;

    fn next(&mut self, p: &Params, _: Time, window: u64) -> u32 {
        if self.left == 0 {
            self.judge(p);
            self.left = u32::try_from(window.max(1)).unwrap_or(u32::MAX);
        }
        self.left -= 1;
        self.value
    }

    /// Of packets that had an earlier value nothing is learnt.
    fn on_feedback(&mut self, _: &Params, _: Time, value: u32, what: PathFeedback) {
        if value == self.value {
            self.fed += 1;
            self.marked += u32::from(what != PathFeedback::Good);
        }
    }

    fn on_timeout(&mut self, p: &Params, _: Time, value: u32, _: f64) {
        if value == self.value {
            self.change(p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of ten packets, of which so many come back marked; then the next packet's value.
    fn round(p: &Params, machine: &mut Plb, marked: u32) -> u32 {
        let values: Vec<u32> = (0..10).map(|_| machine.next(p, Time::ZERO, 10)).collect();
        assert!(values.iter().all(|value| *value == values[0]));
        for n in 0..10 {
            let what = if n < marked { PathFeedback::Marked } else { PathFeedback::Good };
            machine.on_feedback(p, Time::ZERO, values[0], what);
        }
        values[0]
    }

    #[test]
    fn three_rounds_in_a_row_with_more_than_half_of_them_marked_change_the_value() {
        let p = Params::default();
        let mut machine = p.make(Stream::new(1, "paths", 0));
        // The value of each round is known at its start: the one after the third bad round is another.
        let values = [6, 6, 5, 6, 6, 6, 0, 0].map(|marked| round(&p, &mut machine, marked));
        assert!(values[..6].iter().all(|value| *value == values[0]), "{values:?}");
        assert!(values[6] != values[0] && values[7] == values[6], "{values:?}");
    }

    #[test]
    fn a_timeout_changes_it_at_once_but_only_that_of_its_own_value() {
        let p = Params::default();
        let mut machine = p.make(Stream::new(1, "paths", 0));
        let first = machine.next(&p, Time::ZERO, 10);
        machine.on_timeout(&p, Time::ZERO, first ^ 1, 1.0);
        assert_eq!(machine.next(&p, Time::ZERO, 10), first);
        machine.on_timeout(&p, Time::ZERO, first, 1.0);
        assert_ne!(machine.next(&p, Time::ZERO, 10), first);
    }
}
