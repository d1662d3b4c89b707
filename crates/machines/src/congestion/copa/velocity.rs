//! v, the velocity of the window: Copa §2.1, step 4.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Velocity {
    /// Steps of 1/δ segments that the window moves by per round trip.
    pub(super) value: f64,
    /// Segments acknowledged while the window rose, less those while it fell, in this round trip; whether it
    /// rose in the last.
    balance: f64,
    rises: bool,
    round: Option<Time>,
}

impl Velocity {
    pub(super) fn new() -> Self {
        Self { value: 1.0, balance: 0.0, rises: true, round: None }
    }

    /// The velocity for this ACK, at most `most`. It is updated once per round trip of `rtt`, by the
    /// direction in which the window has moved.
    pub(super) fn update(&mut self, now: Time, rtt: Span, most: f64) -> f64 {
        if self.round.is_none_or(|round| now > round.saturating_add(rtt)) {
            // Has the window mostly moved in the same direction as in the last round trip?
            if self.balance != 0.0 && (self.balance > 0.0) == self.rises {
                self.value *= 2.0;
            } else {
                self.value = 1.0;
                self.rises = !self.rises;
            }
            (self.round, self.balance) = (Some(now), 0.0);
        }
        if self.value > most {
            self.value /= 2.0;
        }
        self.value = self.value.max(1.0);
        self.value
    }

    /// Notes that the window rose on `n` acknowledged segments, or fell if `n` is negative.
    pub(super) fn moved(&mut self, n: f64) {
        self.balance += n;
    }
}
