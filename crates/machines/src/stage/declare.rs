//! What a stage declares: its keys with defaults, documentation and ranges, and what it does to packets. The scenario
//! schema, `explain`, the catalogue, the manual, the checks and the common tests are all derived from it.

use super::HeaderStage;
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use thalweg_units::notation::Capacity;
use thalweg_units::{Rate, Stream};
use thalweg_wire::ExplicitKind;

/// A stage's parameters: its table in scenarios. The doc comment of the struct is the stage's summary, with
/// its source in parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Copy + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state machine of one port.
    type Machine: HeaderStage;

    /// What it does to packets.
    fn acts(&self) -> Acts;

    /// Fills in keys whose defaults depend on whether any transport is ECN-capable.
    fn resolve(&mut self, _ecn_capable: bool) {}

    /// What is impossible, or cannot take effect, at such a queue.
    fn check(&self, _at: &Around, _problems: &mut Problems) {}

    /// The stage of a port of `rate`, from parameters that were checked; chance draws from `stream`.
    ///
    /// # Errors
    /// If it cannot work at this port.
    fn make(&self, stream: Stream, rate: Rate) -> Result<Self::Machine, Invalid>;

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// What a stage does to packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acts {
    /// Nothing.
    Not,
    /// It marks ECN-capable packets, and leaves the others alone.
    Marks,
    /// It marks ECN-capable packets, and drops the others.
    MarksOrDrops,
    /// It drops packets.
    Drops,
    /// It writes explicit feedback for senders, and must see arrivals and departures of the queue.
    Signals(ExplicitKind),
    /// It writes into headers: it stands behind a queue, not inside it.
    Writes,
}

impl Acts {
    /// Packets may be marked.
    pub fn marks(self) -> bool {
        matches!(self, Self::Marks | Self::MarksOrDrops)
    }
    /// Packets may be dropped.
    pub fn drops(self) -> bool {
        matches!(self, Self::Drops | Self::MarksOrDrops)
    }
}

/// The queue that a stage belongs to, as far as its checks need to know it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Around {
    /// What the queue may hold by its own limit.
    pub buffer: Capacity,
    /// What it may hold in bytes, including the limit of shared memory.
    pub room: u64,
    /// The largest packet, bytes on the wire.
    pub full: u32,
    /// Some transport's packets may be marked.
    pub ecn_capable: bool,
    /// The link may send batches.
    pub batches: bool,
}

impl Around {
    /// A queue about which nothing is known.
    pub const ANY: Self =
        Self { buffer: Capacity::Unlimited, room: u64::MAX, full: 1500, ecn_capable: true, batches: true };
}

/// When marking decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// As a packet arrives.
    #[default]
    Arrival,
    /// As a packet leaves.
    Departure,
}
