//! `[transport]`: for each kind, keys whose defaults depend on other keys and on the topology.

mod ndp;
mod phost;
mod rdma;
mod receivers;
mod uet;

use super::{Delivery, dcqcn_marks};
use crate::quantity::Q;
use crate::schema::{EcnMode, Flight, LossDetection, Rank, Tcp, Udp};
use crate::topology::Graph;
use crate::traffic::sizes::cdf::Cdf;
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind, Paths};
use thalweg_units::{Bytes, Span};

/// Buffer and marking thresholds of a scheme's switches.
pub(super) struct Queue {
    /// Buffer of a port; `None`: as the scheme gives it.
    pub room: Option<Bytes>,
    /// Queue from which marking begins, and queue from which every packet is marked.
    pub marks: (Bytes, Bytes),
}

/// A kind of transport with keys that depend on others.
pub(super) trait Dependent {
    /// True if its packets are ECN-capable. Also called before the transport is resolved.
    fn ecn_capable(&self) -> bool;
    /// Fills in what depends on the rank that schedulers sort by, and on losses and reordering in the network.
    fn resolve(&mut self, wanted: Option<Rank>, delivery: Delivery);
    /// Fills in what depends on the number of classes that the schedulers distinguish.
    fn by_classes(&mut self, _classes: u32) {}
    /// Fills in what depends on the sizes of its flows. Called after [`Self::by_graph`].
    fn by_sizes(&mut self, _sizes: &Cdf) {}
    /// Fills in what depends on the topology, except for the parameters of the controller.
    fn by_graph(&mut self, _graph: &Graph, _paths: &mut dyn Paths) {}
    /// Buffer and marking thresholds of its schemes' switches for these links. By default DCQCN's thresholds.
    fn queue(&self, graph: &Graph) -> Queue {
        Queue { room: None, marks: dcqcn_marks(graph) }
    }
    /// Fills in what depends on whether switches trim packets. Called after [`Self::by_graph`].
    fn by_switches(&mut self, _trims: bool) {}
    /// Fills in what depends on the topology if the routing uses the path values of transports.
    fn by_path_values(&mut self, _graph: &Graph) {}
}

/// The time without news after which a transport repeats itself: the published one, or 25 of the longest base round
/// trip if that is longer. (1 ms is that for the 40 us of NDP's network.)
fn silence(published: Span, paths: &mut dyn Paths) -> Q<Span> {
    Q(published.max(paths.base_rtt().saturating_mul(25)))
}

/// The ECN mode of a controller, unless the scenario gives one.
fn ecn_of(congestion: &ControllerSpec) -> EcnMode {
    if congestion.needs().marks.by_default() { EcnMode::Accurate } else { EcnMode::Off }
}

/// True if the controller reads in-band telemetry.
pub(crate) fn reads_telemetry(congestion: &ControllerSpec) -> bool {
    congestion.needs().feedback == FeedbackKind::Int
}

/// The default size of telemetry: five hops of 8 B and 2 B (HPCC §4.1).
fn telemetry_of(congestion: &ControllerSpec) -> Option<Q<Bytes>> {
    reads_telemetry(congestion).then(|| Q::of("42B"))
}

impl Dependent for Tcp {
    fn ecn_capable(&self) -> bool {
        self.ecn.unwrap_or(ecn_of(&self.congestion)) != EcnMode::Off
    }
    fn resolve(&mut self, wanted: Option<Rank>, _: Delivery) {
        self.ecn.get_or_insert(ecn_of(&self.congestion));
        self.telemetry = self.telemetry.or(telemetry_of(&self.congestion));
        self.rank.get_or_insert(wanted.unwrap_or(Rank::None));
        // With `flight = "span"`, a duplicate ACK allows nothing to be sent.
        let counts = self.loss != LossDetection::TimeoutOnly && self.flight == Flight::Pipe;
        self.limited_transmit.get_or_insert(counts);
    }
}

impl Dependent for Udp {
    fn ecn_capable(&self) -> bool {
        false
    }
    fn resolve(&mut self, wanted: Option<Rank>, _: Delivery) {
        let size = matches!(wanted, Some(Rank::FlowSize));
        self.rank.get_or_insert(if size { Rank::FlowSize } else { Rank::None });
    }
}
