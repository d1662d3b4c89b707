//! What congestion points report to the sources of flows: messages of their own, from a port in the network
//! back to a host.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Rate};

/// A message from a congestion point to the source of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// The port that it comes from.
    pub point: PortId,
    /// Its content.
    pub body: NoticeBody,
}

/// What a congestion point reports. More will come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NoticeBody {
    /// RoCC: the fair rate, in whole steps of its resolution.
    FairRate(Rate),
    /// RoCC, where hosts compute the rate themselves.
    Queue(QueueReport),
    /// QCN: |Fb| in six bits; it is never sent for a positive Fb.
    Severity(u8),
    /// That there is congestion, and no more: a CNP ([`Message::Cnp`](crate::Message::Cnp)).
    Congestion,
}

impl NoticeBody {
    /// One number for traces and digests: bit/s, steps of the queue, |Fb|; 0 where it says no more than that there is
    /// congestion.
    pub fn number(&self) -> u64 {
        match self {
            Self::FairRate(rate) => rate.bps(),
            Self::Queue(report) => u64::from(report.queue),
            Self::Severity(severity) => u64::from(*severity),
            Self::Congestion => 0,
        }
    }
}

/// What a host needs to compute RoCC's fair rate (§3.3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueueReport {
    /// Q_cur, ΔQ.
    pub queue: u32,
    /// The tick's number, modulo 256.
    pub tick: u8,
    /// F before this tick, fixed point ([`RoccLaw::PLACES`]); `None`: it is not carried, and every host integrates
    /// its own.
    pub fair: Option<i64>,
    /// The constants.
    pub law: RoccLaw,
}

/// The constants of one of RoCC's congestion points (Menikkumbura, "Software-Defined Buffer Management and Robust
/// Congestion Control for Modern Datacenter Networks", Purdue University 2022, §3.3.2), in whole steps ΔQ of queues
/// and ΔF of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoccLaw {
    /// F_min, fixed point.
    pub min: i64,
    /// F_max, fixed point.
    pub max: i64,
    /// Q_ref.
    pub reference: i64,
    /// Q_mid.
    pub growth: i64,
    /// Q_max.
    pub limit: i64,
    /// α̃, fixed point.
    pub alpha: i64,
    /// β̃, fixed point.
    pub beta: i64,
    /// Multiplicative decrease needs an F above this.
    pub guard: i64,
    /// There is multiplicative decrease.
    pub decreases: bool,
    /// ΔF, bit/s.
    pub rate_step: u64,
}

impl RoccLaw {
    /// Binary places of F and of the gains.
    pub const PLACES: u32 = 16;
}
