//! What a relief declares.

use super::Relief;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use thalweg_units::Span;

/// The switch that a relief is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its ports.
    pub ports: usize,
    /// The longest propagation delay of a link in the network.
    pub delay: Span,
    /// A random word by which its clock differs from those of other switches.
    pub clock: u64,
}

/// A relief's parameters: its table in scenarios. The doc comment of the struct is its summary, with its
/// source in parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Copy + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state machine of one switch.
    type Machine: Relief;

    /// What is impossible, or cannot take effect.
    fn check(&self, _problems: &mut Problems) {}

    /// Packets that may come by an input besides what was on its way when its neighbour was paused: headroom
    /// has room for them.
    fn more(&self) -> u64;

    /// It drops packets, so that senders need a retransmission timer.
    fn drops(&self) -> bool {
        false
    }

    /// Its signals name flows by their connection, which must then take one path.
    fn names_connections(&self) -> bool {
        false
    }

    /// The relief of a switch, from parameters that were checked.
    fn make(&self, site: &Site) -> Self::Machine;

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}
