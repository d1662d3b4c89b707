//! Two switches with a bottleneck between them.

use super::declare::default;
use super::{Delays, Family, Graph};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Two switches with a bottleneck link between them. Hosts `0 .. n` are on the left, `n .. 2n` on the right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-renamed" = { "bottleneck_delay": "delay" }))]
pub struct Dumbbell {
    /// Hosts on each side.
    #[schemars(range(min = 1, max = 500_000))]
    pub pairs: u32,
    /// Rate of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Rate of the link between the switches, each direction.
    #[serde(default = "default::ten_gbps")]
    pub bottleneck_rate: Q<Rate>,
    /// One-way propagation delay of the link between the switches; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// One-way propagation delay of every host's link. If not given, as `delay`.
    pub host_delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK from one side to the other in the empty network,
    /// serialisation at every hop included. `delay` is computed from it: the bottleneck gets what `host_delay` leaves,
    /// or without `host_delay` each of the three links gets a third.
    pub base_rtt: Option<Q<Span>>,
}

impl Family for Dumbbell {
    fn build(&self, _: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let hosts = 2 * self.pairs;
        let mut g = Graph::new(hosts, 2);
        for h in 0..hosts {
            g.link(h, hosts + u32::from(h >= self.pairs), self.host_rate, Span::ZERO);
        }
        g.link(hosts, hosts + 1, self.bottleneck_rate, Span::ZERO);
        Ok(g)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        let Self { delay, base_rtt, host_delay, .. } = self;
        Some(Delays { host_delay: Some(host_delay), ..Delays::alike(delay, base_rtt) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{distance, graph};

    #[test]
    fn a_dumbbell_has_one_core_link_between_its_sides() {
        let g = graph("[topology]\nkind = \"dumbbell\"\npairs = 3\nbottleneck_rate = \"1Gbps\"");
        assert_eq!((g.hosts, g.switches, g.links.len()), (6, 2, 7));
        assert_eq!(g.core_links(), vec![6]);
        assert_eq!((distance(&g, 0, 1), distance(&g, 0, 3)), (2, 3));
    }
}
