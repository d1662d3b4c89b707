//! A congestion controller of one's own: additive increase, multiplicative decrease (Chiu & Jain 1989).

use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::custom::{ControllerFactory, PluggedController, register_controller};
use thalweg_machines::congestion::{AckSample, CongestionControl, Loss, Permit, Start};
use thalweg_machines::plugin::Made;
use thalweg_units::Bytes;

/// Adds `increase` segments per round trip and multiplies by `decrease` on loss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Aimd {
    params: Params,
    mss: f64,
    window: f64,
}

/// What a scenario writes under `params`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Segments per round trip.
    pub increase: f64,
    /// Remaining part of the window after a loss, in (0, 1).
    pub decrease: f64,
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, ack: &AckSample) {
        if !ack.in_recovery {
            self.window += self.params.increase * self.mss * ack.acked.get() as f64 / self.window;
        }
    }
    fn on_loss(&mut self, _: &Loss) {
        self.window = (self.window * self.params.decrease).max(self.mss);
    }
    fn on_timeout(&mut self, _: &Loss) {
        self.window = self.mss;
    }
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window as u64))
    }
}

impl PluggedController for Aimd {
    fn name(&self) -> &str {
        "aimd"
    }
    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

fn make(_: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController> {
    let params: Params = serde_json::from_slice(params).map_err(|e| e.to_string())?;
    if !(0.0..1.0).contains(&params.decrease) || !(0.0..=1e6).contains(&params.increase) {
        return Err("`decrease` must lie in [0, 1), `increase` in [0, 1e6]".into());
    }
    Ok(Box::new(Aimd { params, mss: f64::from(start.mss), window: start.initial_window.get() as f64 }))
}

fn load(_: &str, saved: &[u8]) -> Made<dyn PluggedController> {
    postcard::from_bytes::<Aimd>(saved).map(|c| Box::new(c) as _).map_err(|e| e.to_string().into())
}

/// Makes `congestion = { kind = "custom", name = "aimd", params = { increase = 1.0, decrease = 0.5 } }` mean this.
pub fn register() {
    register_controller("aimd", ControllerFactory { make, load });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments of 1000 bytes; a round trip acknowledges all ten; a loss halves.
    #[test]
    fn a_round_trip_adds_a_segment_and_a_loss_halves() {
        let start = Start { mss: 1000, initial_window: Bytes::new(10_000), ..Start::default() };
        let mut c = make("aimd", &start, br#"{"increase": 1.0, "decrease": 0.5}"#).unwrap();
        c.on_ack(&AckSample { acked: Bytes::new(10_000), ..AckSample::default() });
        assert_eq!(c.permit().window, Bytes::new(11_000));
        c.on_loss(&Loss::default());
        assert_eq!(c.permit().window, Bytes::new(5_500));
        assert!(make("aimd", &start, br#"{"increase": 1.0, "decrease": 2.0}"#).is_err());
    }
}
