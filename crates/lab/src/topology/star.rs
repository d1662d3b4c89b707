//! Hosts around one switch.

use super::Graph;
use crate::schema::Star;
use thalweg_units::Span;

pub(super) fn build(s: &Star) -> Graph {
    let mut g = Graph::new(s.hosts, 1);
    for h in 0..s.hosts {
        let rate = if h == 0 { s.sink_rate.unwrap_or(s.rate) } else { s.rate };
        g.link(h, s.hosts, rate, Span::ZERO);
    }
    g
}
