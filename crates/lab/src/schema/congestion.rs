//! `congestion` of TCP: window and rate control.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Rate;

/// Congestion controllers.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Congestion {
    /// TCP NewReno's window (RFC 5681, RFC 6582).
    #[default]
    Newreno,
    /// DCTCP: cuts in proportion to the fraction of marked bytes (Alizadeh et al., SIGCOMM 2010; RFC 8257).
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
        /// As csg-htsim's DCTCP: cut by α/2 at the end of every window as long as α > 0, marks or not.
        #[serde(default)]
        cut_without_marks: bool,
    },
    /// DCTCP on rates, as the HPCC authors' simulator has it (SIGCOMM 2019): starts at line rate and paces;
    /// `initial_window` is the window at line rate.
    DctcpRate {
        /// g, weight of the newest round trip in the average of the marked fraction.
        #[serde(default = "default::dctcp_gain")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        gain: f64,
        /// α before the first round trip has ended.
        #[serde(default = "default::dctcp_alpha")]
        #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
        initial_alpha: f64,
        /// Additive increase per round trip.
        #[serde(default = "default::dctcp_step")]
        step: Q<Rate>,
        /// Smallest rate.
        #[serde(default = "default::dctcp_floor")]
        min_rate: Q<Rate>,
    },
    /// pFabric's minimal rate control (SIGCOMM 2013 §4.2): starts at line rate, reacts to timeouts only.
    Mintcp {
        /// A timeout sets the slow-start threshold to half the window (pFabric); otherwise the window grows by
        /// a packet per ACK for ever, as in the NetSys simulator's FIFO variant.
        #[serde(default = "default::yes")]
        halve_threshold: bool,
    },
    /// A window that never changes.
    Fixed,
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

/// When DCTCP's window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// On every ACK, as without ECN.
    Always,
    /// Not on ACKs that carry an echo (RFC 3168 §6.1.2, and the DCTCP authors' ns-2 code).
    // CHOICE (ads M1.3): the specification says only "TCP + ECN fraction".
    #[default]
    UnmarkedAcks,
    /// Not until the window in which it was cut is acknowledged (the CWR state of Linux and ns-3).
    OutsideCwr,
    /// As `outside-cwr`, and the cut is spread over that window (proportional rate reduction, RFC 6937; Linux, ns-3).
    GradualCwr,
    /// By no more than the room that the ACK leaves between flight and window (csg-htsim).
    Room,
}

defaults! {
    dctcp_gain: f64 = 0.0625; // 1/16, DCTCP §3.4
    dctcp_alpha: f64 = 1.0; // RFC 8257 §3.3
    dctcp_step: Q<Rate> = Q::of("615Mbps"); // the HPCC repository's run.py at 100 Gb/s
    dctcp_floor: Q<Rate> = Q::of("1Gbps"); // the HPCC repository's run.py at 100 Gb/s
    yes: bool = true;
}
