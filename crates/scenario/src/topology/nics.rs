//! Hosts with several links, such as GPUs with one to their server's NVSwitch and one to the network.
//!
//! Each link of a host ends in a node of its own, a *NIC*, which sends and receives and never forwards. A host's first
//! NIC has the host's number, `0 .. hosts`; further ones follow, `hosts .. nics`, host by host, and then the switches.
//! The first NIC of a host is the one that reaches most hosts, so the network's, not the server's.
//!
//! ```text
//! CHOICE: a flow takes the two NICs between which the path has the fewest links. Among pairs of NICs with equal paths,
//! NICs that are not in the widest networks of their hosts go first (an NVSwitch before the switch that both hosts are
//! linked to). Among pairs that are still equal (two planes, two ports of a bond) one is drawn for each flow, as a hash
//! of its ports would. Failures of links do not change the choice.
//! ```

use super::Graph;
use std::collections::{BTreeMap, VecDeque};
use thalweg_net::spec::FurtherNic;
use thalweg_units::{HostId, NodeId, Stream};

impl Graph {
    /// Number of NICs: nodes `0 .. nics`. Hosts with several links have several.
    pub fn nics(&self) -> u32 {
        self.hosts + self.further.len() as u32
    }

    /// True if some hosts have several links.
    pub fn has_further_nics(&self) -> bool {
        !self.further.is_empty()
    }

    /// The host of a NIC.
    pub fn host_of(&self, nic: NodeId) -> HostId {
        match nic.0.checked_sub(self.hosts) {
            Some(further) => self.further[further as usize].host,
            None => HostId(nic.0),
        }
    }

    /// True if a NIC is in the widest network of its host, that of its first NIC, or in one as wide.
    pub fn is_wide(&self, nic: NodeId) -> bool {
        nic.0.checked_sub(self.hosts).is_none_or(|further| self.further[further as usize].wide)
    }

    /// Gives every further link of a host a NIC of its own. Links stay in order, so ports keep their numbers.
    pub(crate) fn with_nics(mut self) -> Self {
        // For each host its links, with the nodes at their other ends.
        let mut links: Vec<Vec<(u32, NodeId)>> = vec![Vec::new(); self.hosts as usize];
        for (number, link) in (0..).zip(&self.links) {
            for (node, other) in [(link.a, link.b), (link.b, link.a)] {
                if self.is_nic(node) {
                    links[node.at()].push((number, other));
                }
            }
        }
        if links.iter().all(|own| own.len() < 2) {
            return self;
        }
        let reach = self.reach();
        links.iter_mut().for_each(|own| own.sort_by_key(|(_, other)| std::cmp::Reverse(reach[other.at()])));
        let count: usize = links.iter().map(|own| own.len().saturating_sub(1)).sum();
        let first = self.hosts;
        let ends = self.links.iter_mut().flat_map(|link| [&mut link.a, &mut link.b]);
        ends.filter(|node| node.0 >= first).for_each(|node| node.0 += count as u32);
        let mut names = Vec::with_capacity(count);
        for (host, own) in (0..).zip(links) {
            for (nth, (link, other)) in own.iter().enumerate().skip(1) {
                let nic = NodeId(first + self.further.len() as u32);
                let link = &mut self.links[*link as usize];
                *(if link.a.0 == host { &mut link.a } else { &mut link.b }) = nic;
                self.further
                    .push(FurtherNic { host: HostId(host), wide: reach[other.at()] == reach[own[0].1.at()] });
                names.push(format!("{}.{nth}", self.names.of(host)));
            }
        }
        self.names.insert(first, names);
        self
    }

    /// For each node the hosts that it can reach over switches alone, itself included.
    fn reach(&self) -> Vec<u32> {
        let adjacency = self.adjacency();
        let mut out = vec![1; self.nodes()];
        let mut seen = vec![false; self.nodes()];
        let mut counted = vec![usize::MAX; self.hosts as usize];
        for start in self.hosts as usize..self.nodes() {
            if seen[start] {
                continue;
            }
            let (mut part, mut hosts) = (Vec::new(), 0);
            let mut queue = VecDeque::from([NodeId::from(start)]);
            seen[start] = true;
            while let Some(node) = queue.pop_front() {
                part.push(node);
                for (_, next) in &adjacency[node.at()] {
                    if self.is_nic(*next) {
                        hosts += u32::from(counted[next.at()] != start);
                        counted[next.at()] = start;
                    } else if !seen[next.at()] {
                        seen[next.at()] = true;
                        queue.push_back(*next);
                    }
                }
            }
            part.into_iter().for_each(|node| out[node.at()] = hosts);
        }
        out
    }
}

/// The choice of NICs for flows.
pub(crate) struct Choice<'a> {
    graph: &'a Graph,
    /// For each host its NICs.
    nics: Vec<Vec<HostId>>,
    /// For each NIC the node at the other end of its link.
    racks: Vec<NodeId>,
    adjacency: Vec<Vec<(u32, NodeId)>>,
    /// Links between racks, by the second one, as far as computed.
    distances: BTreeMap<NodeId, BTreeMap<NodeId, u32>>,
    seed: u64,
}

impl<'a> Choice<'a> {
    pub fn new(graph: &'a Graph, seed: u64) -> Self {
        let mut nics: Vec<Vec<HostId>> = (0..graph.hosts).map(|host| vec![HostId(host)]).collect();
        for nic in graph.hosts..graph.nics() {
            nics[graph.host_of(NodeId(nic)).at()].push(HostId(nic));
        }
        let (racks, adjacency) = (graph.racks(), graph.adjacency());
        Self { graph, nics, racks, adjacency, distances: BTreeMap::new(), seed }
    }

    /// The NICs of two hosts that a flow takes; flows with the same `key` take the same ones. `None`: the hosts are not
    /// connected.
    pub fn between(&mut self, src: u32, dst: u32, key: u64) -> Option<(HostId, HostId)> {
        let (from, to) = (self.nics[src as usize].clone(), self.nics[dst as usize].clone());
        let (mut best, mut pairs) = ((u32::MAX, true), Vec::new());
        for pair in from.iter().flat_map(|a| to.iter().map(|b| (*a, *b))) {
            let Some(links) = self.links(pair.0, pair.1) else { continue };
            let this = (links, self.graph.is_wide(NodeId(pair.0.0)));
            if this < best {
                (best, pairs) = (this, Vec::new());
            }
            if this == best {
                pairs.push(pair);
            }
        }
        match pairs.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => {
                let drawn = Stream::new(self.seed, "nics", key).below(several.len() as u64);
                Some(several[drawn as usize])
            }
        }
    }

    /// Number of links from one NIC to another.
    fn links(&mut self, from: HostId, to: HostId) -> Option<u32> {
        let (near, far) = (self.racks[from.at()], self.racks[to.at()]);
        if near == NodeId(to.0) {
            return Some(1);
        }
        if self.graph.is_nic(near) || self.graph.is_nic(far) {
            return None;
        }
        if near == far {
            return Some(2);
        }
        let between = self.distances.entry(far).or_insert_with(|| {
            let distances = self.graph.distances(&self.adjacency, far);
            let reached = self.racks.iter().filter(|rack| **rack != NodeId::NONE);
            reached.map(|rack| (*rack, distances[rack.at()])).filter(|(_, links)| *links < u32::MAX).collect()
        });
        between.get(&near).map(|links| links + 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Q;
    use crate::topology::Names;
    use thalweg_units::{Rate, Span};

    /// Links between nodes, of which the first `hosts` are hosts.
    fn network(hosts: u32, switches: u32, links: &[(u32, u32)]) -> Graph {
        let mut graph = Graph::new(hosts, switches);
        links.iter().for_each(|(a, b)| graph.link(*a, *b, Q::of("10Gbps"), Span::from_us(1)));
        graph.with_nics()
    }

    fn taken(graph: &Graph, pairs: &[(u32, u32)]) -> Vec<Option<(u32, u32)>> {
        let mut choice = Choice::new(graph, 7);
        pairs.iter().map(|(a, b)| choice.between(*a, *b, 0).map(|(a, b)| (a.0, b.0))).collect()
    }

    /// Servers of hosts 0, 1 and 2, 3 with a switch each, 4 and 5, and one for all, 6; the servers' links come first.
    #[test]
    fn a_hosts_first_nic_is_that_of_the_widest_network_and_further_ones_follow_the_hosts() {
        let inside = [(0, 4), (1, 4), (5, 2), (3, 5)];
        let g = network(4, 3, &[&inside[..], &[(0, 6), (1, 6), (2, 6), (6, 3)]].concat());
        assert_eq!((g.hosts, g.nics(), g.switches, g.nodes()), (4, 8, 3, 11));
        let ends: Vec<(u32, u32)> = g.links.iter().map(|l| (l.a.0, l.b.0)).collect();
        assert_eq!(ends, [(4, 8), (5, 8), (9, 6), (7, 9), (0, 10), (1, 10), (2, 10), (10, 3)]);
        assert_eq!([4, 7].map(|nic| g.host_of(NodeId(nic)).0), [0, 3]);
        assert_eq!([3, 4].map(|nic| g.is_wide(NodeId(nic))), [true, false]);
        assert_eq!([3, 4, 7, 8].map(|node| g.names.of(node)), ["h3", "h0.1", "h3.1", "switch0"]);
        // Two links by either way within a server: the server's own. By number of links: two, not three.
        let pairs = [(0, 1), (3, 2), (0, 2), (3, 1)];
        assert_eq!(taken(&g, &pairs), [Some((4, 5)), Some((7, 6)), Some((0, 2)), Some((3, 1))]);
        assert_eq!(g.wide_rates(), [Rate::from_gbps(10); 4]);
    }

    /// Two planes, which nothing joins: both NICs of a flow are in the same one, and both are used.
    #[test]
    fn of_two_planes_one_is_drawn_for_each_flow() {
        let g = network(3, 2, &[(0, 3), (0, 4), (1, 4), (1, 3), (2, 3), (2, 4)]);
        assert_eq!(g.wide_rates(), [Rate::from_gbps(20); 3]);
        let mut choice = Choice::new(&g, 7);
        let drawn: Vec<_> = (0..400).map(|key| choice.between(0, 1, key).expect("a path")).collect();
        // Of host 0 the first NIC, and of host 1 the second, are on switch 3: links of one reach stay in their order.
        let first = drawn.iter().filter(|pair| **pair == (HostId(0), HostId(4))).count();
        let second = drawn.iter().filter(|pair| **pair == (HostId(3), HostId(1))).count();
        assert_eq!(first + second, 400);
        assert!((160..240).contains(&first), "{first} of 400: a fair coin");
        assert_eq!(choice.between(0, 1, 5), choice.between(0, 1, 5));
    }

    #[test]
    fn hosts_of_different_networks_are_not_joined_and_two_links_between_hosts_are() {
        // Host 1 is on both switches, and forwards nothing.
        let g = network(3, 2, &[(0, 3), (1, 3), (1, 4), (2, 4)]);
        assert_eq!(taken(&g, &[(0, 2), (0, 1), (2, 1)]), [None, Some((0, 1)), Some((2, 3))]);
        let g = network(3, 1, &[(0, 1), (0, 3), (1, 3), (2, 3)]);
        assert_eq!(taken(&g, &[(0, 1), (1, 0), (0, 2)]), [Some((3, 4)), Some((4, 3)), Some((0, 2))]);
    }

    #[test]
    fn a_network_of_hosts_with_one_link_each_stays_as_it_is() {
        let mut plain = Graph::new(2, 1);
        [0, 1].into_iter().for_each(|host| plain.link(host, 2, Q::of("10Gbps"), Span::ZERO));
        plain.names = Names::tiers(&[("h", 2), ("leaf", 1)]);
        assert_eq!(plain.clone().with_nics(), plain);
    }
}
