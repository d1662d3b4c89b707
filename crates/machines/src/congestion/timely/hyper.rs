//! Hyper-active increase: the larger step of TIMELY's Algorithm 1 after a number of updates in a row that count.

use super::super::Problems;
use super::{Sample, Timely};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Rate;

/// TIMELY's hyper-active increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hyper {
    /// Number of qualifying updates in a row after which it begins; 0: never.
    pub after: u32,
    /// Increase step in hyper-active increase.
    pub step: Rate,
    /// It also applies below T_low. In Algorithm 1 it applies only between the thresholds.
    pub below_t_low: bool,
    /// Which updates qualify.
    pub count: Count,
}

impl Default for Hyper {
    fn default() -> Self {
        // Algorithm 1: N = 5 after five completion events
        Self { after: 5, step: Rate::from_mbps(50), below_t_low: false, count: Count::Gradient }
    }
}

/// Which updates qualify for hyper-active increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// A negative gradient, this update's included (Algorithm 1).
    #[default]
    Gradient,
    /// A negative raw difference, this update's included (the authors' published snippet).
    Difference,
    /// An increase for any reason, not counting this update (the HPCC authors' simulator).
    Increase,
}

impl Hyper {
    /// Settings that cannot take effect.
    pub(super) fn check(self, problems: &mut Problems) {
        if self.after > 0 {
            return;
        }
        for (key, set) in
            [("hyper.below_t_low", self.below_t_low), ("hyper.count", self.count != Count::Gradient)]
        {
            if set {
                let why = "`after = 0` means that there is no hyper-active increase";
                problems.useless(key, why, "remove the key or write `after = 5`");
            }
        }
    }
}

impl Timely {
    /// Whether the update that a sample is about to bring counts.
    pub(super) fn count_before(&mut self, sample: Sample) {
        match self.params.hyper.count {
            Count::Gradient => self.count(sample.gradient < 0.0),
            Count::Difference => self.count(sample.difference < 0.0),
            Count::Increase => {} // see `count_behind`
        }
    }

    /// One more update in a row that counts, or none.
    pub(super) fn count(&mut self, counts: bool) {
        self.in_a_row = if counts { self.in_a_row.saturating_add(1) } else { 0 };
    }

    /// The additive step: δ, or the hyper-active one.
    pub(super) fn step(&self, may_be_hyper: bool) -> f64 {
        let hyper = self.params.hyper;
        let begun = hyper.after > 0 && self.in_a_row >= hyper.after;
        let step = if begun && may_be_hyper { hyper.step } else { self.params.additive };
        step.bps() as f64
    }
}
