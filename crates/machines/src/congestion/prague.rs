//! Prague: DCTCP for the Internet, the controller of L4S. De Schepper, Tilmans, Briscoe, Goel, "Prague Congestion
//! Control", draft-briscoe-iccrg-prague-congestion-control, in its order and with the sections of version 04; where the
//! draft names Linux's TCP Prague (L4STeam/linux, net/ipv4/tcp_prague.c) or leaves something open, that. Windows are
//! counted in segments, with their fractions. Needs: ECT(1) (RFC 9331 §4.1), an exact echo of every mark, round trips,
//! pacing.
//!
//! Left out: the fall-back to Reno behind a queue that marks as RFC 3168 has it (RFC 9331 §4.3; off by default in
//! Linux), windows below two segments, growth faster than additive, and the undoing of reductions that were
//! spurious (the transports here do not report them). That losses are found by time is the transport's
//! (`loss = "rack"`).
//!
//! ```text
//! CHOICE Prague §2.3.2: α is not renewed before the first mark, so that this one halves, as in Linux. Other reading: α
//! begins with 0, as in L4STeam/udp_prague, so that the first mark only ends slow start.
//! CHOICE Prague §2.4.1: a loss halves also a window that a mark has just cut, as in Linux. Other reading ("MAY"): both
//! together halve it.
//! CHOICE Prague §2.4.1: a loss cuts as Reno's, by what is in flight if that is less than the window (RFC 5681 §3.1).
//! Other reading (Linux): half of the window.
//! CHOICE Prague §2.4.4: the next cut comes with the first mark after both a round trip and a virtual one, as in
//! udp_prague. Other reading (Linux): a mark after a round trip but before a virtual one is wasted, and defers the
//! next cut by a round trip more.
//! CHOICE Prague §2.4.2: marks leave two segments, as in Linux (MIN_CWND). Other reading: one, as RFC 3168 §6.1.2.
//! CHOICE Prague §2.5: packets leave one by one at the pace. Other reading: bursts of up to 0.25 ms of it
//! (MAX_BURST_DELAY), for hosts that cannot send otherwise.
//! CHOICE Prague §2.4.5: slow start grows by what is acknowledged and not marked, as in Linux. Other reading: a segment
//! per ACK at most (RFC 5681 §3.1), which halves it under delayed ACKs.
//! ```

use super::{
    AckSample, CongestionControl, Feedback, Gives, Loss, Marks, Needs, Parameters, Permit, Problems, Report,
    Restart, Rule, Rules, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// Prague, the controller of L4S: DCTCP for the Internet, paced, with less advantage for short round trips
/// (draft-briscoe-iccrg-prague-congestion-control).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// g: weight of the newest round trip in α, the moving average of the marked fraction.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub gain: f64,
    /// α until the first mark, which cuts the window by α/2.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub initial_alpha: f64,
    /// Reduced RTT dependence: which virtual round trip the flow behaves as if it had.
    pub rtt_scaling: RttScaling,
    /// The reference round trip of `rtt_scaling`. If not given, 25 ms.
    pub rtt_target: Option<Span>,
    /// Round trips after slow start until `rtt_scaling` takes effect, so that short flows are not slowed down. If not
    /// given, 500.
    pub rtt_transition: Option<u32>,
}

/// Reduced RTT dependence: which virtual round trip the flow behaves as if it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttScaling {
    /// Its own: no scaling.
    None,
    /// The larger of its own and `rtt_target`: flows with round trips up to `rtt_target` get equal rates.
    #[default]
    Rate,
    /// The sum of its own and `rtt_target`.
    Additive,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            gain: 0.0625,       // 1/16, Prague §2.3.2
            initial_alpha: 1.0, // as in Linux
            rtt_scaling: RttScaling::default(),
            rtt_target: None,
            rtt_transition: None,
        }
    }
}

/// Linux, prague_rtt_target.
const RTT_TARGET: Span = Span::from_ms(25);
/// Linux, DEFAULT_RTT_TRANSITION. (Early drafts say 50.)
const RTT_TRANSITION: u32 = 500;
/// Linux, MIN_CWND.
const LEAST: f64 = 2.0;

impl Parameters for Params {
    type Machine = Prague;

    fn needs(&self) -> Needs {
        Needs {
            marks: Marks::Echoes,
            l4s: true,
            round_trips: true,
            gives: Gives::PacedWindow,
            ..Needs::WINDOW
        }
    }
    fn check(&self, _: Rate, problems: &mut Problems) {
        problems.share("gain", self.gain);
        problems.fraction("initial_alpha", self.initial_alpha);
        if let Some(target) = self.rtt_target {
            problems.positive("rtt_target", target, "25ms");
        }
        if self.rtt_scaling == RttScaling::None {
            let set = [
                ("rtt_target", self.rtt_target.is_some()),
                ("rtt_transition", self.rtt_transition.is_some()),
            ];
            for (key, _) in set.into_iter().filter(|(_, set)| *set) {
                problems.useless(key, "round trips are not scaled", "remove one of both");
            }
        }
    }
    fn rules(&self) -> Rules {
        Rules {
            marks_and_losses_once: Rule::Differs("as in Linux: a mark cuts by less than Reno's half"),
            marks_to_one: Rule::Differs("two segments are left, as in Linux"),
            mark_cuts_flight: Rule::Differs("Prague §2.4.2: of the window"),
            ..Rules::TCP
        }
    }
    fn make(&self, start: &Start) -> Result<Prague, Invalid> {
        Ok(Prague::new(start, self))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let scaled = |rtt_scaling| Self {
            rtt_scaling,
            rtt_target: Some(Span::from_us(100)),
            rtt_transition: Some(1),
            ..Self::default()
        };
        let plain = Self { rtt_scaling: RttScaling::None, initial_alpha: 0.25, ..Self::default() };
        vec![Self::default(), plain, scaled(RttScaling::Rate), scaled(RttScaling::Additive)]
    }
}

/// What the present round trip has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Round {
    /// It ends with this byte, and not before a virtual round trip has passed.
    end: u64,
    /// When it began; `None`: there was none before.
    began: Option<Time>,
    /// Bytes acknowledged, and of these marked.
    acked: u64,
    marked: u64,
}

/// Which round trip the flow behaves as if it had, and from when on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Scaling {
    kind: RttScaling,
    /// RR.
    target: Span,
    /// Rounds after slow start until it takes effect.
    transition: u32,
}

/// CWR: marks in ACKs up to `to` belong to a window that was already cut, `at` that instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cut {
    to: u64,
    at: Option<Time>,
}

/// Prague's window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prague {
    /// g.
    gain: f64,
    /// alpha, the estimated fraction of marked bytes.
    alpha: f64,
    scaling: Scaling,
    /// cwnd, with its fraction.
    cwnd: f64,
    /// ssthresh; infinite: none yet.
    ssthresh: f64,
    max_window: f64,
    round: Round,
    /// Rounds since slow start ended.
    rounds: u32,
    /// A mark has come: there is a queue that marks.
    saw_ce: bool,
    cut: Cut,
    /// First unacknowledged byte at the last timeout.
    timed_out: Option<u64>,
    /// Smoothed round trip, seconds.
    srtt: f64,
    mss: u32,
    /// Bytes of a full segment on the wire.
    wire: f64,
    line_rate: Rate,
}

impl Prague {
    /// The window of a flow that starts.
    fn new(start: &Start, params: &Params) -> Self {
        let segments = |bytes: Bytes| match bytes {
            Bytes::MAX => f64::INFINITY,
            bytes => bytes.get() as f64 / f64::from(start.mss),
        };
        let max_window = segments(start.max_window).max(1.0);
        Self {
            gain: params.gain,
            alpha: params.initial_alpha,
            scaling: Scaling {
                kind: params.rtt_scaling,
                target: params.rtt_target.unwrap_or(RTT_TARGET),
                transition: params.rtt_transition.unwrap_or(RTT_TRANSITION),
            },
            cwnd: segments(start.initial_window).clamp(1.0, max_window),
            ssthresh: segments(start.initial_threshold),
            max_window,
            round: Round::default(),
            rounds: 0,
            saw_ce: false,
            cut: Cut::default(),
            timed_out: None,
            srtt: start.base_rtt.secs(),
            mss: start.mss,
            wire: f64::from(start.mss + start.header),
            line_rate: start.line_rate,
        }
    }

    /// alpha.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// §2.4.4, Reduced RTT Dependence: the virtual round trip in seconds, once it takes effect.
    fn virtual_rtt(&self) -> Option<f64> {
        let Scaling { kind, target, transition } = self.scaling;
        if self.in_slow_start() || self.rounds < transition {
            return None;
        }
        match kind {
            RttScaling::None => None,
            RttScaling::Rate => Some(target.secs().max(self.srtt)),
            RttScaling::Additive => Some(target.secs() + self.srtt),
        }
    }

    /// Whether a virtual round trip has passed since then.
    fn is_over(&self, since: Option<Time>, now: Time) -> bool {
        let (Some(since), Some(rtt)) = (since, self.virtual_rtt()) else { return true };
        now.since(since).secs() >= rtt
    }

    /// ai_ack: a segment per virtual round trip, and that of a window as much smaller as the round trip is shorter.
    fn increase(&self) -> f64 {
        self.virtual_rtt().map_or(1.0, |rtt| (self.srtt / rtt) * (self.srtt / rtt))
    }

    /// §2.4.3, Additive Increase: for `n` segments that came unmarked, in CWR, too.
    fn grow(&mut self, n: f64) {
        let doubled = n.min((self.ssthresh - self.cwnd).max(0.0));
        self.cwnd += doubled;
        self.cwnd += (n - doubled) * self.increase() / self.cwnd;
        self.cwnd = self.cwnd.min(self.max_window);
    }

    /// §2.4.2, Multiplicative Decrease: by alpha / 2.
    fn reduce(&mut self, now: Time, sent_to: u64) {
        let least = LEAST.min(self.cwnd);
        self.cwnd = (self.cwnd * (1.0 - self.alpha / 2.0)).max(least);
        self.ssthresh = self.cwnd;
        self.cut = Cut { to: sent_to, at: Some(now) };
    }

    /// §2.3.2, Moving Average: alpha += g (frac − alpha), once a round trip, a virtual one at least.
    fn close_round(&mut self, ack: &AckSample) {
        if self.saw_ce && self.round.acked > 0 {
            let frac = self.round.marked as f64 / self.round.acked as f64;
            self.alpha += self.gain * (frac - self.alpha);
        }
        self.round = Round { end: ack.sent_to, began: Some(ack.now), ..Round::default() };
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    /// §2.4.1, Fall-Back on Loss: ssthresh as Reno's (RFC 5681 §3.1 (4)).
    fn halve(&mut self, flight: Bytes) {
        let flight = (flight.get() as f64 / f64::from(self.mss)).min(self.cwnd);
        self.ssthresh = (flight / 2.0).max(2.0);
    }
}

impl CongestionControl for Prague {
    fn on_open(&mut self, _: Time, rtt: Option<Span>, _: Feedback<'_>) {
        if let Some(rtt) = rtt {
            self.srtt = rtt.secs();
        }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.srtt += (rtt.secs() - self.srtt) / 8.0;
        }
        let acked = ack.acked.get() + ack.sacked.get();
        let marked = ack.marked.get();
        self.round.acked += acked;
        self.round.marked += marked;
        if !ack.in_recovery && ack.cwnd_limited {
            self.grow(acked.saturating_sub(marked) as f64 / f64::from(self.mss));
        }
        if marked > 0 {
            self.saw_ce = true;
            // During loss recovery the loss has already cut the window.
            if !ack.in_recovery && ack.acked_to > self.cut.to && self.is_over(self.cut.at, ack.now) {
                self.reduce(ack.now, ack.sent_to);
            }
        }
        if ack.acked_to >= self.round.end && self.is_over(self.round.began, ack.now) {
            self.close_round(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.halve(loss.in_flight);
        self.cwnd = self.ssthresh.min(self.max_window);
        self.cut = Cut { to: loss.sent_to, at: Some(loss.now) };
    }

    fn on_timeout(&mut self, loss: &Loss) {
        // ssthresh is kept if this segment has already been resent by the timer (RFC 5681 §3.1, below (4)).
        if self.timed_out != Some(loss.acked_to) {
            self.halve(loss.in_flight);
        }
        self.timed_out = Some(loss.acked_to);
        self.cwnd = 1.0;
        self.cut = Cut { to: loss.sent_to, at: Some(loss.now) };
    }

    fn restart_from(&mut self, _: Time, restart: Restart) {
        if restart.keeps_threshold {
            self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
        }
        self.cwnd = self.cwnd.min((restart.window.get() as f64 / f64::from(self.mss)).max(1.0));
    }

    /// §2.5: pacing_rate = MTU_BITS · cwnd / srtt, twice that while `cwnd < ssthresh / 2`.
    // CHOICE Prague §2.4.3: the window that is handed down is the next whole number of segments, as in Linux; the pace
    // knows the fraction. Other reading: what is below a segment waits.
    #[inline]
    fn permit(&self) -> Permit {
        let whole = libm::ceil(self.cwnd).min(self.max_window);
        let gain = if self.cwnd < self.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let pace = gain * self.wire * 8.0 * self.cwnd / self.srtt;
        Permit {
            pace: Some(Rate::from_bps((pace as u64).max(1)).min(self.line_rate)),
            ..Permit::window(Bytes::new((whole * f64::from(self.mss)) as u64))
        }
    }

    fn report(&self, report: &mut Report) {
        report.add("alpha", "", "estimated fraction of marked bytes", self.alpha);
    }

    fn threshold(&self) -> Bytes {
        Bytes::new((self.ssthresh * f64::from(self.mss)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// Segments of 1000 B, 10 ms away, without a threshold unless one is given.
    fn prague(segments: u64, threshold: Option<u64>, params: Params) -> Prague {
        let initial_threshold = threshold.map_or(Bytes::MAX, |n| Bytes::new(n * 1000));
        let base_rtt = Span::from_ms(10);
        Prague::new(&Start { initial_threshold, base_rtt, ..start(1000, segments) }, &params)
    }
    fn unscaled() -> Params {
        Params { rtt_scaling: RttScaling::None, ..Params::default() }
    }
    /// After so many milliseconds: `n` segments up to `acked_to`, of which `marked`, with a window out behind them.
    fn at(c: &mut Prague, ms: u64, acked_to: u64, n: u64, marked: u64) {
        let sent_to = acked_to * 1000 + libm::ceil(c.cwnd) as u64 * 1000;
        c.on_ack(&AckSample {
            now: Time::from_ps(ms * MS),
            rtt: Some(Span::from_ms(10)),
            acked_to: acked_to * 1000,
            sent_to,
            ..ack(n * 1000, marked * 1000)
        });
    }

    #[test]
    fn the_first_mark_ends_slow_start_and_halves_and_alpha_moves_only_after_it() {
        let mut c = prague(10, None, unscaled());
        at(&mut c, 10, 10, 10, 0);
        at(&mut c, 20, 30, 20, 0);
        assert_eq!((c.cwnd, c.alpha, c.rounds), (40.0, 1.0, 0), "unmarked rounds leave α alone");
        at(&mut c, 30, 31, 1, 1);
        assert_eq!((c.cwnd, c.ssthresh, c.alpha), (20.0, 20.0, 1.0));
        // The round ends with byte 50 000: 20 segments, 4 of them marked, F = 1/5; the next has no mark.
        at(&mut c, 39, 50, 19, 3);
        assert!((c.cwnd - 20.8).abs() < 1e-9, "16 unmarked at 1/20 each, in CWR: {}", c.cwnd);
        assert!((c.alpha - (1.0 - 0.8 / 16.0)).abs() < 1e-9, "{}", c.alpha);
        at(&mut c, 40, 70, 20, 0);
        assert!((c.alpha - 0.95 * 15.0 / 16.0).abs() < 1e-9, "{}", c.alpha);
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_once_a_round_trip() {
        let mut c = prague(20, Some(2), Params { initial_alpha: 0.2, ..unscaled() });
        at(&mut c, 1, 1, 1, 1);
        assert_eq!((c.cwnd, c.cut.to), (18.0, 21_000), "20 · (1 − 0.1)");
        at(&mut c, 5, 21, 20, 20);
        assert_eq!(c.cwnd, 18.0, "sent before the cut");
        let alpha = c.alpha;
        at(&mut c, 11, 22, 1, 1);
        assert!((c.cwnd - 18.0 * (1.0 - alpha / 2.0)).abs() < 1e-9);
    }

    #[test]
    fn only_what_came_unmarked_grows_the_window_and_a_window_of_it_by_a_segment() {
        let mut c = prague(20, Some(2), unscaled());
        c.cut.to = u64::MAX;
        (1..=20).for_each(|n| at(&mut c, n, n, 1, 0));
        assert!((c.cwnd - 20.98).abs() < 0.01, "{}", c.cwnd);
        let before = c.cwnd;
        (21..=40).for_each(|n| at(&mut c, n, n, 1, 1));
        assert_eq!(c.cwnd, before);
    }

    /// RR = 25 ms, a round trip of 10: a 0.16th of a segment per round trip is 0.4 per virtual one, which is to a
    /// window of 10 ms what a segment is to one of 25.
    #[test]
    fn with_a_virtual_round_trip_growth_cuts_and_averages_keep_its_time() {
        let params = Params { initial_alpha: 0.2, rtt_transition: Some(0), ..Params::default() };
        let mut c = prague(20, Some(2), params);
        at(&mut c, 30, 20, 20, 0);
        assert!((c.cwnd - 20.16).abs() < 1e-9, "{}", c.cwnd);
        at(&mut c, 40, 40, 20, 1);
        let cut = c.cwnd;
        assert!(cut < 18.3 && c.cut.at == Some(Time::from_ps(40 * MS)), "{cut}");
        at(&mut c, 61, 100, 0, 0);
        at(&mut c, 64, 101, 1, 1);
        assert_eq!(c.cwnd, cut, "two round trips later, 24 ms");
        at(&mut c, 65, 102, 1, 1);
        assert!(c.cwnd < cut, "25 ms");
        // The first rounds count fully: 25 ms, too.
        let mut young = prague(20, Some(2), Params { rtt_transition: Some(3), ..params });
        at(&mut young, 10, 20, 20, 0);
        assert_eq!(young.cwnd, 21.0);
    }

    #[test]
    fn the_additive_target_stands_besides_the_round_trip() {
        let params =
            Params { rtt_scaling: RttScaling::Additive, rtt_transition: Some(0), ..Params::default() };
        let mut c = prague(20, Some(2), params);
        at(&mut c, 30, 20, 20, 0);
        assert!((c.cwnd - 20.0 - (10.0 / 35.0) * (10.0 / 35.0)).abs() < 1e-9, "{}", c.cwnd);
        // And a target below the round trip changes nothing of `rate`.
        let near =
            Params { rtt_target: Some(Span::from_ms(5)), rtt_transition: Some(0), ..Params::default() };
        let mut c = prague(20, Some(2), near);
        at(&mut c, 30, 20, 20, 0);
        assert_eq!(c.cwnd, 21.0);
    }

    #[test]
    fn losses_halve_and_timeouts_leave_one_segment() {
        let mut c = prague(20, Some(2), unscaled());
        c.on_loss(&loss(20_000, 0, 20_000));
        assert_eq!((c.cwnd, c.ssthresh), (10.0, 10.0));
        c.on_timeout(&loss(8000, 1000, 20_000));
        assert_eq!((c.cwnd, c.ssthresh), (1.0, 4.0));
        // Marks of what was sent before do not cut.
        at(&mut c, 1, 20, 1, 1);
        assert_eq!(c.cwnd, 1.0);
    }

    #[test]
    fn the_pace_is_a_window_per_round_trip_and_twice_that_early_in_slow_start() {
        let mut c = prague(10, Some(40), unscaled());
        // 10 · 8000 b in 10 ms, twice.
        assert_eq!(c.permit().pace, Some(Rate::from_mbps(16)));
        c.cwnd = 20.0;
        assert_eq!(c.permit().pace, Some(Rate::from_mbps(16)), "half of the threshold: once");
        c.cwnd = 20.25;
        assert_eq!(c.permit().pace, Some(Rate::from_bps(16_200_000)));
        assert_eq!(c.permit().window, Bytes::new(21_000), "whole segments");
    }

    /// With every 50th segment marked, W = √6 · 50 segments (two marks and the third that cuts) and less by what
    /// marks keep from growing.
    #[test]
    fn under_evenly_spaced_marks_the_window_is_as_the_balance_of_growth_and_cuts_has_it() {
        let mut c = prague(100, Some(2), unscaled());
        let (mut sum, mut rounds, mut acked) = (0.0, 0u32, 0);
        for n in 0..400_000u64 {
            let window = libm::ceil(c.cwnd) as u64;
            acked += 1;
            let marked = u64::from(n % 50 == 49);
            at(&mut c, n * 10 / window.max(1), acked, 1, marked);
            if n > 100_000 {
                (sum, rounds) = (sum + c.cwnd, rounds + 1);
            }
        }
        assert!((c.alpha - 0.02).abs() < 0.01, "{}", c.alpha);
        let (mean, expected) = (sum / f64::from(rounds), 6f64.sqrt() * 50.0 * 0.98);
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean} against {expected}");
    }

    #[test]
    fn parameters_out_of_range_and_without_effect_are_refused_by_name() {
        let refused = |params: Params| {
            super::super::ControllerSpec::Prague(params)
                .make(&start(1000, 4))
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert!(refused(Params { gain: 0.0, ..Params::default() }).contains("gain"));
        assert!(refused(Params { initial_alpha: 1.5, ..Params::default() }).contains("initial_alpha"));
        assert!(refused(Params { rtt_target: Some(Span::ZERO), ..Params::default() }).contains("rtt_target"));
        let none = Params { rtt_transition: Some(5), ..unscaled() };
        let mut problems = Problems::default();
        none.check(Rate::from_gbps(1), &mut problems);
        assert!(format!("{problems:?}").contains("rtt_transition"), "{problems:?}");
    }
}
