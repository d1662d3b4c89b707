//! BBR, version 3: a pace and a window from a model of the path in which losses have a place. Cardwell,
//! Swett, Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr-06, in its order and with its names (in
//! backquotes where they differ). What the path delivers is in `bbr3/path.rs`, bounds by congestion in
//! `bbr3/bounds.rs`, the cycle of ProbeBW in `bbr3/probe_bw.rs`; the filter of bandwidths and the aggregation
//! of ACKs are those of version 1. Needs: round trips, delivery rate samples, pacing. Draws when to probe.
//!
//! Left out: ECN (which the draft leaves out, too), and the undoing of recoveries that were spurious
//! (§5.5.11): the transport does not report them. Sent packets are not offloaded: `offload_budget` is that of
//! the quantum (§5.5.8.1).
//!
//! CHOICE BBRv3 §5.2.4: all losses that an ACK reports are processed together, when it comes: `lost` is what
//! was in flight and is neither delivered nor in flight any more. Other reading: one call per packet.
//!
//! CHOICE BBRv3 §5.5.7.1: the round trip of an ACK is the one that the transport measures for its timer: of an ACK
//! of several segments that of the first of them. Other reading: of the one sent last.
//!
//! CHOICE BBRv3 §5.5.9: the aggregation of ACKs is version 1's: maxima of two spans of five rounds, in Startup, too,
//! and no more than 100 ms of the bandwidth. Other reading: of one round in Startup and ten after it, no such bound.
//!
//! CHOICE BBRv3 §5.5.10.2: without SACK a loss alone does not say that a probe was too much; the fraction decides as
//! it does with SACK. Other reading: any loss does.

mod bounds;
mod path;
mod probe_bw;

use super::bbr::{Aggregation, Given, bits_per_second};
use super::{
    AckSample, Calls, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Problems, Rule, Rules, Start,
};
use crate::problems::Invalid;
use bounds::{Bounds, Signals};
use path::{Bandwidth, Flight, FullPipe, RoundTrips, Rounds, Sample};
use probe_bw::Cycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// BBR version 3: a pace and a window by bandwidth, propagation delay, and what losses say of both
/// (draft-ietf-ccwg-bbr-06).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// LossThresh: a bandwidth probe has gone too far if more than this fraction of the data in flight is lost.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub loss_threshold: f64,
    /// Beta: a loss reduces the bounds on bandwidth and inflight at most to this fraction.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub beta: f64,
    /// Headroom: while cruising, BBR leaves this fraction of the long-term inflight bound to other flows.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub headroom: f64,
    /// ProbeRTTInterval: if no round trip as small as the minimum was measured for this time, ProbeRTT empties the
    /// queue to measure it. The minimum itself expires after twice this time.
    pub probe_rtt_interval: Span,
    /// PacingMarginPercent, as a fraction: the pace is below the estimated bandwidth by this.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub margin: f64,
    /// Send quantum in segments: how much the host sends at once. The window has room for three of them. If not given,
    /// 1 ms of the pace or 64 KiB, whichever is less, at least 2 segments.
    #[schemars(extend("minimum" = 1, "maximum" = 127))]
    pub quantum: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            probe_rtt_interval: Span::from_secs(5),
            margin: 0.01,
            quantum: None,
        }
    }
}

impl Parameters for Params {
    type Machine = Bbr3;

    fn needs(&self) -> Needs {
        Needs {
            round_trips: true,
            delivery: true,
            gives: Gives::PaceAndInitialWindow,
            calls: Calls::Sent,
            ..Needs::WINDOW
        }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        let Self { loss_threshold, beta, headroom, margin, quantum, .. } = *self;
        if !(loss_threshold > 0.0 && loss_threshold < 1.0) {
            let reason = format!("{loss_threshold} is out of range");
            problems.wrong("loss_threshold", reason, "allowed: above 0, below 1");
        }
        problems.fraction("beta", beta);
        for (key, value) in [("headroom", headroom), ("margin", margin)] {
            if !(0.0..1.0).contains(&value) {
                problems.wrong(key, format!("{value} is out of range"), "allowed: 0 to below 1");
            }
        }
        problems.positive("probe_rtt_interval", self.probe_rtt_interval, "5s");
        if quantum.is_some_and(|n| !(1..=127).contains(&n)) {
            problems.wrong("quantum", "out of range", "allowed: 1 to 127");
        }
    }

    fn rules(&self) -> Rules {
        Rules { loss_window: Rule::Kept, ..Rules::FOREIGN }
    }

    fn make(&self, start: &Start) -> Result<Bbr3, Invalid> {
        Ok(Bbr3::new(start, *self))
    }

    /// Times are so short that test sequences of microseconds reach every state.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self { probe_rtt_interval: Span::from_us(60), ..Self::default() };
        vec![Self::default(), short, Self { quantum: Some(1), loss_threshold: 0.5, ..short }]
    }
}

/// StartupPacingGain, DrainPacingGain, DefaultCwndGain, ProbeRTTCwndGain (§5.6.1).
const STARTUP_PACING: f64 = 2.77;
const DRAIN_PACING: f64 = 0.5;
const CWND: f64 = 2.0;
const PROBE_RTT_CWND: f64 = 0.5;
/// ProbeRTTDuration.
const PROBE_RTT: Span = Span::from_ms(200);
/// MinPipeCwnd, segments.
const MIN_PIPE: u64 = 4;
/// BBRStartupFullLossCnt.
const STARTUP_LOSSES: u32 = 6;
/// Rounds after which Drain ends whatever is in flight.
const DRAIN_ROUNDS: u64 = 3;
/// 64 KBytes.
const LARGEST_QUANTUM: u64 = 65_536;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState.
    fn probes_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
    /// IsProbingBW: it accelerates.
    fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The window and the transport's loss repair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Window {
    cwnd: u64,
    prior_cwnd: u64,
    /// Loss recovery lasts until this byte is acknowledged; `None`: there is none.
    repairs: Option<u64>,
    /// The recovery began with a retransmission timeout.
    timed_out: bool,
    /// C.is_cwnd_limited: within the present round the window left no room for a segment.
    limits: bool,
}

/// BBR's model and state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bbr3 {
    params: Params,
    given: Given,
    stream: Stream,
    state: State,
    flight: Flight,
    rounds: Rounds,
    bandwidth: Bandwidth,
    pipe: FullPipe,
    trips: RoundTrips,
    signals: Signals,
    bounds: Bounds,
    cycle: Cycle,
    window: Window,
    /// C.pacing_rate, payload bits per second.
    pace: u64,
    aggregation: Aggregation,
}

impl Bbr3 {
    /// OnInit (§5.2.1).
    fn new(start: &Start, params: Params) -> Self {
        let given = Given::new(start);
        let cwnd = given.initial_window;
        // InitPacingRate. The round trip of the empty path is what a handshake would have measured.
        let rtt = if start.base_rtt.is_zero() { Span::from_ms(1) } else { start.base_rtt };
        let nominal = bits_per_second(cwnd.min(1 << 40) as f64, rtt) as f64;
        Self {
            params,
            given,
            stream: start.stream,
            state: State::Startup,
            flight: Flight::default(),
            rounds: Rounds::default(),
            bandwidth: Bandwidth::default(),
            pipe: FullPipe::default(),
            trips: RoundTrips::default(),
            signals: Signals::default(),
            bounds: Bounds::default(),
            cycle: Cycle::default(),
            window: Window { cwnd, prior_cwnd: 0, repairs: None, timed_out: false, limits: false },
            pace: (STARTUP_PACING * nominal) as u64,
            aggregation: Aggregation::default(),
        }
    }

    /// BBR.bw: BoundBWForModel.
    fn bw(&self) -> u64 {
        self.bandwidth.max().min(self.bounds.bw_shortterm.unwrap_or(u64::MAX))
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING,
            State::Drain => DRAIN_PACING,
            State::Down => 0.9,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => 2.25,
            State::ProbeRtt => PROBE_RTT_CWND,
            _ => CWND,
        }
    }

    fn least(&self) -> u64 {
        MIN_PIPE * self.given.mss
    }

    /// BDPMultiple (§5.6.4.2).
    fn bdp(&self, bandwidth: u64, gain: f64) -> u64 {
        match self.trips.min_rtt {
            None => self.given.initial_window,
            Some(rtt) => (bandwidth as f64 * rtt.secs() / 8.0 * gain) as u64,
        }
    }

    /// QuantizationBudget.
    fn budget(&self, cap: u64) -> u64 {
        let mss = self.given.mss;
        let quantum = match self.params.quantum {
            Some(n) => u64::from(n) * mss,
            None => (self.pace / 8000).min(LARGEST_QUANTUM).max(2 * mss),
        };
        let up = if self.state == State::Up { 2 * mss } else { 0 };
        // Over RDMA without a cap the window is unlimited before the first round trip is measured.
        cap.max(3 * quantum).max(self.least()).saturating_add(up)
    }

    /// Inflight.
    fn inflight(&self, bandwidth: u64, gain: f64) -> u64 {
        self.budget(self.bdp(bandwidth, gain))
    }

    /// TargetInflight (§5.3.3.8).
    fn target(&self) -> u64 {
        self.bdp(self.bw(), 1.0).min(self.window.cwnd)
    }

    // ---- Startup, Drain (§5.3.1, §5.3.2) ----------------------------------------------------------

    /// CheckStartupDone, with CheckStartupHighLoss.
    fn check_startup(&mut self, rs: &Sample) {
        if self.state != State::Startup {
            return;
        }
        // CHOICE BBRv3 §5.3.1.3: ranges that were lost are not distinguished here; ACKs that report losses
        // are counted, as Linux does.
        if rs.newly_lost > 0 {
            self.signals.losses_in_round += 1;
        }
        let recovers = self.window.repairs.is_some() && !self.window.timed_out;
        if self.signals.round_start {
            if recovers && self.signals.losses_in_round >= STARTUP_LOSSES && self.too_high(rs) {
                self.pipe.reached = true;
                let safe = self.bdp(self.bw(), 1.0).max(self.signals.inflight_latest);
                self.bounds.inflight_longterm = Some(safe);
            }
            self.signals.losses_in_round = 0;
        }
        if self.pipe.reached {
            self.state = State::Drain;
            self.cycle.drain_since = self.rounds.count;
        }
    }

    /// CheckDrainDone.
    fn check_drain(&mut self, now: Time) {
        let drained = self.flight.in_flight <= self.inflight(self.bw(), 1.0);
        let late = self.rounds.count > self.cycle.drain_since + DRAIN_ROUNDS;
        if self.state == State::Drain && (drained || late) {
            self.start_down(now);
        }
    }

    // ---- ProbeRTT (§5.3.4) ------------------------------------------------------------------------

    /// UpdateMinRTT, CheckProbeRTT.
    fn check_probe_rtt(&mut self, now: Time, rs: &Sample) {
        self.trips.update(now, rs.rtt, self.params.probe_rtt_interval);
        if self.state != State::ProbeRtt && self.trips.expired && !self.flight.idle_restart {
            // The state changes before the window is saved: in ProbeRTT a saved window is kept if it is larger.
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.trips.done_at = None;
            self.cycle.stop_feedback();
            self.rounds.start(self.flight.delivered);
            self.flight.limited.0 = self.flight.delivered;
        }
        if self.state == State::ProbeRtt {
            // MarkConnectionAppLimited: rate samples of data sent from now on do not show the path's limit.
            self.flight.limited.1 = self.flight.delivered + self.flight.in_flight;
            match self.trips.done_at {
                None if self.flight.in_flight <= self.probe_rtt_cwnd() => {
                    self.trips.done_at = Some(now.saturating_add(PROBE_RTT));
                    self.trips.round_done = false;
                    self.rounds.start(self.flight.delivered);
                }
                None => {}
                Some(_) => {
                    self.trips.round_done |= self.rounds.begins;
                    if self.trips.round_done {
                        self.check_probe_rtt_done(now);
                    }
                }
            }
        }
        if rs.newly_acked > 0 {
            self.flight.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.trips.done_at.is_some_and(|done| now > done) {
            self.trips.probe_at = now;
            self.restore_cwnd();
            // ExitProbeRTT.
            self.bounds.reset_shortterm();
            if self.pipe.reached {
                self.start_down(now);
                self.state = State::Cruise;
            } else {
                self.state = State::Startup;
            }
        }
    }

    fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(self.bw(), PROBE_RTT_CWND).max(self.least())
    }

    // ---- Losses (§5.5.10) -------------------------------------------------------------------------

    /// IsInflightTooHigh.
    fn too_high(&self, rs: &Sample) -> bool {
        rs.lost as f64 > rs.tx_in_flight as f64 * self.params.loss_threshold
    }

    /// HandleLostPacket, for all losses that an ACK reports.
    fn handle_losses(&mut self, now: Time, rs: &Sample) {
        if self.signals.note_loss(self.flight.delivered) {
            self.save_cwnd();
        }
        if self.cycle.is_probe_sample && self.too_high(rs) {
            let safe = rs.inflight_at_loss(self.params.loss_threshold);
            // HandleInflightTooHigh.
            self.cycle.too_high();
            if !rs.app_limited {
                let floor = (self.target() as f64 * self.params.beta) as u64;
                self.bounds.inflight_longterm = Some(safe.max(floor));
            }
            if self.state == State::Up {
                self.start_down(now);
            }
        }
    }

    // ---- Control parameters (§5.6) ----------------------------------------------------------------

    /// SetPacingRateWithGain.
    fn set_pace(&mut self, gain: f64) {
        let pace = (gain * self.bw() as f64 * (1.0 - self.params.margin)) as u64;
        if pace > 0 && (self.pipe.reached || pace > self.pace) {
            self.pace = pace;
        }
    }

    fn save_cwnd(&mut self) {
        let w = &mut self.window;
        let good = w.repairs.is_none() && self.state != State::ProbeRtt;
        w.prior_cwnd = if good { w.cwnd } else { w.prior_cwnd.max(w.cwnd) };
    }

    fn restore_cwnd(&mut self) {
        self.window.cwnd = self.window.cwnd.max(self.window.prior_cwnd);
    }

    /// SetCwnd, with its bounds.
    fn set_cwnd(&mut self, newly_acked: u64) {
        let extra = self.aggregation.allowance(self.bw());
        let most = self.budget(self.bdp(self.bw(), self.cwnd_gain()).saturating_add(extra));
        let grown = self.window.cwnd.saturating_add(newly_acked);
        let mut cwnd = self.window.cwnd;
        if self.pipe.reached {
            cwnd = grown.min(most);
        } else if cwnd < most || self.flight.delivered < self.given.initial_window {
            cwnd = grown;
        }
        cwnd = cwnd.max(self.least());
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        // BoundCwndForModel.
        // CHOICE BBRv3 §5.6.1: in Drain the long-term bound does not hold, as the code of §5.6.4.7 has it. Other
        // reading: it does, as the table has it.
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => None,
        };
        let cap = cap.unwrap_or(u64::MAX).min(self.bounds.inflight_shortterm.unwrap_or(u64::MAX));
        self.window.cwnd = cwnd.min(cap.max(self.least())).min(self.given.max_window);
    }
}

impl CongestionControl for Bbr3 {
    fn on_sent(&mut self, _: Time, _: Bytes, in_flight: Bytes) {
        self.flight.in_flight = in_flight.get();
        self.window.limits |= in_flight.get() + self.given.mss > self.window.cwnd;
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let now = ack.now;
        let rs = self.flight.observe(ack);
        if rs.newly_lost > 0 {
            self.handle_losses(now, &rs);
        }
        if self.window.repairs.is_some_and(|recover| ack.acked_to >= recover) {
            (self.window.repairs, self.window.timed_out) = (None, false);
            self.restore_cwnd();
        }
        // UpdateModelAndState (§5.2.3).
        self.rounds.update(&rs, self.flight.delivered);
        self.signals.latest(&rs, self.flight.delivered);
        self.bandwidth.update(&rs);
        if self.signals.round_start {
            if self.signals.loss_in_round && !self.state.accelerates() {
                let (max_bw, cwnd) = (self.bandwidth.max(), self.window.cwnd);
                self.bounds.lower(&self.signals, max_bw, cwnd, self.params.beta);
            }
            self.signals.loss_in_round = false;
        }
        if rs.is_there {
            let (begins, bw, cwnd) = (self.rounds.begins, self.bw(), self.window.cwnd);
            self.aggregation.on_ack(now, rs.newly_acked, begins, bw, cwnd);
        }
        self.pipe.check(&rs, self.rounds.begins);
        self.check_startup(&rs);
        self.check_drain(now);
        self.update_probe_bw(now, &rs);
        self.check_probe_rtt(now, &rs);
        self.signals.advance(&rs);
        if self.rounds.begins {
            self.window.limits = false;
        }
        // UpdateControlParameters.
        self.set_pace(self.pacing_gain());
        self.set_cwnd(rs.newly_acked);
    }

    fn on_loss(&mut self, loss: &Loss) {
        // OnEnterFastRecovery.
        self.save_cwnd();
        (self.window.repairs, self.window.timed_out) = (Some(loss.sent_to), false);
    }

    fn on_timeout(&mut self, loss: &Loss) {
        // OnEnterRTO: all that was in flight is lost.
        self.save_cwnd();
        self.flight.all_lost();
        self.signals.note_loss(self.flight.delivered);
        (self.window.repairs, self.window.timed_out) = (Some(loss.sent_to), true);
        self.window.cwnd = self.given.mss;
    }

    fn on_restart(&mut self, now: Time, _: Span) {
        // HandleRestartFromIdle (§5.4.1).
        self.flight.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.probes_bw() {
            self.set_pace(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.given.permit(self.window.cwnd, self.pace)
    }
}

#[cfg(test)]
mod tests;
