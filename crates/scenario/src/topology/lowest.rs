//! Shortest paths by hops with ties to the lowest-numbered next hop: one path per pair, always the same. Topologies are
//! dimensioned with them and loads are computed from them; the simulator's routing `lowest` is the same rule.

use super::Graph;
use thalweg_units::NodeId;

/// For every node, the next node on its path to `to`; [`NodeId::NONE`] where there is no path, and at `to` itself.
/// Hosts do not forward.
pub fn next_hops(graph: &Graph, adjacency: &[Vec<(u32, NodeId)>], to: NodeId) -> Vec<NodeId> {
    let distance = graph.distances(adjacency, to);
    let mut out = vec![NodeId::NONE; graph.nodes()];
    for (node, links) in adjacency.iter().enumerate() {
        if distance[node] == 0 || distance[node] == u32::MAX {
            continue;
        }
        let at = NodeId::from(node);
        let nearer = links.iter().filter(|(link, next)| {
            graph.leads(&distance, at, *link, *next) && (!graph.is_nic(*next) || *next == to)
        });
        out[node] = nearer.map(|(_, next)| *next).min_by_key(|n| n.0).unwrap_or(NodeId::NONE);
    }
    out
}

/// The load of each port (2 × links) if every host sends `weight(src, dst)` to every other host. Of parallel links the
/// first carries everything. `proceed` is called once per host, because this takes time quadratic in the hosts.
pub(crate) fn carried<E>(
    graph: &Graph,
    weight: impl Fn(u32, u32) -> f64,
    proceed: impl Fn() -> Result<(), E>,
) -> Result<Vec<f64>, E> {
    let adjacency = graph.adjacency();
    let mut out = vec![0.0; 2 * graph.links.len()];
    for dst in 0..graph.hosts {
        proceed()?;
        let next = next_hops(graph, &adjacency, NodeId(dst));
        let distance = graph.distances(&adjacency, NodeId(dst));
        let mut passing = vec![0.0; graph.nodes()];
        // From the farthest node inwards, so that the load of a node is complete before it is passed on.
        let mut order: Vec<usize> = (0..graph.nodes()).filter(|n| next[*n] != NodeId::NONE).collect();
        order.sort_by_key(|n| std::cmp::Reverse(distance[*n]));
        for node in order {
            if node < graph.hosts as usize {
                passing[node] += weight(node as u32, dst);
            }
            let towards = next[node];
            let link = adjacency[node].iter().find(|(_, n)| *n == towards).map_or(0, |(l, _)| *l as usize);
            out[2 * link + usize::from(graph.links[link].a.at() != node)] += passing[node];
            passing[towards.at()] += passing[node];
        }
    }
    Ok(out)
}
