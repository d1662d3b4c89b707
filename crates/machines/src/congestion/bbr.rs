//! BBR, version 1: a pace and a window from two estimates, the bottleneck's bandwidth and the round trip without queues.
//! Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, and
//! draft-cardwell-iccrg-bbr-congestion-control-00, with the rules that Linux added: the aggregation of ACKs in `bbr/aggregation.rs`,
//! policers in `bbr/policer.rs`. Needs: round trips, delivery rate samples, pacing. Draws the phase in which PROBE_BW begins.
//!
//! Left out: what Linux does for its own pacing queue (packets that wait there for their departure count as in flight), and that
//! PROBE_RTT hears whether an ACK was delayed.
//!
//! CHOICE BBR §4.2.1: the first pace comes from the round trip of the empty path, which Linux learns from the handshake; a
//! scenario without handshakes has the same. Other reading: 1 ms.
//! CHOICE BBR §4.1.2: RTprop is renewed by an equal round trip too, as there; Linux since 5.4: only by a smaller one, which in
//! a simulator without jitter would mean PROBE_RTT every 10 s for a flow that never queues.

mod aggregation;
mod policer;

// Shared with version 3.
pub(super) use aggregation::Aggregation;
pub(super) use policer::bits_per_second;

use super::windowed::Largest;
use super::{
    AckSample, CongestionControl, Delivery, Gives, Loss, Needs, Parameters, Permit, Problems, Start,
};
use policer::{Heard, Policer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// BBR version 1: a pace and a window by bottleneck bandwidth and propagation delay (Cardwell et al., ACM Queue 2016; Linux).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// BBRHighGain, the gain of STARTUP; DRAIN has its inverse.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 10.0))]
    pub high_gain: f64,
    /// The window in PROBE_BW, in bandwidth-delay products.
    #[schemars(extend("minimum" = 1.0, "maximum" = 10.0))]
    pub cwnd_gain: f64,
    /// BtlBwFilterLen, round trips for which a bandwidth counts.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub bw_rounds: u32,
    /// RTpropFilterLen, how long a round trip counts; PROBE_RTT follows.
    pub rtt_window: Span,
    /// ProbeRTTDuration, the least time with four segments in flight.
    pub probe_rtt: Span,
    /// The pace is lower than the bandwidth by this fraction, so that queues drain.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub margin: f64,
    /// Segments that hosts at both ends hold back at a time, three of which the window allows for; if not given what Linux would
    /// send at once: 1 ms of the pace, at least 2, 1 below 1.2 Mbps.
    #[schemars(extend("minimum" = 1, "maximum" = 127))]
    pub quantum: Option<u32>,
    /// The window allows for ACKs that come in bursts.
    pub aggregation: bool,
    /// A rate that two lossy intervals agree on is taken for a policer's.
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
        Needs { round_trips: true, delivery: true, gives: Gives::PaceAndOwnWindow, ..Needs::WINDOW }
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

    fn make(&self, start: &Start) -> Result<Bbr, String> {
        Ok(Bbr::new(start, *self))
    }

    /// So short that stories of microseconds see every state.
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

/// Where the transport's loss repair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Repair {
    /// There is none.
    No,
    /// After a loss inferred from ACKs.
    Recovery,
    /// After a timeout.
    Timeout,
}

/// BBRGainCycleLen gains of PROBE_BW.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// BBRMinPipeCwnd, segments.
const MIN_PIPE: u64 = 4;
/// The pipe is full after so many rounds with less growth than this.
const FULL_ROUNDS: u8 = 3;
const FULL_GROWTH: f64 = 1.25;
/// Below this Linux hands down single segments.
const SMALL_PACE: u64 = 1_200_000;

/// BBR's model and state; names of the draft in backquotes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bbr {
    params: Params,
    mss: u64,
    initial_window: u64,
    max_window: u64,
    line: Rate,
    /// Bytes on the wire per byte of payload.
    wire: f64,
    stream: Stream,
    state: State,
    /// `BtlBwFilter`: payload bits per second, by rounds.
    bandwidth: Largest,
    /// `RTprop` and `rtprop_stamp`.
    rtprop: Option<Span>,
    rtprop_at: Time,
    /// The least round trip ever: a delivery rate over less than that is none.
    least: Option<Span>,
    /// `round_count`, `round_start`, `next_round_delivered`.
    round: u64,
    round_start: bool,
    next_round: u64,
    /// Payload bytes delivered and lost so far, and in flight.
    delivered: u64,
    lost: u64,
    in_flight: u64,
    /// `filled_pipe`, `full_bw`, `full_bw_count`.
    filled: bool,
    full_bw: u64,
    full_count: u8,
    /// `cycle_index`, `cycle_stamp`.
    phase: u8,
    phase_since: Time,
    /// `probe_rtt_done_stamp`, `probe_rtt_round_done`.
    probe_done: Option<Time>,
    probe_round_done: bool,
    idle_restart: bool,
    /// What was delivered when segments of PROBE_RTT left: their samples are as little a limit of the path as the
    /// application's.
    limited: (u64, u64),
    /// `cwnd`, and `prior_cwnd`.
    cwnd: u64,
    prior_cwnd: u64,
    /// The window before the last ACK, and what that delivered: for the loss that may follow from it.
    before: u64,
    acked: u64,
    repair: Repair,
    /// Repair ends when this is acknowledged.
    recover: u64,
    /// `packet_conservation`.
    conserves: bool,
    /// `pacing_rate`, payload bits per second.
    pace: u64,
    aggregation: Aggregation,
    policer: Policer,
}

impl Bbr {
    fn new(start: &Start, params: Params) -> Self {
        let mss = u64::from(start.mss);
        let max_window = start.max_window.get().max(mss);
        let window = start.initial_window.get().clamp(mss, max_window);
        let mut bbr = Self {
            params,
            mss,
            initial_window: window,
            max_window,
            line: start.line_rate,
            wire: f64::from(start.mss + start.header) / f64::from(start.mss),
            stream: start.stream,
            state: State::Startup,
            bandwidth: Largest::default(),
            rtprop: None,
            rtprop_at: Time::ZERO,
            least: None,
            round: 0,
            round_start: false,
            next_round: 0,
            delivered: 0,
            lost: 0,
            in_flight: 0,
            filled: false,
            full_bw: 0,
            full_count: 0,
            phase: 0,
            phase_since: Time::ZERO,
            probe_done: None,
            probe_round_done: false,
            idle_restart: false,
            limited: (1, 0),
            cwnd: window,
            prior_cwnd: 0,
            before: window,
            acked: 0,
            repair: Repair::No,
            recover: 0,
            conserves: false,
            pace: 0,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
        };
        // BBRInitPacingRate.
        let rtt = if start.base_rtt.is_zero() { Span::from_ms(1) } else { start.base_rtt };
        let window = window.min(1 << 40) as f64;
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
            State::ProbeBw => CYCLE[usize::from(self.phase)],
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

    /// A pace somewhat below `gain` times the bandwidth.
    fn paced(&self, bandwidth: f64, gain: f64) -> u64 {
        (bandwidth * gain * (1.0 - self.params.margin)) as u64
    }

    /// `send_quantum`, segments.
    fn quantum(&self) -> u64 {
        match self.params.quantum {
            Some(n) => u64::from(n),
            None => {
                let least = if self.pace < SMALL_PACE { 1 } else { 2 };
                (self.pace / 8000 / self.mss).clamp(least, 127)
            }
        }
    }

    /// BBRInflight: the bandwidth-delay product times `gain`, in whole segments, and `more` bytes, with room for the quanta at both
    /// ends.
    fn inflight(&self, bandwidth: u64, gain: f64, more: u64) -> u64 {
        let Some(rtprop) = self.rtprop else { return self.initial_window };
        let bdp = bandwidth as f64 * rtprop.secs() / 8.0 * gain / self.mss as f64;
        let mut segments = libm::ceil(bdp) as u64 + more.div_ceil(self.mss) + 3 * self.quantum();
        if self.params.quantum.is_none() {
            segments = segments.next_multiple_of(2);
        }
        if self.state == State::ProbeBw && self.phase == 0 {
            segments += 2;
        }
        segments.saturating_mul(self.mss)
    }

    // ---- The model --------------------------------------------------------------------------------

    /// BBRUpdateRound, BBRUpdateBtlBw.
    fn update_bandwidth(&mut self, now: Time, sample: Option<Delivery>, lost: u64) {
        self.round_start = false;
        let Some(sample) = sample else { return };
        let sent_at = self.delivered.saturating_sub(sample.delivered.get());
        if sent_at >= self.next_round {
            self.next_round = self.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserves = false;
        }
        let limited = sample.app_limited || (self.limited.0..=self.limited.1).contains(&sent_at);
        self.hear_policer(now, lost, limited);
        // draft-ietf-ccwg-bbr §4.1.2.4: the ACKs of less than a round trip may have come compressed.
        if sample.interval.is_zero() || self.least.is_some_and(|least| sample.interval < least) {
            return;
        }
        let rate = bits_per_second(sample.delivered.get() as f64, sample.interval);
        if !limited || rate >= self.bandwidth.get().unwrap_or(0) {
            self.bandwidth.update(u64::from(self.params.bw_rounds), self.round, rate);
        }
    }

    fn hear_policer(&mut self, now: Time, lost: u64, limited: bool) {
        if !self.params.policer {
            return;
        }
        let heard = Heard {
            now,
            losses: lost > 0,
            limited,
            round_start: self.round_start,
            probing: self.state == State::ProbeBw,
            delivered: self.delivered,
            lost: self.lost,
        };
        if self.policer.hear(&heard) {
            self.enter_probe_bw(now);
        }
    }

    /// BBRCheckCyclePhase, with `prior` bytes in flight before this ACK.
    fn check_phase(&mut self, now: Time, prior: u64, lost: u64) {
        if self.state != State::ProbeBw {
            return;
        }
        let full = self.rtprop.is_some_and(|rtprop| now.since(self.phase_since) > rtprop);
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
            self.advance_phase(now);
        }
    }

    fn advance_phase(&mut self, now: Time) {
        self.phase_since = now;
        self.phase = (self.phase + 1) % CYCLE.len() as u8;
    }

    /// BBREnterProbeBW: any phase but that of the lower gain comes first.
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.phase = 7 - self.stream.below(7) as u8;
        self.advance_phase(now);
    }

    /// BBRCheckFullPipe.
    fn check_full(&mut self, sample: Option<Delivery>) {
        if self.filled || !self.round_start || sample.is_none_or(|s| s.app_limited) {
            return;
        }
        let bandwidth = self.bandwidth.get().unwrap_or(0);
        if bandwidth as f64 >= self.full_bw as f64 * FULL_GROWTH {
            (self.full_bw, self.full_count) = (bandwidth, 0);
            return;
        }
        self.full_count += 1;
        self.filled = self.full_count >= FULL_ROUNDS;
    }

    /// BBRCheckDrain.
    fn check_drain(&mut self, now: Time) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        let bandwidth = self.bandwidth.get().unwrap_or(0);
        if self.state == State::Drain && self.in_flight <= self.inflight(bandwidth, 1.0, 0) {
            self.enter_probe_bw(now);
        }
    }

    /// BBRUpdateRTprop, BBRCheckProbeRTT.
    fn update_rtprop(&mut self, now: Time, rtt: Option<Span>) {
        let expired = self.rtprop.is_some() && now.since(self.rtprop_at) > self.params.rtt_window;
        if let Some(rtt) = rtt
            && (expired || self.rtprop.is_none_or(|rtprop| rtt <= rtprop))
        {
            (self.rtprop, self.rtprop_at) = (Some(rtt), now);
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_done = None;
            self.limited.0 = self.delivered;
        }
        if self.state == State::ProbeRtt {
            self.limited.1 = self.delivered + self.in_flight;
            match self.probe_done {
                None if self.in_flight <= MIN_PIPE * self.mss => {
                    self.probe_done = Some(now.saturating_add(self.params.probe_rtt));
                    self.probe_round_done = false;
                    self.next_round = self.delivered;
                }
                None => {}
                Some(_) => {
                    self.probe_round_done |= self.round_start;
                    self.check_probe_done(now);
                }
            }
        }
        self.idle_restart = false;
    }

    fn check_probe_done(&mut self, now: Time) {
        if self.probe_round_done && self.probe_done.is_some_and(|done| now > done) {
            self.rtprop_at = now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            if self.filled { self.enter_probe_bw(now) } else { self.state = State::Startup }
        }
    }

    // ---- What follows from it ---------------------------------------------------------------------

    /// BBRSetPacingRate.
    fn set_pace(&mut self, gain: f64) {
        let pace = self.paced(self.bw() as f64, gain);
        if pace > 0 && (self.filled || pace > self.pace) {
            self.pace = pace;
        }
    }

    /// BBRSaveCwnd.
    fn save_cwnd(&mut self) {
        let good = self.repair == Repair::No && self.state != State::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// BBRSetCwnd, for an ACK that delivers `acked` and tells of `lost` bytes.
    fn set_cwnd(&mut self, acked_to: u64, acked: u64, lost: u64) {
        if lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(lost).max(self.mss);
        }
        if self.repair != Repair::No && acked_to >= self.recover {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            (self.repair, self.conserves) = (Repair::No, false);
        }
        if self.conserves {
            self.cwnd = self.cwnd.max(self.in_flight + acked);
        } else {
            let more = self.aggregation.allowance(self.bw());
            let more = if self.params.aggregation && self.filled { more } else { 0 };
            let target = self.inflight(self.bw(), self.cwnd_gain(), more);
            let grown = self.cwnd.saturating_add(acked);
            if self.filled {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || self.delivered < self.initial_window {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE * self.mss);
        }
        self.cwnd = self.cwnd.min(self.max_window);
    }
}

impl CongestionControl for Bbr {
    fn on_sent(&mut self, _: Time, _: Bytes, in_flight: Bytes) {
        self.in_flight = in_flight.get();
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let (now, prior) = (ack.now, self.in_flight);
        let acked = (ack.acked + ack.sacked).get();
        (self.before, self.acked) = (self.cwnd, acked);
        self.delivered += acked;
        self.in_flight = ack.in_flight.get();
        // What is neither in flight any more nor delivered is lost.
        let lost = prior.saturating_sub(acked + self.in_flight);
        self.lost += lost;
        if let Some(rtt) = ack.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        self.update_bandwidth(now, ack.delivery, lost);
        if ack.delivery.is_some() {
            let aged = self.round_start;
            self.aggregation.on_ack(now, acked, aged, self.bw(), self.cwnd);
        }
        self.check_phase(now, prior, lost);
        self.check_full(ack.delivery);
        self.check_drain(now);
        self.update_rtprop(now, ack.rtt);
        self.set_pace(self.pacing_gain());
        self.set_cwnd(ack.acked_to, acked, lost);
    }

    fn on_loss(&mut self, loss: &Loss) {
        // The ACK that told of it has been heard already: what it did to the window does not count.
        self.cwnd = self.before;
        self.save_cwnd();
        self.repair = Repair::Recovery;
        self.recover = loss.sent_to;
        // BBRModulateCwndForRecovery: packet conservation for a round.
        self.conserves = true;
        self.next_round = self.delivered;
        self.cwnd = (self.in_flight + self.acked).clamp(self.mss, self.max_window);
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.save_cwnd();
        self.repair = Repair::Timeout;
        self.recover = loss.sent_to;
        self.lost += self.in_flight;
        (self.in_flight, self.cwnd) = (0, self.mss);
        // Linux: growth is looked for anew.
        (self.full_bw, self.round_start, self.conserves) = (0, true, false);
        self.hear_policer(loss.now, self.mss, false);
    }

    fn on_restart(&mut self, now: Time, _: Span) {
        // BBRHandleRestartFromIdle.
        self.idle_restart = true;
        self.aggregation = Aggregation::from(now);
        match self.state {
            State::ProbeBw => self.set_pace(1.0),
            State::ProbeRtt => self.check_probe_done(now),
            State::Startup | State::Drain => {}
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        let window = match self.state {
            // BBRModulateCwndForProbeRTT.
            State::ProbeRtt => self.cwnd.min(MIN_PIPE * self.mss),
            _ => self.cwnd,
        };
        let pace = (self.pace as f64 * self.wire) as u64;
        Permit {
            window: Bytes::new(window),
            pace: Some(Rate::from_bps(pace.clamp(1, self.line.bps()))),
            wake: None,
        }
    }
}

#[cfg(test)]
mod tests;
