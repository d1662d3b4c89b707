//! What a run was.

use crate::lateness::Lateness;
use crate::namespaces::Addresses;
use crate::ports::WireKind;
use crate::statistics::{self, Statistics};
use serde::{Deserialize, Serialize};

/// A run of a command on an emulated path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the command ended.
    pub status: Status,
    /// From the application to the far end.
    pub up: Direction,
    /// And back.
    pub down: Direction,
    /// Some direction was late.
    pub late: bool,
    /// The emulator's thread had real-time priority.
    pub realtime: bool,
    /// How frames got in and out.
    pub wire: WireKind,
    /// The ends.
    pub addresses: Addresses,
    /// How long it took, s.
    pub seconds: f64,
    /// CPU time of the emulator, s.
    pub cpu_seconds: f64,
    /// What could not be had, and what went wrong without ending the run.
    pub notes: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its exit status; of a command that a signal ended, 128 and the signal, as shells have it.
    pub code: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// The port's name in its scenario; of several, all nodes.
    pub port: String,
    /// Its rate in the long run, bit/s; of several ports the least.
    pub bps: u64,
    /// Propagation, ns.
    pub delay_ns: u64,
    /// What passed.
    pub statistics: Statistics,
    /// Where there are several ports: each, in the order in which packets pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Hop>,
    /// How late packets were.
    pub lateness: Lateness,
}

/// One port of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// Its name in its scenario.
    pub port: String,
    /// Its rate in the long run, bit/s.
    pub bps: u64,
    /// Propagation behind it, ns.
    pub delay_ns: u64,
    /// What passed there.
    #[serde(flatten)]
    pub counted: statistics::Hop,
}
