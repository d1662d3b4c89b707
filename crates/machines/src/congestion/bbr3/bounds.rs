//! Congestion signals of the round that just ended, and the short-term and long-term bounds that follow from them.
//! draft-ietf-ccwg-bbr-06, §5.5.10.3.

use super::path::Sample;
use serde::{Deserialize, Serialize};

/// Signals of the present round; rounds are those of loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Signals {
    /// BBR.is_loss_in_round, loss_round_delivered, loss_round_start.
    pub(super) loss_in_round: bool,
    round_delivered: u64,
    pub(super) round_start: bool,
    /// BBR.bw_latest, inflight_latest.
    bw_latest: u64,
    pub(super) inflight_latest: u64,
    /// ACKs of this round that reported losses, in Startup.
    pub(super) losses_in_round: u32,
}

impl Signals {
    /// NoteLoss: whether it is the first of the round.
    pub(super) fn note_loss(&mut self, delivered: u64) -> bool {
        let first = !std::mem::replace(&mut self.loss_in_round, true);
        if first {
            self.round_delivered = delivered;
        }
        first
    }

    /// UpdateLatestDeliverySignals.
    pub(super) fn latest(&mut self, rs: &Sample, delivered: u64) {
        self.round_start = false;
        self.bw_latest = self.bw_latest.max(rs.rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        if rs.is_there && rs.prior >= self.round_delivered {
            self.round_delivered = delivered;
            self.round_start = true;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance(&mut self, rs: &Sample) {
        if self.round_start {
            (self.bw_latest, self.inflight_latest) = (rs.rate, rs.delivered);
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn reset(&mut self) {
        (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0, 0);
    }
}

/// Bounds; `None`: infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bounds {
    pub(super) bw_shortterm: Option<u64>,
    pub(super) inflight_shortterm: Option<u64>,
    pub(super) inflight_longterm: Option<u64>,
}

impl Bounds {
    /// InitLowerBounds, LossLowerBounds.
    pub(super) fn lower(&mut self, signals: &Signals, max_bw: u64, cwnd: u64, beta: f64) {
        let cut = |old: u64, latest: u64| latest.max((old as f64 * beta) as u64);
        self.bw_shortterm = Some(cut(self.bw_shortterm.unwrap_or(max_bw), signals.bw_latest));
        let inflight = self.inflight_shortterm.unwrap_or(cwnd);
        self.inflight_shortterm = Some(cut(inflight, signals.inflight_latest));
    }

    /// ResetShortTermModel.
    pub(super) fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (None, None);
    }
}
