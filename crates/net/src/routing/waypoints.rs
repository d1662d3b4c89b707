//! The ways to groups of switches: for rules that send packets by way of one.

use super::{Graph, Hop, Routes};
use crate::spec::Structure;
use serde::{Deserialize, Serialize};
use thalweg_units::{HostId, NodeId, PortId};

/// Which switches are in which group, and how packets get there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waypoints {
    count: u32,
    /// By switch: its group.
    of: Vec<Option<u32>>,
    /// `switch × group` → group of ports; `u32::MAX`: it is there, or no path leads there.
    next: Vec<u32>,
}

impl Waypoints {
    /// The groups of a network, without ways yet.
    pub fn new(graph: &Graph<'_>, structure: &Structure) -> Self {
        let of = structure.group_by_switch(graph.hosts, graph.switches, graph.links);
        let count = of.iter().flatten().max().map_or(0, |last| last + 1);
        Self { count, next: vec![u32::MAX; of.len() * count as usize], of }
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// The switches of a group.
    pub fn members(&self, group: u32) -> Vec<u32> {
        (0..).zip(&self.of).filter(|(_, of)| **of == Some(group)).map(|(switch, _)| switch).collect()
    }

    pub fn set(&mut self, switch: usize, group: u32, ports: u32) {
        self.next[switch * self.count as usize + group as usize] = ports;
    }
}

impl Routes {
    /// How many groups of switches there are, for rules that need them.
    pub fn groups(&self) -> u32 {
        self.waypoints.as_ref().map_or(0, |ways| ways.count)
    }

    /// The group of a node, if it is a switch in one.
    pub fn group_of(&self, node: NodeId) -> Option<u32> {
        let of = &self.waypoints.as_ref()?.of;
        let switch = node.0.checked_sub(self.hosts)?;
        *of.get(switch as usize)?
    }

    /// The group of the switch that a host hangs off.
    pub fn group_of_host(&self, host: HostId) -> Option<u32> {
        self.group_of(self.peer(self.nic(host)))
    }

    /// How a packet goes on from a switch to the nearest switch of a group; [`Hop::Nowhere`] if it is there, too.
    pub fn hop_to_group(&self, node: NodeId, group: u32) -> Hop {
        match &self.waypoints {
            Some(ways) if group < ways.count => {
                self.hop_by(ways.next[self.switch(node) * ways.count as usize + group as usize])
            }
            _ => Hop::Nowhere,
        }
    }

    /// The ports by which packets for a group may leave a switch; none if it is there, or no path leads there.
    pub fn ports_to_group(&self, node: NodeId, group: u32) -> &[PortId] {
        match self.hop_to_group(node, group) {
            Hop::Nowhere => &[],
            Hop::Only(_) | Hop::Among(..) => {
                let ways = self.waypoints.as_ref().map_or(&[][..], |ways| &ways.next);
                self.ports_of(ways[self.switch(node) * self.groups() as usize + group as usize])
            }
        }
    }

    /// Links from a switch to that of a host, by way of a group if one is given: on the first of the shortest paths.
    pub fn hops(&self, node: NodeId, dst: HostId, by_way_of: Option<u32>) -> u32 {
        let (end, mut at) = (self.peer(self.nic(dst)), node);
        let there = by_way_of.map_or(0, |group| self.walk(&mut at, |node| self.hop_to_group(node, group)));
        let onward = |node| if node == end { Hop::Nowhere } else { self.hop(node, dst) };
        there + self.walk(&mut at, onward)
    }

    /// Goes on as long as there is a hop, and counts.
    fn walk(&self, at: &mut NodeId, hop: impl Fn(NodeId) -> Hop) -> u32 {
        let mut hops = 0;
        while let Some(port) = self.first(hop(*at)) {
            *at = self.peer(port);
            hops += 1;
        }
        hops
    }

    fn first(&self, hop: Hop) -> Option<PortId> {
        match hop {
            Hop::Nowhere => None,
            Hop::Only(port) => Some(port),
            Hop::Among(first, _) => Some(self.candidate(first as usize)),
        }
    }
}
