//! HPCC: the window follows the utilisation of the busiest link, measured by in-band telemetry. Li, Miao, Liu, Zhuang,
//! Feng, Tang, Cao, Zhang, Kelly, Alizadeh, Yu, "HPCC: High Precision Congestion Control", SIGCOMM 2019, §3 and
//! Algorithm 1. Needs: in-band telemetry, written by every switch and sent back with every ACK.
//!
//! Not in the paper, and here as in the authors' simulator:
//!
//! ```text
//! CHOICE HPCC §3.2: before the first ACK there is no L to compare with. It is only kept, and U starts at 1:
//! the flow starts at the line's rate.
//! CHOICE HPCC §3.2: W is at most W_init = B_NIC T. Algorithm 1 as printed would let it grow on an empty path for ever.
//! CHOICE HPCC §4.1: when the path id changes, L is thrown away and built anew from the next ACK; U and W stay until
//! it can be measured again, since they are no records of links. Other reading: both begin as with a new flow, and a
//! reroute sends a burst of a whole product into a path that others use.
//! CHOICE HPCC §3.2: a packet may leave while less than W is in flight, so that a window is never less than a
//! packet. Other reading: only what fits; a flow whose share is 1.9 packets then sends one, and the rate R =
//! W/T is not reached.
//! ```
//!
//! What that simulator does differently beyond that is in [`authors`].

pub mod authors;

use super::{
    AckSample, CongestionControl, Feedback, FeedbackKind, Gives, Loss, Needs, Parameters, Paths, Permit,
    Problems, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, tagged};
use thalweg_wire::{IntHop, IntStack};

/// HPCC: windows and rates by in-band telemetry (Li et al., SIGCOMM 2019). Switches write it and receivers
/// send it back without further settings; `telemetry` is its size on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// η: target utilisation of the links.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub eta: f64,
    /// maxStage: round trips of additive increase in a row before the next multiplicative one; 0: every
    /// update is multiplicative.
    pub max_stage: u32,
    /// T: the base round trip, the same for all flows. If not given, the largest round trip of the empty network, with
    /// full packets.
    pub base_rtt: Option<Span>,
    /// W_AI: additive increase of the window in bytes. If not given, W_init (1 − η) / 100, for a hundred flows that
    /// share a link; 1 − η counts as at least 1 %.
    pub additive: Option<Bytes>,
    /// Which implementation.
    pub variant: Variant,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            eta: 0.95,    // HPCC §5.1
            max_stage: 5, // HPCC §5.1
            base_rtt: None,
            additive: None, // HPCC §3.3: W_init (1 − η) / N. CHOICE: N, the flows to be expected, is 100
            variant: Variant::Published,
        }
    }
}

tagged! {
    /// Implementations of HPCC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum Variant {
        /// Algorithm 1.
        #[default]
        Published,
        /// The authors' simulator: rates instead of windows, telemetry in few bits, a change of the rate
        /// moves the departure already planned. Its scripts run it with `max_stage = 0`.
        Simulator {
            /// Additive increase of the rate, instead of `additive`.
            #[serde(default = "authors::additive")]
            additive: Rate,
            /// Minimum rate.
            #[serde(default = "authors::min_rate")]
            min_rate: Rate,
        },
    }
}

impl Parameters for Params {
    type Machine = Machine;

    fn needs(&self) -> Needs {
        Needs {
            feedback: FeedbackKind::Int,
            gives: Gives::PaceAndOwnWindow,
            moves_departures: self.variant != Variant::Published,
            ..Needs::WINDOW
        }
    }

    fn resolve(&mut self, paths: &mut dyn Paths) {
        self.base_rtt.get_or_insert_with(|| paths.base_rtt());
    }

    fn check(&self, line: Rate, problems: &mut Problems) {
        problems.share("eta", self.eta);
        if let Some(base_rtt) = self.base_rtt {
            problems.positive("base_rtt", base_rtt, "13us");
        }
        match self.variant {
            Variant::Published if self.additive == Some(Bytes::ZERO) => {
                let reason = "with an increase of 0 bytes no flow ever gets its share";
                problems.wrong("additive", reason, "for example \"80B\"");
            }
            Variant::Published => {}
            Variant::Simulator { min_rate, .. } => {
                problems.rate("variant.min_rate", min_rate, line);
                if self.additive.is_some() {
                    problems.useless(
                        "additive",
                        "the simulator adds to the rate",
                        "write `variant.additive`",
                    );
                }
            }
        }
    }

    fn make(&self, start: &Start) -> Result<Machine, Invalid> {
        Ok(match self.variant {
            Variant::Published => Machine::Published(Hpcc::new(start, self)),
            Variant::Simulator { additive, min_rate } => {
                Machine::Simulator(authors::AuthorsHpcc::new(start, self, additive, min_rate))
            }
        })
    }

    /// W_AI and minimum rates so large that they matter in the short test sequences.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let base_rtt = Some(Span::from_us(16));
        let published = Self { base_rtt, max_stage: 2, ..Self::default() };
        let variant = Variant::Simulator { additive: Rate::from_mbps(40), min_rate: Rate::from_gbps(1) };
        vec![published, Self { additive: Some(Bytes::new(800)), ..published }, Self { variant, ..published }]
    }
}

/// Algorithm 1. Windows are bytes, times picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hpcc {
    /// η.
    eta: f64,
    /// maxStage.
    max_stage: u32,
    /// T.
    t: f64,
    /// W_AI.
    w_ai: f64,
    /// W_init.
    w_init: f64,
    /// L, what the links reported in the ACK before; empty before the first.
    l: IntStack,
    /// U, the average of the utilisation.
    u: f64,
    /// W^c, the reference window.
    w_c: f64,
    /// incStage.
    inc_stage: u32,
    /// lastUpdateSeq.
    last_update_seq: u64,
    limits: Limits,
    /// W and R = W/T.
    permit: Permit,
}

/// What W and R cannot exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Limits {
    line_rate: Rate,
    max_window: Bytes,
    mss: u64,
}

impl Limits {
    /// A packet may leave while less than `window` is in flight.
    fn permit(&self, window: u64, rate: Rate) -> Permit {
        let window = Bytes::new(window.next_multiple_of(self.mss).max(self.mss));
        let pace = rate.clamp(Rate::from_bps(1), self.line_rate);
        Permit { pace: Some(pace), ..Permit::window(window.min(self.max_window)) }
    }
}

impl From<&Start> for Limits {
    fn from(start: &Start) -> Self {
        let mss = u64::from(start.mss);
        Self { line_rate: start.line_rate, max_window: start.max_window.max(Bytes::new(mss)), mss }
    }
}

impl Hpcc {
    /// A flow that starts at the line's rate.
    fn new(start: &Start, params: &Params) -> Self {
        let t = params.base_rtt.unwrap_or(start.base_rtt).ps() as f64;
        let w_init = start.line_rate.bps() as f64 / 8e12 * t;
        let limits = Limits::from(start);
        Self {
            eta: params.eta,
            max_stage: params.max_stage,
            t,
            w_ai: params.additive.map_or(w_init * (1.0 - params.eta).max(0.01) / 100.0, |w| w.get() as f64),
            w_init,
            l: IntStack::default(),
            u: 1.0,
            w_c: w_init,
            inc_stage: 0,
            last_update_seq: 0,
            limits,
            permit: limits.permit(w_init as u64, start.line_rate),
        }
    }

    /// MeasureInflight: the utilisation of the busiest link, averaged over T.
    fn measure_inflight(&mut self, ack_l: &[IntHop]) -> f64 {
        let (mut u, mut tau) = (0.0, 0.0);
        for (ack_l, l) in ack_l.iter().zip(self.l.as_slice()) {
            let dt = ack_l.at.since(l.at).ps() as f64;
            let tx_rate = ack_l.tx_bytes.saturating_sub(l.tx_bytes) as f64 / dt;
            let b = ack_l.rate.bps() as f64 / 8e12; // bytes in a picosecond
            let u_link = (ack_l.queue.min(l.queue) as f64 / self.t + tx_rate) / b;
            if u_link > u {
                (u, tau) = (u_link, dt);
            }
        }
        let tau = f64::min(tau, self.t);
        self.u = (1.0 - tau / self.t) * self.u + tau / self.t * u;
        self.u
    }

    /// ComputeWind: W, from W^c.
    fn compute_wind(&mut self, u: f64, update_wc: bool) -> f64 {
        let multiplicative = u >= self.eta || self.inc_stage >= self.max_stage;
        let w = match multiplicative {
            true => self.w_c / (u / self.eta) + self.w_ai,
            false => self.w_c + self.w_ai,
        };
        let w = w.min(self.w_init);
        if update_wc {
            self.inc_stage = if multiplicative { 0 } else { self.inc_stage + 1 };
            self.w_c = w;
        }
        w
    }

    /// NewAck.
    fn new_ack(&mut self, ack: &AckSample, ack_l: &IntStack) {
        let update_wc = ack.acked_to > self.last_update_seq;
        let u = self.measure_inflight(ack_l.as_slice());
        let w = self.compute_wind(u, update_wc);
        if update_wc {
            self.last_update_seq = ack.sent_to;
        }
        let r = Rate::from_bps((w / self.t * 8e12) as u64);
        self.permit = self.limits.permit(w as u64, r);
        self.l.copy_from(ack_l);
    }
}

impl CongestionControl for Hpcc {
    fn on_ack(&mut self, ack: &AckSample) {
        let Feedback::Int(ack_l) = ack.feedback else { return };
        let l = self.l.as_slice();
        let hops = ack_l.as_slice();
        if ack_l.path() != self.l.path() || hops.len() != l.len() {
            // The first, or the path has changed (§4.1): records of another path say nothing about this one.
            self.l.copy_from(ack_l);
            self.last_update_seq = ack.sent_to;
        } else if hops.iter().zip(l).all(|(new, old)| new.at > old.at) && !l.is_empty() {
            self.new_ack(ack, ack_l); // (An ACK that was overtaken has no new information.)
        }
    }

    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "it is boxed as a whole")]
pub enum Machine {
    /// Algorithm 1.
    Published(Hpcc),
    /// The authors' simulator.
    Simulator(authors::AuthorsHpcc),
}

impl CongestionControl for Machine {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        match self {
            Self::Published(hpcc) => hpcc.on_ack(ack),
            Self::Simulator(hpcc) => hpcc.on_ack(ack),
        }
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    #[inline]
    fn permit(&self) -> Permit {
        match self {
            Self::Published(hpcc) => hpcc.permit(),
            Self::Simulator(hpcc) => hpcc.permit(),
        }
    }
}

#[cfg(test)]
mod tests;
