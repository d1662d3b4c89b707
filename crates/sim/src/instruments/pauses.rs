//! Priority flow control between neighbours: what was paused when, and by what.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};

/// A pause of a port, from the XOFF's arrival there to the XON's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRecord {
    /// The port that was paused.
    pub port: PortId,
    /// When the XOFF arrived.
    pub began: Time,
    /// When the XON arrived, or the last XOFF expired; [`Time::MAX`]: not yet.
    pub ended: Time,
    /// The pause that caused it, by its number in [`crate::Sim::pauses`]: that of the output that the packet
    /// which crossed the threshold was bound for; `u32::MAX`: a root, that output was merely busy.
    pub cause: u32,
}

/// A cycle of pauses that cannot end by themselves: something else may break it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// When it closed.
    pub at: Time,
    /// When a port of it went on; [`Time::MAX`]: it stands.
    pub ended: Time,
    /// The ports that wait for each other, and those behind them.
    pub ports: Vec<PortId>,
}
