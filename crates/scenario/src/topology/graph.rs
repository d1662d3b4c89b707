//! The network as a graph of hosts, their NICs, switches and links, and what can be computed of any such graph.

use super::{Names, round_trip_bytes};
use crate::quantity::Q;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_machines::link::LinkSpec as Direction;
use thalweg_net::spec::{FurtherNic, LinkSpec, Structure};
use thalweg_units::{Bytes, NodeId, PortId, Rate, Serializer, Span};

/// The lowest rate of a link, at which a packet of 1 MB still takes less than three hours.
pub(super) const SLOWEST: Rate = Rate::from_bps(1_000);

/// The nodes and links of a network, without its queues. Nodes `0 .. hosts` are the hosts, each with its first NIC;
/// then come the further NICs of hosts with several links, then the switches.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Number of hosts.
    pub hosts: u32,
    /// NICs beyond the first of their host, in the order of their node numbers.
    pub further: Vec<FurtherNic>,
    /// Number of switches.
    pub switches: u32,
    /// Duplex links.
    pub links: Vec<LinkSpec>,
    /// Names of the nodes.
    pub names: Names,
    /// What rules of routing may know of its shape.
    pub structure: Structure,
}

/// Wire sizes of a full data packet and of its ACK, bytes. `topology.base_rtt` is a round trip of these two.
#[derive(Clone, Copy, Debug)]
pub struct PacketSizes {
    /// A full data packet, headers included.
    pub full: u32,
    /// Its ACK; 0 if the transport sends none without loss.
    pub ack: u32,
}

impl Graph {
    /// Hosts and switches without tiers, and no links yet.
    pub(crate) fn new(hosts: u32, switches: u32) -> Self {
        Self::tiers(hosts, &[("switch", switches)])
    }

    /// Hosts, then the switches of each tier, and no links yet.
    pub(crate) fn tiers(hosts: u32, tiers: &[(&str, u32)]) -> Self {
        let names = Names::tiers(&[&[("h", hosts)], tiers].concat());
        Self {
            hosts,
            switches: tiers.iter().map(|t| t.1).sum(),
            links: Vec::new(),
            names,
            further: Vec::new(),
            structure: Structure::default(),
        }
    }

    /// A node as messages name it: its number, followed by its name unless that only repeats the number (`h3`).
    pub(crate) fn shown(&self, node: NodeId) -> String {
        let name = self.names.of(node.0);
        if name == format!("h{node}") { node.to_string() } else { format!("{node} (`{name}`)") }
    }

    /// A NIC as messages name it: the number of its host, followed by its name unless that only repeats the number.
    pub(crate) fn shown_host(&self, nic: NodeId) -> String {
        let (host, name) = (self.host_of(nic), self.names.of(nic.0));
        if name == format!("h{host}") { host.to_string() } else { format!("{host} (`{name}`)") }
    }

    /// Adds a duplex link of a fixed rate and delay.
    pub(crate) fn link(&mut self, a: u32, b: u32, rate: Q<Rate>, delay: Span) {
        self.links.push(LinkSpec::fixed(NodeId(a), NodeId(b), rate.0, delay, Span::ZERO));
    }

    /// Number of nodes: NICs and switches.
    pub fn nodes(&self) -> usize {
        self.nics() as usize + self.switches as usize
    }

    /// True if the node is a NIC of a host, false if it is a switch.
    pub fn is_nic(&self, node: NodeId) -> bool {
        node.0 < self.nics()
    }

    /// The links of each node, as (link, node at the other end).
    pub fn adjacency(&self) -> Vec<Vec<(u32, NodeId)>> {
        let mut out = vec![Vec::new(); self.nodes()];
        for (i, l) in self.links.iter().enumerate() {
            out[l.a.at()].push((i as u32, l.b));
            out[l.b.at()].push((i as u32, l.a));
        }
        out
    }

    /// The least sum of links' metrics on a path from `from` to every node, `u32::MAX` where no path exists: where all
    /// are 1, the number of links. Hosts do not forward.
    pub fn distances(&self, adjacency: &[Vec<(u32, NodeId)>], from: NodeId) -> Vec<u32> {
        let mut out = vec![u32::MAX; self.nodes()];
        out[from.at()] = 0;
        let metric = |link: &u32| self.links[*link as usize].metric;
        if self.links.iter().any(|link| link.metric != 1) {
            let mut heap = BinaryHeap::from([Reverse((0, from))]);
            while let Some(Reverse((distance, node))) = heap.pop() {
                if distance > out[node.at()] || self.is_nic(node) && node != from {
                    continue;
                }
                for (link, next) in &adjacency[node.at()] {
                    let there = distance + metric(link);
                    if there < out[next.at()] {
                        out[next.at()] = there;
                        heap.push(Reverse((there, *next)));
                    }
                }
            }
            return out;
        }
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if self.is_nic(node) && node != from {
                continue;
            }
            for (_, next) in &adjacency[node.at()] {
                if out[next.at()] == u32::MAX {
                    out[next.at()] = out[node.at()] + 1;
                    queue.push_back(*next);
                }
            }
        }
        out
    }

    /// Whether the hop from a node over this link to `to` is on a shortest path to where the distances are from.
    pub fn leads(&self, distance: &[u32], from: NodeId, link: u32, to: NodeId) -> bool {
        distance[from.at()] != u32::MAX
            && distance[to.at()].checked_add(self.links[link as usize].metric) == Some(distance[from.at()])
    }

    /// Number of links on a shortest path from `from` to every node, `u32::MAX` where no path exists.
    pub fn lengths(&self, adjacency: &[Vec<(u32, NodeId)>], from: NodeId) -> Vec<u32> {
        let distance = self.distances(adjacency, from);
        if self.links.iter().all(|link| link.metric == 1) {
            return distance;
        }
        let mut order: Vec<NodeId> =
            (0..self.nodes() as u32).map(NodeId).filter(|n| distance[n.at()] < u32::MAX).collect();
        order.sort_by_key(|n| distance[n.at()]);
        let mut out = vec![u32::MAX; self.nodes()];
        out[from.at()] = 0;
        for node in order.iter().filter(|n| !self.is_nic(**n) || **n == from) {
            for (link, next) in &adjacency[node.at()] {
                if self.leads(&distance, *next, *link, *node) {
                    out[next.at()] = out[next.at()].min(out[node.at()] + 1);
                }
            }
        }
        out
    }

    /// True if at most one path joins any two nodes.
    pub(crate) fn is_forest(&self) -> bool {
        let mut tree: Vec<u32> = (0..self.nodes() as u32).collect();
        let root = |tree: &mut Vec<u32>, mut node: NodeId| {
            while tree[node.at()] != node.0 {
                tree[node.at()] = tree[tree[node.at()] as usize];
                node = NodeId(tree[node.at()]);
            }
            node
        };
        self.links.iter().all(|link| {
            let (a, b) = (root(&mut tree, link.a), root(&mut tree, link.b));
            tree[a.at()] = b.0;
            a != b
        })
    }

    /// The links of one shortest path, `None` if no path exists.
    pub fn path(&self, adjacency: &[Vec<(u32, NodeId)>], src: NodeId, dst: NodeId) -> Option<Vec<u32>> {
        let distance = self.distances(adjacency, dst);
        if distance[src.at()] == u32::MAX {
            return None;
        }
        let (mut at, mut links) = (src, Vec::new());
        while at != dst {
            let (link, next) = adjacency[at.at()]
                .iter()
                .find(|(l, n)| self.leads(&distance, at, *l, *n) && (!self.is_nic(*n) || *n == dst))?;
            links.push(*link);
            at = *next;
        }
        Some(links)
    }

    /// The rate at which each NIC sends, which is that of its link.
    pub fn nic_rates(&self) -> Vec<Rate> {
        let mut out = vec![Rate::ZERO; self.nics() as usize];
        for l in &self.links {
            for (node, way) in [(l.a, &l.ab), (l.b, &l.ba)] {
                if self.is_nic(node) {
                    out[node.at()] = way.mean_rate();
                }
            }
        }
        out
    }

    /// The rate at which the first host sends, bits per second.
    pub(crate) fn host_rate(&self) -> f64 {
        let first = self.directions().find(|(from, _)| from.0 == 0);
        first.map_or(0.0, |(_, link)| link.mean_rate().bps() as f64)
    }

    /// The rate at which each host sends into the network that reaches most hosts: the sum over all of its NICs that
    /// are in such a network ([`Graph::is_wide`]).
    pub fn wide_rates(&self) -> Vec<Rate> {
        let mut out = vec![Rate::ZERO; self.hosts as usize];
        for (nic, rate) in (0..).map(NodeId).zip(self.nic_rates()).filter(|(nic, _)| self.is_wide(*nic)) {
            let sum = &mut out[self.host_of(nic).at()];
            *sum = Rate::from_bps(sum.bps().saturating_add(rate.bps()));
        }
        out
    }

    /// The node at the other end of each NIC's link, usually the top-of-rack switch: NICs with the same one share a
    /// rack.
    pub fn racks(&self) -> Vec<NodeId> {
        let mut out = vec![NodeId::NONE; self.nics() as usize];
        for l in &self.links {
            for (node, other) in [(l.a, l.b), (l.b, l.a)] {
                if self.is_nic(node) {
                    out[node.at()] = other;
                }
            }
        }
        out
    }

    /// Both directions of every link, each with the node that sends.
    fn directions(&self) -> impl Iterator<Item = (NodeId, &Direction)> {
        self.links.iter().flat_map(|link| [(link.a, &link.ab), (link.b, &link.ba)])
    }

    /// True if all links have a fixed rate and delay and lose nothing.
    pub fn has_plain_links(&self) -> bool {
        self.directions().all(|(_, link)| link.is_plain())
    }

    /// As [`Graph::has_plain_links`], of the directions in which switches send.
    pub fn has_plain_links_behind_switches(&self) -> bool {
        self.directions().all(|(from, link)| self.is_nic(from) || link.is_plain())
    }

    /// The core links: those that join an edge switch (one with hosts) to another switch.
    // CHOICE: this defines "core links" for any graph. On a leaf-spine they are the leaf-spine links, on a fat-tree
    // the uplinks of the edge tier, on a dumbbell the bottleneck.
    pub fn core_links(&self) -> Vec<u32> {
        let mut links: Vec<u32> = self.core_ports().iter().map(|port| port.link().0).collect();
        links.dedup();
        links
    }

    /// The ports through which packets leave an edge switch for another switch, in order. A core link has one of them,
    /// or two where both of its ends are edge switches (a dumbbell).
    pub fn core_ports(&self) -> Vec<PortId> {
        let mut edge = vec![false; self.nodes()];
        for rack in self.racks() {
            if rack != NodeId::NONE {
                edge[rack.at()] = true;
            }
        }
        let between = self.links.iter().enumerate().filter(|(_, l)| !self.is_nic(l.a) && !self.is_nic(l.b));
        between
            .flat_map(|(i, l)| [(PortId(2 * i as u32), l.a), (PortId(2 * i as u32 + 1), l.b)])
            .filter(|(_, from)| edge[from.at()])
            .map(|(port, _)| port)
            .collect()
    }

    /// The capacity of the core links, bits per second: the sum over the core links of one direction each, out of the
    /// edge. Where both directions leave an edge switch (a dumbbell), the first one counts.
    pub fn core_capacity(&self) -> u128 {
        let mut ports = self.core_ports();
        ports.dedup_by_key(|port| port.link());
        ports.iter().map(|port| u128::from(self.direction(*port).mean_rate().bps())).sum()
    }

    /// Mean number of links on the shortest path between two different hosts. Large networks are sampled: every
    /// (hosts / 16)-th host is a source.
    pub fn mean_path(&self) -> f64 {
        let adjacency = self.adjacency();
        let step = (self.hosts / 16).max(1);
        let (mut sum, mut count) = (0u64, 0u64);
        for src in (0..self.hosts).step_by(step as usize) {
            let distance = self.lengths(&adjacency, NodeId(src));
            for d in distance.iter().take(self.hosts as usize).filter(|d| **d > 0 && **d < u32::MAX) {
                sum += u64::from(*d);
                count += 1;
            }
        }
        if count == 0 { 0.0 } else { sum as f64 / count as f64 }
    }

    /// The round trip of a full packet and its ACK in the empty network, between host 0 and a host farthest from it.
    pub(crate) fn base_rtt(&self, sizes: PacketSizes) -> Span {
        self.round_trip(NodeId(0), &self.far_path(), sizes)
    }

    /// The bandwidth-delay product, rounded up: the round trip of [`Self::base_rtt`] times the lowest rate on its
    /// forward path.
    pub(crate) fn bandwidth_delay(&self, sizes: PacketSizes) -> Bytes {
        let path = self.far_path();
        let ports = self.ports_along(NodeId(0), &path);
        let slowest = ports.map(|port| self.direction(port).mean_rate()).min().unwrap_or(Rate::ZERO);
        round_trip_bytes(slowest, self.round_trip(NodeId(0), &path, sizes))
    }

    /// The links of a shortest path from host 0 to a host that is farthest from it.
    fn far_path(&self) -> Vec<u32> {
        let adjacency = self.adjacency();
        let distance = self.distances(&adjacency, NodeId(0));
        let far = (0..self.hosts)
            .filter(|h| distance[*h as usize] < u32::MAX)
            .max_by_key(|h| distance[*h as usize]);
        far.and_then(|far| self.path(&adjacency, NodeId(0), NodeId(far))).unwrap_or_default()
    }

    /// The ports that send along these links, starting at a node.
    fn ports_along<'a>(&'a self, from: NodeId, path: &'a [u32]) -> impl Iterator<Item = PortId> + 'a {
        path.iter().scan(from, |at, link| {
            let l = &self.links[*link as usize];
            let forth = l.a == *at;
            *at = if forth { l.b } else { l.a };
            Some(PortId(2 * link + u32::from(!forth)))
        })
    }

    /// The time that a full packet takes from a node along these links, and its ACK back, in the empty network.
    fn round_trip(&self, from: NodeId, path: &[u32], sizes: PacketSizes) -> Span {
        let once = |port: PortId, bytes: u32| {
            let link = self.direction(port);
            u128::from(Serializer::new(link.mean_rate(), link.quantum()).span(bytes).ps())
                + u128::from(link.delay.ps())
        };
        let both =
            self.ports_along(from, path).map(|port| once(port, sizes.full) + once(port.reverse(), sizes.ack));
        Span::from_ps(u64::try_from(both.sum::<u128>()).unwrap_or(u64::MAX))
    }

    /// Links from host 0 to the host farthest from it, at least 1.
    pub(super) fn longest(&self) -> u64 {
        let distance = self.lengths(&self.adjacency(), NodeId(0));
        distance
            .iter()
            .take(self.hosts as usize)
            .filter(|d| **d < u32::MAX)
            .max()
            .map_or(1, |d| u64::from(*d))
            .max(1)
    }
}
