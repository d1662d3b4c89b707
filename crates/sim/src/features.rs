//! Which code paths a network takes: computed once from its specification, read at every hop.

use thalweg_machines::host::Agent;
use thalweg_machines::nic::{Needs, Waits};
use thalweg_machines::pause::Reach;
use thalweg_machines::stage::CarriedSpec;
use thalweg_net::spec::NetworkSpec;

/// From so many ports on a network counts as larger than the caches.
const WIDE: usize = 2048;

/// What a network needs besides queues and wires. Who does not use a feature pays one predictable branch for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    /// This is a part of a network that is run in parts: see [`crate::border`].
    pub parted: bool,
    /// A packet may do something else than go on: links fail, ports write to sources, paths are not known in
    /// advance, senders are notified of drops. One question for all of them where every hop comes by.
    pub detours: bool,
    /// NICs that pull do not simply poll the flow whose turn it is: links fail, queues are paused, agents
    /// choose, the shortest goes first.
    pub nic_detours: bool,
    /// Headers change from hop to hop, or packets are followed on their way: see [`crate::fabric::headers`].
    pub headers: bool,
    /// What waits no longer is seen by others than the memory of its switch: stages that write, points,
    /// relief, backpressure.
    pub departures: bool,
    /// Switches write into data packets as their transmission begins: see
    /// [`Fabric::write_headers`](crate::fabric::Fabric::write_headers).
    pub writes: bool,
    /// Queues notify of packets, and their switches write to the senders of these.
    pub notifies: bool,
    /// All ports of a switch run one policy: see [`crate::fabric::programs`].
    pub programs: bool,
    /// Others than a port see what waits there: [`Features::headers`], [`Features::writes`], [`Features::points`] or
    /// [`Features::ingress_accounting`].
    pub observed: bool,
    /// Switches read the packets that they pass on, not only where these go: a hint for prefetching.
    pub prefetch: bool,
    /// The network is larger than the caches: it pays to look ahead ([`crate::lookahead`]).
    pub look_ahead: bool,
    /// Switches account for their memory by ingress.
    pub ingress_accounting: bool,
    /// They release a packet's bytes as its transmission begins, not as it ends.
    pub release_at_start: bool,
    /// An input of a switch sends one packet at a time: see [`crate::fabric::crossbar`].
    pub crossbar: bool,
    /// The most that their memory has held is kept.
    pub memory_peaks: bool,
    /// Queues are paused one by one, and packets name those they come from (backpressure flow control).
    pub backpressure: bool,
    /// Departures are seen at another instant than that at which they are sent: see [`crate::fabric::settling`].
    pub apart: bool,
    /// Bytes of a frame to a neighbour on the wire.
    pub frame_wire: u32,
    /// Pauses of ports expire after so many quanta.
    pub quanta: Option<u16>,
    /// Some packets bypass the queue of their port.
    pub priority_bypass: bool,
    /// NICs pull packets from flows, all of them or (see below) some.
    pub nic_may_pull: bool,
    /// NICs pull every packet from flows.
    pub nic_pull: bool,
    /// NICs have queues, and pull from flows what these hand over only when there is nothing else: see
    /// [`crate::hosts::idle`].
    pub nic_idle: bool,
    /// NICs that pull may know beforehand that nothing will be there: see [`crate::hosts`], NIC scheduling.
    pub foresees: bool,
    /// Flows that are over take back what waits in the queue of their NIC.
    pub takes_back: bool,
    /// Some queue cuts packets to their headers: payload is accounted for apart from packets.
    pub trims: bool,
    /// Senders are notified of packets that switches drop.
    pub drop_notices: bool,
    /// NICs pick one of the flows that may send: see [`thalweg_machines::nic`].
    pub nic_picks: bool,
    /// At NICs flows keep their places: likewise.
    pub nic_places: bool,
    /// Links or pause frames may fail.
    pub failures: bool,
    /// A rule chooses hop by hop: packets carry what it goes by instead of a source route ([`crate::rules`]).
    pub per_hop: bool,
    /// Round trips are probed.
    pub completions: bool,
    /// What data packets waited on their way is measured.
    pub delays: bool,
    /// Some transport has agents above its flows: see [`thalweg_machines::host`].
    pub agents: bool,
    /// Some connections carry messages back to back: see [`crate::hosts::streams`].
    pub streams: bool,
    /// Ports write to sources: see [`crate::fabric::points`].
    pub points: bool,
    /// Switches lift packets, or break cycles: see [`crate::fabric::relief`].
    pub relief: bool,
}

/// Some transport hands packets over only when a NIC has nothing else to send. (None runs in a replay.)
pub(crate) fn pulls_when_idle(spec: &NetworkSpec) -> bool {
    !spec.replay && spec.transports.iter().any(|t| t.needs().when_idle)
}

/// Some queue notifies of packets.
pub(crate) fn notifies(spec: &NetworkSpec) -> bool {
    spec.disciplines.iter().any(|kind| kind.order.needs().notifies)
}

/// Some queue is a part of a policy that the ports of its switch run together.
pub(crate) fn programs(spec: &NetworkSpec) -> bool {
    spec.disciplines.iter().any(|kind| kind.order.needs().together.is_some())
}

/// Some sender can declare beforehand that it will wait, and whose turn it is at a NIC is decided by turns alone.
fn foresees(spec: &NetworkSpec) -> bool {
    spec.nic.order.needs() == Needs { pulls: true, waits: Waits::InTurn }
        && spec.incidents.is_empty()
        && spec.inputs.is_none_or(|inputs| inputs.stops_ports())
        && spec.transports.iter().any(|t| t.needs().foresees)
        && !spec.transports.iter().any(|t| Agent::serves(t) || t.needs().drop_notices || t.needs().when_idle)
}

impl Features {
    /// Of a network of which some ports have `queues`.
    pub fn of(spec: &NetworkSpec, queues: bool) -> Self {
        let headers = spec.replay
            || spec.carried != CarriedSpec::Nothing
            || spec.slack.is_some()
            || spec.probes.record.is_some();
        let writes = !spec.stages.is_empty();
        let failures = !spec.incidents.is_empty();
        let per_hop = !spec.routing.rule.needs().source_routes;
        let drop_notices = spec.transports.iter().any(|t| t.needs().drop_notices);
        let backpressure = spec.inputs.is_some_and(|i| i.queue_pauses().is_some());
        let effects = spec.inputs.and_then(|inputs| inputs.effects());
        let agents = spec.transports.iter().any(Agent::serves);
        let waits = spec.nic.order.needs().waits;
        let (nic_picks, nic_places) = (waits == Waits::Picked, waits == Waits::AtPlaces);
        Self {
            parted: false,
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
            apart: backpressure && spec.disciplines.iter().any(|kind| kind.order.needs().apart),
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
            takes_back: spec.transports.iter().any(|t| t.needs().takes_back),
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
