//! A chain of bottlenecks: one pair of hosts across all of them, one pair across each.

use super::declare::default;
use super::{Delays, Family, Graph};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// A chain of bottleneck links: hosts 0 and 1 at its ends, hosts 2 + 2i and 3 + 2i before and after bottleneck i.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Number of bottlenecks.
    #[schemars(range(min = 1, max = 10_000))]
    pub bottlenecks: u32,
    /// Rate of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Rate of every bottleneck link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub bottleneck_rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path in the empty network,
    /// serialisation at every hop included; the delay of the links is computed from it.
    pub base_rtt: Option<Q<Span>>,
}

impl Family for ParkingLot {
    fn build(&self, _: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let hosts = 2 + 2 * self.bottlenecks;
        let mut g = Graph::new(hosts, self.bottlenecks + 1);
        g.link(0, hosts, self.host_rate, Span::ZERO);
        g.link(1, hosts + self.bottlenecks, self.host_rate, Span::ZERO);
        for i in 0..self.bottlenecks {
            g.link(2 + 2 * i, hosts + i, self.host_rate, Span::ZERO);
            g.link(3 + 2 * i, hosts + i + 1, self.host_rate, Span::ZERO);
        }
        for i in 0..self.bottlenecks {
            g.link(hosts + i, hosts + i + 1, self.bottleneck_rate, Span::ZERO);
        }
        Ok(g)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        Some(Delays::alike(&mut self.delay, &mut self.base_rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{distance, graph};

    #[test]
    fn one_pair_crosses_every_bottleneck_and_each_of_the_others_one() {
        let g = graph("[topology]\nkind = \"parking-lot\"\nbottlenecks = 3");
        assert_eq!((g.hosts, g.switches, g.links.len()), (8, 4, 11));
        assert_eq!(distance(&g, 0, 1), 5);
        assert_eq!([distance(&g, 2, 3), distance(&g, 4, 5), distance(&g, 6, 7)], [3, 3, 3]);
    }
}
