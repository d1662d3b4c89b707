//! Swift: a window that keeps the delay at a target. Kumar, Dukkipati, Jang, Wassel, Wu, Montazeri, Wang,
//! Springborn, Alfeld, Ryan, Wetherall, Vahdat, "Swift: Delay is Simple and Effective for Congestion Control
//! in the Datacenter", SIGCOMM 2020, Algorithm 1 and §3.5. Needs: round trips from the instant at which the
//! NIC takes a packet (NICs that pull), since what a packet waits in its own host is not the fabric's.
//!
//! Left out: the second window, for the endpoint's own delay (§3.2: ends take no time here), and moving to
//! another path. How csg-htsim differs, in `swift/htsim.rs`.
//!
//! ```text
//! CHOICE Swift §3.5: the paper gives no table of parameters. Those of csg-htsim, whose authors call them guesses.
//! CHOICE Swift §3.5: the hops are those of the path when the flow begins; one that a failure moves to a longer path
//! keeps its target. Other reading: counted in every packet, by what is left of its TTL.
//! CHOICE Swift, Algorithm 1: "rtt", once per which a window falls and over which one below a packet is
//! paced, is smoothed as TCP's (RFC 6298, gain 1/8). Other reading: the last sample.
//! ```

mod htsim;

use super::{
    AckSample, CongestionControl, Gives, Loss, Needs, Parameters, Permit, Problems, Restart, Rule, Rules,
    Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// RETX_RESET_THRESHOLD: timeouts in a row after which the window is the smallest.
// CHOICE Swift §3.4: not in the paper; csg-htsim's.
const RETX_RESET_THRESHOLD: u32 = 5;

/// Swift: a window by the delay and a target for it (Kumar et al., SIGCOMM 2020).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which implementation.
    pub variant: Variant,
    /// Target delay for a path without switches and a large window.
    pub base_target: Span,
    /// ħ: increase of the target delay per switch on the path.
    pub hop_target: Span,
    /// fs_range: increase of the target delay at a window of `flow_min` packets (flow-based scaling: with many flows,
    /// windows are small and queues longer).
    pub flow_range: Span,
    /// fs_min_cwnd, packets: at and below this window the target gains all of `flow_range`.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub flow_min: f64,
    /// fs_max_cwnd, packets: larger windows add nothing to the target.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub flow_max: f64,
    /// ai: additive increase in packets per round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub additive: f64,
    /// β: a decrease is by β · (delay − target)/delay, at most `max_decrease`.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub beta: f64,
    /// max_mdf: a decrease is at most this fraction.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub max_decrease: f64,
    /// min_cwnd, packets: the smallest window. Windows below one packet are paced.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub min_window: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            variant: Variant::Published,
            base_target: Span::from_us(20),
            hop_target: Span::from_us(3), // csg-htsim: base / 6.55
            flow_range: Span::from_us(100),
            flow_min: 0.1,
            flow_max: 100.0,
            additive: 1.0,
            beta: 0.8,
            max_decrease: 0.5,
            min_window: 0.01,
        }
    }
}

/// Implementations of Swift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Algorithm 1.
    #[default]
    Published,
    /// csg-htsim's: whole bytes, whole packets in the target, no term for hops, losses answered when they are repaired.
    Htsim,
}

impl Parameters for Params {
    type Machine = Swift;

    fn needs(&self) -> Needs {
        Needs { round_trips: true, gives: Gives::Window { slow_start: false }, ..Needs::WINDOW }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        let Self { beta, max_decrease, min_window, .. } = *self;
        for (key, value) in [("beta", beta), ("max_decrease", max_decrease), ("min_window", min_window)] {
            problems.share(key, value);
        }
        for (key, value) in [("flow_min", self.flow_min), ("additive", self.additive)] {
            if !(value > 0.0 && value.is_finite()) {
                problems.wrong(key, format!("{value} is out of range"), "allowed: above 0");
            }
        }
        if self.flow_max <= self.flow_min || !self.flow_max.is_finite() {
            let reason = format!("it is not above `flow_min`, {}", self.flow_min);
            problems.wrong("flow_max", reason, "raise it");
        }
        problems.positive("base_target", self.base_target, "20us");
        if self.variant == Variant::Htsim && self.hop_target != Self::default().hop_target {
            problems.useless("hop_target", "csg-htsim loses count of the hops", "remove the key");
        }
    }

    fn rules(&self) -> Rules {
        let swift = Rule::Differs("Swift, algorithm 1: by a share of the window, also at the first timeouts");
        let used = match self.variant {
            Variant::Published => Rule::Kept,
            Variant::Htsim => Rule::Differs("csg-htsim's"),
        };
        Rules {
            loss_window: swift,
            loss_cuts_flight: swift,
            grows_when_used: used,
            restarts: Rule::Kept,
            ..Rules::FOREIGN
        }
    }

    fn make(&self, start: &Start) -> Result<Swift, Invalid> {
        Ok(Swift::new(start, *self))
    }

    /// Both implementations, with targets near the round trips of the test sequences.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let near = Self { base_target: Span::from_us(50), ..Self::default() };
        vec![near, Self { variant: Variant::Htsim, ..near }]
    }
}

/// Algorithm 1. The window is kept in bytes, a packet is `mss` of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swift {
    params: Params,
    mss: f64,
    /// Bytes on the wire of a full packet.
    wire: f64,
    line_rate: Rate,
    max_window: f64,
    /// The term of the path's length.
    hops: Span,
    /// fs_range over the difference of the roots, picoseconds.
    alpha: f64,
    /// cwnd.
    window: f64,
    /// Smoothed; zero before the first.
    rtt: Span,
    /// t_last_decrease, once there was one.
    decreased: Option<Time>,
    /// retransmit_cnt.
    timeouts: u32,
    /// A loss is being repaired and has not cut the window yet: see `htsim`.
    owes: bool,
}

impl Swift {
    /// The window of a flow that starts.
    fn new(start: &Start, params: Params) -> Self {
        let mss = f64::from(start.mss);
        let root = |packets: f64| 1.0 / packets.sqrt();
        let hops = if params.variant == Variant::Htsim { 0 } else { start.switches };
        Self {
            params,
            mss,
            wire: f64::from(start.mss + start.header),
            line_rate: start.line_rate,
            max_window: (start.max_window.get() as f64).max(mss),
            hops: params.hop_target.saturating_mul(u64::from(hops)),
            alpha: params.flow_range.ps() as f64 / (root(params.flow_min) - root(params.flow_max)),
            window: start.initial_window.get().min(start.max_window.get()) as f64,
            rtt: Span::ZERO,
            decreased: None,
            timeouts: 0,
            owes: false,
        }
    }

    /// TargetDelay (§3.5), picoseconds: base + hops + max(0, min(α/√cwnd + β, fs_range)).
    fn target(&self) -> f64 {
        let cwnd = self.window_of_target();
        let beta = -self.alpha / self.params.flow_max.sqrt();
        let flows = (self.alpha / cwnd.sqrt() + beta).min(self.params.flow_range.ps() as f64).max(0.0);
        (self.params.base_target + self.hops).ps() as f64 + flows
    }

    /// A decrease is due once in a round trip.
    fn can_decrease(&self, now: Time) -> bool {
        self.decreased.is_none_or(|at| now.since(at) >= self.rtt)
    }

    /// Lines 1 to 13: an ACK of `acked` new bytes with this delay.
    fn on_delay(&mut self, now: Time, delay: Span, acked: Bytes) {
        let can_decrease = self.can_decrease(now);
        self.rtt = if self.rtt.is_zero() { delay } else { self.rtt.saturating_mul(7) / 8 + delay / 8 };
        self.timeouts = 0;
        let Params { beta, max_decrease, .. } = self.params;
        let (before, target, acked) = (self.window, self.target(), acked.get() as f64);
        let picoseconds = delay.ps() as f64;
        if picoseconds < target {
            self.grow(acked);
        } else if can_decrease {
            let share = 1.0 - beta * (picoseconds - target) / picoseconds;
            self.window *= share.max(1.0 - max_decrease);
        }
        self.settle(now, before);
    }

    /// The additive increase, for `acked` bytes.
    fn grow(&mut self, acked: f64) {
        let per = if self.window >= self.mss { self.mss / self.window } else { 1.0 };
        self.window += self.params.additive * acked * per;
    }

    /// `acked` bytes were acknowledged, without a round trip.
    ///
    /// CHOICE Swift §3.1: its NICs time stamp every packet, so that those that are sent again have delays, too. Where
    /// they have none (RFC 6298 §3), the window grows if the mean delay so far is below the target. Other reading: it
    /// stays. A flow whose window a timeout made 0.01 packets then sends its next packet a hundred round trips later.
    fn on_unmeasured(&mut self, now: Time, acked: Bytes) {
        let before = self.window;
        if !self.rtt.is_zero() && (self.rtt.ps() as f64) < self.target() {
            self.grow(acked.get() as f64);
        }
        self.settle(now, before);
    }

    /// A loss cuts the window by the largest decrease.
    fn on_lost(&mut self, now: Time) {
        let before = self.window;
        if self.can_decrease(now) {
            self.window *= 1.0 - self.params.max_decrease;
        }
        self.settle(now, before);
    }

    /// Lines 25 to 30: bounds, and when it fell last.
    fn settle(&mut self, now: Time, before: f64) {
        self.round();
        self.window = self.window.clamp(self.params.min_window * self.mss, self.max_window);
        if self.window < before {
            self.decreased = Some(now);
        }
    }
}

impl CongestionControl for Swift {
    fn on_ack(&mut self, ack: &AckSample) {
        self.repaired(ack); // csg-htsim
        self.timeouts = 0; // algorithm 1: on every ACK, also one that gives no round trip
        // CHOICE Swift §3.1: senders there have data. A window that is not used up does not grow (RFC 9002 §7.8);
        // csg-htsim's does.
        let grows = ack.cwnd_limited || self.params.variant == Variant::Htsim;
        let acked = if grows { ack.acked + ack.sacked } else { Bytes::ZERO };
        match ack.rtt {
            Some(rtt) => self.on_delay(ack.now, rtt, acked),
            None if self.params.variant == Variant::Htsim => {}
            None => self.on_unmeasured(ack.now, acked),
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.timeouts = 0;
        if self.answers_later() {
            return; // csg-htsim
        }
        self.on_lost(loss.now);
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.timeouts += 1;
        self.owes = false;
        if self.timeouts >= RETX_RESET_THRESHOLD {
            let before = self.window;
            self.window = 0.0;
            self.settle(loss.now, before);
        } else {
            self.on_lost(loss.now);
        }
    }

    fn restart_from(&mut self, now: Time, restart: Restart) {
        let before = self.window;
        self.window = self.window.min(restart.window.get() as f64);
        self.settle(now, before);
    }

    /// Below a packet: one, every rtt/cwnd (line 29).
    fn permit(&self) -> Permit {
        if self.window >= self.mss {
            return Permit::window(Bytes::new(self.window as u64));
        }
        let packet = Permit::window(Bytes::new(self.mss as u64));
        if self.rtt.is_zero() {
            return packet;
        }
        let pace = self.wire * 8.0 * (self.window / self.mss) / self.rtt.secs();
        Permit { pace: Some(Rate::from_bps((pace as u64).max(1)).min(self.line_rate)), ..packet }
    }
}

#[cfg(test)]
mod tests;
