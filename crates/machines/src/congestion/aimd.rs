//! Additive increase, multiplicative decrease, and nothing else: the window-based congestion control of Mittal et al.,
//! "Revisiting Network Support for RDMA" (IRN), SIGCOMM 2018, §4.3.4 of the extended version. The window
//! starts full (as large as the transport ever allows), not with slow start. Needs: ACKs, and losses inferred
//! from them.
//!
//! CHOICE IRN §4.3.4: the paper gives no parameters. One segment more per window of ACKs; half at a loss and at a
//! timeout, but never less than a segment. ACKs count during repair too, as BDP-FC's window goes on moving there. Other
//! reading: TCP's, where windows stand still until the repair has ended and restart from one segment after a timeout.

use super::{
    AckSample, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Restart, Rule, Rules, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// Additive increase, multiplicative decrease of a window that starts full: no slow start (IRN §4.3.4).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Aimd;

    fn needs(&self) -> Needs {
        Needs { gives: Gives::Window { slow_start: false }, ..Needs::WINDOW }
    }
    fn rules(&self) -> Rules {
        let irn =
            Rule::Differs("IRN §4.3.4: half of the window, at losses and timeouts alike, and growth goes on");
        Rules {
            loss_window: irn,
            loss_cuts_flight: irn,
            frozen_in_repair: irn,
            grows_when_used: Rule::Kept,
            restarts: Rule::Kept,
            ..Rules::FOREIGN
        }
    }
    fn make(&self, start: &Start) -> Result<Aimd, Invalid> {
        Aimd::new(start)
    }
}

/// A window by AIMD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aimd {
    /// cwnd, bytes.
    window: u64,
    max_window: u64,
    mss: u32,
    /// Remainder of the division of the additive increase, in bytes².
    credit: u64,
}

impl Aimd {
    /// The window of a flow that starts.
    ///
    /// # Errors If the initial window is unlimited: there is nothing to halve.
    pub fn new(start: &Start) -> Result<Self, Invalid> {
        let mss = u64::from(start.mss);
        let max_window = start.max_window.get().max(mss);
        let window = start.initial_window.get().clamp(mss, max_window);
        if window == u64::MAX {
            let why = "aimd starts from the largest window, which must be finite (set a cap)";
            return Err(Invalid::new(why).at("cap"));
        }
        Ok(Self { window, max_window, mss: start.mss, credit: 0 })
    }

    fn halve(&mut self) {
        self.window = (self.window / 2).max(u64::from(self.mss));
        self.credit = 0;
    }
}

impl CongestionControl for Aimd {
    /// cwnd ← cwnd + a/cwnd for `a` segments acknowledged for the first time, cumulatively or selectively.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        // CHOICE IRN §4.3.4: queue pairs there always have data; a window that is not used up does not grow
        // (RFC 9002 §7.8).
        if !ack.cwnd_limited {
            return;
        }
        self.credit += u64::from(self.mss) * (ack.acked + ack.sacked).get();
        self.window += self.credit / self.window;
        self.credit %= self.window;
        self.window = self.window.min(self.max_window);
    }
    fn on_loss(&mut self, _: &Loss) {
        self.halve();
    }
    fn on_timeout(&mut self, _: &Loss) {
        self.halve();
    }
    fn restart_from(&mut self, _: Time, restart: Restart) {
        self.window = self.window.min(restart.window.get()).max(u64::from(self.mss));
        self.credit = 0;
    }
    #[inline]
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    fn aimd(segments: u64) -> Aimd {
        Aimd::new(&Start { max_window: Bytes::new(segments * 1000), ..start(1000, segments) }).unwrap()
    }

    #[test]
    fn what_is_acknowledged_selectively_counts_when_it_is() {
        let mut c = aimd(110);
        c.on_loss(&loss(20_000, 0, 110_000));
        let before = c.window;
        let sacked = AckSample { sacked: Bytes::new(1000), in_recovery: true, ..ack(0, 0) };
        (0..before / 1000).for_each(|_| c.on_ack(&sacked));
        assert_eq!(c.window - before, 990, "a segment per window of them, nearly: it grows meanwhile");
    }

    #[test]
    fn it_starts_full_and_half_is_left_after_a_loss_or_a_timeout() {
        let mut c = aimd(110);
        assert_eq!(c.permit(), Permit::window(Bytes::new(110_000)));
        c.on_loss(&loss(110_000, 0, 110_000));
        assert_eq!(c.window, 55_000);
        c.on_timeout(&loss(9_000, 0, 110_000));
        assert_eq!(c.window, 27_500, "half of the window, whatever is in flight");
        (0..9).for_each(|_| c.on_timeout(&loss(1000, 0, 1000)));
        assert_eq!(c.window, 1000);
    }

    #[test]
    fn a_window_of_acks_adds_a_segment_and_the_cap_is_never_passed() {
        let mut c = aimd(110);
        c.on_ack(&ack(1000, 0));
        assert_eq!(c.window, 110_000);
        (0..4).for_each(|_| c.on_timeout(&loss(0, 0, 0)));
        assert_eq!(c.window, 6875);
        c.on_ack(&ack(1000, 0)); // 1000 · 1000 / 6875 = 145.45
        assert_eq!(c.window, 7020);
        c.on_ack(&AckSample { in_recovery: true, ..ack(2000, 1000) }); // 2 · 10⁶ + 3125 kept, / 7020 = 285.3
        assert_eq!(c.window, 7305);
    }

    #[test]
    fn without_a_cap_there_is_nothing_to_start_from() {
        let start = Start { initial_window: Bytes::MAX, ..start(1000, 1) };
        assert!(Aimd::new(&start).unwrap_err().to_string().contains("cap"));
    }
}
