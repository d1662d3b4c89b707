//! Verus' delay estimator, §4.1: the recent delays of packets.

use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Weight of what was before: in the mean delay, in that of epochs.
const OLD: f64 = 0.875;
const OLD_EPOCH: f64 = 0.2;

/// Delays, ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Delays {
    /// D_max of this epoch, if an ACK came; that of those before.
    pub(super) epoch_max: Option<f64>,
    pub(super) last_max: Option<f64>,
    /// D_min; D_mean.
    pub(super) least: f64,
    pub(super) mean: f64,
    pub(super) last_ack: Option<Time>,
}

impl Delays {
    /// No delays recorded; the last ACK came at `last_ack`.
    pub(super) fn new(last_ack: Option<Time>) -> Self {
        Self { epoch_max: None, last_max: None, least: f64::INFINITY, mean: 0.0, last_ack }
    }

    /// A packet took so long.
    pub(super) fn observe(&mut self, now: Time, delay: f64) {
        self.last_ack = Some(now);
        self.epoch_max = Some(self.epoch_max.map_or(delay, |max| max.max(delay)));
        self.mean = OLD * self.mean + (1.0 - OLD) * delay;
    }

    /// D_min; 0 before it is known.
    pub(super) fn least(&self) -> f64 {
        if self.least.is_finite() { self.least } else { 0.0 }
    }

    /// An epoch ends: D_max of those before it, and its own. Of one without an ACK that is what was before,
    /// or the silence.
    pub(super) fn end_epoch(&mut self, now: Time) -> (f64, f64) {
        let silence = self.last_ack.map_or(0.0, |last_ack| now.since(last_ack).secs() * 1e3);
        let max = self.epoch_max.take().unwrap_or_else(|| self.last_max.unwrap_or(0.0).max(silence));
        (*self.last_max.get_or_insert(max), max)
    }

    /// It counts among those before.
    pub(super) fn smooth(&mut self, last: f64, max: f64) {
        self.last_max = Some(OLD_EPOCH * last + (1.0 - OLD_EPOCH) * max);
    }
}
