//! BBR, version 1: a pace and a window from two estimates, the bottleneck's bandwidth and the round trip
//! without queues. Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: Congestion-Based Congestion
//! Control", ACM Queue 14(5), 2016, and draft-cardwell-iccrg-bbr-congestion-control-00, with the rules that
//! Linux added: the aggregation of ACKs in `bbr/aggregation.rs`, policers in `bbr/policer.rs`. Needs: round
//! trips, delivery rate samples, pacing. Draws the phase in which PROBE_BW begins.
//!
//! Left out: what Linux does for its own pacing queue (packets that wait there for their departure count as
//! in flight), and that PROBE_RTT takes into account whether an ACK was delayed.
//!
//! CHOICE BBR §4.2.1: the first pace comes from the round trip of the empty path, which Linux learns from the
//! handshake; a scenario without handshakes has the same. Other reading: 1 ms.
//! CHOICE BBR §4.1.2: RTprop is renewed by an equal round trip too, as there; Linux since 5.4: only by a
//! smaller one, which in a simulator without jitter would mean PROBE_RTT every 10 s for a flow that never
//! queues.

mod aggregation;
mod given;
mod path;
mod policer;
mod probe_bw;

// Shared with version 3.
pub(super) use aggregation::Aggregation;
pub(super) use given::Given;
pub(super) use policer::bits_per_second;

use super::parts::windowed::Largest;
use super::{
    AckSample, Calls, CongestionControl, Delivery, Gives, Loss, Needs, Parameters, Permit, Problems, Report,
    Rule, Rules, Start,
};
use crate::problems::Invalid;
use path::{Flight, FullPipe, RoundTrips, Rounds};
use policer::{AckedSample, Policer};
use probe_bw::Cycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// BBR version 1: a pace and a window by bottleneck bandwidth and propagation delay (Cardwell et al., ACM
/// Queue 2016; Linux).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// BBRHighGain, the gain of STARTUP; DRAIN has its inverse.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 10.0))]
    pub high_gain: f64,
    /// Window in PROBE_BW, in bandwidth-delay products.
    #[schemars(extend("minimum" = 1.0, "maximum" = 10.0))]
    pub cwnd_gain: f64,
    /// BtlBwFilterLen: the bottleneck bandwidth is the largest delivery rate of this many round trips.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub bw_rounds: u32,
    /// RTpropFilterLen: the minimum round trip is that of this time; if none as small was measured since, PROBE_RTT
    /// begins.
    pub rtt_window: Span,
    /// ProbeRTTDuration: PROBE_RTT keeps at most four segments in flight for at least this time.
    pub probe_rtt: Span,
    /// The pace is below the estimated bandwidth by this fraction, so that queues drain.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub margin: f64,
    /// send_quantum in segments: how much the hosts at both ends batch. The window has room for three of them. If not
    /// given, what Linux would send at once: 1 ms of the pace or 64 KiB, whichever is less, at least 2 segments, or 1
    /// below 1.2 Mbps.
    #[schemars(extend("minimum" = 1, "maximum" = 127))]
    pub quantum: Option<u32>,
    /// The window has extra room for ACKs that arrive in bursts (ACK aggregation, as in Linux).
    pub aggregation: bool,
    /// Detects token-bucket policers, as Linux does: if two lossy intervals have the same throughput, BBR paces at it
    /// for a while.
    pub policer: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            high_gain: 2.885, // 2/ln 2: draft §3.2
            cwnd_gain: 2.0,   // draft §4.2.3
            bw_rounds: 10,    // draft §4.1.1
            rtt_window: Span::from_secs(10),
            probe_rtt: Span::from_ms(200),
            margin: 0.01, // Linux
            quantum: None,
            aggregation: true,
            policer: true,
        }
    }
}

impl Parameters for Params {
    type Machine = Bbr;

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
        let Self { high_gain, cwnd_gain, bw_rounds, margin, quantum, .. } = *self;
        if !(high_gain > 1.0 && high_gain <= 10.0) {
            problems.wrong(
                "high_gain",
                format!("{high_gain} is out of range"),
                "allowed: above 1, at most 10",
            );
        }
        if !(1.0..=10.0).contains(&cwnd_gain) {
            problems.wrong("cwnd_gain", format!("{cwnd_gain} is out of range"), "allowed: 1 to 10");
        }
        if !(1..=1_000_000).contains(&bw_rounds) {
            problems.wrong("bw_rounds", format!("{bw_rounds} is out of range"), "allowed: 1 to 1000000");
        }
        problems.positive("rtt_window", self.rtt_window, "10s");
        if !(0.0..1.0).contains(&margin) {
            problems.wrong("margin", format!("{margin} is out of range"), "allowed: 0 to below 1");
        }
        if quantum.is_some_and(|n| !(1..=127).contains(&n)) {
            problems.wrong("quantum", "out of range", "allowed: 1 to 127");
        }
    }

    fn rules(&self) -> Rules {
        Rules { loss_window: Rule::Kept, ..Rules::FOREIGN }
    }

    fn make(&self, start: &Start) -> Result<Bbr, Invalid> {
        Ok(Bbr::new(start, *self))
    }

    /// Times are so short that test sequences of microseconds reach every state.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self {
            rtt_window: Span::from_us(60),
            probe_rtt: Span::from_us(5),
            bw_rounds: 3,
            ..Self::default()
        };
        let bare = Self { quantum: Some(1), aggregation: false, policer: false, ..short };
        vec![Self::default(), short, bare]
    }
}

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of the transport's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Repair {
    /// There is none.
    No,
    /// After a loss inferred from ACKs.
    Recovery,
    /// After a timeout.
    Timeout,
}

/// BBRMinPipeCwnd, segments.
const MIN_PIPE: u64 = 4;
/// Below this pace, in bits per second, Linux sends single segments.
const SMALL_PACE: u64 = 1_200_000;
/// The most that Linux sends at once, bytes (`GSO_LEGACY_MAX_SIZE`).
const LARGEST_QUANTUM: u64 = 65_536;

/// The window and its state during loss recovery; bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    /// `cwnd`, and `prior_cwnd`.
    cwnd: u64,
    prior: u64,
    /// The window before the last ACK, and the bytes which that ACK delivered: needed if a loss is inferred from it.
    before: u64,
    acked: u64,
    repair: Repair,
    /// Recovery ends when this byte is acknowledged.
    recover: u64,
    /// `packet_conservation`.
    conserves: bool,
}

impl Window {
    fn new(cwnd: u64) -> Self {
        Self { cwnd, prior: 0, before: cwnd, acked: 0, repair: Repair::No, recover: 0, conserves: false }
    }

    /// BBRSaveCwnd; `good`: neither recovery nor PROBE_RTT has reduced the window.
    fn save(&mut self, good: bool) {
        self.prior = if good { self.cwnd } else { self.prior.max(self.cwnd) };
    }
    /// BBRRestoreCwnd.
    fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }
}

/// BBR's model and state; names of the draft in backquotes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bbr {
    params: Params,
    given: Given,
    stream: Stream,
    state: State,
    flight: Flight,
    rounds: Rounds,
    /// `BtlBwFilter`: payload bits per second, by rounds.
    bandwidth: Largest,
    pipe: FullPipe,
    trips: RoundTrips,
    cycle: Cycle,
    window: Window,
    /// `pacing_rate`, payload bits per second.
    pace: u64,
    aggregation: Aggregation,
    policer: Policer,
}

impl Bbr {
    fn new(start: &Start, params: Params) -> Self {
        let given = Given::new(start);
        let mut bbr = Self {
            params,
            given,
            stream: start.stream,
            state: State::Startup,
            flight: Flight::new(),
            rounds: Rounds::default(),
            bandwidth: Largest::default(),
            pipe: FullPipe::default(),
            trips: RoundTrips::default(),
            cycle: Cycle::default(),
            window: Window::new(given.initial_window),
            pace: 0,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
        };
        // BBRInitPacingRate.
        let rtt = if start.base_rtt.is_zero() { Span::from_ms(1) } else { start.base_rtt };
        let window = given.initial_window.min(1 << 40) as f64;
        bbr.pace = bbr.paced(bits_per_second(window, rtt) as f64, params.high_gain);
        bbr
    }

    /// `BBR.bw`, payload bits per second.
    fn bw(&self) -> u64 {
        self.policer.rate().unwrap_or(self.bandwidth.get().unwrap_or(0))
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.params.high_gain,
            State::Drain => 1.0 / self.params.high_gain,
            State::ProbeBw if self.policer.rate().is_some() => 1.0,
            State::ProbeBw => self.cycle.gain(),
            State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.params.high_gain,
            State::ProbeBw => self.params.cwnd_gain,
            State::ProbeRtt => 1.0,
        }
    }

    /// The pace: `gain` times the bandwidth, less the margin.
    fn paced(&self, bandwidth: f64, gain: f64) -> u64 {
        (bandwidth * gain * (1.0 - self.params.margin)) as u64
    }

    /// `send_quantum`, segments.
    fn quantum(&self) -> u64 {
        match self.params.quantum {
            Some(n) => u64::from(n),
            None => {
                let least = if self.pace < SMALL_PACE { 1 } else { 2 };
                ((self.pace / 8000).min(LARGEST_QUANTUM) / self.given.mss).clamp(least, 127)
            }
        }
    }

    /// BBRInflight: the bandwidth-delay product times `gain`, in whole segments, and `more` bytes, with room
    /// for the quanta at both ends.
    fn inflight(&self, bandwidth: u64, gain: f64, more: u64) -> u64 {
        let Some(rtprop) = self.trips.rtprop else { return self.given.initial_window };
        let bdp = bandwidth as f64 * rtprop.secs() / 8.0 * gain / self.given.mss as f64;
        let mut segments = libm::ceil(bdp) as u64 + more.div_ceil(self.given.mss) + 3 * self.quantum();
        if self.params.quantum.is_none() {
            segments = segments.next_multiple_of(2);
        }
        if self.state == State::ProbeBw && self.cycle.probes() {
            segments += 2;
        }
        segments.saturating_mul(self.given.mss)
    }

    // ---- The model --------------------------------------------------------------------------------

    /// BBRUpdateRound, BBRUpdateBtlBw.
    fn update_bandwidth(&mut self, now: Time, sample: Option<Delivery>, lost: u64) {
        self.rounds.begins = false;
        let Some(sample) = sample else { return };
        let sent_at = self.flight.delivered.saturating_sub(sample.delivered.get());
        self.rounds.update(sent_at, self.flight.delivered);
        self.window.conserves &= !self.rounds.begins;
        let limited = sample.app_limited || self.flight.is_limited(sent_at);
        self.check_policer(now, lost, limited);
        // draft-ietf-ccwg-bbr §4.1.2.4: the ACKs of less than a round trip may have come compressed.
        if sample.interval().is_zero() || self.flight.least.is_some_and(|least| sample.interval() < least) {
            return;
        }
        let rate = bits_per_second(sample.delivered.get() as f64, sample.interval());
        if !limited || rate >= self.bandwidth.get().unwrap_or(0) {
            self.bandwidth.update(u64::from(self.params.bw_rounds), self.rounds.count, rate);
        }
    }

    fn check_policer(&mut self, now: Time, lost: u64, limited: bool) {
        if !self.params.policer {
            return;
        }
        let sample = AckedSample {
            now,
            losses: lost > 0,
            limited,
            round_start: self.rounds.begins,
            probing: self.state == State::ProbeBw,
            delivered: self.flight.delivered,
            lost: self.flight.lost,
        };
        if self.policer.on_ack(&sample) {
            self.enter_probe_bw(now);
        }
    }

    /// BBRCheckCyclePhase, with `prior` bytes in flight before this ACK.
    fn check_phase(&mut self, now: Time, prior: u64, lost: u64) {
        if self.state != State::ProbeBw {
            return;
        }
        let full = self.cycle.is_full(now, self.trips.rtprop);
        let bandwidth = self.bandwidth.get().unwrap_or(0);
        let gain = self.pacing_gain();
        let over = if gain > 1.0 {
            full && (lost > 0 || prior >= self.inflight(bandwidth, gain, 0))
        } else if gain < 1.0 {
            full || prior <= self.inflight(bandwidth, 1.0, 0)
        } else {
            full
        };
        if over {
            self.cycle.advance(now);
        }
    }

    /// BBREnterProbeBW.
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cycle.begin(now, &mut self.stream);
    }

    /// BBRCheckFullPipe.
    fn check_full(&mut self, sample: Option<Delivery>) {
        if self.rounds.begins && sample.is_some_and(|s| !s.app_limited) {
            self.pipe.check(self.bandwidth.get().unwrap_or(0));
        }
    }

    /// BBRCheckDrain.
    fn check_drain(&mut self, now: Time) {
        if self.state == State::Startup && self.pipe.filled {
            self.state = State::Drain;
        }
        let bandwidth = self.bandwidth.get().unwrap_or(0);
        if self.state == State::Drain && self.flight.in_flight <= self.inflight(bandwidth, 1.0, 0) {
            self.enter_probe_bw(now);
        }
    }

    /// BBRUpdateRTprop, BBRCheckProbeRTT.
    fn update_rtprop(&mut self, now: Time, rtt: Option<Span>) {
        let expired = self.trips.update(now, rtt, self.params.rtt_window);
        if expired && !self.trips.idle_restart && self.state != State::ProbeRtt {
            // The state changes before the window is saved: in PROBE_RTT a saved window is kept if it is larger.
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.trips.done_at = None;
            self.flight.limited.0 = self.flight.delivered;
        }
        if self.state == State::ProbeRtt {
            self.flight.limited.1 = self.flight.delivered + self.flight.in_flight;
            match self.trips.done_at {
                None if self.flight.in_flight <= MIN_PIPE * self.given.mss => {
                    self.trips.done_at = Some(now.saturating_add(self.params.probe_rtt));
                    self.trips.round_done = false;
                    self.rounds.next = self.flight.delivered;
                }
                None => {}
                Some(_) => {
                    self.trips.round_done |= self.rounds.begins;
                    self.check_probe_done(now);
                }
            }
        }
        self.trips.idle_restart = false;
    }

    fn check_probe_done(&mut self, now: Time) {
        if self.trips.is_done(now) {
            self.trips.at = now;
            self.window.restore();
            if self.pipe.filled { self.enter_probe_bw(now) } else { self.state = State::Startup }
        }
    }

    // ---- What follows from it ---------------------------------------------------------------------

    /// BBRSetPacingRate.
    fn set_pace(&mut self, gain: f64) {
        let pace = self.paced(self.bw() as f64, gain);
        if pace > 0 && (self.pipe.filled || pace > self.pace) {
            self.pace = pace;
        }
    }

    /// BBRSaveCwnd.
    fn save_cwnd(&mut self) {
        let good = self.window.repair == Repair::No && self.state != State::ProbeRtt;
        self.window.save(good);
    }

    /// BBRSetCwnd, for an ACK that reports `acked` bytes as delivered and `lost` bytes as lost.
    fn set_cwnd(&mut self, acked_to: u64, acked: u64, lost: u64) {
        let (bw, filled, mss) = (self.bw(), self.pipe.filled, self.given.mss);
        let more = if self.params.aggregation && filled { self.aggregation.allowance(bw) } else { 0 };
        let target = self.inflight(bw, self.cwnd_gain(), more);
        let starts = self.flight.delivered < self.given.initial_window;
        let w = &mut self.window;
        if lost > 0 {
            w.cwnd = w.cwnd.saturating_sub(lost).max(mss);
        }
        if w.repair != Repair::No && acked_to >= w.recover {
            w.restore();
            (w.repair, w.conserves) = (Repair::No, false);
        }
        if w.conserves {
            w.cwnd = w.cwnd.max(self.flight.in_flight + acked);
        } else {
            let grown = w.cwnd.saturating_add(acked);
            if filled {
                w.cwnd = grown.min(target);
            } else if w.cwnd < target || starts {
                w.cwnd = grown;
            }
            w.cwnd = w.cwnd.max(MIN_PIPE * mss);
        }
        w.cwnd = w.cwnd.min(self.given.max_window);
    }
}

impl CongestionControl for Bbr {
    fn on_sent(&mut self, _: Time, _: Bytes, in_flight: Bytes) {
        self.flight.in_flight = in_flight.get();
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let (now, prior) = (ack.now, self.flight.in_flight);
        let (acked, lost) = self.flight.observe(ack);
        (self.window.before, self.window.acked) = (self.window.cwnd, acked);
        self.update_bandwidth(now, ack.delivery, lost);
        if ack.delivery.is_some() {
            let aged = self.rounds.begins;
            self.aggregation.on_ack(now, acked, aged, self.bw(), self.window.cwnd);
        }
        self.check_phase(now, prior, lost);
        self.check_full(ack.delivery);
        self.check_drain(now);
        self.update_rtprop(now, ack.rtt);
        self.set_pace(self.pacing_gain());
        self.set_cwnd(ack.acked_to, acked, lost);
    }

    fn on_loss(&mut self, loss: &Loss) {
        // The ACK that revealed the loss has already changed the window (`on_ack` comes first); this is undone.
        self.window.cwnd = self.window.before;
        self.save_cwnd();
        self.window.repair = Repair::Recovery;
        self.window.recover = loss.sent_to;
        // BBRModulateCwndForRecovery: packet conservation for a round.
        self.window.conserves = true;
        self.rounds.next = self.flight.delivered;
        let conserved = self.flight.in_flight + self.window.acked;
        self.window.cwnd = conserved.clamp(self.given.mss, self.given.max_window);
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.save_cwnd();
        self.window.repair = Repair::Timeout;
        self.window.recover = loss.sent_to;
        self.flight.all_lost();
        self.pipe.forget();
        self.rounds.begins = true;
        (self.window.cwnd, self.window.conserves) = (self.given.mss, false);
        self.check_policer(loss.now, self.given.mss, false);
    }

    fn on_restart(&mut self, now: Time, _: Span) {
        // BBRHandleRestartFromIdle.
        self.trips.idle_restart = true;
        self.aggregation.restart(now);
        match self.state {
            State::ProbeBw => self.set_pace(1.0),
            State::ProbeRtt => self.check_probe_done(now),
            State::Startup | State::Drain => {}
        }
    }

    fn report(&self, report: &mut Report) {
        report.min_rtt(self.trips.rtprop.map(|rtt| rtt.ps() as f64));
        let doc = "BtlBw: largest delivery rate of late, payload; null: none yet";
        report.add("bandwidth", "b/s", doc, self.bandwidth.get().map(|bps| bps as f64));
    }

    #[inline]
    fn permit(&self) -> Permit {
        let window = match self.state {
            // BBRModulateCwndForProbeRTT.
            State::ProbeRtt => self.window.cwnd.min(MIN_PIPE * self.given.mss),
            _ => self.window.cwnd,
        };
        self.given.permit(window, self.pace)
    }
}

#[cfg(test)]
mod tests;
