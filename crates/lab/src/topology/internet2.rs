//! The Internet2 backbone of "Universal Packet Scheduling" (Mittal, Agarwal, Ratnasamy, Shenker, NSDI 2016 §2.3): 10
//! core routers, 16 links, 10 edge routers with a host each on every core router.
//!
//! The paper prints neither the links nor their rates; both are those of the authors' ns-2 scripts. A core link has the
//! rate k · 10 Gb/s / 9, rounded up to 1 Mb/s, where k is the number of ordered pairs of core routers whose way (fewest
//! hops, then the lowest-numbered next hop) leads over it in each direction: with uniform traffic between different core
//! routers all core links and all edge links have one average utilisation.

use super::Graph;
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use crate::schema::Internet2;
use thalweg_units::Rate;

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

pub(super) fn build(cx: &Cx<'_>, i: &Internet2) -> Result<Graph, Diagnostic> {
    if !i.edge_routers && i.edge_rate.is_some() {
        let reason = "it has no effect: hosts are linked to the core";
        return Err(cx.error("topology.edge_rate", reason, "remove the key or `edge_routers = false`"));
    }
    let slower = |rate: Rate| Q(Rate::from_bps(rate.bps() / u64::from(i.slower)));
    let (host, edge) = (slower(i.host_rate.0), slower(i.edge_rate.map_or(i.host_rate.0, |r| r.0)));
    let (core0, edge0) = (HOSTS, HOSTS + CORES);
    let mut g = Graph::tiers(HOSTS, &[("core", CORES), ("edge", if i.edge_routers { HOSTS } else { 0 })]);
    for h in 0..HOSTS {
        let router = if i.edge_routers { edge0 + h } else { core0 + h % CORES };
        g.link(h, router, host, i.access_delay.0);
    }
    for e in (0..HOSTS).filter(|_| i.edge_routers) {
        g.link(edge0 + e, core0 + e % CORES, edge, i.access_delay.0);
    }
    for (a, b, _, mbps) in CORE {
        g.link(core0 + a, core0 + b, slower(Rate::from_mbps(mbps)), i.core_delay.0);
    }
    Ok(g)
}
