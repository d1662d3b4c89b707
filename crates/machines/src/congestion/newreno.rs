//! NewReno's window: slow start, congestion avoidance, halving. RFC 5681 §3.1, RFC 6582; loss recovery itself (fast
//! retransmit, partial ACKs, SACK) is the transport's. Needs: nothing but ACKs.

use super::{AckSample, CongestionControl, Loss, Marks, Needs, Parameters, Permit, Restart, Rules, Start};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// TCP NewReno's window (RFC 5681, RFC 6582).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = NewReno;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Optional, ..Needs::WINDOW }
    }
    fn rules(&self) -> Rules {
        Rules::TCP
    }
    fn make(&self, start: &Start) -> Result<NewReno, Invalid> {
        Ok(NewReno::new(start))
    }
}

/// TCP NewReno's window. Also the part of DCTCP that reacts to losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewReno {
    /// cwnd, bytes.
    pub(super) window: u64,
    /// ssthresh, bytes; `u64::MAX`: none.
    pub(super) threshold: u64,
    max_window: u64,
    /// Remainder of the divisions of congestion avoidance, in bytes².
    credit: u64,
    /// ECN echoes in ACKs up to this byte belong to a window that was already cut.
    pub(super) cut_to: u64,
    /// First unacknowledged byte at the last timeout; `u64::MAX`: none. (An `Option` would enlarge every sender.)
    timed_out: u64,
    pub(super) mss: u32,
}

impl NewReno {
    /// The window of a flow that starts.
    pub fn new(start: &Start) -> Self {
        let mss = u64::from(start.mss);
        let max_window = start.max_window.get().max(mss);
        Self {
            window: start.initial_window.get().clamp(mss, max_window),
            threshold: start.initial_threshold.get(),
            max_window,
            credit: 0,
            cut_to: 0,
            timed_out: u64::MAX,
            mss: start.mss,
        }
    }

    /// Continues with this window in congestion avoidance.
    pub(super) fn take_up(&mut self, window: u64) {
        self.window = window.clamp(u64::from(self.mss), self.max_window);
        (self.threshold, self.credit) = (self.window, 0);
    }

    /// RFC 5681 §3.1 for `acked` newly acknowledged bytes.
    #[inline]
    pub(super) fn grow(&mut self, acked: u64) {
        let mss = u64::from(self.mss);
        if self.window < self.threshold {
            // (2): cwnd += min(N, SMSS), once per ACK.
            self.window += acked.min(mss);
        } else {
            // (3): cwnd += SMSS·SMSS/cwnd, for N acknowledged bytes N·SMSS/cwnd, at most SMSS.
            // CHOICE RFC 5681 §3.1: growth is spread over the window's ACKs and the remainder of the
            // division is kept, so a window of ACKs adds SMSS whatever its size. Other reading (RFC 3465):
            // a whole SMSS when a window was acknowledged, which a cut per window (DCTCP) keeps from coming.
            self.credit += u64::from(self.mss) * acked.min(self.window);
            self.window += self.credit / self.window;
            self.credit %= self.window;
        }
        self.window = self.window.min(self.max_window);
    }

    /// The lost data was sent before the last cut of the window, which has answered for it.
    pub(super) fn has_cut(&self, loss: &Loss) -> bool {
        loss.acked_to < self.cut_to
    }

    /// Halves cwnd. A loss or mark of data sent before this instant (below SND.NXT) does not halve it again.
    pub(super) fn cut(&mut self, loss: &Loss) {
        self.halve(loss.in_flight.get());
        self.window = self.threshold.min(self.max_window);
        self.cut_to = loss.sent_to;
    }

    /// (4): ssthresh = max(FlightSize / 2, 2·SMSS).
    // CHOICE RFC 5681 §3.1: FlightSize, but no more than the window. Beyond it are segments of limited
    // transmit, which do not count (§3.2 step 2), and during repair what was SACKed or is lost: not in
    // flight. Other reading: literally all that is not cumulatively acknowledged, which after a lost
    // retransmission would raise the threshold.
    fn halve(&mut self, flight: u64) {
        self.threshold = (flight.min(self.window) / 2).max(2 * u64::from(self.mss));
        self.credit = 0;
    }
}

impl CongestionControl for NewReno {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.marked > Bytes::ZERO && ack.acked_to > self.cut_to {
            // RFC 3168 §6.1.2: react to an echo as to a loss, at most once per window of data. The window is
            // halved down to one segment: the two segments of RFC 5681 (4) are a bound of the threshold.
            let flight = ack.flight_before().get();
            self.halve(flight);
            self.window = (flight.min(self.window) / 2).max(u64::from(self.mss)).min(self.max_window);
            self.cut_to = ack.sent_to;
        } else if !ack.in_recovery && ack.marked == Bytes::ZERO && ack.cwnd_limited {
            self.grow(ack.acked.get());
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        // RFC 3168 §6.1.2: a mark of the same window of data has cut it already, and ssthresh with it.
        if self.has_cut(loss) {
            return;
        }
        self.cut(loss);
    }

    fn on_timeout(&mut self, loss: &Loss) {
        // ssthresh is kept if this segment has already been resent by the timer (RFC 5681 §3.1, below (4)).
        if self.timed_out != loss.acked_to {
            self.halve(loss.in_flight.get());
        }
        self.timed_out = loss.acked_to;
        self.window = u64::from(self.mss);
        self.cut_to = loss.sent_to;
    }

    fn restart_from(&mut self, _: Time, restart: Restart) {
        // RFC 5681 §4.1: RW = min(IW, cwnd).
        if restart.keeps_threshold {
            self.threshold = self.threshold.max(self.window / 4 * 3);
        }
        self.window = self.window.min(restart.window.get()).max(u64::from(self.mss));
        self.credit = 0;
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window))
    }

    fn threshold(&self) -> Bytes {
        Bytes::new(self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    #[test]
    fn slow_start_adds_one_segment_per_ack_and_avoidance_one_per_window() {
        let mut c = NewReno::new(&Start { initial_threshold: Bytes::new(4000), ..start(1000, 2) });
        c.on_ack(&ack(1000, 0));
        c.on_ack(&ack(500, 0)); // half a segment acknowledged: half a segment more
        assert_eq!((c.window, c.threshold), (3500, 4000));
        c.on_ack(&ack(3000, 0)); // an ACK for three segments still adds one
        assert_eq!(c.window, 4500);
        c.on_ack(&ack(1000, 0)); // 1000 · 1000 / 4500 = 222.2…
        assert_eq!(c.window, 4722);
        c.on_ack(&ack(9000, 0)); // never more than a segment per ACK
        assert_eq!(c.window, 5722);
    }

    #[test]
    fn the_remainder_of_the_division_is_not_lost() {
        let mut c = NewReno::new(&Start { initial_threshold: Bytes::ZERO, ..start(100, 200) });
        for _ in 0..200 {
            c.on_ack(&ack(100, 0)); // 100 · 100 / 20 000: half a byte each
        }
        assert_eq!(c.window, 20_100); // one segment per window
    }

    #[test]
    fn a_loss_halves_and_a_timeout_restarts_from_one_segment() {
        let mut c = NewReno::new(&start(1000, 20));
        c.on_loss(&loss(22_000, 0, 22_000)); // two segments of limited transmit do not count
        assert_eq!((c.window, c.threshold), (10_000, 10_000));
        c.on_timeout(&loss(8_000, 4_000, 12_000));
        assert_eq!((c.window, c.threshold), (1000, 4000));
        c.on_timeout(&loss(8_000, 4_000, 12_000)); // the same segment again: the threshold is held
        assert_eq!((c.window, c.threshold), (1000, 4000));
        c.on_timeout(&loss(3_000, 17_000, 20_000)); // never below two segments
        assert_eq!((c.window, c.threshold), (1000, 2000));
    }

    /// RFC 3168 §6.1.2: one window of data cuts once, whatever was dropped and whatever was marked of it.
    #[test]
    fn a_loss_of_a_window_that_a_mark_has_cut_does_not_cut_it_again() {
        let mut c = NewReno::new(&start(1000, 20));
        let in_flight = Bytes::new(19_000);
        c.on_ack(&AckSample { acked_to: 1000, sent_to: 21_000, in_flight, ..ack(1000, 1000) });
        assert_eq!((c.window, c.threshold), (10_000, 10_000));
        c.on_loss(&loss(18_000, 3000, 21_000));
        assert_eq!((c.window, c.threshold), (10_000, 10_000), "sent before the cut");
        c.on_loss(&loss(10_000, 21_000, 31_000));
        assert_eq!((c.window, c.threshold), (5000, 5000), "sent since");
    }

    #[test]
    fn an_echo_halves_once_per_window_of_data() {
        let mut c = NewReno::new(&start(1000, 20));
        let in_flight = Bytes::new(19_000);
        let marked =
            |acked_to| AckSample { acked_to, sent_to: acked_to + 20_000, in_flight, ..ack(1000, 1000) };
        c.on_ack(&marked(1000));
        assert_eq!((c.window, c.threshold), (10_000, 10_000));
        c.on_ack(&marked(2000));
        c.on_ack(&marked(21_000)); // the last of the window in which it was cut
        assert_eq!(c.window, 10_000);
        c.on_ack(&marked(22_000));
        assert_eq!(c.window, 5000);
    }

    #[test]
    fn windows_stop_at_the_largest_allowed_and_hold_still_in_recovery() {
        let mut c = NewReno::new(&Start { max_window: Bytes::new(3000), ..start(1000, 2) });
        for _ in 0..5 {
            c.on_ack(&ack(1000, 0));
        }
        assert_eq!(c.window, 3000);
        c.on_loss(&loss(3000, 0, 3000));
        c.on_ack(&AckSample { in_recovery: true, ..ack(1000, 0) });
        assert_eq!(c.window, 2000);
    }
}
