//! The results of a run.

use crate::lateness::Lateness;
use crate::namespaces::Addresses;
use crate::ports::WireKind;
use crate::statistics::{self, Statistics};
use serde::{Deserialize, Serialize};

/// The results of a command on an emulated path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the command ended.
    pub status: Status,
    /// From the application to the far end.
    pub up: Direction,
    /// From the far end to the application.
    pub down: Direction,
    /// True if some direction was late.
    pub late: bool,
    /// True if the emulator's thread had real-time priority.
    pub realtime: bool,
    /// How frames got in and out.
    pub wire: WireKind,
    /// The addresses of both ends.
    pub addresses: Addresses,
    /// Duration of the run, s.
    pub seconds: f64,
    /// CPU time of the emulator, s.
    pub cpu_seconds: f64,
    /// Messages about features that were not available, and errors that did not end the run.
    pub notes: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The exit status; for a command ended by a signal, 128 plus the signal, as in shells.
    pub code: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// The port's name in its scenario; for several ports, the names of all nodes.
    pub port: String,
    /// The long-term mean rate, bit/s; for several ports, the lowest.
    pub bps: u64,
    /// Propagation delay, ns.
    pub delay_ns: u64,
    /// Its counters.
    pub statistics: Statistics,
    /// If there are several ports, each of them in the order of the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Hop>,
    /// The lateness of packets.
    pub lateness: Lateness,
}

/// One port of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// Its name in its scenario.
    pub port: String,
    /// The long-term mean rate, bit/s.
    pub bps: u64,
    /// Propagation delay of its link, ns.
    pub delay_ns: u64,
    /// Its counters.
    #[serde(flatten)]
    pub counted: statistics::Hop,
}
