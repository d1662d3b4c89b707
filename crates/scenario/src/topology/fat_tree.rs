//! k-ary fat-tree: k pods of k/2 edge and k/2 aggregation switches, (k/2)² core switches, k³/4 hosts
//! (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008 §3). Switches are numbered edge, aggregation, core.

use super::declare::default;
use super::{Delays, Family, Graph};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Three tiers of k-port switches, k³/4 hosts (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports per switch, even.
    #[schemars(range(min = 2, max = 128))]
    pub k: u32,
    /// Rate of every link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path in the empty network,
    /// serialisation at every hop included; the delay of the links is computed from it.
    pub base_rtt: Option<Q<Span>>,
}

impl Family for FatTree {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        if self.k % 2 == 1 {
            let reason = format!("k = {} is odd, and half of the k ports of a switch lead up", self.k);
            return Err(cx.error("topology.k", reason, format!("use {} or {}", self.k - 1, self.k + 1)));
        }
        let half = self.k / 2;
        let (hosts, per_tier) = (self.k * half * half, self.k * half);
        let (edge, aggregation, core) = (hosts, hosts + per_tier, hosts + 2 * per_tier);
        let mut g = Graph::tiers(hosts, &[("edge", per_tier), ("agg", per_tier), ("core", half * half)]);
        for h in 0..hosts {
            g.link(h, edge + h / half, self.rate, Span::ZERO);
        }
        for pod in 0..self.k {
            for e in 0..half {
                for a in 0..half {
                    g.link(edge + pod * half + e, aggregation + pod * half + a, self.rate, Span::ZERO);
                }
            }
        }
        for pod in 0..self.k {
            for a in 0..half {
                for c in 0..half {
                    g.link(aggregation + pod * half + a, core + a * half + c, self.rate, Span::ZERO);
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
    use super::super::tests::graph;
    use thalweg_units::NodeId;

    /// k³/4 hosts, 5k²/4 switches, 3k³/4 links; hosts of different pods are 6 links apart.
    #[test]
    fn a_fat_tree_has_the_published_counts() {
        for k in [2u32, 4, 8, 16] {
            let g = graph(&format!("[topology]\nkind = \"fat-tree\"\nk = {k}"));
            assert_eq!((g.hosts, g.switches), (k * k * k / 4, 5 * k * k / 4));
            assert_eq!(g.links.len() as u32, 3 * k * k * k / 4);
            let distance = g.distances(&g.adjacency(), NodeId(0));
            assert_eq!(distance[g.hosts as usize - 1], 6);
            let degree = g.adjacency();
            assert!(
                degree[g.hosts as usize..].iter().all(|n| n.len() as u32 == k),
                "every switch has k ports"
            );
        }
    }
}
