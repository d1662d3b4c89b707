//! `congestion` of queue pairs: rate and window control over RDMA.

use super::{Growth, defaults};
use crate::quantity::{Counter, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Congestion controllers of queue pairs. Every flow starts at line rate, with a window as large as its cap.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RdmaCongestion {
    /// None: line rate, and the cap.
    #[default]
    Fixed,
    /// Additive increase, multiplicative decrease of a window that starts full: no slow start (IRN §4.3.4).
    Aimd,
    /// DCTCP: cuts a window that starts full in proportion to the fraction of marked bytes (Alizadeh et al., SIGCOMM 2010).
    Dctcp {
        /// g, weight of the newest window in the average of the marked fraction.
        #[serde(default = "default::dctcp_gain")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        gain: f64,
        /// α before the first window has ended.
        #[serde(default = "default::dctcp_alpha")]
        #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
        initial_alpha: f64,
        /// Which ACKs may enlarge the window.
        #[serde(default)]
        growth: Growth,
    },
    /// DCQCN: rates by congestion notifications (Zhu et al., SIGCOMM 2015).
    Dcqcn {
        /// g, weight of a notification in α.
        #[serde(default = "default::dcqcn_gain")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        gain: f64,
        /// F, rounds of fast recovery.
        #[serde(default = "default::five")]
        #[schemars(range(min = 1, max = 1_000_000))]
        fast_recovery: u32,
        /// α decays after so long without a notification.
        #[serde(default = "default::dcqcn_timer")]
        alpha_timer: Q<Span>,
        /// The rate rises every so often.
        #[serde(default = "default::dcqcn_timer")]
        rate_timer: Q<Span>,
        /// The rate rises after so many bytes sent; `"none"`: by time alone. `10MB` if not given, `"none"` with checked
        /// decreases.
        byte_counter: Option<Counter>,
        /// R_AI.
        #[serde(default = "default::dcqcn_additive")]
        additive: Q<Rate>,
        /// R_HAI.
        #[serde(default = "default::dcqcn_hyper")]
        hyper: Q<Rate>,
        /// Smallest rate.
        #[serde(default = "default::dcqcn_floor")]
        min_rate: Q<Rate>,
        /// When a notification takes effect.
        #[serde(default)]
        decrease: DcqcnDecrease,
        /// A loss (NACK or timeout) halves the rate, at most once in this time (IRN §4.3.3); it does nothing if not given.
        back_off: Option<Q<Span>>,
    },
    /// TIMELY: rates by the gradient of round trips (Mittal et al., SIGCOMM 2015).
    Timely {
        /// Which equations.
        #[serde(default)]
        variant: TimelyVariant,
        /// Rate of a flow that starts, as a fraction of the line's.
        #[serde(default = "default::whole")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        initial_share: f64,
        /// T_low: below, the rate always rises.
        #[serde(default = "default::t_low")]
        t_low: Q<Span>,
        /// T_high: above, the rate always falls; as `t_low` for control of the queue's size (§3.3.4).
        #[serde(default = "default::t_high")]
        t_high: Q<Span>,
        /// minRTT, the fixed normaliser of the gradient; the propagation round trip of the longest path if not given.
        min_rtt: Option<Q<Span>>,
        /// EWMA weight of the newest difference.
        #[serde(default = "default::timely_alpha")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        alpha: f64,
        /// β, multiplicative decrease.
        #[serde(default = "default::timely_beta")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        beta: f64,
        /// δ.
        #[serde(default = "default::timely_additive")]
        additive: Q<Rate>,
        /// Hyper-active increase.
        #[serde(default)]
        hyper: TimelyHyper,
        /// A gradient counts as at most this; Algorithm 1 has no bound, IRN's study 1.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        gradient_cap: Option<f64>,
        /// Updates closer than `min_rtt` count in proportion (§3.4).
        #[serde(default = "default::yes")]
        scale_updates: bool,
        /// One update per round trip (the HPCC authors' simulator).
        #[serde(default)]
        once_per_round: bool,
        /// The first sample, and one after a pause, counts, as one with a difference of 0 (the authors' published snippet);
        /// otherwise it is only kept.
        #[serde(default)]
        first_counts: bool,
        /// After ten `min_rtt` without anything to send the next sample is a first one; Algorithm 1 as printed knows no such
        /// rule.
        // CHOICE timely M8: what a pause does is not published.
        #[serde(default = "default::yes")]
        forgets: bool,
        /// A decrease is at most this fraction of the rate.
        // CHOICE timely M4: the paper has no such bound; the authors' published snippet has.
        #[serde(default = "default::half")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        max_decrease: f64,
        /// Smallest rate.
        #[serde(default = "default::timely_floor")]
        min_rate: Q<Rate>,
        /// A loss (NACK or timeout) halves the rate, at most once in this time (IRN §4.3.3); it does nothing if not given.
        back_off: Option<Q<Span>>,
    },
    /// A controller registered by the user.
    #[schemars(extend("x-registry" = "controllers"))]
    Custom {
        /// The name it was registered under.
        name: String,
        /// What its factory is given, as JSON.
        #[serde(default)]
        #[schemars(schema_with = "super::anything")]
        params: serde_json::Value,
    },
}

impl DcqcnDecrease {
    /// The byte counter that goes with it.
    pub(crate) fn byte_counter(self) -> Counter {
        match self {
            Self::AtOnce => Counter::Bytes(Bytes::kb(10_000)), // DCQCN §4
            Self::Checked { .. } => Counter::Off,
        }
    }
}

/// When DCQCN cuts its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DcqcnDecrease {
    /// At each notification, which the receiver spaces (the paper).
    #[default]
    AtOnce,
    /// The sender looks every so often whether any came (the HPCC authors' simulator).
    Checked {
        /// Time between looks.
        #[serde(default = "default::dcqcn_check")]
        every: Q<Span>,
    },
}

/// TIMELY's equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimelyVariant {
    /// Algorithm 1.
    #[default]
    Original,
    /// Patched TIMELY: a weight of the gradient mixes increase and decrease by the distance of the round trip from a
    /// reference (Zhu, Ghobadi, Misra, Padhye, CoNEXT 2016, Algorithm 2).
    Patched {
        /// RTT_ref.
        #[schemars(extend("examples" = ["50us"]))]
        rtt_ref: Q<Span>,
    },
}

/// TIMELY's hyper-active increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimelyHyper {
    /// Updates that count, in a row, for it to begin; 0: never.
    pub after: u32,
    /// Step in it.
    pub step: Q<Rate>,
    /// Also below T_low; Algorithm 1 has it in the gradient band only.
    pub below_t_low: bool,
    /// Which updates count.
    pub count: TimelyCount,
}

/// What brings hyper-active increase about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimelyCount {
    /// A negative gradient, this update's included (Algorithm 1).
    #[default]
    Gradient,
    /// A negative raw difference, this update's included (the authors' published snippet).
    Difference,
    /// An increase, whatever the reason, this update's not included (the HPCC authors' simulator).
    Increase,
}

impl Default for TimelyHyper {
    fn default() -> Self {
        // Algorithm 1: N = 5 after five completion events
        Self { after: 5, step: Q::of("50Mbps"), below_t_low: false, count: TimelyCount::Gradient }
    }
}

defaults! {
    yes: bool = true;
    five: u32 = 5; // DCQCN §3.1
    whole: f64 = 1.0; // CHOICE timely M3: line rate; IRN §4.3.1 has every flow start so
    half: f64 = 0.5;
    dctcp_gain: f64 = 0.0625; // 1/16, DCTCP §3.4
    dctcp_alpha: f64 = 1.0; // RFC 8257 §3.3
    dcqcn_gain: f64 = 0.00390625; // 1/256, DCQCN §4
    dcqcn_timer: Q<Span> = Q::of("55us"); // DCQCN §3.1, §4
    dcqcn_additive: Q<Rate> = Q::of("40Mbps"); // DCQCN §4
    dcqcn_hyper: Q<Rate> = Q::of("200Mbps"); // CHOICE irn M5: the authors' public simulator
    dcqcn_floor: Q<Rate> = Q::of("100Mbps"); // CHOICE irn M5: the authors' public simulator
    dcqcn_check: Q<Span> = Q::of("4us"); // the HPCC repository's run.py
    t_low: Q<Span> = Q::of("50us"); // TIMELY §3.5
    t_high: Q<Span> = Q::of("500us"); // TIMELY §3.5
    timely_alpha: f64 = 0.875; // CHOICE irn M6: not in the paper; the value of the analyses that followed it
    timely_beta: f64 = 0.8; // TIMELY §3.5
    timely_additive: Q<Rate> = Q::of("10Mbps"); // TIMELY §3.5
    timely_floor: Q<Rate> = Q::of("10Mbps"); // CHOICE timely M4: without a floor recovery takes seconds
}
