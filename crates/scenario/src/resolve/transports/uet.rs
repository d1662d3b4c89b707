//! `[transport]` of kind `uet`: base round trip, initial credit and retransmission timeout from the topology.

use super::super::Delivery;
use super::{Dependent, Queue};
use crate::quantity::Q;
use crate::schema::{Rank, Uet, UetWindow};
use crate::topology::Graph;
use crate::transport::uet::ACK_EVERY;
use thalweg_machines::congestion::Paths;
use thalweg_machines::transport::PathSelectionSpec;
use thalweg_units::{Bytes, Span};

/// The bandwidth-delay product for which NSCC's gains are stated: 100 Gb/s times 12 us, in bytes.
const REFERENCE: f64 = 150_000.0;

impl Dependent for Uet {
    fn ecn_capable(&self) -> bool {
        true
    }

    fn resolve(&mut self, _: Option<Rank>, _: Delivery) {}

    fn by_graph(&mut self, graph: &Graph, paths: &mut dyn Paths) {
        let rtt = *self.base_rtt.get_or_insert_with(|| Q(paths.base_rtt()));
        let product = graph.fastest_host().over(rtt.0).get();
        self.ack_every.get_or_insert(Q(Bytes::new(ACK_EVERY.min((product / 2).max(1)))));
        let scale = product as f64 / REFERENCE;
        match &mut self.window {
            UetWindow::Nscc(own) => {
                own.scale.get_or_insert(scale);
            }
            UetWindow::Dctcp(own) => {
                own.fast.get_or_insert(0.25 * scale);
            }
            UetWindow::Fixed(_) | UetWindow::None(_) => {}
        }
        if let Some(credits) = &mut self.credits {
            credits.first.get_or_insert(Q(Bytes::new(product.saturating_add(product / 2))));
        }
        // CHOICE UET §3.5: 15 us, and six times the time of a queue of one bandwidth-delay product (the consortium's
        // simulator: six times that of its own queue limit, which is one product if packets are trimmed).
        self.retry.get_or_insert_with(|| Q(Span::from_us(15) + Span::from_ps(rtt.0.ps().saturating_mul(6))));
    }

    /// As in the consortium's simulator: a buffer of one bandwidth-delay product in packets, marks from one fifth to
    /// four fifths of it.
    fn queue(&self, graph: &Graph) -> Queue {
        let (full, ack) = (self.payload.0.get() + self.header.0.get(), self.control_size.0.get());
        let rtt = self.base_rtt.map_or_else(|| graph.longest_round_trip(full, ack), |rtt| rtt.0);
        let packets = graph.fastest_host().over(rtt).get().div_ceil(full.max(1)).max(1);
        let bytes = |packets: u64| Bytes::new(packets.saturating_mul(full));
        Queue {
            room: Some(bytes(packets)),
            marks: (bytes(packets.div_ceil(5)), bytes((4 * packets).div_ceil(5))),
        }
    }

    fn by_switches(&mut self, trims: bool) {
        if let Some(PathSelectionSpec::Reps(reps)) = &mut self.path_selection
            && reps.freeze
            && !trims
        {
            reps.freeze_below.get_or_insert(1.65); // REPS' artifact
        }
        let UetWindow::Nscc(own) = &mut self.window else { return };
        let Some(rtt) = self.base_rtt else { return };
        own.target.get_or_insert_with(|| if trims { Q(Span::from_ps(rtt.0.ps() / 4 * 3)) } else { rtt });
    }

    fn by_path_values(&mut self, _: &Graph) {
        self.path_selection.get_or_insert_default();
    }
}
