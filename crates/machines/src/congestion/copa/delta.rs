//! δ in the two modes of Copa §2.2. In competitive mode 1/δ grows as a Reno flow's window does.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Delta {
    /// δ as it is.
    pub(super) value: f64,
    /// When δ last changed, and when it was last doubled.
    moved: Option<Time>,
    doubled: Option<Time>,
}

impl Delta {
    pub(super) fn new(value: f64) -> Self {
        Self { value, moved: None, doubled: None }
    }

    /// Takes in an ACK with a round trip of `rtt`. If `empties`, queues have been nearly empty, so default mode applies
    /// and δ is `own`. `lost`: the ACK reported a loss.
    pub(super) fn update(&mut self, now: Time, rtt: Span, own: f64, empties: bool, lost: bool) {
        let passed = |since: Option<Time>| since.is_none_or(|since| now > since.saturating_add(rtt));
        if empties {
            if self.moved.is_none() || passed(self.doubled) {
                (self.value, self.moved) = (own, Some(now));
            }
        } else if lost {
            if passed(self.doubled) {
                (self.value, self.doubled) = (2.0 * self.value, Some(now));
            }
        } else if passed(self.moved) {
            (self.value, self.moved) = (1.0 / (1.0 / self.value + 1.0), Some(now));
        }
        self.value = self.value.min(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_queues_that_never_empty_delta_shrinks_as_a_reno_window_grows_and_a_loss_doubles_it() {
        let mut delta = Delta::new(0.5);
        let mut at = |ms, empties, lost| {
            delta.update(Time::from_ms(ms), Span::from_ms(200), 0.5, empties, lost);
            delta.value
        };
        assert!((at(1, false, false) - 1.0 / 3.0).abs() < 1e-12);
        assert!((at(100, false, false) - 1.0 / 3.0).abs() < 1e-12, "once per round trip");
        for (n, ms) in [(4, 202), (5, 403), (6, 604)] {
            assert!((at(ms, false, false) - 1.0 / f64::from(n)).abs() < 1e-12);
        }
        assert!((at(605, false, true) - 1.0 / 3.0).abs() < 1e-12, "doubled");
        assert!((at(606, false, true) - 1.0 / 3.0).abs() < 1e-12, "once per round trip");
        assert_eq!(at(806, false, true), 0.5, "never above its own");
        assert!((at(1000, false, false) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(at(1007, true, false), 0.5, "nearly empty again");
    }
}
