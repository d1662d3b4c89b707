//! Copa: a window that steers to a target rate of 1/(δ · queueing delay) packets per second and oscillates around it,
//! so that queues empty periodically. Arun, Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018, §2 and §2.2's mode switching, where the paper leaves something open as in the authors'
//! published sender (venkatarun95/genericCC, which is what `auto:0.5` and `constant_delta:0.5` run). Needs: round
//! trips, pacing.
//!
//! CHOICE Copa §2.1: the velocity doubles in every round trip in which the window mostly moves as in the last
//! one, as the authors' sender does, and is at most δ w. Other reading (the paper): only after three round
//! trips in one direction.
//! CHOICE Copa §2: losses matter outside of competitive mode if more than three in ten packets are lost over
//! two round trips and 20 packets: then the window falls to 0.7 (the authors' sender). What a timeout does is
//! not published: two segments and slow start; the authors' sender begins anew after 2 s without an ACK.

mod delta;
mod path;
mod velocity;

use super::{
    AckSample, Calls, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Problems, Report, Rule,
    Rules, Start,
};
use crate::problems::Invalid;
use delta::Delta;
use path::Path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};
use velocity::Velocity;

/// Copa: a window by queueing delay, with a mode for competitors that fill queues (Arun & Balakrishnan, NSDI 2018).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// δ, per packet: in equilibrium a flow keeps 1/δ packets in queues.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
    pub delta: f64,
    /// Competitive mode (§2.2): if queues never become nearly empty, other flows are filling them, and 1/δ then grows
    /// as Reno's window does: δ shrinks, and doubles at a loss.
    pub mode_switching: bool,
    /// Window over which the minimum round trip is taken.
    pub rtt_window: Span,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            delta: 0.5, // Copa §2
            mode_switching: true,
            rtt_window: Span::from_secs(10), // Copa §2.1
        }
    }
}

impl Parameters for Params {
    type Machine = Copa;

    fn needs(&self) -> Needs {
        Needs { round_trips: true, gives: Gives::PaceAndInitialWindow, calls: Calls::Sent, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        if !(self.delta > 0.0 && self.delta <= 10.0) {
            problems.wrong(
                "delta",
                format!("{} is out of range", self.delta),
                "allowed: above 0, at most 10",
            );
        }
        problems.positive("rtt_window", self.rtt_window, "10s");
    }

    fn rules(&self) -> Rules {
        let least = Rule::Differs("Copa §2.1 has no rule: two segments, the least window");
        Rules { loss_window: least, grows_when_used: Rule::Kept, ..Rules::FOREIGN }
    }

    fn make(&self, start: &Start) -> Result<Copa, Invalid> {
        Ok(Copa::new(start, *self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let constant = Self { mode_switching: false, ..Self::default() };
        vec![Self { rtt_window: Span::from_us(100), ..Self::default() }, constant]
    }
}

/// Least window, segments.
const LEAST: f64 = 2.0;
/// Segments that one ACK moves the window by, at most: RFC 7323 §2.2 has at most 1 GiB in flight, here of 1 KiB each.
const MOST: f64 = 1_048_576.0;
/// Loss ratio, and minimum number of segments over two round trips, from which losses reduce the window.
const LOSSY: (f64, f64) = (0.3, 20.0);
const FALLS: f64 = 0.7;

/// Segments acknowledged and lost recently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Losses {
    acked: f64,
    lost: f64,
    since: Option<Time>,
}

impl Losses {
    /// Counts `n` more segments acknowledged and `lost` lost. Returns true if too many of two round trips were lost.
    fn count(&mut self, now: Time, rtt: Span, n: f64, lost: f64) -> bool {
        self.acked += n;
        self.lost += lost;
        let since = *self.since.get_or_insert(now);
        let all = self.acked + self.lost;
        if now <= since.saturating_add(rtt.saturating_mul(2)) || all <= LOSSY.1 {
            return false;
        }
        let too_many = self.lost > LOSSY.0 * all;
        *self = Self { since: Some(now), ..Self::default() };
        too_many
    }
}

/// Copa's window; in segments, and picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copa {
    params: Params,
    mss: f64,
    max_window: f64,
    line: Rate,
    /// Bits on the wire of a segment.
    bits: f64,
    /// cwnd.
    window: f64,
    slow_start: bool,
    /// Segments that must be acknowledged before the window first changes: two round trips of the initial window.
    probing: f64,
    path: Path,
    delta: Delta,
    velocity: Velocity,
    /// Bytes in flight.
    in_flight: u64,
    losses: Losses,
    pace: Rate,
}

impl Copa {
    fn new(start: &Start, params: Params) -> Self {
        let segments = |bytes: Bytes| bytes.get() as f64 / f64::from(start.mss);
        let max_window = segments(start.max_window).max(1.0);
        let window = segments(start.initial_window).clamp(1.0, max_window);
        let mut copa = Self {
            params,
            mss: f64::from(start.mss),
            max_window,
            line: start.line_rate,
            bits: f64::from(start.mss + start.header) * 8.0,
            window,
            slow_start: true,
            probing: 2.0 * window - 1.0,
            path: Path::default(),
            delta: Delta::new(params.delta),
            velocity: Velocity::new(),
            in_flight: 0,
            losses: Losses::default(),
            pace: start.line_rate,
        };
        if !start.base_rtt.is_zero() {
            copa.set_pace(start.base_rtt.ps() as f64);
        }
        copa
    }

    /// 2 cwnd / RTTstanding, §2.1: half a round trip's worth of bursts at most.
    fn set_pace(&mut self, standing: f64) {
        let bps = 2.0 * self.window * self.bits / (standing.max(1.0) * 1e-12);
        self.pace = Rate::from_bps((bps as u64).clamp(1, self.line.bps()));
    }

    /// `n` segments were acknowledged, without a round trip.
    ///
    /// CHOICE Copa §2.1: its packets carry time stamps, so that those that are sent again have round trips, too.
    /// Without time stamps they have none (RFC 6298 §3): then they count in slow start, which needs none. Other
    /// reading: they never count. After a timeout a window of 2 segments then repairs all that was lost, for seconds.
    fn grow_unmeasured(&mut self, n: f64, used: bool) {
        if let Some(standing) = self.path.standing()
            && self.slow_start
            && self.probing <= 0.0
            && used
        {
            self.window = (self.window + n).min(self.max_window);
            self.set_pace(standing);
        }
    }

    /// §2.1, steps 3 and 4, for `n` acknowledged segments, one after the other: as an ACK of each would move it. A host
    /// that stalls acknowledges everything in flight at once; in one step such an ACK would raise a window of 2 above
    /// 1000.
    fn move_window(&mut self, now: Time, rtt: Span, target: f64, n: f64) {
        let delta = self.delta.value;
        let velocity = self.velocity.update(now, rtt, self.window * delta);
        let mut left = n.min(MOST);
        while left > 0.0 {
            let part = left.min(1.0);
            let step = part * velocity / (delta * self.window);
            let way = if self.window < target { 1.0 } else { -1.0 };
            self.velocity.moved(way * part);
            self.window = (self.window + way * step).max(LEAST);
            left -= part;
        }
    }
}

impl CongestionControl for Copa {
    fn on_sent(&mut self, _: Time, _: Bytes, in_flight: Bytes) {
        self.in_flight = in_flight.get();
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let bytes = (ack.acked + ack.sacked).get();
        // What is neither delivered nor in flight any more is lost.
        let lost = self.in_flight.saturating_sub(bytes + ack.in_flight.get()) as f64 / self.mss;
        self.in_flight = ack.in_flight.get();
        let n = bytes as f64 / self.mss;
        let Some(rtt) = ack.rtt else { return self.grow_unmeasured(n, ack.cwnd_limited) };
        let (standing, least) = self.path.observe(ack.now, rtt.ps(), self.params.rtt_window.ps());
        if self.params.mode_switching {
            let empties = self.path.empties(least);
            self.delta.update(ack.now, rtt, self.params.delta, empties, lost > 0.0);
        }
        if self.probing > 0.0 {
            self.probing -= n;
            return;
        }
        // §2.1, steps 1 and 2: λ = 1 / (δ d_q).
        let waits = standing - least;
        let target = if waits > 0.0 { standing / (self.delta.value * waits) } else { f64::INFINITY };
        // CHOICE Copa §2.1: senders there always have data. A window that is not used up comes down, but does
        // not grow (RFC 9002 §7.8).
        if self.slow_start {
            self.window += if ack.cwnd_limited { n } else { 0.0 };
            self.slow_start = self.window < target;
        } else if ack.cwnd_limited || self.window >= target {
            self.move_window(ack.now, rtt, target, n);
        }
        if self.losses.count(ack.now, rtt, n, lost) {
            self.window *= FALLS;
        }
        self.window = self.window.max(LEAST).min(self.max_window);
        self.set_pace(standing);
    }

    fn on_loss(&mut self, _: &Loss) {
        // Handled in `on_ack`, with the ACK that reported it, as every loss is.
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.window = LEAST.min(self.max_window);
        (self.slow_start, self.velocity.value, self.in_flight) = (true, 1.0, 0);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let window = Bytes::new((self.window.max(1.0) * self.mss) as u64);
        Permit { window, pace: Some(self.pace), wake: None }
    }

    fn report(&self, report: &mut Report) {
        report.min_rtt(self.path.least.get().map(|ps| ps as f64));
        report.add("delta", "", "Copa's δ: in equilibrium 1/δ packets wait", self.delta.value);
        let competes = self.params.mode_switching && self.delta.value < self.params.delta;
        let doc = "1: it competes with flows that fill queues; 0: it keeps delays low";
        report.add("competes", "", doc, f64::from(u8::from(competes)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, loss, start};
    use super::*;

    /// Segments of 1000 B, 10 at first; it has probed. A base round trip of 100 ms.
    fn copa(mode_switching: bool) -> Copa {
        let start = Start { base_rtt: Span::from_ms(100), ..start(1000, 10) };
        let mut c = Copa::new(&start, Params { mode_switching, ..Params::default() });
        c.probing = 0.0;
        c.path.least.update(1, 0, Span::from_ms(100).ps());
        c
    }
    /// An ACK of one segment at `ms` with a round trip of `rtt` ms.
    fn receives(c: &mut Copa, ms: u64, rtt: u64) {
        c.in_flight = 10_000;
        let in_flight = Bytes::new(9000);
        c.on_ack(&AckSample {
            now: Time::from_ms(ms),
            rtt: Some(Span::from_ms(rtt)),
            in_flight,
            ..ack(1000, 0)
        });
    }

    #[test]
    fn the_first_two_round_trips_only_probe() {
        let mut c = Copa::new(&Start { base_rtt: Span::from_ms(100), ..start(1000, 10) }, Params::default());
        // 10 segments of 8000 bits in half of 100 ms.
        assert_eq!(
            c.permit(),
            Permit { window: Bytes::new(10_000), pace: Some(Rate::from_bps(1_600_000)), wake: None }
        );
        (0..19).for_each(|n| receives(&mut c, n, 100));
        assert_eq!(c.window, 10.0);
        receives(&mut c, 19, 100);
        assert_eq!(c.window, 11.0);
    }

    #[test]
    fn slow_start_adds_a_segment_per_segment_until_the_target_is_met() {
        let mut c = copa(false);
        // 20 ms wait: 120 / (0.5 · 20) = 12.
        receives(&mut c, 1, 120);
        assert!(c.slow_start);
        assert_eq!(c.window, 11.0);
        receives(&mut c, 2, 120);
        assert_eq!((c.window, c.slow_start), (12.0, false));
        assert_eq!(c.permit().pace, Some(Rate::from_bps(1_600_000)), "2 · 12 · 8000 b in 120 ms");
        receives(&mut c, 3, 120);
        // At the target it falls: 1 / (0.5 · 12).
        assert!((c.window - (12.0 - 1.0 / 6.0)).abs() < 1e-9);
        receives(&mut c, 4, 120);
        assert!((c.window - (12.0 - 1.0 / 6.0 + 1.0 / (0.5 * (12.0 - 1.0 / 6.0)))).abs() < 1e-9);
    }

    #[test]
    fn after_a_timeout_slow_start_goes_on_by_acks_without_a_round_trip() {
        let unmeasured = |c: &mut Copa| c.on_ack(&AckSample { rtt: None, ..ack(2000, 0) });
        let mut c = copa(false);
        receives(&mut c, 1, 120);
        c.on_timeout(&loss(0, 0, 0));
        unmeasured(&mut c);
        assert_eq!(c.window, 4.0);
        assert_eq!(c.permit().pace, Some(Rate::from_bps(2 * 4 * 8000 * 1000 / 120)));
        c.slow_start = false;
        unmeasured(&mut c);
        assert_eq!(c.window, 4.0);
    }

    #[test]
    fn what_is_acknowledged_at_once_moves_the_window_as_segment_by_segment() {
        let moved = |acks: u64, each: u64| {
            let mut c = copa(false);
            (c.slow_start, c.window, c.delta.value) = (false, 2.0, 0.04);
            for _ in 0..acks {
                let (now, rtt) = (Time::from_ms(1000), Some(Span::from_ms(200)));
                c.on_ack(&AckSample { now, rtt, ..ack(1000 * each, 0) });
            }
            c.window
        };
        // The target is 200 / (0.04 · 100) = 50. w² grows by 2 / 0.04 per segment at first: 12.5, 15.5, 18, ..
        assert_eq!(moved(1, 40), moved(40, 1));
        assert!(moved(1, 40) > 40.0 && moved(1, 40) < 51.0, "{}", moved(1, 40));
        // A record may say anything: such a count does not change when 1 is taken from it.
        assert!((moved(1, 1 << 50) - 50.0).abs() < 2.0, "{}", moved(1, 1 << 50));
    }

    #[test]
    fn the_velocity_doubles_while_the_window_keeps_its_direction_up_to_half_of_it() {
        let mut c = copa(false);
        (c.slow_start, c.window) = (false, 20.0);
        let mut seen = Vec::new();
        // One ACK per 101 ms, nothing waits: a round trip each.
        for n in 1..8 {
            receives(&mut c, 101 * n, 100);
            seen.push(c.velocity.value);
        }
        // The first has nothing to compare with; the second sees a rise after a fall that was assumed.
        // 16 would be more than half of the window.
        assert_eq!(seen, [1.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
        // 0.1 + 0.1 + 0.2 + 0.39 + 0.77 + 0.74 + 0.71
        assert!((c.window - 23.0).abs() < 0.05, "{}", c.window);
    }

    #[test]
    fn queues_are_nearly_empty_below_a_tenth_of_the_largest_delay_and_only_with_modes_does_delta_care() {
        let delta = |mode_switching, near| {
            let mut c = copa(mode_switching);
            // The least of four round trips is `near` where 100 would be empty and 200 full.
            c.path.near.update(1, 0, Span::from_ms(near).ps());
            c.path.most.update(1, 0, Span::from_ms(200).ps());
            receives(&mut c, 1, 200);
            c.delta.value
        };
        assert!((delta(true, 111) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((delta(true, 109), delta(false, 111)), (0.5, 0.5));
    }

    #[test]
    fn only_many_losses_count_and_a_timeout_starts_over() {
        let mut c = copa(false);
        c.slow_start = false;
        let rtt = Span::from_ms(100);
        let mut too_many = |ms, n, lost| c.losses.count(Time::from_ms(ms), rtt, n, lost);
        assert!(!too_many(0, 15.0, 7.0));
        assert!(too_many(201, 0.0, 0.0), "7 of 22 over two round trips");
        assert!(!too_many(500, 15.0, 6.0), "6 of 21 are less than three in ten");
        c.losses = Losses { acked: 15.0, lost: 9.0, since: Some(Time::ZERO) };
        receives(&mut c, 201, 100);
        assert!((c.window - 7.14).abs() < 1e-9, "10 and a step of 0.2, of which 0.7 are left");
        c.on_loss(&loss(7000, 0, 7000));
        assert!((c.window - 7.14).abs() < 1e-9);
        c.on_timeout(&loss(7000, 0, 7000));
        assert_eq!((c.permit().window, c.slow_start), (Bytes::new(2000), true));
    }
}
