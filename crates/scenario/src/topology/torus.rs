//! k-ary n-cube (Dally, "Performance Analysis of k-ary n-cube Interconnection Networks", IEEE Transactions on Computers
//! 39(6), 1990): routers at the points of a grid, each linked to the next and the one before along every dimension,
//! around rings (a torus) or not (a mesh). Router numbers count the first dimension first; links are numbered by
//! dimension.
//!
//! ```text
//! CHOICE: a ring of two is one link, not two: dimensions of 2 make a hypercube.
//! ```

use super::declare::default;
use super::{Delays, Family, Graph, MOST_LINKS};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::Structure;
use thalweg_units::{Rate, Span};

/// A grid of routers, linked to their neighbours along every dimension, around rings or not (k-ary n-cube; Dally, IEEE
/// Transactions on Computers 1990).
// Host n is on router n / hosts_per_router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Routers along each dimension: `[4, 4, 4]` is a 4-ary 3-cube.
    #[schemars(inner(range(min = 2, max = 1_000_000)), length(min = 1, max = 16))]
    pub dimensions: Vec<u32>,
    /// Hosts on each router.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub hosts_per_router: u32,
    /// Whether the last router of each row is linked to the first; `false`: a mesh.
    #[serde(default = "default::yes")]
    pub wrap: bool,
    /// Of every link between routers, each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// Of every host's link, each direction; `rate` if not given.
    pub host_rate: Option<Q<Rate>>,
    /// One-way propagation delay of each link between routers; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// One-way propagation delay of each host's link; that of the other links if not given.
    pub host_delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path when nothing
    /// waits, serialisation at every hop included; the delay of the links between routers is solved from it.
    pub base_rtt: Option<Q<Span>>,
}

/// Most dimensions.
const MOST: usize = 16;

impl Torus {
    fn check(&self, cx: &Cx<'_>) -> Result<(), Diagnostic> {
        let wrong = |key: String, reason: String, hint: &str| Err(cx.error(&key, reason, hint));
        if self.dimensions.is_empty() || self.dimensions.len() > MOST {
            let reason = format!("there are {} dimensions", self.dimensions.len());
            return wrong("topology.dimensions".into(), reason, "1 to 16, for example [4, 4]");
        }
        if let Some(at) = self.dimensions.iter().position(|k| *k < 2) {
            let reason = format!("{} routers make no dimension", self.dimensions[at]);
            return wrong(format!("topology.dimensions.{at}"), reason, "at least 2, or remove the entry");
        }
        if !self.wrap && self.dimensions.iter().all(|k| *k == 2) {
            let reason = "it has no effect: a ring of two routers is one link".to_owned();
            return wrong("topology.wrap".into(), reason, "remove the key");
        }
        let routers = self.dimensions.iter().fold(1u64, |all, k| all.saturating_mul(u64::from(*k)));
        let each = u64::from(self.hosts_per_router) + self.dimensions.len() as u64;
        let links = routers.saturating_mul(each);
        if links > MOST_LINKS {
            let reason = format!("the network would have up to {links} links");
            return wrong("topology".into(), reason, &format!("at most {MOST_LINKS}"));
        }
        Ok(())
    }
}

impl Family for Torus {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        self.check(cx)?;
        let routers: u32 = self.dimensions.iter().product();
        let hosts = routers * self.hosts_per_router;
        let mut graph = Graph::tiers(hosts, &[("router", routers)]);
        let host_rate = self.host_rate.unwrap_or(self.rate);
        for host in 0..hosts {
            graph.link(host, hosts + host / self.hosts_per_router, host_rate, Span::ZERO);
        }
        let mut dimensions = vec![0; hosts as usize];
        let mut stride = 1;
        for (dimension, k) in (0..).zip(self.dimensions.iter().copied()) {
            for router in 0..routers {
                let place = router / stride % k;
                let next = match place + 1 {
                    beyond if beyond < k => router + stride,
                    _ if self.wrap && k > 2 => router - place * stride,
                    _ => continue,
                };
                graph.link(hosts + router, hosts + next, self.rate, Span::ZERO);
                dimensions.push(dimension);
            }
            stride *= k;
        }
        graph.structure = Structure { dimensions, ..Structure::default() };
        Ok(graph)
    }

    fn delays(&mut self) -> Option<Delays<'_>> {
        let Self { delay, base_rtt, host_delay, .. } = self;
        Some(Delays { delay, base_rtt, host_delay: Some(host_delay), own: 0 })
    }

    fn resolve(&mut self) {
        self.host_rate.get_or_insert(self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{distance, graph};
    use super::super::{Graph, PacketSizes};
    use std::path::Path;
    use thalweg_net::routing::{Graph as Links, Routes};
    use thalweg_net::spec::{RouteSpec, RoutingSpec};
    use thalweg_units::{HostId, NodeId, Span};

    fn torus(dimensions: &str, more: &str) -> Graph {
        graph(&format!("[topology]\nkind = \"torus\"\ndimensions = {dimensions}\n{more}"))
    }

    /// A k-ary n-cube has kⁿ routers, n kⁿ links, 2n neighbours each, and n ⌊k/2⌋ hops between the farthest two.
    #[test]
    fn a_k_ary_n_cube_has_the_published_counts() {
        for (dimensions, k, n) in
            [("[4, 4, 4]", 4u32, 3u32), ("[5, 5]", 5, 2), ("[3]", 3, 1), ("[3, 3, 3]", 3, 3)]
        {
            let g = torus(dimensions, "hosts_per_router = 2");
            let routers = k.pow(n);
            assert_eq!((g.hosts, g.switches), (2 * routers, routers));
            assert_eq!(g.links.len() as u32, (2 + n) * routers);
            assert!(g.adjacency()[g.hosts as usize..].iter().all(|at| at.len() as u32 == 2 + 2 * n));
            assert_eq!(g.longest_path(), u64::from(2 + n * (k / 2)));
        }
    }

    /// k₁ - 1 + k₂ - 1 hops from corner to corner; 3 × 3 + 2 × 4 links.
    #[test]
    fn a_mesh_does_not_wrap() {
        let g = torus("[4, 3]", "wrap = false");
        assert_eq!((g.switches, g.links.len()), (12, 12 + 3 * 3 + 4 * 2));
        assert_eq!(distance(&g, 0, 11), 2 + 3 + 2);
        let around = torus("[4, 3]", "");
        assert_eq!((around.links.len(), distance(&around, 0, 11)), (12 + 24, 2 + 1 + 1));
    }

    #[test]
    fn a_ring_of_two_is_one_link() {
        let g = torus("[2, 2, 2, 2]", "");
        assert_eq!((g.switches, g.links.len(), g.longest_path()), (16, 16 + 32, 2 + 4));
    }

    #[test]
    fn delays_are_solved_from_the_round_trip() {
        let g = torus("[4, 4]", "host_delay = \"100ns\"\nbase_rtt = \"50us\"");
        assert_eq!(g.links[0].delay(), Span::from_ns(100));
        let rtt = g.base_rtt(PacketSizes { full: 1500, ack: 40 });
        assert!(Span::from_us(50) - rtt < Span::from_ps(16), "{rtt:?}");
    }

    /// The switches on the way from one host to another in dimension order.
    #[test]
    fn in_dimension_order_a_path_turns_once_per_dimension_and_never_back() {
        let g = torus("[4, 5, 3]", "");
        let links = Links { hosts: g.hosts, switches: g.switches, links: &g.links, seed: 7, down: &[] };
        let routing = RoutingSpec { structure: g.structure.clone(), ..RouteSpec::dimension_order().into() };
        let (ordered, free) = (
            Routes::of_graph(&links, &routing).expect("routes"),
            Routes::of_graph(&links, &RouteSpec::default().into()).expect("routes"),
        );
        let mut turned = 0;
        for (src, dst) in (0..60).flat_map(|src| (0..60).map(move |dst| (src, dst))).filter(|(s, d)| s != d) {
            let along = |routes: &Routes, pick| {
                let mut path = Vec::new();
                let pick = thalweg_net::routing::Pick::Hash(pick);
                assert!(routes.path(HostId(src), HostId(dst), pick, &mut path));
                let inner = &path[1..path.len() - 1];
                inner.iter().map(|port| g.structure.dimensions[port.link().at()]).collect::<Vec<_>>()
            };
            for pick in 0..4 {
                let dimensions = along(&ordered, pick);
                assert!(dimensions.is_sorted(), "{dimensions:?}");
                let shortest = along(&free, pick);
                assert_eq!(dimensions.len(), shortest.len(), "as short as any");
                turned += u32::from(!shortest.is_sorted());
            }
        }
        assert!(turned > 1000, "without the order most paths turn back: {turned}");
        assert!(g.lengths(&g.adjacency(), NodeId(0)).iter().all(|links| *links <= 2 + 2 + 2 + 1));
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let load = |keys: &str| {
            let doc = format!(
                "[topology]\nkind = \"torus\"\n{keys}\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n"
            );
            crate::load(&doc, "t.toml", Path::new("."), &[]).expect_err("refused")[0].to_string()
        };
        assert!(load("dimensions = []").contains("`topology.dimensions`"));
        assert!(load("dimensions = [4, 1]").contains("`topology.dimensions.1`"));
        assert!(load("dimensions = [2, 2]\nwrap = false").contains("no effect"));
        assert!(load("dimensions = [1000, 1000, 1000]").contains("at most 4000000"));
    }
}
