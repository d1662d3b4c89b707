//! Two hosts and one link.

use super::declare::default;
use super::{Delays, Family, Graph};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// Two hosts and one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Rate of the link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path in the empty network,
    /// serialisation at every hop included; the delay of the links is computed from it.
    pub base_rtt: Option<Q<Span>>,
}

impl Family for Pair {
    fn build(&self, _: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let mut g = Graph::new(2, 0);
        g.link(0, 1, self.rate, Span::ZERO);
        Ok(g)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        Some(Delays::alike(&mut self.delay, &mut self.base_rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::graph;

    #[test]
    fn a_pair_is_two_hosts_and_a_link() {
        let g = graph("[topology]\nkind = \"pair\"\nrate = \"100Gbps\"");
        assert_eq!((g.hosts, g.switches, g.links.len()), (2, 0, 1));
    }
}
