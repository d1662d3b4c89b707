//! k-ary fat-tree: k pods of k/2 edge and k/2 aggregation switches, (k/2)² core switches, k³/4 hosts
//! (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008 §3). Switches are numbered edge, aggregation, core.

use super::Graph;
use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::FatTree;
use thalweg_units::Span;

pub(super) fn build(cx: &Cx<'_>, f: &FatTree) -> Result<Graph, Diagnostic> {
    if f.k % 2 == 1 {
        let reason = format!("k = {} is odd, half of a switch's ports go up", f.k);
        return Err(cx.error("topology.k", reason, format!("use {} or {}", f.k - 1, f.k + 1)));
    }
    let half = f.k / 2;
    let (hosts, per_tier) = (f.k * half * half, f.k * half);
    let (edge, aggregation, core) = (hosts, hosts + per_tier, hosts + 2 * per_tier);
    let mut g = Graph::tiers(hosts, &[("edge", per_tier), ("agg", per_tier), ("core", half * half)]);
    for h in 0..hosts {
        g.link(h, edge + h / half, f.rate, Span::ZERO);
    }
    for pod in 0..f.k {
        for e in 0..half {
            for a in 0..half {
                g.link(edge + pod * half + e, aggregation + pod * half + a, f.rate, Span::ZERO);
            }
        }
    }
    for pod in 0..f.k {
        for a in 0..half {
            for c in 0..half {
                g.link(aggregation + pod * half + a, core + a * half + c, f.rate, Span::ZERO);
            }
        }
    }
    Ok(g)
}
