//! Shortest job first, without preemption unless the port gives way: [`Rank`] by flow sizes, which senders write.
//!
//! "Within a flow earliest sequence first" (SJF of ADS §2.2) is pFabric's rule too.

use super::rank::Rank;
use super::{At, Key, Needs, Parameters};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shortest job first: smallest flow size first; drops the latest packet of the largest flow.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Rank;

    fn needs(&self) -> Needs {
        Needs { key: Key::FlowSize, overtakes: true, ..Needs::NOTHING }
    }
    fn make(&self, at: &At) -> Result<Rank, Invalid> {
        Ok(Rank::new(true, at.preemptive))
    }
}
