//! Which code paths a network takes: computed once from its specification, read at every hop.

use thalweg_machines::host::Agent;
use thalweg_machines::nic::{Needs, Waits};
use thalweg_machines::pause::{QueuePauses, Reach};
use thalweg_machines::stage::CarriedSpec;
use thalweg_net::spec::NetworkSpec;

/// Number of ports above which a network counts as larger than the caches.
const WIDE: usize = 2048;

/// What a network needs besides queues and wires. A feature that is off costs one predictable branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    /// This is one part of a network that is run in parts: see [`crate::boundary`].
    pub partitioned: bool,
    /// Hops need more than the source route: links may fail, rules choose hop by hop, congestion points send
    /// notices, or senders are notified of drops. Combined so that the common path tests one flag.
    pub detours: bool,
    /// NICs that pull do not simply poll the first flow of the round-robin list: links fail, queues are paused,
    /// agents choose, or the NIC's order picks flows or keeps them in fixed places.
    pub nic_detours: bool,
    /// Headers change from hop to hop, or packets are recorded on their way: see [`crate::fabric::headers`].
    pub headers: bool,
    /// Departures are observed by more than the memory of the switch: stages that write, congestion points, relief,
    /// backpressure.
    pub departures: bool,
    /// Switches write into data packets as their transmission begins: see
    /// [`Fabric::write_headers`](crate::fabric::Fabric::write_headers).
    pub writes: bool,
    /// Queues report packets to the congestion point of their port, which sends notices to their senders.
    pub notifies: bool,
    /// The ports of a switch run one policy together: see [`crate::fabric::programs`].
    pub programs: bool,
    /// What waits at a port is seen from outside of it: [`Features::headers`], [`Features::writes`],
    /// [`Features::points`] or [`Features::ingress_accounting`].
    pub observed: bool,
    /// Switches read the packets that they pass on, not only where these go: a hint for prefetching.
    pub prefetch: bool,
    /// The network is larger than the caches: it pays to look ahead ([`crate::lookahead`]).
    pub look_ahead: bool,
    /// Switches account for their memory by ingress.
    pub ingress_accounting: bool,
    /// A packet's bytes are released when its transmission begins, not when it ends.
    pub release_at_start: bool,
    /// An input of a switch sends one packet at a time through a crossbar: see [`crate::fabric::crossbar`].
    pub crossbar: bool,
    /// The probes record the most that switch memory has held.
    pub memory_peaks: bool,
    /// Queues are paused one by one, and packets name those they come from (backpressure flow control).
    pub backpressure: bool,
    /// The parameters of these pauses; `None` without backpressure.
    pub queue_pauses: Option<QueuePauses>,
    /// The switch learns of departures before or after they happen: see [`crate::fabric::late_departures`].
    pub late_departures: bool,
    /// Bytes of a pause frame on the wire.
    pub frame_wire: u32,
    /// Number of quanta after which pauses of whole ports expire, if they do.
    pub quanta: Option<u16>,
    /// Some packets bypass the queue of their port.
    pub priority_bypass: bool,
    /// NICs pull packets from flows: all packets ([`Features::nic_pull`]) or some ([`Features::nic_idle`]).
    pub nic_may_pull: bool,
    /// NICs pull every packet from flows.
    pub nic_pull: bool,
    /// NICs have queues, and pull from flows the packets that leave only when there is nothing else to send: see
    /// [`crate::hosts::idle`].
    pub nic_idle: bool,
    /// NICs that pull may determine in advance that their flows will have nothing to send: see [`crate::hosts`],
    /// NIC scheduling.
    pub foresees: bool,
    /// Flows that are over withdraw packets that wait in the queue of their NIC.
    pub takes_back: bool,
    /// Some queue cuts packets to their headers, so payload is counted separately from packets.
    pub trims: bool,
    /// Senders are notified of packets that switches drop.
    pub drop_notices: bool,
    /// The NIC's order picks one of the flows that may send: see [`thalweg_machines::nic`].
    pub nic_picks: bool,
    /// The NIC's order scans flows in fixed places: see [`thalweg_machines::nic`].
    pub nic_places: bool,
    /// Links or pause frames may fail.
    pub failures: bool,
    /// A rule chooses the route hop by hop: packets carry its value instead of a source route ([`crate::rules`]).
    pub per_hop: bool,
    /// Round-trip times are recorded.
    pub completions: bool,
    /// The waiting times of data packets are measured.
    pub delays: bool,
    /// Some transport has agents above its flows: see [`thalweg_machines::host`].
    pub agents: bool,
    /// Some connections carry messages back to back: see [`crate::hosts::streams`].
    pub streams: bool,
    /// Congestion points send notices to sources: see [`crate::fabric::points`].
    pub points: bool,
    /// Switches lift packets past pauses, or break cycles of pauses: see [`crate::fabric::relief`].
    pub relief: bool,
}

/// Whether some transport hands packets over only when a NIC has nothing else to send. (Replays run no transports.)
pub(crate) fn pulls_when_idle(spec: &NetworkSpec) -> bool {
    !spec.replay && spec.transports.iter().any(|t| t.needs().when_idle)
}

/// Whether some queue reports packets to a congestion point.
pub(crate) fn notifies(spec: &NetworkSpec) -> bool {
    spec.disciplines.iter().any(|kind| kind.order.needs().notifies)
}

/// Whether some queue belongs to a policy that the ports of a switch run together.
pub(crate) fn programs(spec: &NetworkSpec) -> bool {
    spec.disciplines.iter().any(|kind| kind.order.needs().together.is_some())
}

/// Whether NICs may determine in advance that a flow will have nothing to send: some sender can, and the NIC's
/// order depends on turns alone.
fn foresees(spec: &NetworkSpec) -> bool {
    spec.nic.order.needs() == Needs { pulls: true, waits: Waits::InTurn }
        && spec.incidents.is_empty()
        && spec.inputs.is_none_or(|inputs| inputs.stops_ports())
        && spec.transports.iter().any(|t| t.needs().predicts_idle)
        && !spec.transports.iter().any(|t| Agent::serves(t) || t.needs().drop_notices || t.needs().when_idle)
}

impl Features {
    /// The features of a network; `queues`: whether some of its ports have queues (on demand).
    pub fn of(spec: &NetworkSpec, queues: bool) -> Self {
        let headers = spec.replay
            || spec.carried != CarriedSpec::Nothing
            || spec.slack.is_some()
            || spec.probes.record.is_some();
        let writes = !spec.stages.is_empty();
        let failures = !spec.incidents.is_empty();
        let per_hop = !spec.routing.rule.needs().source_routes;
        let drop_notices = spec.transports.iter().any(|t| t.needs().drop_notices);
        let queue_pauses = spec.inputs.and_then(|inputs| inputs.queue_pauses());
        let backpressure = queue_pauses.is_some();
        let effects = spec.inputs.and_then(|inputs| inputs.effects());
        let agents = spec.transports.iter().any(Agent::serves);
        let waits = spec.nic.order.needs().waits;
        let (nic_picks, nic_places) = (waits == Waits::Picked, waits == Waits::AtPlaces);
        Self {
            partitioned: false,
            nic_detours: failures || backpressure || agents || nic_picks || nic_places,
            detours: failures || per_hop || drop_notices || spec.point.is_some(),
            departures: writes || backpressure || spec.point.is_some() || spec.relief.is_some(),
            headers,
            writes,
            streams: spec.flows.iter().any(|flow| flow.back_to_back),
            points: spec.point.is_some(),
            notifies: notifies(spec),
            programs: programs(spec),
            relief: spec.relief.is_some(),
            observed: headers || writes || spec.point.is_some() || spec.inputs.is_some(),
            prefetch: headers || queues,
            look_ahead: 2 * spec.links.len() > WIDE,
            ingress_accounting: spec.inputs.is_some(),
            release_at_start: spec.inputs.is_some_and(|i| i.release_at_start),
            crossbar: spec.inputs.is_some_and(|i| i.one_per_input),
            memory_peaks: spec.probes.memory,
            backpressure,
            queue_pauses,
            late_departures: backpressure && spec.disciplines.iter().any(|kind| kind.order.needs().apart),
            frame_wire: spec.frame_wire(),
            quanta: match effects.map(|effects| effects.reach) {
                Some(Reach::Ports { quanta }) => quanta,
                _ => None,
            },
            priority_bypass: spec.control_first || spec.nic.order.pulls(),
            nic_may_pull: spec.nic.order.pulls() || pulls_when_idle(spec),
            nic_pull: spec.nic.order.pulls(),
            nic_idle: pulls_when_idle(spec),
            foresees: foresees(spec),
            takes_back: spec.transports.iter().any(|t| t.needs().discards_queued),
            trims: spec.trims(),
            drop_notices,
            nic_picks,
            nic_places,
            failures,
            per_hop,
            completions: spec.probes.completions.is_some(),
            delays: spec.probes.delays.is_some(),
            agents,
        }
    }
}
