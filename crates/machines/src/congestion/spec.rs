//! The one list of controllers: names, parameters, and how each is made.

use serde::{Deserialize, Serialize};
use thalweg_units::Rate;

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
