//! VCP's sender: it multiplies its window while load is low, adds while it is high, and cuts it when it is
//! too high. Xia, Subramanian, Stoica, Kalyanaraman, "One More Bit Is Enough", IEEE/ACM Transactions on
//! Networking 2008, §3.3. Needs: VCP's routers on the way (`marking = { kind = "vcp" }`).
//!
//! ```text
//! CHOICE VCP §3.3: losses halve the window and a timeout leaves one segment, as TCP's. No least window is
//! given: one segment, as under marks (RFC 3168 §6.1.2). Other reading: two, the bound of another variable,
//! TCP's threshold (RFC 5681 (4)).
//! CHOICE VCP §3.3: flows there always have data. A window that is not used up does not grow (RFC 9002 §7.8),
//! whatever the load.
//! ```

use super::{
    AckSample, CongestionControl, Explicit, ExplicitKind, Feedback, FeedbackKind, Gives, Loss, Needs,
    Parameters, Permit, Problems, Restart, Rule, Rules, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::Load;

/// VCP's sender: multiplies, adds or cuts, as two bits say (Xia et al., ToN 2008).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// α: additive increase at high load, in segments per round trip.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub alpha: f64,
    /// β: factor by which the window is multiplied at overload.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub beta: f64,
    /// ξ: relative growth of the window per round trip at low load.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub xi: f64,
    /// t_ρ: after a cut the window does not change for this time.
    pub freeze: Span,
}

impl Default for Params {
    fn default() -> Self {
        // κ (1 − σ) / σ at σ = 0.8 and κ = 0.25, §3.3.
        Self { alpha: 1.0, beta: 0.875, xi: 0.0625, freeze: Span::from_ms(200) }
    }
}

impl Parameters for Params {
    type Machine = Vcp;

    fn needs(&self) -> Needs {
        let feedback = FeedbackKind::Explicit(ExplicitKind::Load);
        Needs { feedback, gives: Gives::Window { slow_start: false }, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        if !(0.0..=1000.0).contains(&self.alpha) {
            problems.wrong("alpha", format!("{} is out of range", self.alpha), "for example 1.0");
        }
        problems.share("beta", self.beta);
        problems.share("xi", self.xi);
    }

    fn rules(&self) -> Rules {
        let vcp = Rule::Differs("VCP §3.3: of the window");
        Rules {
            loss_window: Rule::Kept,
            loss_cuts_flight: vcp,
            grows_when_used: Rule::Kept,
            marks_to_one: Rule::Kept,
            restarts: Rule::Kept,
            ..Rules::FOREIGN
        }
    }

    fn make(&self, start: &Start) -> Result<Vcp, Invalid> {
        let max_window = start.max_window.get().min(1 << 50) as f64;
        let mss = f64::from(start.mss);
        let window = (start.initial_window.get().min(1 << 50) as f64).min(max_window).max(mss);
        Ok(Vcp { p: *self, mss, max_window, window, frozen: None })
    }
}

/// Least window, segments.
const LEAST: f64 = 1.0;

/// VCP's window, bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vcp {
    p: Params,
    mss: f64,
    max_window: f64,
    window: f64,
    /// After a cut, the window does not change until this instant.
    frozen: Option<Time>,
}

impl Vcp {
    fn set(&mut self, window: f64) {
        self.window = window.max(LEAST * self.mss).min(self.max_window).max(self.mss);
    }
}

impl CongestionControl for Vcp {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let Feedback::Explicit(Explicit::Load(load)) = ack.feedback else { return };
        if self.frozen.is_some_and(|until| ack.now < until) {
            return;
        }
        let acked = (ack.acked + ack.sacked).get() as f64;
        match load {
            Load::Low | Load::High if !ack.cwnd_limited => {}
            Load::Low => self.set(self.window + self.p.xi * acked),
            Load::High => self.set(self.window + self.p.alpha * self.mss * acked / self.window),
            Load::Overload => {
                self.set(self.window * self.p.beta);
                self.frozen = Some(ack.now.saturating_add(self.p.freeze));
            }
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
    use super::super::contract::conformance::{ack, start};
    use super::*;

    fn reported(c: &mut Vcp, ms: u64, load: Load) -> u64 {
        let feedback = Feedback::Explicit(Explicit::Load(load));
        c.on_ack(&AckSample { now: Time::from_ms(ms), feedback, ..ack(1000, 0) });
        c.permit().window.get()
    }

    /// Goyal, "Congestion Control in Highly Variable Networks", §2.8: "12 RTTs to double".
    #[test]
    fn at_low_load_a_window_doubles_in_twelve_round_trips() {
        let mut c = Params::default().make(&start(1000, 100)).unwrap();
        let mut trips = 0;
        while c.window < 200_000.0 {
            let window = c.window / 1000.0;
            for _ in 0..window as u64 {
                reported(&mut c, 0, Load::Low);
            }
            trips += 1;
        }
        assert_eq!(trips, 12);
    }

    #[test]
    fn overload_cuts_once_and_then_nothing_moves_for_a_period() {
        let mut c = Params::default().make(&start(1000, 100)).unwrap();
        assert_eq!(reported(&mut c, 0, Load::High), 100_010, "1000 · 1000 / 100 000");
        let cut = reported(&mut c, 1, Load::Overload);
        assert_eq!(cut, 87_508);
        for load in [Load::Overload, Load::Low, Load::High] {
            assert_eq!(reported(&mut c, 200, load), cut);
        }
        assert!(reported(&mut c, 201, Load::Low) > cut);
    }
}
