//! A window that never changes: the yardstick. Needs nothing.

use super::{AckSample, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Start};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// A window that never changes: over RDMA line rate, and the cap.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = FixedWindow;

    fn needs(&self) -> Needs {
        Needs { gives: Gives::Nothing, ..Needs::WINDOW }
    }
    fn make(&self, start: &Start) -> Result<FixedWindow, Invalid> {
        Ok(FixedWindow::new(start))
    }
}

/// The initial window, for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedWindow {
    window: Bytes,
}

impl FixedWindow {
    /// The initial window of `start`, at most its largest.
    pub fn new(start: &Start) -> Self {
        Self { window: start.initial_window.min(start.max_window) }
    }
}

impl CongestionControl for FixedWindow {
    fn on_ack(&mut self, _: &AckSample) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    #[inline]
    fn permit(&self) -> Permit {
        Permit::window(self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    #[test]
    fn nothing_moves_it() {
        let mut c = FixedWindow::new(&start(1000, 7));
        c.on_ack(&ack(1000, 1000));
        c.on_loss(&loss(1000, 0, 7000));
        c.on_timeout(&loss(1000, 0, 7000));
        assert_eq!(c.permit(), Permit::window(Bytes::new(7000)));
    }
}
