//! The Internet2 backbone of "Universal Packet Scheduling" (Mittal, Agarwal, Ratnasamy, Shenker, NSDI 2016 §2.3): 10
//! core routers, 16 links, 10 edge routers with a host each on every core router.
//!
//! The paper prints neither the links nor their rates; both are those of the authors' ns-2 scripts. A core link has the
//! rate k · 10 Gb/s / 9, rounded up to 1 Mb/s, where k is the number of ordered pairs of core routers whose path
//! (fewest hops, then the lowest-numbered next hop) uses it in each direction: with uniform traffic between different
//! core routers, all core links and all edge links have the same average utilisation.

use super::declare::default;
use super::{Family, Graph};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Core links: their ends, k, Mb/s.
pub(super) const CORE: [(u32, u32, u32, u64); 16] = [
    (0, 1, 5, 5556),
    (0, 2, 7, 7778),
    (0, 3, 13, 14_445),
    (1, 2, 3, 3334),
    (2, 4, 3, 3334),
    (1, 5, 5, 5556),
    (4, 5, 1, 1112),
    (3, 5, 3, 3334),
    (3, 4, 5, 5556),
    (5, 6, 4, 4445),
    (3, 6, 9, 10_000),
    (3, 7, 13, 14_445),
    (7, 8, 1, 1112),
    (6, 8, 8, 8889),
    (8, 9, 2, 2223),
    (7, 9, 7, 7778),
];

const HOSTS: u32 = 100;
const CORES: u32 = 10;

/// The Internet2 backbone of simulations of universal packet scheduling (Mittal et al., NSDI 2016 §2.3): 10 core
/// routers, 16 core links, 100 edge routers with a host each.
// Host h is linked to edge router 110 + h, which is linked to core router 100 + h mod 10. The rates of the core links
// are such that uniform traffic between different core routers loads all of them alike (routing `lowest`, sources of 1
// Gb/s: `of = { rate = "1Gbps" }`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Internet2 {
    /// Give every host an edge router of its own. Without them host h is linked to core router 100 + h mod 10.
    #[serde(default = "default::yes")]
    pub edge_routers: bool,
    /// Rate of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Rate of the links between edge and core routers, each direction. If not given, `1Gbps`. Only with
    /// `edge_routers`.
    pub edge_rate: Option<Q<Rate>>,
    /// Every rate is divided by this.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub slower: u32,
    /// One-way propagation delay of the links between core routers.
    #[serde(default = "default::core_delay")]
    pub core_delay: Q<Span>,
    /// One-way propagation delay of all other links.
    #[serde(default = "default::access_delay")]
    pub access_delay: Q<Span>,
}

impl Family for Internet2 {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        if !self.edge_routers && self.edge_rate.is_some() {
            let reason = "it has no effect: without edge routers hosts are linked to the core";
            return Err(cx.error("topology.edge_rate", reason, "remove the key or `edge_routers = false`"));
        }
        let slower = |rate: Rate| Q(Rate::from_bps(rate.bps() / u64::from(self.slower)));
        let (host, edge) =
            (slower(self.host_rate.0), slower(self.edge_rate.map_or(self.host_rate.0, |r| r.0)));
        let (core0, edge0) = (HOSTS, HOSTS + CORES);
        let mut g =
            Graph::tiers(HOSTS, &[("core", CORES), ("edge", if self.edge_routers { HOSTS } else { 0 })]);
        for h in 0..HOSTS {
            let router = if self.edge_routers { edge0 + h } else { core0 + h % CORES };
            g.link(h, router, host, self.access_delay.0);
        }
        for e in (0..HOSTS).filter(|_| self.edge_routers) {
            g.link(edge0 + e, core0 + e % CORES, edge, self.access_delay.0);
        }
        for (a, b, _, mbps) in CORE {
            g.link(core0 + a, core0 + b, slower(Rate::from_mbps(mbps)), self.core_delay.0);
        }
        Ok(g)
    }

    fn resolve(&mut self) {
        if self.edge_routers {
            self.edge_rate.get_or_insert(default::one_gbps());
        }
    }
}
