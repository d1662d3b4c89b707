//! What a policy declares, once: its keys with their defaults, documentation and ranges, and what it needs of
//! queues and transports.

use super::{Admission, Arriving, Memory, Sharing};
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A policy's parameters: its table in scenarios. The doc comment of the struct is its summary, with its source in
/// parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The policy of one switch.
    type Machine: Sharing;

    /// What it needs of queues and transports.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether the policy has no effect: nothing is ever dropped or trimmed if `total` bytes are shared by `ports`
    /// ports whose own limit is `each` bytes.
    fn admits_all(&self, total: u64, ports: u64, each: u64) -> bool {
        total >= each.saturating_mul(ports)
    }

    /// The smallest memory in which one of `ports` ports can store a packet of `packet` bytes when nothing waits.
    fn least(&self, packet: u64, _ports: u64) -> u64 {
        packet
    }

    /// The most that one of `ports` or more ports may ever hold of `total` bytes, in packets of up to `packet` bytes.
    fn most(&self, total: u64, _ports: u64, _packet: u64) -> u64 {
        total
    }

    /// What is impossible, or cannot take effect.
    fn check(&self, _problems: &mut Problems) {}

    /// The policy of a switch, from parameters that were checked.
    fn make(&self) -> Self::Machine;

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// What a policy needs of queues and transports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Queues must be able to push out waiting packets.
    pub pushes_out: bool,
    /// Packets may be trimmed to headers.
    pub trims: bool,
}

/// What becomes of a packet that is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// It is dropped.
    #[default]
    Drop,
    /// It is trimmed if there is memory for its header, regardless of its port's share; otherwise it is dropped.
    Trim,
}

impl Overflow {
    /// What a policy needs that treats packets so.
    pub(super) fn needs(self) -> Needs {
        Needs { trims: self == Self::Trim, ..Needs::default() }
    }

    /// What becomes of this packet, which is not admitted.
    #[cold]
    pub(super) fn of(self, memory: &impl Memory, arriving: &Arriving) -> Admission {
        match (self, arriving.header) {
            (Self::Trim, Some(header)) if u64::from(header) <= memory.free() => Admission::Trim,
            _ => Admission::Drop,
        }
    }
}
