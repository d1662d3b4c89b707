//! The simulated network and its run loop.

use crate::arena::{Arena, Packets};
use crate::connection::Connection;
use crate::events::{Calendar, Event, Events, Phase, Tag};
use crate::flow::{FlowRecord, Receiving, Sending};
use crate::gate::Gate;
use crate::incident::Outages;
use crate::journal::Journal;
use crate::memory::Memory;
use crate::pause::{Deadlock, PauseRecord};
use crate::port::Port;
use crate::preempt::Services;
use crate::prefetch::prefetch;
use crate::probe::Probes;
use crate::recording::Recorder;
use crate::replay::Replay;
use crate::routing::Routes;
use crate::spec::NetworkSpec;
use thalweg_machines::aqm::EdgeCodel;
use thalweg_machines::buffer::SharedPool;
use thalweg_machines::schedule::Queue;
use thalweg_machines::slack::SlackClock;
use thalweg_machines::{Handle, Side};
use thalweg_units::{FlowId, PortId, Stream, Time, fold64};

/// A network at an instant. Plain data throughout: see [`crate::snapshot`].
#[derive(Clone, Debug)]
pub struct Sim<Q: Events = Calendar> {
    pub(crate) spec: NetworkSpec,
    pub(crate) now: Time,
    pub(crate) events: Q,
    pub(crate) processed: u64,
    pub(crate) digest: u64,
    pub(crate) stopped: bool,
    pub(crate) packets: Packets,
    pub(crate) sides: Arena<Side>,
    pub(crate) routes: Routes,
    pub(crate) ports: Vec<Port>,
    /// Disciplines of the ordered ports, by [`Port::queue`]; express ports have none.
    pub(crate) queues: Vec<Queue>,
    /// Memory of each switch, where it is shared.
    pub(crate) pools: Vec<SharedPool>,
    pub(crate) records: Vec<FlowRecord>,
    /// Each flow's slot in `sending` and `receiving` while it is active.
    pub(crate) connections: Vec<u32>,
    pub(crate) sending: Vec<Sending>,
    pub(crate) receiving: Vec<Receiving>,
    pub(crate) free_connections: Vec<u32>,
    /// Source routes of the active connections: `stride` ports each, data path first, ACK path from
    /// the middle on.
    pub(crate) paths: Vec<PortId>,
    pub(crate) stride: usize,
    /// The network is larger than the caches: it pays to look ahead.
    pub(crate) wide: bool,
    /// Flows that follow others, as a linked list per predecessor (empty if there are none).
    pub(crate) followers: Vec<(FlowId, FlowId)>,
    /// The next flow that starts by the clock.
    pub(crate) next_start: u32,
    /// Sprayed packets: the next value of each host.
    pub(crate) spray: Vec<Spray>,
    pub(crate) tally: Tally,
    pub(crate) probes: Probes,
    /// Headers change from hop to hop, or packets are followed on their way: see [`crate::header`].
    pub(crate) watching: bool,
    /// Switches look at the packets that they pass on, not only at where they go: a hint for prefetching.
    pub(crate) touching: bool,
    /// By connection and direction: what the slack of the next packet depends on.
    pub(crate) clocks: Vec<SlackClock>,
    /// By connection: queue management at its receiving edge.
    pub(crate) edges: Vec<EdgeCodel>,
    /// Ports whose transmissions give way.
    pub(crate) services: Services,
    pub(crate) journal: Option<Journal>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) replay: Option<Replay>,
    /// By port: what gated ports have beside their queues; empty if there are none.
    pub(crate) gates: Vec<Gate>,
    /// Switch memory by input.
    pub(crate) memory: Memory,
    /// By switch: its ports, in the order of their numbers.
    pub(crate) switch_ports: Vec<Vec<PortId>>,
    /// Switches count by input.
    pub(crate) counting: bool,
    /// They give bytes back as transmissions begin.
    pub(crate) releases_at_start: bool,
    /// Some packets pass the queue of their port.
    pub(crate) may_divert: bool,
    /// NICs ask flows.
    pub(crate) pulling: bool,
    /// Something may break.
    pub(crate) unreliable: bool,
    pub(crate) outages: Outages,
    /// The routes as built, once others are in use.
    pub(crate) intact: Option<Box<Routes>>,
    /// By connection: where its path is if it was laid anew; `u32::MAX` or nothing: in its own place.
    pub(crate) detours: Vec<u32>,
    /// Connections that carry more than one flow.
    pub(crate) shared: Vec<Connection>,
    pub(crate) pauses: Vec<PauseRecord>,
    pub(crate) deadlocks: Vec<Deadlock>,
    /// Within an event: the port by which the packet at hand has come to a switch.
    pub(crate) came_by: PortId,
    /// Idle ports that are to choose at the end of this instant, the first one last.
    pub(crate) choosers: Vec<PortId>,
    /// Scratch: packets that a queue gave up.
    pub(crate) given_up: Vec<Handle>,
    pub(crate) scratch: Side,
}

/// Where a host's sprayed packets get their entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Spray {
    /// A draw per packet.
    Random(Stream),
    /// A counter.
    Counter(u32),
}

/// Running totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Flows that have started.
    pub flows_started: u64,
    /// Flows complete at both ends.
    pub flows_done: u64,
    /// Measured flows complete at both ends.
    pub measured_done: u64,
    /// Packets handed to NICs.
    pub injected: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets dropped in queues.
    pub dropped: u64,
    /// Pause frames sent: stop.
    pub pause_frames: u64,
    /// Pause frames sent: go on.
    pub resume_frames: u64,
    /// Packets that reached their host and were dropped there, at the edge.
    pub edge_dropped: u64,
    /// Packets marked there.
    pub edge_marked: u64,
    /// Edge CoDel: how often a delay below the target made a flow start afresh.
    pub edge_low_delay: u64,
    /// Edge CoDel: how often a pause of its sender did.
    pub edge_gaps: u64,
}

/// What a run has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Events processed.
    pub events: u64,
    /// Transmissions of a packet, data or ACK, on a link.
    pub packet_hops: u64,
    /// Packets dropped in queues.
    pub packets_dropped: u64,
    /// Packets marked CE.
    pub packets_marked: u64,
    /// Pause frames sent by switches: requests to stop.
    pub pause_frames: u64,
    /// Pause frames sent by switches: permissions to go on.
    pub resume_frames: u64,
    /// Packets dropped by the queue management at receiving edges.
    pub edge_dropped: u64,
    /// Packets marked there.
    pub edge_marked: u64,
    /// Edge CoDel: how often a delay below the target made a flow start afresh.
    pub edge_low_delay: u64,
    /// Edge CoDel: how often a pause of its sender did.
    pub edge_gaps: u64,
    /// Flows that have started.
    pub flows_started: u64,
    /// Flows complete at both ends.
    pub flows_done: u64,
    /// Flows in the scenario.
    pub flows_total: u64,
    /// Measured flows complete at both ends.
    pub measured_done: u64,
    /// Measured flows in the scenario.
    pub measured_total: u64,
}

impl<Q: Events> Sim<Q> {
    /// Processes at most `max_events` more events; false once the run has ended.
    pub fn run(&mut self, max_events: u64) -> bool {
        let running = !self.stopped && self.advance(max_events);
        self.catch_up_all();
        running
    }

    pub(crate) fn advance(&mut self, max_events: u64) -> bool {
        let until = self.spec.stop.until;
        let budget = max_events.min(self.spec.stop.max_events.saturating_sub(self.processed));
        for _ in 0..budget {
            let Some(event) = self.events.pop() else {
                self.stopped = true;
                return false;
            };
            if event.at > until {
                self.events.push(event);
                self.now = until;
                self.stopped = true;
                return false;
            }
            debug_assert!(event.at >= self.now, "time travel");
            self.now = event.at;
            self.processed += 1;
            if self.wide {
                self.look_ahead();
            } else {
                prefetch(self.ports.as_ptr().wrapping_add(self.events.next_entity() as usize));
            }
            self.dispatch(event);
            if self.stopped {
                return false;
            }
        }
        if self.processed >= self.spec.stop.max_events {
            self.stopped = true;
        }
        !self.stopped
    }

    #[inline(always)]
    pub(crate) fn dispatch(&mut self, event: Event) {
        let entity = event.tag.entity();
        if event.tag.is(Phase::Arrive) {
            self.arrive(PortId(entity));
        } else if event.tag.is(Phase::Decide) {
            self.decide(PortId(entity));
        } else {
            self.dispatch_rare(event);
        }
        self.settle();
    }

    #[inline(never)]
    pub(crate) fn dispatch_rare(&mut self, event: Event) {
        let entity = event.tag.entity();
        self.mark_digest(event.tag.word());
        match event.tag.phase() {
            Phase::Finish => self.finish(PortId(entity)),
            Phase::Inject => self.inject_recorded(),
            Phase::Start => self.start(FlowId(entity)),
            Phase::SenderTimer => self.sender_timer(FlowId(entity)),
            Phase::ReceiverTimer => self.receiver_timer(FlowId(entity)),
            Phase::Tick => self.tick(PortId(entity)),
            Phase::Sample => self.sample(entity),
            Phase::Incident => self.incident(entity),
            Phase::Stop => self.stop_flow(FlowId(entity)),
            Phase::Quanta => self.quanta_over(entity),
            Phase::Arrive | Phase::Decide => unreachable!("dispatched above"),
        }
    }

    /// Adds what happens now to the digest: a sum, so it does not depend on the order in which
    /// different entities are processed at one instant. What a port chooses is told by its arrival.
    #[inline(always)]
    pub(crate) fn mark_digest(&mut self, what: u64) {
        self.digest = self.digest.wrapping_add(fold64(self.now.ps(), what));
    }

    #[inline(always)]
    pub(crate) fn schedule(&mut self, at: Time, phase: Phase, entity: u32) {
        self.events.push(Event { at, tag: Tag::new(phase, entity) });
    }
}
