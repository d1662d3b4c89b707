//! author-cc: a congestion controller for thalweg.
//!
//! Additive increase, multiplicative decrease with slow start, to be replaced by yours. Windows are bytes of payload.

use serde::{Deserialize, Serialize};
use thalweg_plugin::{AckSample, Bytes, CongestionControl, Controller, Loss, Permit, Start};

/// One flow's controller. Its state is data: it is saved and read back with the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuthorCc {
    params: Params,
    mss: f64,
    window: f64,
    threshold: f64,
}

/// What a scenario may write under `params`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Params {
    /// Segments per round trip.
    pub increase: f64,
    /// Remaining part of the window after a loss, in (0, 1).
    pub decrease: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { increase: 1.0, decrease: 0.5 }
    }
}

impl CongestionControl for AuthorCc {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        // A window that was not used up says nothing about the network.
        if ack.in_recovery || !ack.cwnd_limited {
            return;
        }
        let acked = ack.acked.get() as f64;
        self.window += if self.window < self.threshold {
            acked
        } else {
            self.params.increase * self.mss * acked / self.window
        };
    }
    fn on_loss(&mut self, _: &Loss) {
        self.window = (self.window * self.params.decrease).max(2.0 * self.mss);
        self.threshold = self.window;
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.on_loss(loss);
        self.window = self.mss;
    }
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window as u64))
    }
}

impl Controller for AuthorCc {
    const NAME: &'static str = "author-cc";
    type Params = Params;

    fn make(start: &Start, params: Params) -> Result<Self, String> {
        if !(0.0..1.0).contains(&params.decrease) || !(0.0..=1e6).contains(&params.increase) {
            return Err("`decrease` must lie in [0, 1), `increase` in [0, 1e6]".into());
        }
        let (mss, window) = (f64::from(start.mss), start.initial_window.get() as f64);
        Ok(Self { params, mss, window, threshold: f64::MAX })
    }
}

thalweg_plugin::export!(AuthorCc);

#[cfg(test)]
mod tests {
    use super::*;

    fn new() -> AuthorCc {
        let start = Start { mss: 1000, initial_window: Bytes::new(10_000), ..Start::default() };
        AuthorCc::make(&start, Params::default()).unwrap()
    }

    #[test]
    fn a_loss_halves_the_window_and_a_round_trip_adds_a_segment() {
        let mut c = new();
        c.on_loss(&Loss::default());
        assert_eq!(c.permit(), Permit::window(Bytes::new(5_000)));
        let ack = AckSample { acked: Bytes::new(5_000), cwnd_limited: true, ..AckSample::default() };
        c.on_ack(&ack);
        assert_eq!(c.permit(), Permit::window(Bytes::new(6_000)));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let params = Params { decrease: 2.0, ..Params::default() };
        assert!(AuthorCc::make(&Start::default(), params).is_err());
    }
}
