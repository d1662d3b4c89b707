//! What a congestion point declares.

use super::CongestionPoint;
use crate::congestion::Messages;
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use thalweg_units::{Bytes, Rate, Stream};

/// A point's parameters: its table in scenarios. The doc comment of the struct is its summary, with its
/// source in parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Copy + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state machine of one port.
    type Machine: CongestionPoint;

    /// The kind of message that it sends, to controllers that [need](crate::congestion::Needs::messages) it.
    fn sends(&self) -> Messages;

    /// A message's bytes on the wire.
    fn message(&self) -> Bytes;

    /// What is impossible, or cannot take effect.
    fn check(&self, _problems: &mut Problems) {}

    /// The point of a port of `rate`, from parameters that were checked; chance draws from `stream`.
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
