//! Networks as graphs: one file per shape, and what can be computed of any graph.

mod declare;
mod links;
mod list;
pub mod lowest;
pub mod names;
pub(crate) mod near;
mod nics;
mod reach;

// One file each of the list below.
mod backbone;
mod dumbbell;
mod fat_tree;
mod file;
mod internet2;
mod leaf_spine;
mod pair;
mod parking_lot;
mod rails;
mod star;

pub(crate) use declare::{Delays, Family};
pub use file::GraphFormat;
pub(crate) use links::{Overlays, ports};
pub use names::Names;
pub(crate) use nics::Choice;
pub(crate) use reach::round_trip_bytes;

use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::{LONGEST, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::link::LinkSpec as Direction;
use thalweg_net::spec::{FurtherNic, LinkSpec};
use thalweg_units::{Bytes, NodeId, PortId, Rate, Serializer, Span, dispatch};

// The one list. Each family has a file of its own, which declares its keys ([`Family`]).
list::topologies! {
    pair: Pair, "pair";
    star: Star, "star";
    dumbbell: Dumbbell, "dumbbell";
    parking_lot: ParkingLot, "parking-lot";
    leaf_spine: LeafSpine, "leaf-spine";
    fat_tree: FatTree, "fat-tree";
    rails: Rails, "rails";
    internet2: Internet2, "internet2";
    backbone: Backbone, "backbone";
    file: GraphFile, "file";
}

/// The network's shape; hosts are nodes `0 .. hosts`, switches follow. Every node also has a name: hosts
/// `h0`, `h1`, .., switches by their tier (`leaf0`, `spine0`, `edge0`, `agg0`, `core0`, else `switch0`), or
/// as the file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Which one.
    #[serde(flatten)]
    pub shape: Shape,
    /// Serialisation times are cut down to whole multiples of this, as simulators with nanosecond clocks do;
    /// `0ps` keeps them exact (rounded up to 1 ps).
    #[serde(default)]
    pub time_quantum: Q<Span>,
}

/// A network without queues: hosts `0 .. hosts`, which are their first NICs, then further NICs of those that have
/// several links, then switches.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Number of hosts.
    pub hosts: u32,
    /// Further NICs.
    pub further: Vec<FurtherNic>,
    /// Number of switches.
    pub switches: u32,
    /// Duplex links.
    pub links: Vec<LinkSpec>,
    /// What nodes are called.
    pub names: Names,
}

/// Wire sizes of a full packet and of its ACK: what `base_rtt` is solved with.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Of a full packet, bytes.
    pub full: u32,
    /// Of its ACK, bytes.
    pub ack: u32,
}

impl Graph {
    pub(crate) fn new(hosts: u32, switches: u32) -> Self {
        Self::tiers(hosts, &[("switch", switches)])
    }

    /// Hosts, then the switches of each tier.
    pub(crate) fn tiers(hosts: u32, tiers: &[(&str, u32)]) -> Self {
        let names = Names::tiers(&[&[("h", hosts)], tiers].concat());
        Self {
            hosts,
            switches: tiers.iter().map(|t| t.1).sum(),
            links: Vec::new(),
            names,
            further: Vec::new(),
        }
    }

    /// A node for a message: its number, and what it is called unless that is the number again.
    pub(crate) fn shown(&self, node: NodeId) -> String {
        let name = self.names.of(node.0);
        if name == format!("h{node}") { node.to_string() } else { format!("{node} (`{name}`)") }
    }

    pub(crate) fn link(&mut self, a: u32, b: u32, rate: Q<Rate>, delay: Span) {
        self.links.push(LinkSpec::fixed(NodeId(a), NodeId(b), rate.0, delay, Span::ZERO));
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nics() as usize + self.switches as usize
    }

    /// True for the NICs of hosts.
    pub fn is_host(&self, node: NodeId) -> bool {
        node.0 < self.nics()
    }

    /// Links of each node, as (link, other end).
    pub fn adjacency(&self) -> Vec<Vec<(u32, NodeId)>> {
        let mut out = vec![Vec::new(); self.nodes()];
        for (i, l) in self.links.iter().enumerate() {
            out[l.a.at()].push((i as u32, l.b));
            out[l.b.at()].push((i as u32, l.a));
        }
        out
    }

    /// Links from `from` to every node on a shortest path; `u32::MAX` where there is none. Hosts do not forward.
    pub fn distances(&self, adjacency: &[Vec<(u32, NodeId)>], from: NodeId) -> Vec<u32> {
        let mut out = vec![u32::MAX; self.nodes()];
        let mut queue = std::collections::VecDeque::from([from]);
        out[from.at()] = 0;
        while let Some(node) = queue.pop_front() {
            if self.is_host(node) && node != from {
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

    /// There is one path at most between any two nodes.
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

    /// The links of one shortest path.
    pub fn path(&self, adjacency: &[Vec<(u32, NodeId)>], src: NodeId, dst: NodeId) -> Option<Vec<u32>> {
        let distance = self.distances(adjacency, dst);
        if distance[src.at()] == u32::MAX {
            return None;
        }
        let (mut at, mut links) = (src, Vec::new());
        while at != dst {
            let (link, next) = adjacency[at.at()]
                .iter()
                .find(|(_, n)| distance[n.at()] < distance[at.at()] && (!self.is_host(*n) || *n == dst))?;
            links.push(*link);
            at = *next;
        }
        Some(links)
    }

    /// The rate at which each NIC sends, by its link.
    pub fn host_rates(&self) -> Vec<Rate> {
        let mut out = vec![Rate::ZERO; self.nics() as usize];
        for l in &self.links {
            for (node, way) in [(l.a, &l.ab), (l.b, &l.ba)] {
                if self.is_host(node) {
                    out[node.at()] = way.mean_rate();
                }
            }
        }
        out
    }

    /// The rate at which the first host sends, bits per second.
    pub(crate) fn host_rate(&self) -> f64 {
        let ways = self.links.iter().flat_map(|l| [(l.a, &l.ab), (l.b, &l.ba)]);
        ways.filter(|(node, _)| node.0 == 0)
            .map(|(_, way)| way.mean_rate().bps() as f64)
            .next()
            .unwrap_or(0.0)
    }

    /// The rate at which each host sends into its widest network: over its first link, and others as wide.
    pub fn wide_rates(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.hosts as usize];
        for (nic, rate) in (0..).map(NodeId).zip(self.host_rates()).filter(|(nic, _)| self.is_wide(*nic)) {
            out[self.host_of(nic).at()] += rate.bps() as f64;
        }
        out
    }

    /// The node at the other end of each NIC's link: hosts with the same one share a rack.
    pub fn racks(&self) -> Vec<NodeId> {
        let mut out = vec![NodeId::NONE; self.nics() as usize];
        for l in &self.links {
            for (node, other) in [(l.a, l.b), (l.b, l.a)] {
                if self.is_host(node) {
                    out[node.at()] = other;
                }
            }
        }
        out
    }

    /// Directions of links, with the node that sends.
    fn directions(&self) -> impl Iterator<Item = (NodeId, &Direction)> {
        self.links.iter().flat_map(|link| [(link.a, &link.ab), (link.b, &link.ba)])
    }

    /// All links are of a fixed rate and delay, and lose nothing.
    pub fn has_plain_links(&self) -> bool {
        self.directions().all(|(_, link)| link.is_plain())
    }

    /// All links by which packets leave switches are.
    pub fn has_plain_links_behind_switches(&self) -> bool {
        self.directions().all(|(from, link)| self.is_host(from) || link.is_plain())
    }

    /// Links that lead from an edge switch (one with hosts) to another switch.
    // CHOICE: "core links" of any graph; on a leaf–spine they are the leaf–spine links, on a fat-tree the
    // uplinks of the edge tier, on a dumbbell the bottleneck.
    pub fn core_links(&self) -> Vec<u32> {
        let mut links: Vec<u32> = self.into_core().iter().map(|port| PortId(*port).link().0).collect();
        links.dedup();
        links
    }

    /// The ports at which packets leave an edge switch for another switch: of a core link, one, or both where both
    /// ends are edge switches (a dumbbell). Port 2l sends from end `a` of link l, port 2l + 1 from end `b`.
    pub fn into_core(&self) -> Vec<u32> {
        let mut edge = vec![false; self.nodes()];
        for rack in self.racks() {
            if rack != NodeId::NONE {
                edge[rack.at()] = true;
            }
        }
        let between = self.links.iter().enumerate().filter(|(_, l)| !self.is_host(l.a) && !self.is_host(l.b));
        between
            .flat_map(|(i, l)| [(2 * i as u32, l.a), (2 * i as u32 + 1, l.b)])
            .filter(|(_, from)| edge[from.at()])
            .map(|(port, _)| port)
            .collect()
    }

    /// Bits per second that can leave the edge into the core: the capacity of the core links, one direction, the first
    /// where both lead into it.
    pub fn core_capacity(&self) -> u128 {
        let mut ways = self.into_core();
        ways.dedup_by_key(|port| PortId(*port).link());
        ways.iter().map(|port| u128::from(self.way(*port).mean_rate().bps())).sum()
    }

    /// One direction of a link, by its port.
    fn way(&self, port: u32) -> &Direction {
        self.direction(PortId(port))
    }

    /// Links on the shortest path between two different hosts, mean over all or (in large networks) over
    /// 16 sources.
    pub fn mean_path(&self) -> f64 {
        let adjacency = self.adjacency();
        let step = (self.hosts / 16).max(1);
        let (mut sum, mut count) = (0u64, 0u64);
        for src in (0..self.hosts).step_by(step as usize) {
            let distance = self.distances(&adjacency, NodeId(src));
            for d in distance.iter().take(self.hosts as usize).filter(|d| **d > 0 && **d < u32::MAX) {
                sum += u64::from(*d);
                count += 1;
            }
        }
        if count == 0 { 0.0 } else { sum as f64 / count as f64 }
    }

    /// The round trip of a full packet and its ACK over a path of the greatest length from host 0 when
    /// nothing waits.
    pub(crate) fn base_rtt(&self, frames: Frames) -> Span {
        self.round_trip(NodeId(0), &self.far_path(), frames)
    }

    /// The least rate on the way out of the path of [`Self::base_rtt`], times that round trip, rounded up.
    pub(crate) fn bandwidth_delay(&self, frames: Frames) -> Bytes {
        let path = self.far_path();
        let ways = self.ways(NodeId(0), &path);
        let slowest = ways.map(|port| self.way(port).mean_rate()).min().unwrap_or(Rate::ZERO);
        round_trip_bytes(slowest, self.round_trip(NodeId(0), &path, frames))
    }

    /// The links from host 0 to a host that is farthest from it.
    fn far_path(&self) -> Vec<u32> {
        let adjacency = self.adjacency();
        let distance = self.distances(&adjacency, NodeId(0));
        let far = (0..self.hosts)
            .filter(|h| distance[*h as usize] < u32::MAX)
            .max_by_key(|h| distance[*h as usize]);
        far.and_then(|far| self.path(&adjacency, NodeId(0), NodeId(far))).unwrap_or_default()
    }

    /// The ports that lead from a node over these links.
    fn ways<'a>(&'a self, from: NodeId, path: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        path.iter().scan(from, |at, link| {
            let l = &self.links[*link as usize];
            let forth = l.a == *at;
            *at = if forth { l.b } else { l.a };
            Some(2 * link + u32::from(!forth))
        })
    }

    /// The round trip of a full packet from a node over these links, and of its ACK back, when nothing waits.
    fn round_trip(&self, from: NodeId, path: &[u32], frames: Frames) -> Span {
        let once = |port: u32, bytes: u32| {
            let way = self.way(port);
            u128::from(Serializer::new(way.mean_rate(), way.quantum()).span(bytes).ps())
                + u128::from(way.delay.ps())
        };
        let both = self
            .ways(from, path)
            .map(|port| once(port, frames.full) + once(PortId(port).reverse().0, frames.ack));
        Span::from_ps(u64::try_from(both.sum::<u128>()).unwrap_or(u64::MAX))
    }

    fn longest(&self) -> u64 {
        let distance = self.distances(&self.adjacency(), NodeId(0));
        distance
            .iter()
            .take(self.hosts as usize)
            .filter(|d| **d < u32::MAX)
            .max()
            .map_or(1, |d| u64::from(*d))
            .max(1)
    }
}

/// The slowest link: packets of 1 MB still take less than three hours.
const SLOWEST: Rate = Rate::from_bps(1_000);

/// Builds the graph and refuses one whose round trip is beyond all reason.
pub(crate) fn build(
    cx: &Cx<'_>,
    topology: &mut Topology,
    frames: Frames,
    links: &Overlays,
) -> Result<Graph, Diagnostic> {
    let graph = shape(cx, topology, frames, links)?;
    let ways = graph.links.iter().flat_map(|link| [&link.ab, &link.ba]);
    let timeless =
        |way: &&Direction| Serializer::new(way.mean_rate(), way.quantum()).span(frames.full).is_zero();
    if let Some(way) = ways.filter(|way| !way.quantum().is_zero()).find(timeless) {
        let (full, rate) = (frames.full, way.mean_rate());
        let exact = Serializer::new(rate, Span::ZERO).span(full);
        let reason = format!(
            "cut down to multiples of {}, a packet of {full} B takes no time at {rate}",
            way.quantum()
        );
        return Err(cx.error("topology.time_quantum", reason, format!("at most {exact}, what it takes")));
    }
    let rtt = graph.base_rtt(frames);
    if rtt > LONGEST {
        let reason = format!("a round trip through the empty network takes {} s", rtt.secs());
        return Err(cx.error("topology", reason, format!("at most {LONGEST}: raise rates or lower delays")));
    }
    Ok(graph)
}

/// Builds the graph; `base_rtt` is replaced by the delay that was solved from it.
fn shape(
    cx: &Cx<'_>,
    topology: &mut Topology,
    frames: Frames,
    links: &Overlays,
) -> Result<Graph, Diagnostic> {
    let quantum = topology.time_quantum.0;
    let mut graph = topology.shape.build(cx)?.with_nics();
    for l in &mut graph.links {
        l.set_quantum(quantum);
        if l.rate() < SLOWEST {
            let reason = format!("a link has the rate {}", l.rate());
            return Err(cx.error("topology", reason, format!("links need a rate of at least {SLOWEST}")));
        }
    }
    links.lay(cx, &mut graph, quantum)?;
    let Some(Delays { delay, base_rtt, host_delay, own: given }) = topology.shape.delays() else {
        return Ok(graph);
    };
    let own = host_delay.as_deref().copied().flatten();
    // Links whose delay is given by itself.
    let mut longest = graph.longest();
    if let Some(own) = own {
        let hosts = graph.nics();
        for l in graph.links.iter_mut().filter(|l| l.a.0 < hosts || l.b.0 < hosts) {
            l.set_delay(own.0);
        }
        longest = longest.saturating_sub(2).max(1);
    }
    let solved = match (*delay, *base_rtt) {
        (Some(_), Some(_)) => {
            let reason = "`delay` and `base_rtt` cannot both be given";
            return Err(cx.error(
                "topology.base_rtt",
                reason,
                "remove one: `delay` is solved from `base_rtt`",
            ));
        }
        (None, Some(rtt)) => {
            let serialisation = graph.base_rtt(frames);
            let left = rtt.0.saturating_sub(serialisation);
            if rtt.0 <= serialisation {
                let alone = if own.is_some() {
                    "serialisation and hosts' links alone take"
                } else {
                    "serialisation alone takes"
                };
                let reason = format!("a round trip of {} is impossible: {alone} {serialisation}", rtt.0);
                return Err(cx.error(
                    "topology.base_rtt",
                    reason,
                    format!("write more than \"{serialisation}\""),
                ));
            }
            // Rounded down to 1 ps per link: at most two picoseconds per link are lost.
            left / (2 * longest)
        }
        (given, None) => given.map_or(Span::from_us(1), |q| q.0),
    };
    (*delay, *base_rtt) = (Some(Q(solved)), None);
    let hosts = graph.nics();
    let solvable = graph.links.len() - given;
    for l in &mut graph.links[..solvable] {
        let own = own.filter(|_| l.a.0 < hosts || l.b.0 < hosts);
        l.set_delay(own.map_or(solved, |own| own.0));
    }
    if let Some(host_delay) = host_delay {
        host_delay.get_or_insert(Q(solved));
    }
    Ok(graph)
}

/// The most links that a network may have.
pub(crate) const MOST_LINKS: u64 = 4_000_000;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_area_tests;
