//! Leaf–spine: every leaf is linked to every spine.

use super::declare::default;
use super::{Delays, Family, Graph, MOST_LINKS};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Two tiers (Clos): every leaf is linked to every spine. Host h is on leaf h / hosts_per_leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaves (top-of-rack switches).
    #[schemars(range(min = 1, max = 10_000))]
    pub leaves: u32,
    /// Number of spines.
    #[schemars(range(min = 1, max = 10_000))]
    pub spines: u32,
    /// Hosts on each leaf.
    #[schemars(range(min = 1, max = 10_000))]
    pub hosts_per_leaf: u32,
    /// Links between each leaf and each spine.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub links_per_pair: u32,
    /// Rate of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Rate of every leaf–spine link, each direction.
    #[serde(default = "default::forty_gbps")]
    pub spine_rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path in the empty network,
    /// serialisation at every hop included; the delay of the links is computed from it.
    pub base_rtt: Option<Q<Span>>,
}

impl Family for LeafSpine {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let up = u64::from(self.leaves) * u64::from(self.spines) * u64::from(self.links_per_pair);
        let down = u64::from(self.leaves) * u64::from(self.hosts_per_leaf);
        if up + down > MOST_LINKS {
            let reason = format!("the network would have {} links", up + down);
            return Err(cx.error("topology", reason, format!("at most {MOST_LINKS}")));
        }
        if down < 2 {
            return Err(cx.error(
                "topology.leaves",
                "with one host there is no other to send to",
                "add leaves or hosts",
            ));
        }
        let hosts = self.leaves * self.hosts_per_leaf;
        let mut g = Graph::tiers(hosts, &[("leaf", self.leaves), ("spine", self.spines)]);
        for h in 0..hosts {
            g.link(h, hosts + h / self.hosts_per_leaf, self.host_rate, Span::ZERO);
        }
        for leaf in 0..self.leaves {
            for spine in 0..self.spines {
                for _ in 0..self.links_per_pair {
                    g.link(hosts + leaf, hosts + self.leaves + spine, self.spine_rate, Span::ZERO);
                }
            }
        }
        Ok(g)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        Some(Delays::alike(&mut self.delay, &mut self.base_rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::PacketSizes;
    use super::super::tests::graph;
    use thalweg_units::{NodeId, Span};

    /// ADS §2.2: 9 × 16 hosts, full bisection: 4 × 40 Gb/s up against 16 × 10 Gb/s down.
    #[test]
    fn the_leaf_spine_of_ads_has_full_bisection_and_its_round_trip_is_solved_exactly() {
        let g = graph(
            "[topology]\nkind = \"leaf-spine\"\nleaves = 9\nspines = 4\nhosts_per_leaf = 16\nbase_rtt = \"16us\"",
        );
        assert_eq!((g.hosts, g.switches, g.links.len()), (144, 13, 144 + 36));
        assert_eq!(g.core_capacity(), 144 * 10_000_000_000);
        // Data 1200 + 300 + 300 + 1200 ns, ACK 32 + 8 + 8 + 32 ns; (16000 − 3080) / 8 = 1615 ns.
        assert_eq!(g.links[0].delay(), Span::from_ns(1615));
        assert_eq!(g.base_rtt(PacketSizes { full: 1500, ack: 40 }), Span::from_us(16));
        assert_eq!(g.racks()[17], NodeId(145));
    }
}
