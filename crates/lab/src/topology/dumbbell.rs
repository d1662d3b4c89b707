//! Two switches with a bottleneck between them.

use super::Graph;
use crate::schema::Dumbbell;
use thalweg_units::Span;

pub(super) fn build(d: &Dumbbell) -> Graph {
    let hosts = 2 * d.pairs;
    let mut g = Graph::new(hosts, 2);
    for h in 0..hosts {
        g.link(h, hosts + u32::from(h >= d.pairs), d.host_rate, Span::ZERO);
    }
    g.link(hosts, hosts + 1, d.bottleneck_rate, Span::ZERO);
    g
}
