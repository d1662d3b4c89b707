//! `[transport]` of kind `ndp`: the initial window from the longest path, the number of paths from the topology.

use super::super::Delivery;
use super::{Dependent, silence};
use crate::schema::{Ndp, Rank};
use crate::topology::Graph;
use thalweg_machines::congestion::Paths;
use thalweg_units::Span;

impl Dependent for Ndp {
    fn ecn_capable(&self) -> bool {
        false
    }

    fn resolve(&mut self, _: Option<Rank>, _: Delivery) {}

    fn by_graph(&mut self, graph: &Graph, paths: &mut dyn Paths) {
        let packet = self.payload.0.get().saturating_add(self.header.0.get());
        if self.window.is_none() && packet > 0 {
            // CHOICE NDP §3.2: twice the bandwidth-delay product, because queues of eight packets lengthen the round
            // trip, and a window never grows. (The paper: as much as the round trip may need; 30 packets in its
            // simulations.)
            let wire = graph.fastest_host().over(paths.base_rtt()).get().saturating_mul(2);
            self.window = Some(u32::try_from(wire.div_ceil(packet)).unwrap_or(u32::MAX).max(1));
        }
        self.retry.get_or_insert_with(|| silence(Span::from_ms(1), paths));
    }

    fn by_path_values(&mut self, graph: &Graph) {
        self.paths.get_or_insert_with(|| graph.most_paths());
    }
}
