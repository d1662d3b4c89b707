//! `[routing]`: which of the shortest paths a packet takes.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::route::RouteSpec;
use thalweg_units::Span;

/// How paths are chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-default-kind" = "ecmp"))]
pub struct Routing {
    /// Which rule.
    #[serde(flatten)]
    pub rule: RouteSpec,
    /// From the failure or the repair of a link to new routes.
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
