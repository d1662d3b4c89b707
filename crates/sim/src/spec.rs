//! What a network is made of, as data: the contract between the laboratory (files, names, defaults)
//! and the simulator. Nothing here has a default.

pub use crate::instruments::delays::DelaySpec;
pub use crate::precedence::Precedence;
use serde::{Deserialize, Serialize};
use thalweg_machines::buffer::InputSpec;
use thalweg_machines::link;
pub use thalweg_machines::nic::NicOrder;
use thalweg_machines::point::PointSpec;
use thalweg_machines::relief::ReliefSpec;
use thalweg_machines::route::Paths;
pub use thalweg_machines::route::{Given, PinnedPath, RouteSpec};
use thalweg_machines::schedule::DisciplineSpec;
use thalweg_machines::slack::SlackSpec;
use thalweg_machines::stage::{CarriedSpec, EdgeSpec, StageSpec};
use thalweg_machines::transport::TransportSpec;
use thalweg_units::{Bytes, FlowId, HostId, NodeId, PortId, Rate, Span, Time};

/// A network and what happens in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// Nodes `0 .. hosts` are hosts; each has exactly one link.
    pub hosts: u32,
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
    /// What breaks, and when.
    pub incidents: Vec<Incident>,
    /// From a change of the topology to new routes.
    pub convergence: Span,
    /// What packets carry from hop to hop for schedulers to go by.
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
    /// Flows do not start: packets are pushed one by one ([`crate::Sim::push`]); flows say where they go.
    pub replay: bool,
    /// How paths are chosen.
    pub routing: RoutingSpec,
    /// Forward a packet as soon as its header has arrived instead of storing it first (switches only).
    pub cut_through: Option<CutThrough>,
    /// The distinct kinds of transport.
    pub transports: Vec<TransportSpec>,
    /// Every flow, sorted by (start, position) among those that start by the clock.
    pub flows: Vec<FlowSpec>,
    /// Which flows start after others instead of by the clock.
    pub precedence: Precedence,
    /// What is recorded besides the flows.
    pub probes: ProbeSpec,
    /// When the run ends.
    pub stop: StopSpec,
    /// Which of several events of one instant is first.
    pub ties: TieSpec,
    /// Ports may take the lanes that are short cuts of [`thalweg_machines::egress`]. False: every port runs
    /// that machine itself; the results are the same.
    pub shortcuts: bool,
}

impl NetworkSpec {
    /// A pause frame's bytes on the wire; 0 without pauses.
    pub(crate) fn frame_wire(&self) -> u32 {
        self.inputs.and_then(|inputs| inputs.effects()).map_or(0, |effects| effects.frame.get() as u32)
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

/// A duplex link: two directions, which need not be alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// From `a` to `b`.
    pub ab: link::LinkSpec,
    /// From `b` to `a`.
    pub ba: link::LinkSpec,
}

impl LinkSpec {
    /// Both directions have the same fixed rate and delay; serialisation times are cut down to whole
    /// multiples of `quantum` (zero: exact, rounded up to 1 ps).
    pub fn fixed(a: NodeId, b: NodeId, rate: Rate, delay: Span, quantum: Span) -> Self {
        let mut link = Self::alike(a, b, link::LinkSpec::fixed(rate, delay));
        link.set_quantum(quantum);
        link
    }

    /// Both directions are such a link.
    pub fn alike(a: NodeId, b: NodeId, direction: link::LinkSpec) -> Self {
        Self { a, b, ba: direction.clone(), ab: direction }
    }

    /// The direction of a port: even ones lead from `a` to `b`.
    pub fn direction(&self, port: PortId) -> &link::LinkSpec {
        if port.0.is_multiple_of(2) { &self.ab } else { &self.ba }
    }

    /// The long-run rate of the slower direction.
    pub fn rate(&self) -> Rate {
        self.ab.mean_rate().min(self.ba.mean_rate())
    }

    /// The longer one of the propagation delays, without jitter.
    pub fn delay(&self) -> Span {
        self.ab.delay.max(self.ba.delay)
    }

    /// The coarser one of the [`link::LinkSpec::quantum`]s.
    pub fn quantum(&self) -> Span {
        self.ab.quantum().max(self.ba.quantum())
    }

    /// Both directions have this propagation delay.
    pub fn set_delay(&mut self, delay: Span) {
        (self.ab.delay, self.ba.delay) = (delay, delay);
    }

    /// Directions of fixed rate cut serialisation times down to whole multiples of this.
    pub fn set_quantum(&mut self, quantum: Span) {
        for direction in [&mut self.ab, &mut self.ba] {
            if let link::TransmitterSpec::Fixed(fixed) = &mut direction.transmitter {
                fixed.quantum = quantum;
            }
        }
    }
}

/// How a host hands packets to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicSpec {
    /// NIC scheduling.
    pub order: NicOrder,
    /// A pause holds ACKs, NACKs and notifications too.
    pub pause_control: bool,
}

/// Something breaks or is restored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// When.
    pub at: Time,
    /// What.
    pub what: IncidentKind,
}

/// What breaks or is restored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum IncidentKind {
    /// Both directions of the link (an index into [`NetworkSpec::links`]): what is on it and what waits for
    /// it is lost, and what still comes; routes change [`NetworkSpec::convergence`] later.
    LinkDown(u32),
    /// The link works again; routes change likewise.
    LinkUp(u32),
    /// From now on pause frames that would reach the far end of this port (`None`: of any port) are lost with this
    /// probability.
    PauseLoss(Option<PortId>, f64),
}

/// A switch's memory: dynamic thresholds (Choudhury & Hahne 1998).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedBufferSpec {
    /// Bytes of memory of one switch.
    pub total: Bytes,
    /// A port may hold `alpha` × the free bytes; infinite: complete sharing.
    pub alpha: f64,
}

/// Cut-through forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutThrough {
    /// Bytes that must have arrived before forwarding may begin.
    pub header: u32,
}

/// Which of the shortest paths a packet takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutingSpec {
    /// By which rule.
    pub rule: RouteSpec,
    /// What its file says, if it has one.
    pub given: Given,
}

impl RoutingSpec {
    /// The switches that each flow's data and its ACKs pass: one entry per flow.
    pub fn pinned(paths: Vec<PinnedPath>) -> Self {
        Self { rule: RouteSpec::pinned(), given: Given::Paths(paths) }
    }

    /// Paths that are given.
    pub fn paths(&self) -> Option<&[PinnedPath]> {
        match &self.given {
            Given::Paths(paths) if self.rule.needs().paths == Paths::Given => Some(paths),
            _ => None,
        }
    }

    /// The first value of a host's counter.
    pub(crate) fn offset(&self, host: u32) -> u32 {
        match &self.given {
            Given::Offsets(first) => first.get(host as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }
}

impl From<RouteSpec> for RoutingSpec {
    fn from(rule: RouteSpec) -> Self {
        Self { rule, given: Given::Nothing }
    }
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSpec {
    /// From.
    pub src: HostId,
    /// To; differs from `src`.
    pub dst: HostId,
    /// Payload bytes, at least 1; `u64::MAX`: never ends (backlogged).
    pub size: u64,
    /// When it starts; for flows that follow others ([`NetworkSpec::precedence`]), the pause after the last byte of the
    /// last of them arrived.
    pub start: Time,
    /// A flow without end stops at this instant: it ends with what it has sent by then; [`Time::MAX`]: it does not.
    pub until: Time,
    /// The connection that carries it, with all other flows of the same number (same ends, same transport):
    /// one after the other in the order of their starts, and the controller goes on where the one before left
    /// it (RDMA only). `u32::MAX`: a fresh connection of its own.
    pub connection: u32,
    /// Not one after the other but back to back, as messages of one stream: a flow's first packet follows the
    /// last of the flow before at once.
    pub back_to_back: bool,
    /// Index into `transports`.
    pub transport: u16,
    /// Written into [`thalweg_wire::Packet::class`] of its data.
    pub class: u8,
    /// Counts towards the statistics and towards `StopSpec::when_measured_done`.
    pub measured: bool,
    /// Which traffic section made it.
    pub group: u16,
}

/// Time series.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Queue length of these ports every so often.
    pub queues: Option<(Span, Vec<PortId>)>,
    /// And of how many flows packets wait there, in how many queues, where orders tell.
    pub queue_flows: bool,
    /// Bytes and packets carried by these ports every so often.
    pub links: Option<(Span, Vec<PortId>)>,
    /// Bytes carried by every port between two instants.
    pub carried: Option<(Time, Time)>,
    /// Window, threshold, flight, smoothed RTT, delivered bytes of these flows every so often.
    pub controllers: Option<(Span, Vec<FlowId>)>,
    /// Count packets per ADS priority (of this cap and MTU) at every port: input of static ADS maps.
    pub priority_histogram: Option<(Bytes, u32)>,
    /// Every round trip that a sender measured in this window, and its pace after it.
    pub completions: Option<(Time, Time)>,
    /// Count what data packets waited on their way ([`crate::Sim::delays`]).
    pub delays: Option<DelaySpec>,
    /// Keep a list of all pauses ([`crate::Sim::pauses`]).
    pub pauses: bool,
    /// Keep the most that each input of a switch, and each shared memory, has held ([`crate::Sim::memory_peaks`]).
    pub memory: bool,
    /// Record every packet ([`crate::Sim::take_recorded`]).
    pub record: Option<RecordSpec>,
}

/// How much of each packet is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSpec {
    /// When it came to every hop and when its service began there, too.
    pub hops: bool,
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
