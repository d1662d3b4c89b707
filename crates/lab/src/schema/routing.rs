//! `[routing]`: which of the shortest paths a packet takes.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// How paths are chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-default-kind" = "ecmp"))]
pub struct Routing {
    /// Which rule.
    #[serde(flatten)]
    pub rule: RoutingRule,
    /// From the failure or the repair of a link to new routes.
    #[serde(default = "default::convergence")]
    pub convergence: Q<Span>,
}

impl Default for Routing {
    fn default() -> Self {
        Self { rule: RoutingRule::default(), convergence: default::convergence() }
    }
}

/// Rules for the choice among shortest paths.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RoutingRule {
    /// Per flow: at each switch a salted hash of the flow chooses (RFC 2992).
    #[default]
    Ecmp,
    /// Per pair of hosts: as `ecmp`, by a hash of source and destination alone.
    EcmpPairs,
    /// Per flow: as `ecmp`, and what comes back takes the same way in reverse (ExpressPass' credits need it).
    EcmpSymmetric,
    /// One path per pair of nodes: at each switch the lowest-numbered next hop (the default static routing of ns-2).
    Lowest,
    /// Per flow: next hop number (source + destination + flow) mod n, data and ACKs alike.
    Modulo,
    /// Every packet by a random draw of its source host.
    SprayRandom,
    /// Every packet: a counter of its source host mod n.
    SprayRoundRobin {
        /// CSV `host,first`: first value of each host's counter, relative to the scenario; zeros if not given.
        offsets: Option<String>,
    },
    /// Each flow's switches are given.
    Pinned {
        /// CSV `id,data_path,ack_path`: switches, by number or name, separated by `-`; relative to the scenario.
        #[schemars(extend("examples" = ["paths.csv"]))]
        file: String,
    },
}

defaults! {
    convergence: Q<Span> = Q::of("1ms"); // CHOICE: between a fabric's local repair and a routing protocol's
}
