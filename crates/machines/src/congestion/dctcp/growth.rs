//! Which ACKs grow DCTCP's window. The paper leaves this to TCP; the variants are those of its implementations.

use super::super::AckSample;
use super::super::newreno::NewReno;
use super::htsim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// When DCTCP's window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// On every ACK, as without ECN.
    Always,
    /// Not on ACKs that carry an echo (RFC 3168 §6.1.2, and the DCTCP authors' ns-2 code).
    // CHOICE DCTCP §3.1: the paper leaves growth to TCP.
    #[default]
    UnmarkedAcks,
    /// Not until the window in which it was cut is acknowledged (the CWR state of Linux and ns-3).
    OutsideCwr,
    /// As `outside-cwr`, and the cut is spread over that window (proportional rate reduction, RFC 6937; Linux, ns-3).
    GradualCwr,
    /// By no more than the room that the ACK leaves between flight and window (csg-htsim).
    Room,
}

impl Growth {
    /// Bytes by which this ACK, which counts for `acked`, lets the window grow outside of recovery.
    #[inline]
    pub(super) fn of(self, acked: u64, ack: &AckSample, reno: &NewReno) -> u64 {
        match self {
            Self::Always => acked,
            Self::UnmarkedAcks if ack.marked == Bytes::ZERO => acked,
            Self::OutsideCwr | Self::GradualCwr if ack.acked_to > reno.cut_to => acked,
            Self::UnmarkedAcks | Self::OutsideCwr | Self::GradualCwr => 0,
            Self::Room => htsim::room(ack, reno),
        }
    }
}

/// Proportional rate reduction (RFC 6937 §3.1): while the window in which the cut began is acknowledged, cwnd
/// falls in step from where it was to ssthresh.
pub(super) fn shrink(reno: &mut NewReno, ack: &AckSample) {
    let acked = ack.acked.get();
    let left = reno.cut_to.saturating_sub(ack.acked_to - acked.min(ack.acked_to));
    let excess = reno.window.saturating_sub(reno.threshold);
    if left > 0 {
        reno.window -= (u128::from(excess) * u128::from(acked.min(left)) / u128::from(left)) as u64;
    }
}
