//! Shortest remaining processing time: [`Rank`] by the bytes that are not yet acknowledged, which senders
//! write. pFabric's queue: Alizadeh, Yang, Sharif, Katti, McKeown, Prabhakar, Shenker, SIGCOMM 2013, §4.1.

use super::rank::Rank;
use super::{At, Key, Needs, Parameters};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shortest remaining processing time (pFabric, SIGCOMM 2013): fewest remaining bytes first, earliest packet
/// of that flow; drops the packet with the most remaining bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Serves the earliest packet of the flow whose packet has the smallest rank (pFabric's starvation prevention);
    /// otherwise that packet itself.
    pub flow_order: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { flow_order: true } // pFabric §4.1
    }
}

impl Parameters for Params {
    type Machine = Rank;

    fn needs(&self) -> Needs {
        Needs { key: Key::Remaining, overtakes: true, ..Needs::NOTHING }
    }
    fn make(&self, at: &At) -> Result<Rank, Invalid> {
        Ok(Rank::new(self.flow_order, at.preemptive))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { flow_order: true }, Self { flow_order: false }]
    }
}
