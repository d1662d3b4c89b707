//! Dragonfly: groups of routers that are all linked to each other, and groups that are all linked to each other (Kim,
//! Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, §3). A router has p hosts,
//! links to the a - 1 others of its group and h global links; a group acts as one router with a h global links, so that
//! up to g = a h + 1 groups are one global link from each other. Loads are balanced with a = 2p = 2h.
//!
//! ```text
//! CHOICE Dragonfly §3: global links are arranged consecutively (the "absolute" arrangement of Hastings et al.,
//! "Comparing global link arrangements for Dragonfly networks", CLUSTER 2015; what BookSim has): the global links of a
//! group, router by router, lead to the other groups in the order of their numbers. Other readings: relative,
//! circulant.
//! CHOICE Dragonfly §3: with fewer than a h + 1 groups every two are joined by ⌊a h / (g - 1)⌋ links, round after round
//! in that order, as in SST; ports that are left over stay free. Other reading: they join some groups once more.
//! CHOICE Dragonfly §4.1: a minimal path crosses one global link, between at most two local ones. Paths over two global
//! links may have fewer links or as many; so that no rule takes them, a global link counts three times in the length of
//! a path.
//! CHOICE: delays are those of cables at 5 ns/m: 5 m of copper within a group, 100 m of fibre between groups.
//! ```
//!
//! The paper is cited from memory: its sections could not be checked.

use super::declare::default;
use super::{Family, Graph, MOST_LINKS};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::Structure;
use thalweg_units::{Rate, Span};

/// What a global link counts in the length of a path: two of them more than one and two local links.
const GLOBAL: u32 = 3;

/// Groups of fully connected routers, which are fully connected by global links in turn (Kim, Dally, Scott, Abts, ISCA
/// 2008).
// Host n is on router n / p, and that in group n / (p a).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// p: hosts on each router.
    #[schemars(range(min = 1, max = 1_000))]
    pub hosts_per_router: u32,
    /// a: routers of each group. Each has a link to every other of its group.
    #[schemars(range(min = 1, max = 1_000))]
    pub routers_per_group: u32,
    /// h: global links of each router. Loads are balanced with a = 2p = 2h.
    #[schemars(range(min = 1, max = 1_000))]
    pub global_links: u32,
    /// g: number of groups; a h + 1 if not given, the most that there can be. Every two groups are joined by
    /// ⌊a h / (g - 1)⌋ global links.
    #[schemars(range(min = 2, max = 1_000_001))]
    pub groups: Option<u32>,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Of the links within groups, each direction; `host_rate` if not given.
    pub local_rate: Option<Q<Rate>>,
    /// Of the links between groups, each direction; `host_rate` if not given.
    pub global_rate: Option<Q<Rate>>,
    /// One-way propagation delay of hosts' links.
    #[serde(default = "copper")]
    pub host_delay: Q<Span>,
    /// One-way propagation delay of the links within groups.
    #[serde(default = "copper")]
    pub local_delay: Q<Span>,
    /// One-way propagation delay of the links between groups.
    #[serde(default = "fibre")]
    pub global_delay: Q<Span>,
}

fn copper() -> Q<Span> {
    Q::of("25ns")
}

fn fibre() -> Q<Span> {
    Q::of("500ns")
}

impl Dragonfly {
    /// a h: global links of a group, used or not.
    fn reach(&self) -> u64 {
        u64::from(self.routers_per_group) * u64::from(self.global_links)
    }

    /// g.
    fn groups(&self) -> u64 {
        self.groups.map_or(self.reach() + 1, u64::from)
    }

    fn check(&self, cx: &Cx<'_>) -> Result<(), Diagnostic> {
        let (p, a, g) = (u64::from(self.hosts_per_router), u64::from(self.routers_per_group), self.groups());
        if g > self.reach() + 1 {
            let reason = format!(
                "a group has {} global links, so that it can be joined to {} others, and there are {}",
                self.reach(),
                self.reach(),
                g - 1
            );
            let hint = format!("at most {}, or raise `global_links`", self.reach() + 1);
            return Err(cx.error("topology.groups", reason, hint));
        }
        if self.local_rate.is_some() && a == 1 {
            let reason = "it has no effect: a group of one router has no links within";
            return Err(cx.error("topology.local_rate", reason, "remove the key"));
        }
        let between = u128::from(g * (g - 1) / 2) * u128::from(self.reach() / (g - 1));
        let links = u128::from(g * a) * u128::from(p) + u128::from(g) * u128::from(a * (a - 1) / 2) + between;
        if links > u128::from(MOST_LINKS) {
            let reason = format!("the network would have {links} links");
            return Err(cx.error("topology", reason, format!("at most {MOST_LINKS}")));
        }
        Ok(())
    }
}

impl Family for Dragonfly {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        self.check(cx)?;
        let (p, a, h) = (self.hosts_per_router, self.routers_per_group, self.global_links);
        let g = self.groups() as u32;
        let (routers, hosts) = (g * a, g * a * p);
        let router = |group: u32, number: u32| hosts + group * a + number;
        let mut graph = Graph::tiers(hosts, &[("router", routers)]);
        for host in 0..hosts {
            graph.link(host, hosts + host / p, self.host_rate, self.host_delay.0);
        }
        let local = self.local_rate.unwrap_or(self.host_rate);
        for group in 0..g {
            for one in 0..a {
                for other in one + 1..a {
                    graph.link(router(group, one), router(group, other), local, self.local_delay.0);
                }
            }
        }
        let global = self.global_rate.unwrap_or(self.host_rate);
        let first = graph.links.len();
        for round in 0..a * h / (g - 1) {
            // Of each group in turn the link to every other: the number of the group, less its own if it is above.
            let at = |from: u32, to: u32| router(from, (round * (g - 1) + to - u32::from(to > from)) / h);
            for one in 0..g {
                for other in one + 1..g {
                    graph.link(at(one, other), at(other, one), global, self.global_delay.0);
                }
            }
        }
        graph.links[first..].iter_mut().for_each(|link| link.metric = GLOBAL);
        let groups = (0..routers).map(|router| router / a).collect();
        graph.structure = Structure { groups, ..Structure::default() };
        Ok(graph)
    }

    fn resolve(&mut self) {
        self.groups.get_or_insert(self.groups() as u32);
        self.global_rate.get_or_insert(self.host_rate);
        if self.routers_per_group > 1 {
            self.local_rate.get_or_insert(self.host_rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Graph;
    use super::super::tests::graph;
    use std::collections::BTreeMap;
    use std::path::Path;
    use thalweg_net::routing::{Graph as Links, Routes};
    use thalweg_net::spec::{RouteSpec, RoutingSpec};
    use thalweg_units::{HostId, NodeId, Rate, Span};

    fn dragonfly(p: u32, a: u32, h: u32, more: &str) -> Graph {
        graph(&format!(
            "[topology]\nkind = \"dragonfly\"\nhosts_per_router = {p}\nrouters_per_group = {a}\nglobal_links = {h}\n{more}"
        ))
    }

    /// Between each pair of groups so many links.
    fn between(g: &Graph) -> BTreeMap<(u32, u32), u32> {
        let group = |node: NodeId| g.structure.groups[(node.0 - g.hosts) as usize];
        let mut out = BTreeMap::new();
        for link in g.links.iter().filter(|l| l.metric > 1) {
            let (one, other) = (group(link.a), group(link.b));
            assert_ne!(one, other);
            *out.entry((one.min(other), one.max(other))).or_insert(0) += 1;
        }
        out
    }

    /// ISCA 2008 §3, Figure 5: p = h = 2, a = 4, 9 groups, 72 hosts; N = a p (a h + 1), k = p + a + h - 1.
    #[test]
    fn the_dragonfly_of_the_paper_has_72_hosts_on_36_routers_of_7_ports() {
        for (p, a, h) in [(2, 4, 2), (1, 2, 1), (3, 6, 3), (2, 3, 1), (1, 1, 4)] {
            let g = dragonfly(p, a, h, "");
            let groups = a * h + 1;
            assert_eq!((g.hosts, g.switches), (groups * a * p, groups * a));
            let links = groups * (a * p + a * (a - 1) / 2) + groups * (groups - 1) / 2;
            assert_eq!(g.links.len() as u32, links);
            let degree = g.adjacency();
            assert!(degree[g.hosts as usize..].iter().all(|n| n.len() as u32 == p + a - 1 + h));
            let joined = between(&g);
            assert_eq!(joined.len() as u32, groups * (groups - 1) / 2, "every two groups");
            assert!(joined.values().all(|links| *links == 1), "once");
        }
    }

    /// Group 3 of nine: its first router is joined to groups 0 and 1, the second to 2 and 4, and so on.
    #[test]
    fn global_links_lead_to_the_other_groups_in_order() {
        let g = dragonfly(2, 4, 2, "");
        let adjacency = g.adjacency();
        let group = |node: &NodeId| node.0.checked_sub(g.hosts).map(|number| number / 4);
        let far = |number: u32| -> Vec<u32> {
            let links = &adjacency[(g.hosts + 3 * 4 + number) as usize];
            links.iter().filter_map(|(_, node)| group(node)).filter(|group| *group != 3).collect()
        };
        assert_eq!([0, 1, 2, 3].map(far), [vec![0, 1], vec![2, 4], vec![5, 6], vec![7, 8]]);
    }

    /// Eight global links of a group: to two others four each, to three others two each and two ports left over.
    #[test]
    fn fewer_groups_are_joined_by_several_links_all_by_as_many() {
        for (groups, each) in [(2, 8), (3, 4), (4, 2), (5, 2), (6, 1), (9, 1)] {
            let g = dragonfly(2, 4, 2, &format!("groups = {groups}"));
            let joined = between(&g);
            assert_eq!(joined.len() as u32, groups * (groups - 1) / 2);
            assert!(joined.values().all(|links| *links == each), "{groups}: {joined:?}");
            let degree = g.adjacency();
            assert!(degree[g.hosts as usize..].iter().all(|n| n.len() <= 2 + 3 + 2));
        }
    }

    /// ISCA 2008 §4.1: local, global, local; all four of a host's rule without detours.
    #[test]
    fn minimal_paths_cross_one_global_link_between_at_most_two_local_ones() {
        for (p, a, h, more) in [(2, 4, 2, ""), (1, 3, 2, "groups = 5"), (1, 6, 3, "groups = 4")] {
            let g = dragonfly(p, a, h, more);
            let links = Links { hosts: g.hosts, switches: g.switches, links: &g.links, seed: 7, down: &[] };
            let routes = Routes::of_graph(&links, &RouteSpec::default().into()).expect("routes");
            for src in 0..g.hosts {
                let lengths = g.lengths(&g.adjacency(), NodeId(src));
                for dst in (0..g.hosts).filter(|dst| *dst != src) {
                    for pick in 0..6 {
                        let mut path = Vec::new();
                        let pick = thalweg_net::routing::Pick::Modulo(pick);
                        assert!(routes.path(HostId(src), HostId(dst), pick, &mut path));
                        let global: Vec<bool> =
                            path.iter().map(|port| g.links[port.link().at()].metric > 1).collect();
                        let crossed = global.iter().filter(|global| **global).count() as u32;
                        assert_eq!(crossed, u32::from(src / (p * a) != dst / (p * a)));
                        assert!(path.len() <= 5, "host, local, global, local, host");
                        if crossed == 0 {
                            assert!(path.len() <= 3);
                        }
                        assert!(lengths[dst as usize] <= path.len() as u32);
                    }
                }
            }
            assert!(g.longest_path() <= 5);
        }
    }

    #[test]
    fn a_detour_ends_in_the_first_router_of_its_group() {
        let g = dragonfly(2, 4, 2, "");
        let links = Links { hosts: g.hosts, switches: g.switches, links: &g.links, seed: 7, down: &[] };
        let routing = RoutingSpec { structure: g.structure.clone(), ..RouteSpec::valiant().into() };
        let routes = Routes::of_graph(&links, &routing).expect("routes");
        assert_eq!(routes.groups(), 9);
        for router in 0..g.switches {
            let node = NodeId(g.hosts + router);
            for dst in (0..g.hosts).map(HostId) {
                let there = routes.group_of_host(dst);
                for group in (0..9).filter(|group| *group != router / 4 && Some(*group) != there) {
                    let hops = routes.hops(node, dst, Some(group));
                    let least = 1 + u32::from(there != Some(router / 4));
                    assert!((least..=5).contains(&hops), "{node} {dst:?} {group}: {hops}");
                }
                assert!(routes.hops(node, dst, None) <= 3);
            }
        }
    }

    #[test]
    fn rates_and_delays_are_those_of_three_kinds_of_links() {
        let keys = "host_rate = \"100Gbps\"\nlocal_rate = \"200Gbps\"\nglobal_rate = \"50Gbps\"\nhost_delay = \"1ns\"\n\
                    local_delay = \"2ns\"\nglobal_delay = \"3ns\"";
        let g = dragonfly(1, 2, 1, keys);
        // Three groups of two: 6 hosts, 3 local links, 3 global ones.
        let of = |at: usize| (g.links[at].rate(), g.links[at].delay());
        assert_eq!(g.links.len(), 12);
        assert_eq!(of(5), (Rate::from_gbps(100), Span::from_ns(1)));
        assert_eq!(of(8), (Rate::from_gbps(200), Span::from_ns(2)));
        assert_eq!(of(9), (Rate::from_gbps(50), Span::from_ns(3)));
    }

    #[test]
    fn more_groups_than_can_be_joined_are_refused_with_the_most() {
        let load = |keys: &str| {
            let doc = format!(
                "[topology]\nkind = \"dragonfly\"\nhosts_per_router = 2\n{keys}\n\
                 [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n"
            );
            crate::load(&doc, "t.toml", Path::new("."), &[]).expect_err("refused")[0].to_string()
        };
        let many = load("routers_per_group = 4\nglobal_links = 2\ngroups = 10");
        assert!(many.contains("`topology.groups`") && many.contains("at most 9"), "{many}");
        let alone = load("routers_per_group = 1\nglobal_links = 2\nlocal_rate = \"1Gbps\"");
        assert!(alone.contains("`topology.local_rate`") && alone.contains("no effect"), "{alone}");
        let large = load("routers_per_group = 900\nglobal_links = 900");
        assert!(large.contains("links; at most 4000000"), "{large}");
    }
}
