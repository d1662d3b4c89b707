//! No active management: a packet is refused only when the buffer is full.

use super::{Acts, HeaderStage, Parameters};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream};

/// No early drops and no marks: the buffer's limit alone.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = TailDrop;

    fn acts(&self) -> Acts {
        Acts::Not
    }
    fn make(&self, _: Stream, _: Rate) -> Result<TailDrop, Invalid> {
        Ok(TailDrop)
    }
}

/// Admits everything; the queue's limit does the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TailDrop;

impl HeaderStage for TailDrop {
    fn quiet_below(&self) -> u32 {
        u32::MAX
    }
    fn bypass_limit(&self) -> u64 {
        u64::MAX
    }
}
