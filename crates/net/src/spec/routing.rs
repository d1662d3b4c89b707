//! How paths are chosen.

use serde::{Deserialize, Serialize};
use thalweg_machines::route::Paths;
pub use thalweg_machines::route::{Given, PinnedPath, RouteSpec};

/// Which of the shortest paths a packet takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutingSpec {
    /// By which rule.
    pub rule: RouteSpec,
    /// What its file says, if it has one.
    pub given: Given,
}

impl RoutingSpec {
    /// The switches that each flow's data and its ACKs pass: one entry per flow.
    pub fn pinned(paths: Vec<PinnedPath>) -> Self {
        Self { rule: RouteSpec::pinned(), given: Given::Paths(paths) }
    }

    /// Paths that are given.
    pub fn paths(&self) -> Option<&[PinnedPath]> {
        match &self.given {
            Given::Paths(paths) if self.rule.needs().paths == Paths::Given => Some(paths),
            _ => None,
        }
    }

    /// The first value of a host's counter.
    pub fn offset(&self, host: u32) -> u32 {
        match &self.given {
            Given::Offsets(first) => first.get(host as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }
}

impl From<RouteSpec> for RoutingSpec {
    fn from(rule: RouteSpec) -> Self {
        Self { rule, given: Given::Nothing }
    }
}
