//! Records of pauses of whole ports: which port was paused when, and why; and deadlocks.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};

/// A pause of a port, from the arrival of the XOFF to that of the XON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRecord {
    /// The port that was paused.
    pub port: PortId,
    /// When the XOFF arrived.
    pub began: Time,
    /// When the XON arrived, or the last XOFF expired; [`Time::MAX`]: not yet.
    pub ended: Time,
    /// The pause that caused it, by its number in [`crate::Sim::pauses`]: the pause of the output port for which
    /// the packet that crossed the threshold was bound; `None`: a root, that output was not paused.
    pub cause: Option<u32>,
}

/// A cycle of pauses that cannot end by themselves; an incident or relief may break it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// When the cycle closed.
    pub at: Time,
    /// When one of its ports was resumed; [`Time::MAX`]: not yet.
    pub ended: Time,
    /// The ports that wait for each other, and those behind them.
    pub ports: Vec<PortId>,
}
