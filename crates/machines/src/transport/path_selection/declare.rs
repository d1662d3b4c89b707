//! What a path selection declares, once.

use super::PathFeedback;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use thalweg_units::{Stream, Time};

/// A path selection's parameters: its table in scenarios. The doc comment of the struct is its summary, with its
/// source in parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state of one flow.
    type Machine: Choice<Params = Self>;

    /// How many values there are: 0 to this less one.
    fn values(&self) -> u32;

    /// Reports what is impossible or cannot take effect, except [`values`](Self::values) below 2.
    fn check(&self, _problems: &mut Problems) {}

    /// The paths of one flow, from parameters that were checked; chance draws from `stream`.
    fn make(&self, stream: Stream) -> Self::Machine;

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// The paths of one flow. The parameters are always those that it was made from.
pub trait Choice {
    /// What all flows share.
    type Params;

    /// The value of the next packet, at `now`; `window`: packets that the sender may have in the network.
    fn next(&mut self, p: &Self::Params, now: Time, window: u64) -> u32;

    /// An ACK or a NACK has returned a value.
    #[inline]
    fn on_feedback(&mut self, _: &Self::Params, _now: Time, _value: u32, _what: PathFeedback) {}

    /// A packet with this value has timed out; of the recent round trips the longest took `delay` times the shortest.
    #[inline]
    fn on_timeout(&mut self, _: &Self::Params, _now: Time, _value: u32, _delay: f64) {}
}

/// 16 bits, as the source port of UDP has.
pub(super) const VALUES: u32 = 1 << 16;
