//! Shortest paths of any graph (by the sum of its links' metrics), and which of them a packet takes.
//!
//! Hosts hang off one *attachment* each (their switch, or the other host of a pair), so tables are
//! kept per attachment, not per host: `next[switch][attachment]` names a group of equal-cost ports.

mod frontier;
mod paths;
mod waypoints;

pub use paths::flow_pick;

use crate::spec::{FlowSpec, LinkSpec, NetworkSpec, RouteSpec, RoutingSpec};
use frontier::Frontier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub use thalweg_machines::route::Pick;
use thalweg_machines::route::{Paths, salt, spread};
use thalweg_units::{HostId, NodeId, PortId, Rows};
use waypoints::Waypoints;

/// Why a graph cannot be routed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// A host has no link, or more than one.
    #[error("host {host} has {links} links; every host has exactly one")]
    HostLinks {
        /// Which host.
        host: u32,
        /// How many links it has.
        links: usize,
    },
    /// Two hosts cannot reach each other.
    #[error("there is no path from host {from} to host {to}")]
    Disconnected {
        /// From here.
        from: u32,
        /// To there.
        to: u32,
    },
    /// A pinned path does not follow links.
    #[error("the pinned path of flow {flow} is not a path: no link joins node {from} and node {to}")]
    NotAPath {
        /// Whose path.
        flow: u32,
        /// Last node reached.
        from: u32,
        /// Node that does not follow.
        to: u32,
    },
}

/// The two ends of every port, and which host is reached where.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Routes {
    hosts: u32,
    /// Far end of each port.
    peer: Vec<NodeId>,
    /// A host's only outgoing port.
    nic: Vec<PortId>,
    /// Index of a host's attachment among the attachments.
    attachment: Vec<u32>,
    /// The port that leads from the attachment to the host.
    down: Vec<PortId>,
    attachments: u32,
    /// `switch × attachment` → group; `u32::MAX`: unreachable.
    next: Vec<u32>,
    /// Groups as slices of `ports`: `bounds[g] .. bounds[g + 1]`.
    bounds: Vec<u32>,
    ports: Vec<PortId>,
    /// Per switch: its salt for hashing.
    salts: Vec<u64>,
    /// The ways to groups of switches, of rules that send packets there.
    waypoints: Option<Box<Waypoints>>,
}

/// What routes lead through.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    /// Nodes `0 .. hosts` are hosts.
    pub hosts: u32,
    /// The nodes after them.
    pub switches: u32,
    /// Duplex links; link `l` is port `2l` and port `2l + 1`.
    pub links: &'a [LinkSpec],
    /// From which switches' salts are made.
    pub seed: u64,
    /// By link: it is down. Empty: none is.
    pub down: &'a [bool],
}

/// What is kept from one search to the next.
struct Search<'a> {
    /// By switch: its ports to other switches.
    inner: Rows<PortId>,
    links: &'a [LinkSpec],
    frontier: Frontier,
    /// By link its dimension, if paths go along them in order.
    order: Option<&'a Vec<u8>>,
    groups: BTreeMap<Vec<PortId>, u32>,
    /// By switch: its group towards the target before. Towards a neighbour of that one it is mostly the same.
    last: Vec<u32>,
    distance: Vec<u32>,
}

/// How a packet goes on from a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// No working link leads to its host.
    Nowhere,
    /// By this port.
    Only(PortId),
    /// By any of so many ports ([`Routes::candidate`]): the first one, and how many.
    Among(u32, u32),
}

impl Routes {
    /// Tables for the graph. Not every two hosts need be joined: [`Self::check_joined`].
    ///
    /// # Errors
    /// If a host does not have exactly one link.
    pub fn new(hosts: u32, switches: u32, links: &[LinkSpec], seed: u64) -> Result<Self, RouteError> {
        Self::without(hosts, switches, links, seed, &[])
    }

    /// Tables for what is left of a graph when some links (by number) are down; not every host need be reachable.
    ///
    /// # Errors
    /// If a host does not have exactly one link, working or not.
    pub fn without(
        hosts: u32,
        switches: u32,
        links: &[LinkSpec],
        seed: u64,
        down: &[bool],
    ) -> Result<Self, RouteError> {
        Self::of_graph(&Graph { hosts, switches, links, seed, down }, &RouteSpec::default().into())
    }

    /// The tables that a network's rule goes by, when some links are down.
    ///
    /// # Errors
    /// If a host does not have exactly one link, working or not.
    pub fn of(spec: &NetworkSpec, down: &[bool]) -> Result<Self, RouteError> {
        let NetworkSpec { hosts, switches, links, seed, .. } = spec;
        let graph = Graph { hosts: *hosts, switches: *switches, links, seed: *seed, down };
        Self::of_graph(&graph, &spec.routing)
    }

    /// The tables that a rule goes by.
    ///
    /// # Errors
    /// If a host does not have exactly one link, working or not.
    pub fn of_graph(graph: &Graph<'_>, routing: &RoutingSpec) -> Result<Self, RouteError> {
        let &Graph { hosts, switches, links, seed, down } = graph;
        let is_down = |port: &PortId| down.get(port.link().at()).copied().unwrap_or(false);
        let nodes = (hosts + switches) as usize;
        let mut peer = Vec::with_capacity(links.len() * 2);
        let mut out: Vec<Vec<PortId>> = vec![Vec::new(); nodes];
        for link in links {
            out[link.a.at()].push(PortId::from(peer.len()));
            peer.push(link.b);
            out[link.b.at()].push(PortId::from(peer.len()));
            peer.push(link.a);
        }
        let mut nic = Vec::with_capacity(hosts as usize);
        let mut attachment = Vec::with_capacity(hosts as usize);
        let mut index_of: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut attach_nodes = Vec::new();
        let mut to_host = Vec::with_capacity(hosts as usize);
        for host in 0..hosts {
            let ports = &out[host as usize];
            let &[port] = ports.as_slice() else {
                return Err(RouteError::HostLinks { host, links: ports.len() });
            };
            nic.push(port);
            to_host.push(port.reverse());
            let node = peer[port.at()];
            attachment.push(*index_of.entry(node).or_insert_with(|| {
                attach_nodes.push(node);
                attach_nodes.len() as u32 - 1
            }));
        }
        let attachments = attach_nodes.len() as u32;
        let needs = routing.rule.needs();
        let mut routes = Self {
            hosts,
            peer,
            nic,
            attachment,
            down: to_host,
            attachments,
            next: vec![u32::MAX; switches as usize * attachments as usize],
            bounds: vec![0],
            ports: Vec::new(),
            salts: (0..switches).map(|switch| salt(seed, switch)).collect(),
            waypoints: None,
        };
        // The ports between switches, in order: hosts end paths, never carry them.
        let onwards = |port: &PortId| !is_down(port) && routes.peer[port.at()].0 >= hosts;
        let inner: Rows<PortId> =
            out[hosts as usize..].iter().map(|ports| ports.iter().copied().filter(onwards)).collect();
        let between = |l: &&LinkSpec| l.a.0 >= hosts && l.b.0 >= hosts;
        let mut search = Search {
            inner,
            links,
            frontier: Frontier::new(links.iter().filter(between).any(|link| link.metric != 1)),
            order: (needs.paths == Paths::Ordered).then_some(&routing.structure.dimensions),
            groups: BTreeMap::new(),
            last: vec![u32::MAX; switches as usize],
            distance: vec![u32::MAX; switches as usize],
        };
        for (index, target) in attach_nodes.iter().enumerate().filter(|(_, target)| target.0 >= hosts) {
            routes.search(&mut search, &[target.0 - hosts], |routes, switch, group| {
                routes.next[switch * attachments as usize + index] = group;
            });
        }
        if needs.groups {
            let mut waypoints = Waypoints::new(graph, &routing.structure);
            for group in 0..waypoints.count() {
                let members = waypoints.members(group);
                routes.search(&mut search, &members, |_, switch, ports| waypoints.set(switch, group, ports));
            }
            routes.waypoints = Some(Box::new(waypoints));
        }
        Ok(routes)
    }

    /// Finds the least costly paths from every switch to the nearest of `targets`: `found` is given each switch on
    /// one, and its group of ports. In the order of distance.
    fn search(
        &mut self,
        search: &mut Search<'_>,
        targets: &[u32],
        mut found: impl FnMut(&mut Self, usize, u32),
    ) {
        let Search { inner, links, frontier, order, groups, last, distance } = search;
        let mut group = Vec::new();
        distance.fill(u32::MAX);
        frontier.clear();
        for target in targets {
            distance[*target as usize] = 0;
            frontier.push(*target, 0);
        }
        while let Some(switch) = frontier.pop(distance) {
            let switch = switch as usize;
            let here = distance[switch];
            group.clear();
            // What is nearer to the target than this switch is known.
            for &port in inner.row(switch) {
                let neighbour = self.peer[port.at()].0 - self.hosts;
                let there = here.saturating_add(frontier.metric(links, port));
                let of = &mut distance[neighbour as usize];
                if *of < here && there - here == here - *of {
                    group.push(port);
                } else if there < *of {
                    *of = there;
                    frontier.push(neighbour, there);
                }
            }
            if here > 0 {
                if let Some(dimensions) = order {
                    let along = |port: &PortId| dimensions.get(port.link().at()).copied().unwrap_or(0);
                    let first = group.iter().map(along).min();
                    group.retain(|port| Some(along(port)) == first);
                }
                last[switch] = match last[switch] {
                    same if same != u32::MAX && self.ports_of(same) == group => same,
                    _ => *groups.entry(group.clone()).or_insert_with_key(|ports| {
                        self.ports.extend_from_slice(ports);
                        self.bounds.push(self.ports.len() as u32);
                        self.bounds.len() as u32 - 2
                    }),
                };
                found(self, switch, last[switch]);
            }
        }
    }

    fn ports_of(&self, group: u32) -> &[PortId] {
        let group = group as usize;
        &self.ports[self.bounds[group] as usize..self.bounds[group + 1] as usize]
    }

    /// A path joins the ends of every flow.
    ///
    /// # Errors
    /// The first two hosts that none joins.
    pub fn check_joined(&self, flows: &[FlowSpec]) -> Result<(), RouteError> {
        let apart = flows.iter().find(|flow| !self.joins(flow.src, flow.dst));
        apart.map_or(Ok(()), |flow| Err(RouteError::Disconnected { from: flow.src.0, to: flow.dst.0 }))
    }

    fn joins(&self, src: HostId, dst: HostId) -> bool {
        let node = self.peer[self.nic[src.at()].at()];
        match self.is_nic(node) {
            true => node.0 == dst.0,
            false => self.hop(node, dst) != Hop::Nowhere,
        }
    }

    /// Far end of a port.
    #[inline(always)]
    pub fn peer(&self, port: PortId) -> NodeId {
        self.peer[port.at()]
    }

    /// True if the node is a NIC of a host, false if it is a switch.
    #[inline(always)]
    pub fn is_nic(&self, node: NodeId) -> bool {
        node.0 < self.hosts
    }

    /// A host's outgoing port.
    #[inline(always)]
    pub fn nic(&self, host: HostId) -> PortId {
        self.nic[host.at()]
    }

    /// The nodes that hosts hang off, with their hosts.
    pub fn attachments(&self) -> impl Iterator<Item = (NodeId, Vec<HostId>)> + '_ {
        let hosts = move |number: u32| {
            let of = |(_, at): &(usize, &u32)| **at == number;
            self.attachment
                .iter()
                .enumerate()
                .filter(of)
                .map(|(host, _)| HostId::from(host))
                .collect::<Vec<_>>()
        };
        (0..self.attachments).map(hosts).map(|hosts| (self.peer[self.nic[hosts[0].at()].at()], hosts))
    }

    /// The port that leads to a host from the node that it hangs off.
    #[inline]
    pub fn to_host(&self, host: HostId) -> PortId {
        self.down[host.at()]
    }

    /// The ports by which packets for `dst` may leave a switch that it does not hang off; none if no working
    /// link leads there.
    #[inline]
    pub fn group(&self, switch: NodeId, dst: HostId) -> &[PortId] {
        let row = (switch.0 - self.hosts) as usize * self.attachments as usize;
        match self.next[row + self.attachment[dst.at()] as usize] {
            u32::MAX => &[],
            group => self.ports_of(group),
        }
    }

    /// True if the two hosts hang off the same switch: there is nothing to choose between them.
    pub fn same_attachment(&self, a: HostId, b: HostId) -> bool {
        self.attachment[a.at()] == self.attachment[b.at()]
    }

    /// The port by which a packet for `dst` leaves `node` (a switch); `None` if no working link leads there.
    #[inline]
    pub fn next(&self, node: NodeId, dst: HostId, pick: Pick) -> Option<PortId> {
        let switch = (node.0 - self.hosts) as usize;
        if self.peer[self.nic[dst.at()].at()] == node {
            return Some(self.down[dst.at()]);
        }
        let group =
            self.next[switch * self.attachments as usize + self.attachment[dst.at()] as usize] as usize;
        if group == u32::MAX as usize {
            return None;
        }
        let (from, to) = (self.bounds[group] as usize, self.bounds[group + 1] as usize);
        let ports = &self.ports[from..to];
        let choice = match pick {
            _ if ports.len() == 1 => 0,
            Pick::Modulo(n) => n as usize % ports.len(),
            Pick::Lowest => {
                (0..ports.len()).min_by_key(|i| self.peer[ports[*i].at()]).expect("a group has ports")
            }
            Pick::Hash(hash) => spread(hash, self.salts[switch], ports.len()),
        };
        Some(ports[choice])
    }

    /// How a packet for `dst` goes on from `node`, a switch.
    #[inline]
    pub fn hop(&self, node: NodeId, dst: HostId) -> Hop {
        if self.peer[self.nic[dst.at()].at()] == node {
            return Hop::Only(self.down[dst.at()]);
        }
        let row = (node.0 - self.hosts) as usize * self.attachments as usize;
        self.hop_by(self.next[row + self.attachment[dst.at()] as usize])
    }

    /// How a packet goes on by a group of ports.
    #[inline]
    fn hop_by(&self, group: u32) -> Hop {
        let group = group as usize;
        if group == u32::MAX as usize {
            return Hop::Nowhere;
        }
        let (from, to) = (self.bounds[group], self.bounds[group + 1]);
        if to - from == 1 { Hop::Only(self.ports[from as usize]) } else { Hop::Among(from, to - from) }
    }

    /// A port of [`Hop::Among`].
    #[inline]
    pub fn candidate(&self, at: usize) -> PortId {
        self.ports[at]
    }

    /// The number of the switch that a host hangs off; of a host that hangs off another host the largest number.
    #[inline]
    pub fn leaf(&self, host: HostId) -> u32 {
        self.peer[self.nic[host.at()].at()].0.wrapping_sub(self.hosts)
    }

    /// A switch's number among the switches.
    #[inline]
    pub fn switch(&self, node: NodeId) -> usize {
        (node.0 - self.hosts) as usize
    }
}
