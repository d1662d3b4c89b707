//! ProbeBW: the phases Down, Cruise, Refill and Up, and the long-term model that its ACKs adapt.
//! draft-ietf-ccwg-bbr-06, §5.3.3.

use super::path::Sample;
use super::{Bbr3, State};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// BBR.ack_phase: which phase of the cycle the ACKs that arrive now belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Acks {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// Where the cycle stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cycle {
    acks: Acks,
    /// BBR.cycle_stamp, bw_probe_wait.
    since: Time,
    wait: Span,
    /// BBR.is_bw_probe_sample.
    pub(super) is_probe_sample: bool,
    /// BBR.prev_probe_too_high, prev_probe_precautionary.
    prev_too_high: bool,
    prev_precautionary: bool,
    /// BBR.probe_up_acked_per_inc; `None`: it does not grow.
    acked_per_inc: Option<u64>,
    /// BBR.bw_probe_up_acked, bw_probe_up_rounds.
    up_acked: u64,
    up_rounds: u32,
    /// BBR.drain_start_round.
    pub(super) drain_since: u64,
}

impl Cycle {
    /// HandleInflightTooHigh: only once per probe.
    pub(super) fn too_high(&mut self) {
        self.prev_too_high = true;
        self.is_probe_sample = false;
    }

    /// ACKS_PROBE_STOPPING.
    pub(super) fn stop_feedback(&mut self) {
        self.acks = Acks::Stopping;
    }
}

/// T_reno_bound, rounds (§5.3.3.8).
const MOST_ROUNDS: u64 = 63;

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time) {
        self.signals.reset();
        self.cycle.acked_per_inc = None;
        // PickProbeWait.
        self.rounds.since_probe_up = u64::from(self.stream.unit() < 0.5);
        self.cycle.wait = Span::from_us(2_000_000 + (self.stream.unit() * 1e6) as u64);
        self.cycle.since = now;
        self.cycle.stop_feedback();
        self.rounds.start(self.flight.delivered);
        self.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.bounds.reset_shortterm();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, 0);
        self.cycle.prev_precautionary = false;
        self.cycle.acks = Acks::Refilling;
        self.rounds.start(self.flight.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, rs: &Sample) {
        self.cycle.acks = Acks::Starting;
        self.rounds.start(self.flight.delivered);
        self.pipe.reset(rs.rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase.
    #[allow(
        clippy::collapsible_match,
        reason = "asking moves the phase on, and a guard should change nothing"
    )]
    pub(super) fn update_probe_bw(&mut self, now: Time, rs: &Sample) {
        if !self.pipe.reached || self.adapt_longterm(rs) {
            return;
        }
        match self.state {
            State::Down => {
                if !self.time_to_probe(now) && self.time_to_cruise() {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.time_to_probe(now);
            }
            State::Refill if self.rounds.begins => {
                self.cycle.is_probe_sample = true;
                self.start_up(rs);
            }
            State::Up => {
                if self.time_to_go_down(rs) {
                    self.cycle.prev_too_high = false; // no high loss (yet)
                    self.start_down(now);
                }
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn time_to_probe(&mut self, now: Time) -> bool {
        // IsRenoCoexistenceProbeTime: as many rounds as Reno would take to fill the pipe.
        let rounds = (self.target() / self.given.mss).min(MOST_ROUNDS);
        let due = now.since(self.cycle.since) > self.cycle.wait || self.rounds.since_probe_up >= rounds;
        if due {
            self.start_refill();
        }
        due
    }

    /// IsTimeToCruise.
    fn time_to_cruise(&self) -> bool {
        let in_flight = self.flight.in_flight;
        self.with_headroom().is_none_or(|most| in_flight <= most)
            && in_flight <= self.inflight(self.bandwidth.max(), 1.0)
    }

    /// IsTimeToGoDown.
    fn time_to_go_down(&mut self, rs: &Sample) -> bool {
        let bound = self.bounds.inflight_longterm;
        if self.cycle.prev_too_high && bound.is_some_and(|bound| self.flight.in_flight >= bound) {
            self.cycle.prev_precautionary = true;
            return true;
        }
        if self.limited_by_bound() {
            self.pipe.reset(rs.rate);
            return false;
        }
        self.pipe.now
    }

    /// C.is_cwnd_limited, by inflight_longterm.
    fn limited_by_bound(&self) -> bool {
        self.window.limits && self.bounds.inflight_longterm.is_some_and(|bound| self.window.cwnd >= bound)
    }

    /// InflightWithHeadroom; `None`: infinite.
    pub(super) fn with_headroom(&self) -> Option<u64> {
        let bound = self.bounds.inflight_longterm?;
        let headroom = self.given.mss.max((bound as f64 * self.params.headroom) as u64);
        Some(bound.saturating_sub(headroom).max(self.least()))
    }

    /// RaiseInflightLongtermSlope: by 1, 2, 4, 8 segments in successive rounds.
    fn raise_slope(&mut self) {
        let growth = 1u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_inc = Some((self.window.cwnd / growth).max(self.given.mss));
    }

    /// ProbeInflightLongtermUpward.
    fn raise_bound(&mut self, rs: &Sample) {
        let (Some(bound), Some(per_inc)) = (self.bounds.inflight_longterm, self.cycle.acked_per_inc) else {
            return;
        };
        if !self.limited_by_bound() {
            return;
        }
        self.cycle.up_acked += rs.newly_acked;
        let steps = self.cycle.up_acked / per_inc;
        self.cycle.up_acked -= steps * per_inc;
        self.bounds.inflight_longterm = Some(bound + steps * self.given.mss);
        if self.rounds.begins {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel. Returns whether it has begun another phase.
    fn adapt_longterm(&mut self, rs: &Sample) -> bool {
        if self.rounds.begins && self.cycle.acks == Acks::Starting {
            self.cycle.acks = Acks::Feedback;
        }
        if self.rounds.begins && self.cycle.acks == Acks::Stopping {
            self.cycle.is_probe_sample = false;
            self.cycle.acks = Acks::Init;
            if self.state.probes_bw() {
                if !rs.app_limited {
                    self.bandwidth.advance();
                }
                if self.cycle.prev_precautionary && !self.cycle.prev_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if !self.too_high(rs)
            && let Some(bound) = self.bounds.inflight_longterm
        {
            self.bounds.inflight_longterm = Some(bound.max(rs.tx_in_flight));
            if self.state == State::Up {
                self.raise_bound(rs);
            }
        }
        false
    }
}
