//! Distances between hosts.

use super::Graph;
use std::collections::BTreeSet;
use thalweg_machines::link::LinkSpec as Direction;
use thalweg_machines::pause::Input;
use thalweg_net::spec::LinkSpec;
use thalweg_units::{Bytes, NodeId, Rate, Serializer, Span};

impl Graph {
    /// The longest propagation delay between two hosts over shortest paths (in links).
    pub fn longest_propagation(&self) -> Span {
        self.farthest(LinkSpec::delay)
    }

    /// The longest round trip of a packet of `data` bytes and an answer of `ack` bytes in the empty network over such
    /// paths. Of the two directions of a link the slower one counts.
    pub fn longest_round_trip(&self, data: u64, ack: u64) -> Span {
        let packet = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        self.farthest(|link| {
            let once = |way: &Direction, bytes| {
                Serializer::new(way.mean_rate(), way.quantum()).span(packet(bytes)) + way.delay
            };
            let both = |forth, back| once(forth, data) + once(back, ack);
            both(&link.ab, &link.ba).max(both(&link.ba, &link.ab))
        })
    }

    /// Number of links from a host to the farthest other host.
    pub fn longest_path(&self) -> u64 {
        self.farthest(|_| Span::from_ps(1)).ps()
    }

    /// The largest sum of `weight` over the links between two hosts.
    fn farthest(&self, weight: impl Fn(&LinkSpec) -> Span) -> Span {
        let adjacency = self.adjacency();
        let racks = self.racks();
        // Hosts of one rack differ by their own link only, so the farthest host of each rack stands for all of it.
        let mut far: Vec<(NodeId, Span, u32)> = Vec::new();
        let mut place = vec![usize::MAX; self.nodes()];
        for host in 0..self.nics() {
            let rack = racks[host as usize];
            let Some((link, _)) = adjacency[host as usize].first() else { continue };
            let delay = weight(&self.links[*link as usize]);
            let at = &mut place[rack.at()];
            if *at == usize::MAX {
                *at = far.len();
                far.push((rack, delay, host));
            } else if delay > far[*at].1 {
                far[*at] = (rack, delay, host);
            }
        }
        let reach =
            |(_, _, host): &(NodeId, Span, u32)| self.farthest_from(&adjacency, NodeId(*host), &weight);
        far.iter().map(reach).max().unwrap_or(Span::ZERO)
    }

    /// The largest sum from a host over shortest paths.
    fn farthest_from(
        &self,
        adjacency: &[Vec<(u32, NodeId)>],
        host: NodeId,
        weight: &impl Fn(&LinkSpec) -> Span,
    ) -> Span {
        let distance = self.distances(adjacency, host);
        let mut order: Vec<NodeId> =
            (0..self.nodes() as u32).map(NodeId).filter(|n| distance[n.at()] < u32::MAX).collect();
        order.sort_by_key(|n| distance[n.at()]);
        let mut reach = vec![Span::ZERO; self.nodes()];
        for node in order.iter().filter(|n| !self.is_nic(**n) || **n == host) {
            for (link, next) in &adjacency[node.at()] {
                if self.leads(&distance, *next, *link, *node) {
                    let there = reach[node.at()] + weight(&self.links[*link as usize]);
                    reach[next.at()] = reach[next.at()].max(there);
                }
            }
        }
        reach[..self.nics() as usize].iter().copied().max().unwrap_or(Span::ZERO)
    }

    /// The largest number of shortest paths from the first host to any other host.
    pub fn most_paths(&self) -> u32 {
        let (adjacency, from) = (self.adjacency(), NodeId(0));
        let distance = self.distances(&adjacency, from);
        let mut order: Vec<NodeId> =
            (0..self.nodes() as u32).map(NodeId).filter(|n| distance[n.at()] < u32::MAX).collect();
        order.sort_by_key(|n| distance[n.at()]);
        let mut paths = vec![0u32; self.nodes()];
        paths[from.at()] = 1;
        for node in order.iter().filter(|n| !self.is_nic(**n) || **n == from) {
            for (link, next) in &adjacency[node.at()] {
                if self.leads(&distance, *next, *link, *node) {
                    paths[next.at()] = paths[next.at()].saturating_add(paths[node.at()]);
                }
            }
        }
        paths[..self.hosts as usize].iter().copied().max().unwrap_or(1)
    }

    /// The rate of the fastest link of a host, by which windows and thresholds are computed. Of a host with several
    /// links, only those to its widest network count.
    pub fn fastest_host(&self) -> Rate {
        let rates = (0..).map(NodeId).zip(self.nic_rates());
        rates.filter(|(nic, _)| self.is_wide(*nic)).map(|(_, rate)| rate).max().unwrap_or(Rate::ZERO)
    }

    /// The rate of the slowest link of a host.
    pub(crate) fn slowest_host(&self) -> Rate {
        self.nic_rates().into_iter().min().unwrap_or(Rate::INFINITE)
    }

    /// The rate of all hosts' links, if they have the same.
    pub(crate) fn one_host_rate(&self) -> Option<Rate> {
        let rates = self.nic_rates();
        let first = *rates.first()?;
        rates.iter().all(|rate| *rate == first).then_some(first)
    }

    /// Number of ports of the switch with the most.
    pub(crate) fn most_ports(&self) -> u64 {
        let mut ports = vec![0u64; self.nodes()];
        for l in &self.links {
            ports[l.a.at()] += 1;
            ports[l.b.at()] += 1;
        }
        ports[self.nics() as usize..].iter().copied().max().unwrap_or(0)
    }

    /// The inputs of switches, one for each kind that differs: what arrives at the rate of one direction of a link
    /// within the round trip of the link, and both rates.
    pub fn inputs(&self) -> Vec<Input> {
        let mut all = BTreeSet::new();
        for l in &self.links {
            let both = Span::from_ps(l.ab.delay.ps().saturating_add(l.ba.delay.ps()));
            for (to, there, back) in [(l.b, &l.ab, &l.ba), (l.a, &l.ba, &l.ab)] {
                if !self.is_nic(to) {
                    let (rate, back) = (there.mean_rate(), back.mean_rate());
                    all.insert(Input { link: round_trip_bytes(rate, both), rate, back });
                }
            }
        }
        all.into_iter().collect()
    }
}

/// What a link carries in a time, rounded up.
pub(crate) fn round_trip_bytes(rate: Rate, time: Span) -> Bytes {
    let bits = u128::from(rate.bps()) * u128::from(time.ps());
    Bytes::new(u64::try_from(bits.div_ceil(8_000_000_000_000)).unwrap_or(u64::MAX))
}
