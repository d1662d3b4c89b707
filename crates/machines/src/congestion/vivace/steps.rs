//! How far the rate moves along a gradient: Vivace §4.3, with the module's constants.

use serde::{Deserialize, Serialize};

/// m, the amplifier of steps, at first; directions in a row that do not raise it after it changed.
const AMPLIFIER: u32 = 2;
const SWINGS: u32 = 2;
/// ω: a step is at most this share of the rate, and so much more for every one in a row that was; and at least that.
const BOUND: (f64, f64) = (0.1, 0.07);
const LEAST_STEP: f64 = 0.022;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Steps {
    pub(super) amplifier: u32,
    /// Steps that are yet to be taken before the amplifier grows again.
    pub(super) swing: u32,
    pub(super) bound: f64,
}

impl Steps {
    pub(super) fn new() -> Self {
        Self { amplifier: AMPLIFIER, swing: 0, bound: BOUND.0 }
    }

    /// The direction has turned.
    pub(super) fn turn(&mut self) {
        *self = Self { swing: (self.swing + 1).min(SWINGS), ..Self::new() };
    }

    /// The next step, of a rate that has gone the way of `gone`: θ times the gradient, amplified, within bounds.
    pub(super) fn next(&mut self, theta: f64, gradient: f64, rate: f64, gone: f64) -> f64 {
        let mut step = theta * f64::from(self.amplifier) * gradient;
        let most = self.bound * rate;
        if step.abs() > most {
            step = most.copysign(step);
            self.bound += BOUND.1;
        } else {
            self.bound = BOUND.0;
        }
        if self.swing > 0 {
            self.swing -= 1;
        } else {
            self.amplifier += 1;
        }
        step.abs().max(LEAST_STEP * rate).copysign(gone)
    }
}
