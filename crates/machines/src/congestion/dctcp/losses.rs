//! What a loss does to DCTCP's window, which the paper leaves to TCP.

use super::super::newreno::NewReno;
use super::super::{AckSample, Loss};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How DCTCP's window reacts to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Losses {
    /// As TCP's: half of what is in flight, one segment after a timeout, no growth while a loss is repaired (RFC 5681).
    #[default]
    Newreno,
    /// As AIMD's: the window is halved at a loss and at a timeout, and grows during loss recovery, too.
    // CHOICE IRN §4.3.4: the paper gives no parameters of DCTCP over RDMA; it starts full there, as AIMD does.
    Aimd,
}

impl Losses {
    /// While a loss is repaired, this ACK neither enlarges the window nor cuts it.
    #[inline]
    pub(super) fn freeze(self, ack: &AckSample) -> bool {
        ack.in_recovery && self == Self::Newreno
    }

    /// Bytes for which an ACK counts: those acknowledged for the first time, also selectively, or, as with TCP,
    /// cumulatively only.
    #[inline]
    pub(super) fn counted(self, ack: &AckSample) -> u64 {
        match self {
            Self::Newreno => ack.acked.get(),
            Self::Aimd => (ack.acked + ack.sacked).get(),
        }
    }
}

/// cwnd ← max(1 segment, cwnd / 2). Losses of data sent until now do not cut it again.
pub(super) fn halve(reno: &mut NewReno, loss: &Loss) {
    reno.window = (reno.window / 2).max(u64::from(reno.mss));
    reno.threshold = reno.window;
    reno.cut_to = loss.sent_to;
}

#[cfg(test)]
mod tests {
    use super::super::{Dctcp, Params};
    use super::*;
    use crate::congestion::CongestionControl;
    use crate::congestion::contract::conformance::{ack, loss, start};

    fn window(losses: Losses, then: impl FnOnce(&mut Dctcp)) -> u64 {
        let mut c = Dctcp::new(&start(1000, 16), &Params { losses, initial_alpha: 0.0, ..Params::default() });
        then(&mut c);
        c.reno.window
    }

    #[test]
    fn aimds_losses_and_timeouts_halve_the_window_whatever_is_in_flight() {
        let timeout = |losses| window(losses, |c| c.on_timeout(&loss(4_000, 0, 4_000)));
        assert_eq!((timeout(Losses::Newreno), timeout(Losses::Aimd)), (1000, 8000));
        let once = |losses| window(losses, |c| c.on_loss(&loss(4_000, 0, 4_000)));
        assert_eq!((once(Losses::Newreno), once(Losses::Aimd)), (2000, 8000));
        assert_eq!(window(Losses::Aimd, |c| (0..9).for_each(|_| c.on_timeout(&loss(0, 0, 4_000)))), 1000);
    }

    #[test]
    fn aimds_window_grows_while_a_loss_is_repaired_and_marks_of_the_lost_window_cut_no_more() {
        let repaired = |losses, marked| {
            window(losses, |c| {
                c.on_loss(&loss(16_000, 0, 16_000));
                let ack =
                    AckSample { in_recovery: true, acked_to: 1000, sent_to: 17_000, ..ack(1000, marked) };
                c.on_ack(&ack);
            })
        };
        assert_eq!(repaired(Losses::Newreno, 0), 8000);
        assert_eq!(repaired(Losses::Aimd, 0), 8125); // 1000 · 1000 / 8000
        assert_eq!(repaired(Losses::Aimd, 1000), 8000);
    }
}
