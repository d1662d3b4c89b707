//! A chain of bottlenecks: one pair of hosts across all of them, one pair across each.

use super::Graph;
use crate::schema::ParkingLot;
use thalweg_units::Span;

pub(super) fn build(p: &ParkingLot) -> Graph {
    let hosts = 2 + 2 * p.bottlenecks;
    let mut g = Graph::new(hosts, p.bottlenecks + 1);
    g.link(0, hosts, p.host_rate, Span::ZERO);
    g.link(1, hosts + p.bottlenecks, p.host_rate, Span::ZERO);
    for i in 0..p.bottlenecks {
        g.link(2 + 2 * i, hosts + i, p.host_rate, Span::ZERO);
        g.link(3 + 2 * i, hosts + i + 1, p.host_rate, Span::ZERO);
    }
    for i in 0..p.bottlenecks {
        g.link(hosts + i, hosts + i + 1, p.bottleneck_rate, Span::ZERO);
    }
    g
}
