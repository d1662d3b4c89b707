//! For every rack of a large network, the racks near it. The search visits only nodes on paths to near racks.

use super::Graph;
use std::collections::VecDeque;
use thalweg_units::NodeId;

/// What is computed once for all searches.
pub(crate) struct Nearness<'a> {
    graph: &'a Graph,
    adjacency: Vec<Vec<(u32, NodeId)>>,
    /// Number of links from each node to the nearest host.
    to_host: Vec<u32>,
}

/// Memory reused by searches, so that a search with a small result costs little in a large network.
#[derive(Default)]
pub(crate) struct Ball {
    seen: Vec<bool>,
    nodes: Vec<(NodeId, u32)>,
    hosts: Vec<u32>,
}

impl<'a> Nearness<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        let adjacency = graph.adjacency();
        let mut to_host = vec![u32::MAX; graph.nodes()];
        to_host[..graph.nics() as usize].fill(0);
        let mut queue: VecDeque<NodeId> = (0..graph.nics()).map(NodeId).collect();
        while let Some(node) = queue.pop_front() {
            for (_, next) in &adjacency[node.at()] {
                if to_host[next.at()] == u32::MAX {
                    to_host[next.at()] = to_host[node.at()] + 1;
                    queue.push_back(*next);
                }
            }
        }
        Self { graph, adjacency, to_host }
    }

    /// Hosts fewer than `links` links away from a host, itself included, in order. Hosts do not forward.
    pub fn hosts_nearer<'b>(&self, host: u32, links: u32, ball: &'b mut Ball) -> &'b [u32] {
        ball.seen.resize(self.graph.nodes(), false);
        ball.hosts.clear();
        ball.nodes.clear();
        ball.nodes.push((NodeId(host), 0));
        ball.seen[host as usize] = true;
        let mut head = 0;
        while let Some(&(node, distance)) = ball.nodes.get(head) {
            head += 1;
            if self.graph.is_nic(node) {
                ball.hosts.push(node.0);
                if node.0 != host {
                    continue;
                }
            }
            for (_, next) in &self.adjacency[node.at()] {
                // No host within reach: so the core of a network is never expanded.
                let nearest = self.to_host[next.at()].saturating_add(distance + 1);
                if nearest < links && !ball.seen[next.at()] {
                    ball.seen[next.at()] = true;
                    ball.nodes.push((*next, distance + 1));
                }
            }
        }
        for (node, _) in &ball.nodes {
            ball.seen[node.at()] = false;
        }
        ball.hosts.sort_unstable();
        &ball.hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(topology: &str) -> Graph {
        let text = format!("topology = {topology}\n[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n");
        let s = crate::load(&text, "t.toml", std::path::Path::new("."), &[])
            .unwrap_or_else(|e| panic!("{}", e[0]));
        s.graph().clone()
    }

    #[test]
    fn the_near_hosts_are_those_that_a_search_of_the_whole_graph_finds() {
        let shapes = [
            "{ kind = \"fat-tree\", k = 4 }",
            "{ kind = \"leaf-spine\", leaves = 3, spines = 2, hosts_per_leaf = 4 }",
            "{ kind = \"backbone\", routers = 9, links = 12, edges_per_router = 2 }",
            "{ kind = \"parking-lot\", bottlenecks = 2 }",
            "{ kind = \"pair\" }",
        ];
        for shape in shapes {
            let g = graph(shape);
            let (nearness, adjacency, mut ball) = (Nearness::new(&g), g.adjacency(), Ball::default());
            for (host, links) in (0..g.hosts).flat_map(|h| (1..8).map(move |l| (h, l))) {
                let distance = g.distances(&adjacency, NodeId(host));
                let near: Vec<u32> = (0..g.hosts).filter(|h| distance[*h as usize] < links).collect();
                assert_eq!(nearness.hosts_nearer(host, links, &mut ball), near, "{shape}, {host}, {links}");
            }
        }
    }

    /// A pod of k = 16 has 64 hosts and 16 switches; the network has 1024 and 320.
    #[test]
    fn a_search_within_the_pod_does_not_look_beyond_it() {
        let g = graph("{ kind = \"fat-tree\", k = 16 }");
        let (nearness, mut ball) = (Nearness::new(&g), Ball::default());
        assert_eq!(nearness.hosts_nearer(0, 6, &mut ball), (0..64).collect::<Vec<u32>>());
        assert!(ball.nodes.len() <= 64 + 16, "{} nodes", ball.nodes.len());
    }
}
