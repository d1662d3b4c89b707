//! What a network is made of, as data: the contract between scenarios (files, names, defaults)
//! and the simulator. Nothing here has a default.

mod flow;
mod incident;
mod link;
mod precedence;
mod probe;
mod routing;
mod work;

pub use flow::FlowSpec;
pub use incident::{Incident, IncidentKind};
pub use link::LinkSpec;
pub use precedence::{Edge, End, Precedence, Predecessor, Step};
pub use probe::{DelaySpec, ProbeSpec, RecordSpec};
pub use routing::{Given, PinnedPath, RouteSpec, RoutingSpec, Structure};
pub use thalweg_machines::nic::NicOrder;
pub use work::WorkSpec;

use serde::{Deserialize, Serialize};
use thalweg_machines::buffer::InputSpec;
use thalweg_machines::link::LinkSpec as Direction;
use thalweg_machines::point::PointSpec;
use thalweg_machines::relief::ReliefSpec;
use thalweg_machines::schedule::DisciplineSpec;
use thalweg_machines::sharing::SharingSpec;
use thalweg_machines::slack::SlackSpec;
use thalweg_machines::stage::{CarriedSpec, EdgeSpec, StageSpec};
use thalweg_machines::transport::TransportSpec;
use thalweg_units::{Bytes, HostId, NodeId, PortId, Span, Time};

/// A network and what happens in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// Nodes `0 .. hosts` are hosts; each has exactly one link. A host with several is as many of these nodes.
    pub hosts: u32,
    /// The last of them are further NICs of others.
    pub further_nics: Vec<FurtherNic>,
    /// Nodes `hosts .. hosts + switches` are switches.
    pub switches: u32,
    /// Duplex links; link `l` is port `2l` (from `a` to `b`) and port `2l + 1` (from `b` to `a`).
    pub links: Vec<LinkSpec>,
    /// The distinct kinds of output queue.
    pub disciplines: Vec<DisciplineSpec>,
    /// Kind of each port's queue: index into `disciplines`, one entry per port (2 × links).
    pub port_discipline: Vec<u16>,
    /// Memory shared by all ports of a switch; `None`: each port has its own, limited by its discipline.
    pub shared_buffer: Option<SharedBufferSpec>,
    /// Per-ingress accounting of switch memory, with or without flow control; `None`: there is none.
    /// Not together with `shared_buffer`.
    pub inputs: Option<InputSpec>,
    /// How hosts hand packets to their links.
    pub nic: NicSpec,
    /// ACKs, NACKs, notifications and set-up pass everything else at every port; no switch counts them, and no pause
    /// holds them but [`NicSpec::pause_control`].
    pub control_first: bool,
    /// Failures of links and of pause frames, in order of time.
    pub incidents: Vec<Incident>,
    /// Time from a change of the topology to new routes.
    pub convergence: Span,
    /// What packets carry from hop to hop for schedulers to sort by.
    pub carried: CarriedSpec,
    /// Stages behind the queue of every switch port, in their order: what they write into packets as
    /// transmission begins.
    pub stages: Vec<StageSpec>,
    /// Every switch port writes to the sources of the flows that pass it.
    pub point: Option<PointSpec>,
    /// What every switch does about packets that wait behind a pause; its ports are of the order `liftable`.
    pub relief: Option<ReliefSpec>,
    /// What NICs write into the header of every packet as its transmission begins.
    pub slack: Option<SlackSpec>,
    /// Queue management at the receiving edge, by the slack that packets have used.
    pub edge: Option<EdgeSpec>,
    /// Flows do not start: packets are pushed one by one; flows say where they go.
    pub replay: bool,
    /// How paths are chosen.
    pub routing: RoutingSpec,
    /// Forward a packet as soon as its header has arrived instead of storing it first (switches only).
    pub cut_through: Option<CutThrough>,
    /// The distinct kinds of transport.
    pub transports: Vec<TransportSpec>,
    /// Every flow, sorted by (start, position) among those that start by the clock.
    pub flows: Vec<FlowSpec>,
    /// Every computation.
    pub works: Vec<WorkSpec>,
    /// Which flows and computations start after others instead of by the clock.
    pub precedence: Precedence,
    /// What is recorded in addition to the flows.
    pub probes: ProbeSpec,
    /// When the run ends.
    pub stop: StopSpec,
    /// The order of events at one instant.
    pub ties: TieSpec,
    /// Ports may take the lanes that are short cuts of [`thalweg_machines::egress`]. False: every port runs
    /// that machine itself; the results are the same.
    pub shortcuts: bool,
}

/// A node for a link of a host that is not its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherNic {
    /// Whose it is.
    pub host: HostId,
    /// As many hosts can be reached from it as from the host's first NIC.
    pub wide: bool,
}

impl NetworkSpec {
    /// The host that a NIC is of: itself, or of a further NIC its owner.
    pub fn host_of(&self, nic: HostId) -> HostId {
        let own = self.hosts - self.further_nics.len() as u32;
        nic.0.checked_sub(own).map_or(nic, |further| self.further_nics[further as usize].host)
    }

    /// A pause frame's bytes on the wire; 0 without pauses.
    pub fn frame_wire(&self) -> u32 {
        self.inputs.and_then(|inputs| inputs.effects()).map_or(0, |effects| effects.frame.get() as u32)
    }

    /// Some queue, or a policy of shared memory, cuts packets to their headers.
    pub fn trims(&self) -> bool {
        let shared = self.shared_buffer.as_ref().is_some_and(|shared| shared.sharing.needs().trims);
        shared || self.disciplines.iter().any(|kind| kind.order.needs().trims.is_some())
    }

    /// Where a port is: its owner and its far end.
    pub fn ends(&self, port: PortId) -> (NodeId, NodeId) {
        self.links[port.link().at()].ends(port)
    }

    /// The link that a port feeds: one direction of a duplex one.
    pub fn direction(&self, port: PortId) -> &Direction {
        self.links[port.link().at()].direction(port)
    }
}

/// The order among equals at one instant: packets that land, timers that expire, ports that decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TieSpec {
    /// Drawn anew at every instant, from the seed: equals share what being second costs.
    #[default]
    Drawn,
    /// Always the one with the lower number: for schedules that are computed by hand.
    ByNumber,
}

/// How a host hands packets to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicSpec {
    /// NIC scheduling.
    pub order: NicOrder,
    /// A pause holds ACKs, NACKs and notifications too.
    pub pause_control: bool,
}

/// Memory that the ports of a switch share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedBufferSpec {
    /// Bytes of one switch.
    pub total: Bytes,
    /// Which packets are admitted, and which are pushed out.
    pub sharing: SharingSpec,
}

/// Cut-through forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutThrough {
    /// Bytes that must have arrived before forwarding may begin.
    pub header: u32,
}

/// When a run ends, whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopSpec {
    /// This instant.
    pub until: Time,
    /// As soon as every measured flow is complete at both ends.
    pub when_measured_done: bool,
    /// This many events.
    pub max_events: u64,
}
