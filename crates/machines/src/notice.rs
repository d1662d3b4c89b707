//! What congestion points tell the sources of flows: messages of their own, from a port in the network back to a host.

use crate::point::law::Law;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Rate};

/// A message from a congestion point to the source of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// The port that it comes from.
    pub point: PortId,
    /// What it says.
    pub says: Says,
}

/// What a congestion point says. More will come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Says {
    /// RoCC: the fair rate, in whole steps of its resolution.
    FairRate(Rate),
    /// RoCC, where hosts compute the rate themselves.
    Queue(QueueReport),
    /// QCN: |Fb| in six bits; it is never sent for a positive Fb.
    Severity(u8),
}

/// What a host needs to compute RoCC's fair rate (§3.3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueueReport {
    /// Q_cur, ΔQ.
    pub queue: u32,
    /// The tick's number, modulo 256.
    pub tick: u8,
    /// F before this tick, fixed point ([`Law`]); `None`: it is not carried, and every host integrates its own.
    pub fair: Option<i64>,
    /// The constants.
    pub law: Law,
}
