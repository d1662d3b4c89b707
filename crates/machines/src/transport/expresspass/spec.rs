//! ExpressPass' parameters as data.

use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Receiver-driven transport by credits. Everything has class 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpressPassSpec {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Header bytes of every data packet on the wire.
    pub header: u32,
    /// Wire size of requests, stops and ACKs.
    pub control: u32,
    /// Wire size of the smallest credit; sizes are drawn uniformly.
    pub credit_min: u32,
    /// Wire size of the largest credit.
    pub credit_max: u32,
    /// max_rate: largest rate of one flow's credits, on the wire.
    pub max_rate: Rate,
    /// α: initial credit rate of a flow as a fraction of max_rate.
    pub alpha: f64,
    /// Initial value of the aggressiveness factor w.
    pub w_init: f64,
    /// Smallest value of w.
    pub w_min: f64,
    /// Target loss ratio of credits as the rate approaches zero.
    pub target_loss: f64,
    /// Jitter: each gap between credits is drawn uniformly within ± this fraction.
    pub jitter: f64,
    /// A sender that has received nothing for this time repeats its last message.
    pub retry: Span,
}

impl ExpressPassSpec {
    /// What is wrong with it.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let refuse = |key: &'static str, why: &'static str| Err(Invalid::new(why).of("ExpressPass").at(key));
        if self.payload == 0 || self.payload.checked_add(self.header).is_none() || self.control == 0 {
            return refuse("payload", "a packet of no bytes, or of more than 4 GB");
        }
        if self.credit_min == 0 || self.credit_max < self.credit_min {
            return refuse("credit_min", "the smallest credit has no bytes, or is larger than the largest");
        }
        if self.max_rate == Rate::ZERO {
            return refuse("max_rate", "max_rate is 0: no credit would ever be sent; allowed: above");
        }
        let shares = [self.alpha, self.w_init, self.w_min, self.target_loss];
        if shares.iter().any(|share| !(*share > 0.0 && *share <= 1.0)) || !(0.0..1.0).contains(&self.jitter) {
            return refuse(
                "alpha",
                "alpha, w_init, w_min and target_loss are above 0 and at most 1, jitter below 1",
            );
        }
        if self.retry.is_zero() {
            return refuse("retry", "retry is 0; allowed: above");
        }
        Ok(())
    }

    /// Bytes of a credit, on average.
    pub(super) fn credit(&self) -> f64 {
        f64::midpoint(f64::from(self.credit_min), f64::from(self.credit_max))
    }
}
