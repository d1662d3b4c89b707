//! RCP's sender: it sends at the rate that the routers name. Dukkipati, McKeown, "Why Flow-Completion Time is the Right Metric for
//! Congestion Control", CCR 2006. Needs: RCP's routers on the way (`marking = { kind = "rcp" }`).
//!
//! ```text
//! CHOICE RCP §II: until the first rate comes back, `probe` segments leave at once; losses and timeouts change nothing.
//! ```

use super::{
    AckSample, CongestionControl, Explicit, ExplicitKind, Feedback, FeedbackKind, Gives, Loss, Needs,
    Parameters, Permit, Problems, Start,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate};

/// RCP's sender: the rate that routers name (Dukkipati, McKeown, CCR 2006).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Segments that leave before the first rate is known.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub probe: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { probe: 10 }
    }
}

impl Parameters for Params {
    type Machine = Rcp;

    fn needs(&self) -> Needs {
        Needs { feedback: FeedbackKind::Explicit(ExplicitKind::Rate), gives: Gives::Pace, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        if self.probe == 0 || self.probe > 1_000_000 {
            problems.wrong("probe", format!("{} is out of range", self.probe), "allowed: 1 to 1000000");
        }
    }

    fn make(&self, start: &Start) -> Result<Rcp, String> {
        let probe = Bytes::new(u64::from(start.mss) * u64::from(self.probe));
        Ok(Rcp {
            line: start.line_rate,
            probe: probe.min(start.max_window),
            window: start.max_window,
            pace: None,
        })
    }
}

/// RCP's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rcp {
    line: Rate,
    probe: Bytes,
    window: Bytes,
    /// R; `None`: nobody has said.
    pace: Option<Rate>,
}

impl CongestionControl for Rcp {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if let Feedback::Explicit(Explicit::Rate(Some(rate))) = ack.feedback {
            self.pace = Some(rate.min(self.line).max(Rate::from_bps(1)));
        }
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    #[inline]
    fn permit(&self) -> Permit {
        let window = if self.pace.is_some() { self.window } else { self.probe };
        Permit { window, pace: self.pace, wake: None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{ack, start};
    use super::*;

    #[test]
    fn a_probe_leaves_first_and_then_the_pace_is_what_was_named_last() {
        let mut c = Params::default().make(&start(1000, 3)).unwrap();
        assert_eq!(c.permit(), Permit::window(Bytes::new(10_000)));
        let mut told = |rate| {
            c.on_ack(&AckSample { feedback: Feedback::Explicit(Explicit::Rate(rate)), ..ack(1000, 0) });
            (c.permit().window, c.permit().pace)
        };
        assert_eq!(told(None), (Bytes::new(10_000), None));
        let slow = Some(Rate::from_mbps(3));
        assert_eq!(told(slow), (Bytes::MAX, slow));
        assert_eq!(told(None), (Bytes::MAX, slow));
        assert_eq!(told(Some(Rate::from_gbps(99))).1, Some(Rate::from_gbps(10)), "the line");
    }
}
