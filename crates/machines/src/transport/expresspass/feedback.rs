//! The rate of a flow's credits, controlled by how many of them are dropped: the feedback control of ExpressPass (Cho
//! et al., SIGCOMM 2017, §3.3, Algorithm 1) with the arithmetic of the authors' simulator (`credit_feedback_control`).

use super::ExpressPassSpec;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// Step by which w rises, and its maximum.
const W_STEP: f64 = 0.05;
const W_MAX: f64 = 0.5;

/// A flow's rate. Rates are bits per second of credits on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// cur_rate.
    rate: f64,
    /// w: the fraction of the distance to max_rate that one increase covers.
    w: f64,
    /// The previous update was no decrease.
    can_increase_w: bool,
    /// The number of the next credit that data are expected to answer.
    expected: u64,
    /// Credits accounted for since the last update, and how many of them were dropped.
    total: u64,
    dropped: u64,
    updated: Time,
    /// Average time from a credit to its data; zero before the first sample.
    rtt: Span,
}

impl Feedback {
    /// A flow starts.
    pub fn new(spec: &ExpressPassSpec, now: Time) -> Self {
        Self {
            rate: spec.alpha * spec.max_rate.bps() as f64,
            w: spec.w_init,
            can_increase_w: false,
            expected: 1,
            total: 0,
            dropped: 0,
            updated: now,
            rtt: Span::ZERO,
        }
    }

    /// Data has arrived that answers credit `number`, which was sent `rtt` ago. Credits between the expected one and
    /// this one were dropped.
    pub fn answered(&mut self, number: u64, rtt: Span) {
        let Some(distance) = number.checked_sub(self.expected) else { return };
        self.total += distance + 1;
        self.dropped += distance;
        self.expected = number + 1;
        self.rtt = if self.rtt.is_zero() { rtt } else { self.rtt.saturating_mul(4) / 5 + rtt / 5 };
    }

    /// Called before a credit leaves: the rate is updated once per round trip.
    pub fn update(&mut self, spec: &ExpressPassSpec, now: Time) {
        let since = now.since(self.updated);
        if self.rtt.is_zero() || since < self.rtt || self.total == 0 {
            return;
        }
        let (max, credit) = (spec.max_rate.bps() as f64, spec.credit() * 8.0);
        let loss = self.dropped as f64 / self.total as f64;
        let target = (1.0 - self.rate / max) * spec.target_loss;
        if loss > target {
            let delivered = credit * (self.total - self.dropped) as f64 / since.secs();
            self.rate = self.rate.min(delivered * (1.0 + target));
            self.w = (self.w / 2.0).max(spec.w_min);
            self.can_increase_w = false;
        } else {
            if self.can_increase_w {
                self.w = (self.w + W_STEP).min(W_MAX);
            }
            self.can_increase_w = true;
            self.rate = self.w * max + (1.0 - self.w) * self.rate;
        }
        // At least one credit per round trip.
        self.rate = self.rate.max(credit / self.rtt.secs()).min(max);
        (self.total, self.dropped, self.updated) = (0, 0, now);
    }

    /// The gap after a credit, without jitter.
    pub fn gap(&self, spec: &ExpressPassSpec) -> f64 {
        spec.credit() * 8.0 / self.rate * 1e12
    }

    /// The credit rate in bits per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }
    /// The aggressiveness factor w.
    pub fn w(&self) -> f64 {
        self.w
    }
}
