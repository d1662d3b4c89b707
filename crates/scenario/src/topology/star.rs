//! Hosts around one switch.

use super::declare::default;
use super::{Delays, Family, Graph};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Hosts around one switch. The link of host 0 may have a rate of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub hosts: u32,
    /// Rate of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// Rate of host 0's link, each direction. If not given, as `rate`.
    pub sink_rate: Option<Q<Rate>>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path in the empty network,
    /// serialisation at every hop included; the delay of the links is computed from it.
    pub base_rtt: Option<Q<Span>>,
}

impl Family for Star {
    fn build(&self, _: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let mut g = Graph::new(self.hosts, 1);
        for h in 0..self.hosts {
            let rate = if h == 0 { self.sink_rate.unwrap_or(self.rate) } else { self.rate };
            g.link(h, self.hosts, rate, Span::ZERO);
        }
        Ok(g)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        Some(Delays::alike(&mut self.delay, &mut self.base_rtt))
    }

    fn resolve(&mut self) {
        self.sink_rate.get_or_insert(self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::graph;
    use thalweg_units::Rate;

    #[test]
    fn a_star_is_a_switch_with_hosts_of_which_the_first_may_have_a_link_of_its_own() {
        let g = graph("[topology]\nkind = \"star\"\nhosts = 5\nsink_rate = \"20Gbps\"");
        assert_eq!((g.hosts, g.switches, g.links.len()), (5, 1, 5));
        assert_eq!((g.links[0].rate(), g.links[1].rate()), (Rate::from_gbps(20), Rate::from_gbps(10)));
    }
}
