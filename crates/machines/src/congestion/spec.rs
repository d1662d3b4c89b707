//! The one list of controllers: names, parameters, and how each is made.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Which controller a flow runs, with its parameters. Defaults live in the scenario schema, not here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ControllerSpec {
    /// TCP NewReno's window (RFC 5681, RFC 6582).
    NewReno,
    /// DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257).
    Dctcp {
        /// g, the weight of the newest window in the moving average of the marked fraction, in (0, 1].
        gain: f64,
        /// α before the first window has ended, in [0, 1].
        initial_alpha: f64,
        /// Which ACKs may enlarge the window.
        growth: DctcpGrowth,
        /// Not DCTCP but csg-htsim's: cut by α/2 at the end of *every* window as long as α > 0, marks or
        /// not, and never in between; an echo alone only ends slow start. A window ends once as many
        /// bytes were acknowledged as it held when it began.
        cut_without_marks: bool,
    },
    /// DCTCP on rates, the baseline of the HPCC authors' simulator (SIGCOMM 2019): the flow starts at line
    /// rate and paces; its initial window is the window at line rate.
    DctcpRate {
        /// g, in (0, 1].
        gain: f64,
        /// α before the first round trip has ended, in [0, 1].
        initial_alpha: f64,
        /// Additive increase per round trip.
        step: Rate,
        /// Smallest rate.
        min_rate: Rate,
    },
    /// pFabric's minimal rate control (Alizadeh et al., SIGCOMM 2013 §4.2): starts at line rate, reacts to timeouts only.
    MinTcp {
        /// A timeout sets the slow-start threshold to half the window, above which the window grows by
        /// one packet per window (pFabric). False: one packet per advancing ACK, always.
        halve_threshold: bool,
    },
    /// A window that never changes.
    FixedWindow,
    /// Additive increase, multiplicative decrease of a window that starts full: no slow start (IRN §4.3.4).
    Aimd,
    /// DCQCN (Zhu et al., SIGCOMM 2015).
    Dcqcn(DcqcnSpec),
    /// TIMELY (Mittal et al., SIGCOMM 2015).
    Timely(TimelySpec),
    /// A controller registered by the user ([`crate::custom::register_controller`]).
    Custom {
        /// The registered name.
        name: String,
        /// What its factory is given.
        params: Vec<u8>,
    },
}

/// When DCTCP's window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DctcpGrowth {
    /// On every ACK, as without ECN.
    Always,
    /// Not on ACKs that carry an echo (RFC 3168 §6.1.2).
    UnmarkedAcks,
    /// Not until the window in which it was cut is acknowledged (the CWR state of Linux and ns-3).
    OutsideCwr,
    /// As [`DctcpGrowth::OutsideCwr`], and the cut itself is spread over that window (proportional rate
    /// reduction, RFC 6937: what Linux and ns-3 really do in the CWR state).
    GradualCwr,
    /// By no more than the room that the ACK leaves between flight and window (csg-htsim).
    Room,
}

/// DCQCN's reaction point (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcqcnSpec {
    /// g, weight of a notification in α.
    pub gain: f64,
    /// F, rounds of fast recovery.
    pub fast_recovery: u32,
    /// α decays after so long without a notification.
    pub alpha_timer: Span,
    /// The rate rises every so often.
    pub rate_timer: Span,
    /// The rate rises after so many bytes sent; `None`: by time alone.
    pub byte_counter: Option<Bytes>,
    /// R_AI.
    pub additive: Rate,
    /// R_HAI.
    pub hyper: Rate,
    /// Smallest rate.
    pub min_rate: Rate,
    /// When a notification takes effect.
    pub decrease: DcqcnDecrease,
    /// A loss (NACK or timeout) halves the rate, at most once in this time (IRN §4.3.3, go-back-N with back-off).
    pub back_off: Option<Span>,
}

/// When DCQCN cuts its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DcqcnDecrease {
    /// At each notification, which the receiver spaces (the paper).
    AtOnce,
    /// The sender looks every so often whether any came (the HPCC authors' simulator, CC_MODE 1): α and the rate each have
    /// such a check; the first notification starts the timers and cuts nothing; the target moves to the rate only if
    /// there was an increase since the last cut.
    Checked {
        /// Time between looks at the rate.
        every: Span,
    },
}

/// TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, Algorithm 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelySpec {
    /// Which equations.
    pub variant: TimelyVariant,
    /// Rate of a flow that starts, as a fraction of the line's.
    pub initial_share: f64,
    /// T_low.
    pub t_low: Span,
    /// T_high; as `t_low` for control of the queue's size (§3.3.4).
    pub t_high: Span,
    /// minRTT, the fixed normaliser of the gradient.
    pub min_rtt: Span,
    /// EWMA weight of the newest difference.
    pub alpha: f64,
    /// Multiplicative decrease.
    pub beta: f64,
    /// δ.
    pub additive: Rate,
    /// Hyper-active increase.
    pub hyper: TimelyHyper,
    /// A gradient counts as at most this: IRN's study has 1, `None` (Algorithm 1) has no bound.
    pub gradient_cap: Option<f64>,
    /// Updates closer than minRTT count in proportion (§3.4).
    pub scale_updates: bool,
    /// One update per round trip: ACKs of data sent before the last update are passed over (HPCC authors' simulator).
    pub once_per_round: bool,
    /// A sample without a predecessor counts, as one with a difference of 0 (the authors' published snippet); otherwise it is
    /// only kept.
    pub first_counts: bool,
    /// After 10 minRTT without anything to send the next sample is a first one; Algorithm 1 as printed knows no such rule.
    pub forgets: bool,
    /// A decrease is at most this fraction of the rate: 0.5; 1 for no such bound.
    pub max_decrease: f64,
    /// Smallest rate.
    pub min_rate: Rate,
    /// As [`DcqcnSpec::back_off`].
    pub back_off: Option<Span>,
}

/// TIMELY's equations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TimelyVariant {
    /// Algorithm 1.
    Original,
    /// "Patched TIMELY" (Zhu, Ghobadi, Misra, Padhye, "ECN or Delay", CoNEXT 2016, Algorithm 2): a weight of the gradient,
    /// linear in it, mixes increase and decrease by the distance of the round trip from `rtt_ref`.
    Patched {
        /// RTT_ref.
        rtt_ref: Span,
    },
}

/// What brings hyper-active increase about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimelyCount {
    /// A negative gradient, this update's included (Algorithm 1).
    Gradient,
    /// A negative raw difference, this update's included (the authors' published snippet).
    Difference,
    /// An increase, whatever the reason, this update's not included (the HPCC authors' simulator).
    Increase,
}

/// TIMELY's hyper-active increase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelyHyper {
    /// Updates that count, in a row, for it to begin; 0: never.
    pub after: u32,
    /// Step in it.
    pub step: Rate,
    /// Also below T_low; Algorithm 1 has it in the gradient band only.
    pub below_t_low: bool,
    /// Which updates count.
    pub count: TimelyCount,
}
