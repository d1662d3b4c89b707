//! The paths of sections between two given hosts, and the load that all of them offer to each link.

use crate::topology::Graph;
use std::collections::BTreeMap;
use thalweg_units::{NodeId, PortId};

/// Number of pairs of hosts whose paths are computed. In larger scenarios the mean is accurate enough.
const MOST_WAYS: usize = 256;

pub(super) struct Ways<'a> {
    graph: &'a Graph,
    adjacency: Vec<Vec<(u32, NodeId)>>,
    known: BTreeMap<(u32, u32), usize>,
    ways: Vec<Vec<u32>>,
    /// Wire bytes per port.
    offered: BTreeMap<u32, f64>,
}

impl<'a> Ways<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        let (known, offered) = (BTreeMap::new(), BTreeMap::new());
        Self { graph, adjacency: Vec::new(), known, ways: Vec::new(), offered }
    }

    /// The path of a section between two given hosts, as ports.
    pub fn between(&mut self, pair: (u32, u32)) -> Option<usize> {
        if let Some(way) = self.known.get(&pair) {
            return Some(*way);
        }
        if self.ways.len() == MOST_WAYS {
            return None;
        }
        if self.adjacency.is_empty() {
            self.adjacency = self.graph.adjacency();
        }
        let mut at = NodeId(pair.0);
        let links = self.graph.path(&self.adjacency, at, NodeId(pair.1))?;
        let port = |link: u32| {
            let l = &self.graph.links[link as usize];
            let forward = l.a == at;
            at = if forward { l.b } else { l.a };
            2 * link + u32::from(!forward)
        };
        self.ways.push(links.into_iter().map(port).collect());
        self.known.insert(pair, self.ways.len() - 1);
        Some(self.ways.len() - 1)
    }

    fn ports(&self, way: Option<usize>) -> impl Iterator<Item = u32> {
        way.into_iter().flat_map(|w| self.ways[w].iter().copied())
    }

    /// Rate of a port, bytes per second.
    fn rate(&self, port: u32) -> f64 {
        self.graph.direction(PortId(port)).mean_rate().bps() as f64 / 8.0
    }

    /// Adds wire bytes to the load of a path.
    pub fn load(&mut self, way: Option<usize>, bytes: f64) {
        for port in way.into_iter().flat_map(|w| &self.ways[w]) {
            *self.offered.entry(*port).or_default() += bytes;
        }
    }

    /// Fraction of the offered load of a path that is carried within this time.
    pub fn share(&self, way: Option<usize>, seconds: f64) -> f64 {
        let shares = self.ports(way).map(|port| self.rate(port) * seconds / self.offered[&port].max(1.0));
        shares.fold(1.0, f64::min)
    }

    /// Seconds in which all of the offered load of a path can be carried.
    pub fn takes(&self, way: Option<usize>) -> f64 {
        self.ports(way).map(|port| self.offered[&port] / self.rate(port).max(1.0)).fold(0.0, f64::max)
    }

    /// Rate of the slowest link of a path, bytes per second.
    pub fn slowest(&self, way: Option<usize>) -> Option<f64> {
        self.ports(way).map(|port| self.rate(port)).min_by(f64::total_cmp)
    }

    pub fn links(&self, way: Option<usize>) -> Option<f64> {
        way.map(|w| self.ways[w].len() as f64)
    }
}
