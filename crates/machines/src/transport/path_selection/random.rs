//! Oblivious spraying: every packet draws.

use super::declare::{Choice, Parameters, VALUES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// Every packet draws a value (Bonato et al., REPS, EuroSys 2026: OPS).
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
    type Machine = Random;

    fn values(&self) -> u32 {
        self.values
    }
    fn make(&self, stream: Stream) -> Random {
        Random { stream }
    }
}

/// What one flow draws from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random {
    stream: Stream,
}

impl Random {
    /// One of so many values.
    #[inline]
    pub(crate) fn draw(&mut self, values: u32) -> u32 {
        self.stream.below(u64::from(values)) as u32
    }
}

impl From<Stream> for Random {
    fn from(stream: Stream) -> Self {
        Self { stream }
    }
}

impl Choice for Random {
    type Params = Params;

    #[inline]
    fn next(&mut self, p: &Params, _: Time, _: u64) -> u32 {
        self.draw(p.values)
    }
}
