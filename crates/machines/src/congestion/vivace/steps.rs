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

    /// The next step of the rate, whose last change was `gone`: `step` (θ times the gradient), amplified, within
    /// bounds. Without a gradient it is upwards.
    pub(super) fn next(&mut self, mut step: f64, rate: f64, gone: f64) -> f64 {
        if (step > 0.0) != (gone > 0.0) {
            *self = Self { swing: (self.swing + 1).min(SWINGS), ..Self::new() };
        } else if self.swing > 0 {
            self.swing -= 1;
        } else {
            self.amplifier += 1;
        }
        step *= f64::from(self.amplifier);
        let most = self.bound * rate;
        if step.abs() > most {
            step = most.copysign(step);
            self.bound += BOUND.1;
        } else {
            self.bound = BOUND.0;
        }
        let least = LEAST_STEP * rate;
        if step < 0.0 { step.min(-least) } else { step.max(least) }
    }
}
