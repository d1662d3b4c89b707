//! `marking` of `[switch]` and `[nic]`: active queue management.

use super::defaults;
use crate::quantity::{Length, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Active queue management.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Marking {
    /// The buffer's limit alone.
    #[default]
    None,
    /// Marks ECN-capable packets when the queue has reached a threshold (DCTCP, SIGCOMM 2010).
    Step {
        /// K: a packet is marked that meets at least this much.
        threshold: Length,
        /// When it is decided.
        #[serde(default)]
        at: MarkAt,
        /// At departure: count the departing packet too, and mark above the threshold only.
        #[serde(default)]
        include_self: bool,
    },
    /// Random early detection (Floyd & Jacobson, IEEE/ACM ToN 1993).
    Red {
        /// min_th, packets.
        #[schemars(extend("minimum" = 0.0, "examples" = [5]))]
        min: f64,
        /// max_th, packets.
        #[schemars(extend("exclusiveMinimum" = 0.0, "examples" = [15]))]
        max: f64,
        /// max_p.
        #[serde(default = "default::red_probability")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        max_probability: f64,
        /// w_q, weight of the instantaneous queue in the average; 1 follows it exactly.
        #[serde(default = "default::red_weight")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        weight: f64,
        /// Above max_th the probability rises linearly to 1 at 2 max_th instead of jumping.
        #[serde(default = "default::yes")]
        gentle: bool,
        /// Mark ECN-capable packets instead of dropping them; on if a transport is ECN-capable.
        ecn: Option<bool>,
        /// A typical packet, for the average over idle times.
        #[serde(default = "default::quantum")]
        mean_packet: Q<Bytes>,
    },
    /// Marks with a probability that rises with the queue as it is, in bytes: DCQCN's congestion point (Zhu et al., SIGCOMM
    /// 2015, §3.1).
    Ramp {
        /// K_min: up to here nothing is marked.
        #[schemars(extend("x-quantity" = "room", "examples" = ["5KB"]))]
        min: Q<Bytes>,
        /// K_max: above, everything is marked.
        #[schemars(extend("x-quantity" = "room", "examples" = ["200KB"]))]
        max: Q<Bytes>,
        /// P_max, the probability at K_max.
        #[serde(default = "default::ramp_probability")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        max_probability: f64,
        /// When it is decided: as a packet arrives, from the queue with it; as it leaves, from the queue it leaves behind.
        #[serde(default)]
        at: MarkAt,
    },
    /// Controlled delay (RFC 8289): drops as packets leave when they have waited too long for too long.
    Codel {
        /// Queueing delay that may stand.
        #[serde(default = "default::codel_target")]
        target: Q<Span>,
        /// How long it must stand before the first drop.
        #[serde(default = "default::codel_interval")]
        interval: Q<Span>,
        /// With no more than this in the queue delay does not count.
        #[serde(default = "default::quantum")]
        mtu: Q<Bytes>,
    },
}

/// When marking decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// As a packet arrives, from the queue it meets.
    #[default]
    Arrival,
    /// As a packet leaves, from the queue it leaves behind.
    Departure,
}

defaults! {
    quantum: Q<Bytes> = Q(Bytes::new(1500)); // one full Ethernet payload
    red_probability: f64 = 0.1; // Floyd's "gentle" note, 2000
    ramp_probability: f64 = 0.01; // DCQCN §4
    red_weight: f64 = 0.002; // Floyd & Jacobson §6
    yes: bool = true;
    codel_target: Q<Span> = Q::of("5ms"); // RFC 8289 §4.4
    codel_interval: Q<Span> = Q::of("100ms"); // RFC 8289 §4.3
}
