//! How paths are chosen.

use serde::{Deserialize, Serialize};
use thalweg_machines::route::Paths;
pub use thalweg_machines::route::{Given, PinnedPath, RouteSpec};

/// Which path a packet takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutingSpec {
    /// By which rule.
    pub rule: RouteSpec,
    /// What its file says, if it has one.
    pub given: Given,
    /// What the topology says of its shape to rules that go by it.
    pub structure: Structure,
}

/// What a topology says of its shape. Nothing, unless it is one that some rule goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// By switch: the group that it is in, counted from 0; every one has hosts. Empty: each switch that has hosts and
    /// links to other switches is a group by itself.
    pub groups: Vec<u32>,
    /// By link: the dimension that it leads along, counted from 0; of hosts' links 0. Empty: there are no dimensions.
    pub dimensions: Vec<u8>,
}

impl RoutingSpec {
    /// The switches that each flow's data and its ACKs pass: one entry per flow.
    pub fn pinned(paths: Vec<PinnedPath>) -> Self {
        Self { rule: RouteSpec::pinned(), given: Given::Paths(paths), structure: Structure::default() }
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
        Self { rule, given: Given::Nothing, structure: Structure::default() }
    }
}
