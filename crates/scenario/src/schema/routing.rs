//! `[routing]`: which path a packet takes.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::route::RouteSpec;
use thalweg_units::Span;

/// How a path is chosen among the shortest ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-default-kind" = "ecmp"))]
pub struct Routing {
    /// The routing rule.
    #[serde(flatten)]
    pub rule: RouteSpec,
    /// Time from the failure or the repair of a link until routes follow it.
    #[serde(default = "default::convergence")]
    pub convergence: Q<Span>,
}

impl Default for Routing {
    fn default() -> Self {
        Self { rule: RouteSpec::default(), convergence: default::convergence() }
    }
}

defaults! {
    convergence: Q<Span> = Q::of("1ms"); // CHOICE: between a fabric's local repair and a routing protocol's
}
