//! How paths are chosen.

use super::LinkSpec;
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

impl Structure {
    /// By switch: its group, or `None` if it is in none. Failures of links change no group.
    pub fn group_by_switch(&self, hosts: u32, switches: u32, links: &[LinkSpec]) -> Vec<Option<u32>> {
        if !self.groups.is_empty() {
            return self.groups.iter().copied().map(Some).collect();
        }
        let (mut has_hosts, mut has_switches) =
            (vec![false; switches as usize], vec![false; switches as usize]);
        for link in links {
            for (at, far) in [(link.a, link.b), (link.b, link.a)] {
                if let Some(switch) = at.0.checked_sub(hosts) {
                    let has = if far.0 < hosts { &mut has_hosts } else { &mut has_switches };
                    has[switch as usize] = true;
                }
            }
        }
        let mut numbers = 0..;
        let group = |(hosts, switches): (bool, bool)| if hosts && switches { numbers.next() } else { None };
        has_hosts.into_iter().zip(has_switches).map(group).collect()
    }
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
