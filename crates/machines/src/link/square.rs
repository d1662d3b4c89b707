//! A square wave: two alternating rates, to test the response of a controller. A [`Stepped`](super::Stepped) link.

use super::declare::{Making, Parameters};
use super::stepped::{Step, SteppedSpec};
use super::trace::Trace;
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// A square wave of two rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The initial rate.
    #[schemars(extend("examples" = ["24Mbps"]))]
    pub first: Rate,
    /// The other one; `0bps` is an outage.
    #[schemars(extend("examples" = ["12Mbps"]))]
    pub second: Rate,
    /// Duration of each rate.
    #[schemars(extend("examples" = ["500ms"]))]
    pub half_period: Span,
}

impl Parameters for Params {
    type Spec = SteppedSpec;

    fn check(&self, run: Span, _: Option<&Trace>, problems: &mut Problems) {
        if self.first == self.second {
            let hint = format!("write {{ kind = \"fixed\", rate = \"{}\" }}", self.first);
            problems.useless("second", "both rates are the same", hint);
        }
        problems.positive("half_period", self.half_period, "500ms");
        if self.half_period >= run {
            let why = format!("the run ends at {run}, before the second rate begins");
            problems.useless("half_period", &why, "write a shorter time or raise `run.until`");
        }
    }
    fn spec(&self, _: Making) -> Result<SteppedSpec, Invalid> {
        let half = self.half_period;
        let steps = vec![Step { at: Span::ZERO, rate: self.first }, Step { at: half, rate: self.second }];
        Ok(SteppedSpec { steps, period: Some(half.saturating_mul(2)) })
    }
}
