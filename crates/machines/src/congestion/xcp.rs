//! XCP's sender: routers write into each packet by how much its window changes. Katabi, Handley, Rohrs, SIGCOMM 2002,
//! §3.4. Needs: XCP's routers on the way (`marking = { kind = "xcp" }`).
//!
//! CHOICE XCP §3.4: a loss halves the window, as TCP's, and a timeout leaves one segment; no window is smaller.

use super::{
    AckSample, CongestionControl, Explicit, ExplicitKind, Feedback, FeedbackKind, Gives, Loss, Needs,
    Parameters, Permit, Restart, Rule, Rules, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// XCP's sender: routers write by how much the window changes (Katabi et al., SIGCOMM 2002).
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Xcp;

    fn needs(&self) -> Needs {
        let feedback = FeedbackKind::Explicit(ExplicitKind::Change);
        Needs { feedback, gives: Gives::Window { slow_start: false }, ..Needs::WINDOW }
    }

    fn rules(&self) -> Rules {
        let xcp = Rule::Differs("XCP §3.4: of the window");
        Rules {
            loss_window: Rule::Kept,
            loss_cuts_flight: xcp,
            grows_when_used: Rule::Kept,
            restarts: Rule::Kept,
            ..Rules::FOREIGN
        }
    }

    fn make(&self, start: &Start) -> Result<Xcp, Invalid> {
        let max_window = start.max_window.get().min(1 << 50) as f64;
        let mss = f64::from(start.mss);
        let window = (start.initial_window.get().min(1 << 50) as f64).min(max_window).max(mss);
        Ok(Xcp { mss, max_window, window })
    }
}

/// Least window, segments.
const LEAST: f64 = 1.0;

/// XCP's window, bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Xcp {
    mss: f64,
    max_window: f64,
    window: f64,
}

impl Xcp {
    fn set(&mut self, window: f64) {
        self.window = window.max(LEAST * self.mss).min(self.max_window).max(self.mss);
    }
}

impl CongestionControl for Xcp {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        // CHOICE XCP §3.2: a positive feedback is ignored while the window is not used up: otherwise it would
        // accumulate and take effect much later, all at once.
        if let Feedback::Explicit(Explicit::Change(Some(thousandths))) = ack.feedback
            && (thousandths < 0 || ack.cwnd_limited)
        {
            self.set(self.window + thousandths as f64 / 1000.0);
        }
    }
    fn on_loss(&mut self, _: &Loss) {
        self.set(self.window / 2.0);
    }
    fn on_timeout(&mut self, _: &Loss) {
        self.set(0.0);
    }
    fn restart_from(&mut self, _: Time, restart: Restart) {
        self.set(self.window.min(restart.window.get() as f64));
    }
    #[inline]
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    #[test]
    fn the_window_changes_by_feedback_alone() {
        let mut c = Params {}.make(&start(1000, 10)).unwrap();
        let mut reported = |change: Option<i64>| {
            c.on_ack(&AckSample { feedback: Feedback::Explicit(Explicit::Change(change)), ..ack(1000, 0) });
            c.permit().window.get()
        };
        assert_eq!(reported(Some(1_500_000)), 11_500);
        assert_eq!(reported(None), 11_500, "no router has said anything");
        assert_eq!(reported(Some(-500_250)), 10_999);
        assert_eq!(reported(Some(-50_000_000)), 1000);
        assert_eq!(reported(Some(19_000_000)), 20_000);
        c.on_loss(&loss(20_000, 0, 20_000));
        assert_eq!(c.permit().window, Bytes::new(10_000));
        c.on_timeout(&loss(20_000, 0, 20_000));
        assert_eq!(c.permit().window, Bytes::new(1000));
    }
}
