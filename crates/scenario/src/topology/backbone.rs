//! A backbone of random shape where a map is missing: preferential attachment, links as fast as uniform traffic needs.
//!
//! Stands for the Rocketfuel map of "Universal Packet Scheduling" (NSDI 2016 §2.3), of which only the size is
//! published: 83 core routers, 131 links, half of them slower than the access links of 1 Gb/s.

use super::declare::default;
use super::{Family, Graph, MOST_LINKS, lowest};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use thalweg_units::{Rate, Span, Stream};

/// A random backbone by preferential attachment (Barabási & Albert, Science 1999). Its core links are as fast as
/// uniform traffic needs; every edge router has one host.
// The C core routers have the first numbers among the switches; host h is linked to edge router h, which is linked to
// core router h mod C. The rate of a core link is in proportion to the number of pairs of core routers whose path uses
// it (routing `lowest`, the busier direction), such that the median is `median_rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backbone {
    /// Number of core routers.
    #[serde(default = "published_routers")]
    #[schemars(range(min = 3, max = 2_000))]
    pub routers: u32,
    /// Number of links between core routers. Each router that joins brings one or two, so at least `routers` − 1 and at
    /// most 2 · `routers` − 3.
    #[serde(default = "published_links")]
    pub links: u32,
    /// Seed of the random graph, independent of the seed of the scenario.
    #[serde(default = "first_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_i64))]
    pub seed: u64,
    /// Edge routers, with one host each, on every core router.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1_000))]
    pub edges_per_router: u32,
    /// Rate of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Rate of the links between edge and core routers, each direction.
    #[serde(default = "default::one_gbps")]
    pub edge_rate: Q<Rate>,
    /// Median of the rates of the links between core routers, each direction.
    #[serde(default = "default::one_gbps")]
    pub median_rate: Q<Rate>,
    /// One-way propagation delay of the links between core routers.
    #[serde(default = "default::core_delay")]
    pub core_delay: Q<Span>,
    /// One-way propagation delay of hosts' links and of the links between edge and core routers.
    #[serde(default = "default::access_delay")]
    pub access_delay: Q<Span>,
}

// CHOICE UPS §2.3: the Rocketfuel map is not named, only its size and that half of the core links are slower
// than the access links (1 Gb/s).
fn published_routers() -> u32 {
    83
}
fn published_links() -> u32 {
    131
}
fn first_seed() -> u64 {
    1
}
fn ten() -> u32 {
    10 // NSDI 2016 §2.3
}

impl Family for Backbone {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let (fewest, most) = (self.routers - 1, 2 * self.routers - 3);
        if self.links < fewest || self.links > most {
            let reason = format!("{} routers cannot have {} links", self.routers, self.links);
            return Err(cx.error("topology.links", reason, format!("write from {fewest} to {most}")));
        }
        let hosts = self.routers * self.edges_per_router;
        if 2 * u64::from(hosts) + u64::from(self.links) > MOST_LINKS || hosts < 2 {
            let reason = format!("the network would have {hosts} hosts");
            return Err(cx.error("topology.edges_per_router", reason, "use fewer edge routers"));
        }
        let links = attach(self.routers, self.links, self.seed);
        let pairs = pairs_over(self.routers, &links);
        let median = median(&pairs);
        let (core0, edge0) = (hosts, hosts + self.routers);
        let mut g = Graph::tiers(hosts, &[("core", self.routers), ("edge", hosts)]);
        for h in 0..hosts {
            g.link(h, edge0 + h, self.host_rate, self.access_delay.0);
        }
        for h in 0..hosts {
            g.link(edge0 + h, core0 + h % self.routers, self.edge_rate, self.access_delay.0);
        }
        for ((x, y), k) in links.iter().zip(&pairs) {
            let bps = (u128::from(self.median_rate.0.bps()) * u128::from(*k)).div_ceil(u128::from(median));
            let rate = Q(Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX - 1)));
            g.link(core0 + x, core0 + y, rate, self.core_delay.0);
        }
        Ok(g)
    }
}

/// Routers 0 and 1 are linked; every later one joins with one or two links to different earlier routers, drawn with
/// probabilities in proportion to the links that these have (Barabási & Albert, Science 286, 1999).
// CHOICE: the number of links is not a multiple of the number of routers, so the second links are spread evenly over
// the routers that join.
fn attach(routers: u32, links: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut stream = Stream::new(seed, "topology.backbone", 0);
    let mut out = vec![(0, 1)];
    // Each router appears once for each of its links: a uniform draw from this list is a draw in proportion to degree.
    let mut ends = vec![0u32, 1];
    let joining = u64::from(routers - 2);
    let share = |i: u64| i * u64::from(links - 1) / joining;
    for new in 2..routers {
        let i = u64::from(new - 2);
        let mut chosen: Vec<u32> = Vec::new();
        while (chosen.len() as u64) < share(i + 1) - share(i) {
            let old = ends[stream.below(ends.len() as u64) as usize];
            if !chosen.contains(&old) {
                chosen.push(old);
            }
        }
        for old in chosen {
            out.push((old, new));
            ends.extend([old, new]);
        }
    }
    out
}

/// k of every link: number of ordered pairs of routers whose path uses it, in the busier direction.
// CHOICE: the paths of both directions need not be the same here (on Internet2 they are), but a link has one rate.
fn pairs_over(routers: u32, links: &[(u32, u32)]) -> Vec<u64> {
    // With one host on each router, pairs of routers are pairs of hosts.
    let mut g = Graph::new(routers, routers);
    for (x, y) in links {
        g.link(routers + x, routers + y, Q(Rate::ZERO), Span::ZERO);
    }
    for r in 0..routers {
        g.link(r, routers + r, Q(Rate::ZERO), Span::ZERO);
    }
    let Ok(carried) = lowest::carried(&g, |_, _| 1.0, || Ok::<_, Infallible>(()));
    // The values are sums of ones, which floats hold exactly.
    (0..links.len()).map(|l| carried[2 * l].max(carried[2 * l + 1]) as u64).collect()
}

/// The median; of an even number of values the lower one of the two in the middle.
fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() - 1) / 2]
}
