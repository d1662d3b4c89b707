//! Leaf–spine: every leaf is linked to every spine.

use super::{Graph, MOST_LINKS};
use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::LeafSpine;
use thalweg_units::Span;

pub(super) fn build(cx: &Cx<'_>, l: &LeafSpine) -> Result<Graph, Diagnostic> {
    let up = u64::from(l.leaves) * u64::from(l.spines) * u64::from(l.links_per_pair);
    let down = u64::from(l.leaves) * u64::from(l.hosts_per_leaf);
    if up + down > MOST_LINKS {
        let reason = format!("the network would have {} links", up + down);
        return Err(cx.error("topology", reason, format!("at most {MOST_LINKS}")));
    }
    if down < 2 {
        return Err(cx.error(
            "topology.leaves",
            "a network of one host carries nothing",
            "add leaves or hosts",
        ));
    }
    let hosts = l.leaves * l.hosts_per_leaf;
    let mut g = Graph::tiers(hosts, &[("leaf", l.leaves), ("spine", l.spines)]);
    for h in 0..hosts {
        g.link(h, hosts + h / l.hosts_per_leaf, l.host_rate, Span::ZERO);
    }
    for leaf in 0..l.leaves {
        for spine in 0..l.spines {
            for _ in 0..l.links_per_pair {
                g.link(hosts + leaf, hosts + l.leaves + spine, l.spine_rate, Span::ZERO);
            }
        }
    }
    Ok(g)
}
