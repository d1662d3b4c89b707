//! `[transport]`: what follows from a scenario's other keys and from the topology, for each kind.

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

/// What a scheme's switches hold at a port.
pub(super) struct Queue {
    /// At most; `None`: as the scheme says.
    pub room: Option<Bytes>,
    /// Where marks begin, and where all is marked.
    pub marks: (Bytes, Bytes),
}

/// A kind of transport with keys that depend on others.
pub(super) trait Dependent {
    /// Its packets may be marked; called before it is resolved, too.
    fn ecn_capable(&self) -> bool;
    /// What follows from the rank that the schedulers want, and from flow control.
    fn resolve(&mut self, wanted: Option<Rank>, delivery: Delivery);
    /// What follows from how many classes the schedulers distinguish.
    fn by_classes(&mut self, _classes: u32) {}
    /// What follows from the sizes of the flows that it carries, after the topology.
    fn by_sizes(&mut self, _sizes: &Cdf) {}
    /// What follows from the topology, the controller's parameters apart.
    fn by_graph(&mut self, _graph: &Graph, _paths: &mut dyn Paths) {}
    /// What the queues of its schemes are for these links: DCQCN's, where nothing else is known.
    fn queue(&self, graph: &Graph) -> Queue {
        Queue { room: None, marks: dcqcn_marks(graph) }
    }
    /// What follows from whether switches trim what does not fit, after the topology.
    fn by_switches(&mut self, _trims: bool) {}
    /// What follows from it where the routing goes by values that transports write.
    fn by_path_values(&mut self, _graph: &Graph) {}
}

/// How long a transport waits for news before it repeats itself: what was published, or 25 of the longest base round
/// trip. (1 ms is that for the 40 us of NDP's network.)
fn silence(published: Span, paths: &mut dyn Paths) -> Q<Span> {
    Q(published.max(paths.base_rtt().saturating_mul(25)))
}

/// The ECN that a controller has, unless the scenario says otherwise.
fn ecn_of(congestion: &ControllerSpec) -> EcnMode {
    if congestion.needs().marks.by_default() { EcnMode::Accurate } else { EcnMode::Off }
}

/// True if the controller reads what switches write into packets.
pub(crate) fn reads_telemetry(congestion: &ControllerSpec) -> bool {
    congestion.needs().feedback == FeedbackKind::Int
}

/// Five hops of 8 B and 2 B: HPCC §4.1.
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
        // Counted by span, nothing leaves on a duplicate ACK.
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
