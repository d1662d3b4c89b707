//! One random value for the life of a flow, so that it has one path.

use super::declare::{Choice, Parameters, VALUES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// A flow draws one value and keeps it (equal-cost multipath: RFC 2992).
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
    type Machine = Ecmp;

    fn values(&self) -> u32 {
        self.values
    }
    fn make(&self, mut stream: Stream) -> Ecmp {
        Ecmp { value: stream.below(u64::from(self.values)) as u32 }
    }
}

/// The value of one flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ecmp {
    value: u32,
}

impl Choice for Ecmp {
    type Params = Params;

    #[inline]
    fn next(&mut self, _: &Params, _: Time, _: u64) -> u32 {
        self.value
    }
}
