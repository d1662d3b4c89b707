//! ABC's sender: an ACK that says *accelerate* releases two packets, one that says *brake* releases none. Goyal,
//! "Congestion Control in Highly Variable Networks" (MIT, 2022), §2.3.1.1, §2.3.1.3, §2.4.1 and §2.6; Goyal et al.,
//! NSDI 2020. Needs: an ABC router on the path (`marking = { kind = "abc" }`) and exact echoes: a marked byte brakes,
//! an unmarked one accelerates. With `encoding = "full"` the ECN codepoint decides, and a mark (CE) affects only the
//! other window.
//!
//! CHOICE ABC §2.3: what a loss does to the ABC window is not stated: nothing, losses belong to the other
//! window. A timeout leaves it, too, but until an ACK comes only the first hole is sent again: cellular links
//! fall silent for seconds, and to send a whole window again for each expiry fills the queue with copies. The
//! least window is two segments.
//! CHOICE ABC §2.4.1: both windows are at most twice what is in flight and five segments, as in the authors' published
//! sender: without those the pair cannot leave a window of nothing.

use super::cubic::Cubic;
use super::{
    AckSample, CongestionControl, Feedback, Gives, Loss, Marks, Needs, Parameters, Permit, Problems, Report,
    Restart, Rule, Rules, Start,
};
use crate::problems::Invalid;
use crate::stage::abc::Encoding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// ABC: an ACK that says accelerate releases two packets, one that says brake releases none (Goyal et al., NSDI 2020).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Additive increase in segments per round trip, in addition to accelerate and brake; it makes flows converge to
    /// fair shares (§2.3.1.3).
    #[schemars(extend("minimum" = 0.0, "maximum" = 1000.0))]
    pub additive: f64,
    /// The flow also keeps a CUBIC window, for bottlenecks that are not ABC routers; the smaller window counts
    /// (§2.4.1).
    pub dual: bool,
    /// Packets are paced at two windows per round trip, as in the authors' published sender. Otherwise ACKs clock them
    /// out.
    pub paced: bool,
    /// How accelerate and brake are encoded in the ECN field; must be the routers' encoding.
    pub encoding: Encoding,
}

impl Default for Params {
    fn default() -> Self {
        Self { additive: 1.0, dual: true, paced: false, encoding: Encoding::default() } // §2.3.1.3, §2.4.1
    }
}

impl Parameters for Params {
    type Machine = Abc;

    fn needs(&self) -> Needs {
        Needs {
            marks: if self.encoding == Encoding::Full { Marks::Codepoints } else { Marks::Echoes },
            marker: (self.encoding == Encoding::Proxy).then_some("abc"),
            round_trips: self.dual || self.paced,
            gives: Gives::Window { slow_start: self.dual },
            ..Needs::WINDOW
        }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        if !(0.0..=1000.0).contains(&self.additive) {
            problems.wrong("additive", format!("{} is out of range", self.additive), "allowed: 0 to 1000");
        }
    }

    fn rules(&self) -> Rules {
        if !self.dual {
            return Rules { loss_window: Rule::Kept, ..Rules::FOREIGN };
        }
        let marks = if self.encoding == Encoding::Full { Rule::Kept } else { Rule::Foreign };
        // Of both windows together, the smaller one.
        Rules {
            marks_once: marks,
            marks_and_losses_once: marks,
            marks_to_one: marks,
            mark_cuts_flight: marks,
            silence_stops_clock: Rule::Kept,
            ..Rules::TCP
        }
    }

    fn make(&self, start: &Start) -> Result<Abc, Invalid> {
        Ok(Abc::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let plain = Self { dual: false, additive: 0.0, paced: true, ..Self::default() };
        vec![Self::default(), plain, Self { encoding: Encoding::Full, ..Self::default() }]
    }
}

/// Least window, segments.
const LEAST: f64 = 2.0;
/// Segments by which both windows may exceed twice what is in flight.
const SLACK: f64 = 5.0;

/// ABC's windows, bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abc {
    params: Params,
    mss: f64,
    max_window: f64,
    /// w_abc: the window that accelerate and brake signals change.
    window: f64,
    /// w_nonabc: the window of a bottleneck without ABC, by CUBIC.
    other: Option<Cubic>,
    /// Bytes in flight after the last ACK.
    in_flight: f64,
    /// The retransmission timer has expired, and no ACK has come since.
    silent: bool,
    /// The pace of a flow that is paced; there is none before the first round trip is measured.
    pace: Option<Rate>,
    line: Rate,
    /// Bytes on the wire per byte of payload.
    overhead: f64,
}

impl Abc {
    fn new(start: &Start, params: Params) -> Self {
        let mss = f64::from(start.mss);
        let max_window = start.max_window.get().min(1 << 50) as f64;
        let window = (start.initial_window.get().min(1 << 50) as f64).clamp(mss, max_window.max(mss));
        // A queue at the wireless link must not end CUBIC's slow start.
        let cubic = super::cubic::Params { hystart: false, ..Default::default() };
        let other = params.dual.then(|| Cubic::new(start, cubic));
        let overhead = 1.0 + f64::from(start.header) / mss;
        let line = start.line_rate;
        Self {
            params,
            mss,
            max_window,
            window,
            other,
            in_flight: window,
            silent: false,
            pace: None,
            line,
            overhead,
        }
    }

    /// Passes an ACK of `acked` bytes to the other window. That one grows only while it is what limits, as in
    /// Linux (in slow start: while half of it is in flight).
    // CHOICE ABC §2.4.1: CUBIC's curve goes on meanwhile, as Linux' does. Other reading: time in which the
    // window did not limit does not count (RFC 9438 §4.2); a wired queue then fills only after tens of round
    // trips.
    fn update_other(&mut self, ack: &AckSample<'_>, acked: f64) {
        let Some(other) = &mut self.other else { return };
        let window = other.permit().window;
        let out = ack.in_flight.get() as f64 + acked;
        let limits = if window < other.threshold() {
            window.get() as f64 <= 2.0 * out
        } else {
            window.get() as f64 <= out + self.mss
        };
        let full = self.params.encoding == Encoding::Full;
        let marked = if full { ack.marked } else { Bytes::ZERO };
        // The transport compares the flight with the smaller window: it cannot say whether w_nonabc was used up.
        let seen = AckSample { marked, feedback: Feedback::None, cwnd_limited: true, ..*ack };
        if limits || marked > Bytes::ZERO {
            return other.on_ack(&seen);
        }
        other.on_ack(&AckSample { acked: Bytes::ZERO, sacked: Bytes::ZERO, ..seen });
    }

    /// w_nonabc.
    fn other_window(&self) -> Bytes {
        self.other.as_ref().map_or(Bytes::MAX, |other| other.permit().window)
    }

    /// Neither window exceeds twice the bytes in flight and some segments, so that the one which does not limit the
    /// flow stays near the one which does.
    fn cap(&mut self) {
        let most = 2.0 * self.in_flight + SLACK * self.mss;
        self.window = self.window.min(most).max(LEAST * self.mss).min(self.max_window).max(self.mss);
        if let Some(other) = &mut self.other {
            other.cap(most);
        }
    }
}

impl CongestionControl for Abc {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let acked = (ack.acked + ack.sacked).get() as f64;
        let bytes = |some: Bytes| (some.get() as f64).min(acked);
        let (accelerate, brake) = match self.params.encoding {
            Encoding::Proxy => (acked - bytes(ack.marked), bytes(ack.marked)),
            Encoding::Full => (acked - bytes(ack.marked) - bytes(ack.braked), bytes(ack.braked)),
        };
        let before = self.window;
        // §2.3.1.1 and equation 2.3, by bytes: delayed and lost ACKs change nothing.
        self.window += accelerate - brake;
        self.window += self.params.additive * self.mss * acked / before;
        self.update_other(ack, acked);
        self.in_flight = ack.in_flight.get() as f64;
        self.silent = false;
        self.cap();
        if let Some(rtt) = ack.rtt.filter(|_| self.params.paced) {
            let window = self.permit().window.get() as f64;
            let pace = 2.0 * window * self.overhead * 8.0 / rtt.secs().max(1e-9);
            self.pace = Some(Rate::from_bps((pace as u64).max(1)).min(self.line));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if let Some(other) = &mut self.other {
            other.on_loss(loss);
        }
        self.cap();
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.silent = true;
        if let Some(other) = &mut self.other {
            other.on_timeout(loss);
        }
    }

    fn on_restart(&mut self, now: Time, idle: Span) {
        if let Some(other) = &mut self.other {
            other.on_restart(now, idle);
        }
    }

    /// The ABC window follows the routers again after a round trip.
    fn restart_from(&mut self, now: Time, restart: Restart) {
        if let Some(other) = &mut self.other {
            other.restart_from(now, restart);
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        let window = Bytes::new(if self.silent { self.mss } else { self.window } as u64);
        let window = self.other.as_ref().map_or(window, |other| window.min(other.permit().window));
        Permit { pace: self.pace, ..Permit::window(window) }
    }

    fn threshold(&self) -> Bytes {
        self.other.as_ref().map_or(Bytes::MAX, CongestionControl::threshold)
    }

    fn report(&self, report: &mut Report) {
        let doc =
            "another window that the controller keeps (ABC: CUBIC's); `window` is never above it; null: none";
        let window = self.other_window();
        report.add("other_window", "B", doc, (window < Bytes::MAX).then(|| window.get() as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    /// A single window of so many segments of 1000 B.
    fn abc(segments: u64, additive: f64) -> Abc {
        Abc::new(&start(1000, segments), Params { additive, dual: false, ..Params::default() })
    }
    /// One segment is acknowledged; plenty is in flight.
    fn reported(c: &mut Abc, brakes: bool) {
        let marked = if brakes { 1000 } else { 0 };
        c.on_ack(&AckSample { in_flight: Bytes::new(1 << 30), ..ack(1000, marked) });
    }

    #[test]
    fn a_window_of_acks_of_which_a_share_accelerates_makes_twice_that_share_of_it() {
        for (accelerate, after) in [(100, 200), (75, 150), (50, 100), (30, 60), (1, 2), (0, 2)] {
            let mut c = abc(100, 0.0);
            (0..100).for_each(|n| reported(&mut c, n >= accelerate));
            assert_eq!(c.permit().window, Bytes::new(1000 * after), "{accelerate}");
        }
    }

    #[test]
    fn acks_that_are_lost_make_changes_smaller_and_never_turn_them() {
        // 60 of 100 accelerate; every other ACK is lost, and its signal with it.
        let mut c = abc(100, 0.0);
        (0..100).filter(|n| n % 2 == 0).for_each(|n| reported(&mut c, n % 5 >= 3));
        assert_eq!(c.permit().window, Bytes::new(110_000), "(2 · 0.6 − 1) · 0.5 · 100 more");
    }

    /// A share f below one half and one segment per round trip: w = 2 f w + 1.
    #[test]
    fn with_a_constant_share_the_window_settles_at_one_over_one_less_twice_the_share() {
        for (f, settles) in [(0.4, 5.0), (0.45, 10.0), (0.48, 25.0), (0.49, 50.0)] {
            let (mut c, mut credit) = (abc(20, 1.0), 0.0);
            let mut sum = 0.0;
            for n in 0..400_000 {
                credit += f;
                let accelerates = credit >= 1.0;
                credit -= f64::from(u8::from(accelerates));
                reported(&mut c, !accelerates);
                sum += if n >= 200_000 { c.window } else { 0.0 };
            }
            let mean = sum / 200_000.0 / 1000.0;
            assert!((mean / settles - 1.0).abs() < 0.02, "{f}: {mean}");
        }
    }

    #[test]
    fn delayed_acks_count_by_bytes_and_the_gain_too() {
        let (mut one, mut two) = (abc(10, 1.0), abc(10, 1.0));
        let in_flight = Bytes::new(1 << 30);
        two.on_ack(&AckSample { in_flight, ..ack(2000, 0) });
        reported(&mut one, false);
        reported(&mut one, false);
        // 2000 B more and 2000 · 1000 / 10 000; one by one the second gains 1000 · 1000 / 11 100.
        assert_eq!(two.permit().window, Bytes::new(12_200));
        assert_eq!(one.permit().window, Bytes::new(12_190));
    }

    #[test]
    fn both_windows_are_at_most_twice_what_is_in_flight_and_five_segments() {
        let mut c = Abc::new(&start(1000, 100), Params::default());
        c.on_ack(&AckSample { in_flight: Bytes::new(20_000), ..ack(1000, 0) });
        assert_eq!(c.window, 45_000.0);
        assert_eq!(c.other.as_ref().unwrap().permit().window, Bytes::new(45_000));
        c.on_ack(&AckSample { in_flight: Bytes::ZERO, ..ack(20_000, 0) });
        assert_eq!(c.permit().window, Bytes::new(5000));
    }

    #[test]
    fn in_both_codepoints_a_mark_changes_the_other_window_only() {
        let params = Params { encoding: Encoding::Full, additive: 0.0, ..Params::default() };
        let mut c = Abc::new(&start(1000, 100), params);
        let in_flight = Bytes::new(100_000);
        c.on_ack(&AckSample { in_flight, braked: Bytes::new(1000), ..ack(1000, 0) });
        assert_eq!(c.window, 99_000.0);
        c.on_ack(&AckSample { in_flight, ..ack(1000, 0) });
        assert_eq!(c.window, 100_000.0);
        let before = c.other_window();
        c.on_ack(&AckSample { in_flight, ..ack(1000, 1000) });
        assert_eq!(c.window, 100_000.0);
        assert!(c.other_window() < before, "{:?}", c.other_window());
    }

    /// 70 segments after a loss; the ABC window is kept at 35 and a half, two in turn.
    #[test]
    fn the_other_window_stands_still_while_it_does_not_limit() {
        let mut c = Abc::new(&start(1000, 100), Params { additive: 0.0, ..Params::default() });
        let at = |ms: u64, in_flight: u64, marked: u64| AckSample {
            now: Time::from_ms(ms),
            in_flight: Bytes::new(in_flight),
            ..ack(1000, marked)
        };
        c.on_loss(&loss(100_000, 0, 100_000));
        for n in 0..1000 {
            c.on_ack(&at(100 * n, 35_000, if n % 2 == 0 { 1000 } else { 0 }));
        }
        assert_eq!(c.other_window(), Bytes::new(70_000));
        // CUBIC's curve has gone on: half a segment for each that is acknowledged.
        c.on_ack(&at(100_000, 69_000, 0));
        let first = c.other_window().get();
        assert!((70_000..70_010).contains(&first), "{first}: the stage begins with the first of them");
        c.on_ack(&at(110_000, 70_000, 0));
        assert_eq!(c.other_window(), Bytes::new(first + 500));
    }

    #[test]
    fn pacing_is_two_windows_per_round_trip() {
        let paced = Params { paced: true, dual: false, additive: 0.0, ..Params::default() };
        let mut c = Abc::new(&Start { header: 500, ..start(1000, 10) }, paced);
        assert_eq!(c.permit().pace, None);
        let rtt = Some(Span::from_ms(100));
        c.on_ack(&AckSample { rtt, in_flight: Bytes::new(1 << 30), ..ack(1000, 0) });
        // 11 segments of 1500 B on the wire, twice, in 100 ms.
        assert_eq!(c.permit().pace, Some(Rate::from_bps(2_640_000)));
    }

    #[test]
    fn losses_belong_to_the_other_window_and_brakes_to_this_one() {
        let mut c = Abc::new(&start(1000, 100), Params::default());
        let in_flight = Bytes::new(100_000);
        c.on_ack(&AckSample { in_flight, ..ack(1000, 1000) });
        assert_eq!((c.window, c.other.as_ref().unwrap().permit().window), (99_010.0, Bytes::new(101_000)));
        c.on_loss(&loss(100_000, 0, 100_000));
        assert_eq!(c.window, 99_010.0);
        assert_eq!(c.permit().window, Bytes::new(70_000), "0.7 of what was in flight");
        let mut single = abc(100, 1.0);
        single.on_loss(&loss(100_000, 0, 100_000));
        assert_eq!(single.permit().window, Bytes::new(100_000));
    }

    #[test]
    fn a_timeout_sends_one_segment_and_the_next_ack_brings_the_window_back() {
        let mut c = abc(100, 0.0);
        c.on_timeout(&loss(100_000, 0, 100_000));
        assert_eq!(c.permit().window, Bytes::new(1000));
        reported(&mut c, false);
        assert_eq!(c.permit().window, Bytes::new(101_000));
    }
}
