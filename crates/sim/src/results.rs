//! What a run has done so far, and what each flow would have taken alone.

use crate::fabric::carried::{self, Carried};
use crate::fabric::failures::is_reachable;
use crate::fabric::memory::MemoryPeaks;
use crate::flows::record::{FlowEnd, FlowOutcome, FlowRecord};
use crate::flows::works::WorkRecord;
use crate::hosts::replay::{Exit, Injection};
use crate::instruments::EdgeTally;
use crate::instruments::delays::Delays;
use crate::instruments::pauses::{Deadlock, PauseRecord};
use crate::instruments::probe::Probes;
use crate::instruments::recording::Recorded;
use crate::port::{Port, PortTotals};
use crate::sim::Sim;
use thalweg_machines::buffer::Inputs;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::pause::Paused;
use thalweg_machines::relief::{ReliefMachine, Tally};
use thalweg_net::ideal;
use thalweg_net::routing::Routes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span, Time, WorkId, mix64};

/// What a run has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events processed.
    pub events: u64,
    /// Transmissions of a packet, data or ACK, on a link.
    pub packet_hops: u64,
    /// Packets dropped in queues.
    pub packets_dropped: u64,
    /// Packets marked CE.
    pub packets_marked: u64,
    /// Packets cut to their headers.
    pub packets_trimmed: u64,
    /// Packets that joined a queue at the same instant as another one by another link: a draw, or a number,
    /// put them in order.
    pub contested_ties: u64,
    /// Pause frames sent by switches: XOFF.
    pub pause_frames: u64,
    /// Pause frames sent by switches: XON.
    pub resume_frames: u64,
    /// What the queue management at receiving edges has done.
    pub edge: EdgeTally,
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

impl Counters {
    /// Of two parts of a network: what each has counted; what both know stays.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            events: self.events + other.events,
            packet_hops: self.packet_hops + other.packet_hops,
            packets_dropped: self.packets_dropped + other.packets_dropped,
            packets_marked: self.packets_marked + other.packets_marked,
            packets_trimmed: self.packets_trimmed + other.packets_trimmed,
            contested_ties: self.contested_ties + other.contested_ties,
            pause_frames: self.pause_frames + other.pause_frames,
            resume_frames: self.resume_frames + other.resume_frames,
            flows_started: self.flows_started + other.flows_started,
            ..*self
        }
    }
}

impl Sim {
    /// The instant of the last event.
    pub fn now(&self) -> Time {
        self.cx.now
    }

    /// What this network was built from.
    pub fn spec(&self) -> &NetworkSpec {
        &self.cx.spec
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        Counters {
            events: self.processed,
            packet_hops: carried::packets(&self.fabric, self.cx.now),
            packets_dropped: self.cx.instruments.tally.dropped,
            packets_marked: self.fabric.ports().iter().map(|p| p.totals(self.cx.now).marked).sum(),
            packets_trimmed: self.cx.instruments.tally.trimmed,
            contested_ties: self.cx.instruments.contests.decided,
            pause_frames: self.cx.instruments.tally.pause_frames,
            resume_frames: self.cx.instruments.tally.resume_frames,
            edge: self.cx.instruments.tally.edge,
            flows_started: self.flows.tally().started,
            flows_done: self.flows.tally().done,
            flows_total: self.cx.spec.flows.len() as u64,
            measured_done: self.flows.tally().measured_done,
            measured_total: self.flows.measured_total(),
        }
    }

    /// Packets that made a queue too long and were exempt from accounting, lest pauses form a cycle; `None`:
    /// nothing is elided.
    pub fn spared(&self) -> Option<u64> {
        let own = self.cx.spec.inputs.and_then(|inputs| inputs.queue_pauses())?;
        own.elide.then_some(self.cx.instruments.tally.spared)
    }

    /// What the reliefs of all switches have done so far, and packets that left for their hosts out of order;
    /// `None`: there are none.
    pub fn relief(&self) -> Option<(Tally, u64)> {
        self.cx
            .spec
            .relief
            .map(|_| (self.fabric.stages().relief.tally(), self.fabric.stages().relief.reordered))
    }

    /// Active flows whose data pass a port.
    pub fn flows_through(&self, port: PortId) -> Vec<FlowId> {
        let paths = self.fabric.paths();
        let passes = |(_, slot): &(FlowId, usize)| paths.of(*slot)[..paths.middle()].contains(&port);
        paths.active().filter(passes).map(|(flow, _)| flow).collect()
    }

    /// The reliefs, by switch.
    pub fn reliefs(&self) -> &[ReliefMachine] {
        &self.fabric.stages().relief.machines
    }

    /// The ports: rates, counters, queues.
    pub fn ports(&self) -> &[Port] {
        self.fabric.ports()
    }

    /// What the probes have seen.
    pub fn probes(&self) -> &Probes {
        &self.cx.instruments.probes
    }

    /// By group of flows: what their data packets waited on their way; empty unless the probes want it
    /// ([`thalweg_net::spec::ProbeSpec::delays`]).
    pub fn delays(&self) -> &[Delays] {
        &self.cx.instruments.delays
    }

    /// Switches, hosts and paths.
    pub fn routes(&self) -> &Routes {
        self.fabric.routes()
    }

    /// A hash of everything that has happened and of every flow's result.
    pub fn digest(&self) -> u64 {
        let mut digest = self.cx.instruments.digest;
        for flow in 0..self.cx.spec.flows.len() {
            let record = self.record(FlowId::from(flow));
            let fields = [record.started.ps(), record.received.ps(), record.acked.ps(), record.delivered];
            for field in fields {
                digest = mix64(digest ^ field).wrapping_add(flow as u64);
            }
        }
        for (number, work) in self.flows.works().iter().enumerate() {
            for field in [work.begun.ps(), work.ended.ps()] {
                digest = mix64(digest ^ field).wrapping_add(number as u64);
            }
        }
        digest
    }

    /// What became of a computation.
    pub fn work(&self, work: WorkId) -> WorkRecord {
        self.flows.works()[work.at()]
    }

    /// What became of a flow.
    pub fn outcome(&self, flow: FlowId) -> FlowOutcome {
        let record = self.record(flow);
        let (ideal, ideal_acked) = self.ideal(flow);
        let spec = &self.cx.spec;
        let routes = self.fabric.outages().intact.as_deref().unwrap_or(self.fabric.routes());
        let endless = spec.flows[flow.at()].size == u64::MAX;
        let round_trip = endless.then(|| ideal::round_trip(spec, routes, flow)).flatten();
        let reached = |t: Time| (t != Time::MAX).then_some(t);
        FlowOutcome {
            started: reached(record.started),
            // On an express port its place is booked as it joins.
            begun: reached(self.cx.instruments.firsts.of(flow)).filter(|at| *at <= self.cx.now),
            received: reached(record.received),
            acked: reached(record.acked),
            delivered: record.delivered,
            rtt_sum: record.rtt_sum,
            rtts: record.rtts,
            counts: record.counts,
            end: self.end(flow),
            ideal,
            ideal_acked,
            round_trip,
        }
    }

    fn record(&self, flow: FlowId) -> FlowRecord {
        self.hosts.record(&self.fabric, &self.flows, flow, &self.cx.spec.flows[flow.at()])
    }

    /// How a flow has ended so far.
    fn end(&self, flow: FlowId) -> FlowEnd {
        let record = &self.flows.records()[flow.at()];
        if record.started == Time::MAX {
            FlowEnd::NotStarted
        } else if record.received != Time::MAX && record.acked != Time::MAX {
            if self.cx.spec.flows[flow.at()].size == u64::MAX { FlowEnd::Stopped } else { FlowEnd::Completed }
        } else {
            self.why_unfinished(flow)
        }
    }

    fn why_unfinished(&self, flow: FlowId) -> FlowEnd {
        let flow = self.hosts.carrier(flow, &self.cx.spec.flows[flow.at()]);
        let slot = self.fabric.paths().slot(flow);
        let Some((sending, receiving)) = self.hosts.both(slot) else { return FlowEnd::Censored };
        let in_network = sending.balance.wrapping_add(receiving.balance) > 0;
        let path = self.fabric.paths().of(slot as usize);
        let deadlocks = &self.cx.instruments.deadlocks;
        // With relief a cycle that has just closed is not the end.
        let relieved = self.cx.spec.relief.is_some();
        let stands = |id: &PortId| deadlocks.iter().any(|d| d.ended == Time::MAX && d.ports.contains(id));
        if !relieved && path.iter().any(stands) {
            FlowEnd::Deadlocked
        } else if !is_reachable(&self.fabric, &self.cx, flow) {
            FlowEnd::Unreachable
        } else if !in_network && !sending.ready && sending.timer == Time::MAX && receiving.timer == Time::MAX
        {
            FlowEnd::Stalled
        } else {
            FlowEnd::Censored
        }
    }

    /// A port's counters, pauses included.
    pub fn totals(&self, port: PortId) -> PortTotals {
        self.fabric.totals(port, self.cx.now)
    }

    /// What a port has put on its wire.
    pub fn carried(&self, port: PortId) -> Carried {
        carried::by(&self.fabric, &self.cx.spec, port, self.cx.now)
    }

    /// Packets and bytes waiting at a port, without the one being transmitted.
    pub fn backlog(&self, port: PortId) -> (u32, u64) {
        self.fabric.backlog(port, self.cx.now)
    }

    /// What a port may not send at present; `None`: it cannot be paused.
    pub fn paused(&self, port: PortId) -> Option<&Paused> {
        self.fabric.gates().get(port.at()).map(|gate| &gate.paused)
    }

    /// Every pause so far, in the order in which they began.
    pub fn pauses(&self) -> &[PauseRecord] {
        &self.cx.instruments.pauses
    }

    /// Every deadlock found so far.
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.cx.instruments.deadlocks
    }

    /// By switch, if the probes want it ([`thalweg_net::spec::ProbeSpec::memory`]); else empty.
    pub fn memory_peaks(&self) -> &[MemoryPeaks] {
        &self.fabric.memory().peaks
    }

    /// By switch, with per-ingress accounting: what their memory is.
    pub fn memories(&self) -> &[Inputs] {
        &self.fabric.memory().switches
    }

    /// The rows that are ready; at the `end` of a recorded run all, packets that are still in the network included.
    pub fn take_recorded(&mut self, end: bool) -> Recorded {
        self.cx.instruments.take_recorded(end, self.fabric.packets(), self.cx.now)
    }

    /// What controllers have recorded of their decisions since the last time, by flow.
    pub fn take_decisions(&mut self) -> Vec<Log> {
        let mut logs = self.hosts.take_logs();
        logs.retain(|log| !log.is_empty());
        logs.sort_by_key(Log::flow);
        logs
    }

    /// Packets lost on links that lose some: not dropped, and missed like those that are.
    pub fn lost_on_links(&self) -> u64 {
        self.cx.instruments.tally.lost
    }

    /// Packets lost because a link had failed, and pause frames lost.
    pub fn lost_to_incidents(&self) -> (u64, u64) {
        (self.fabric.outages().lost, self.fabric.outages().frames_lost)
    }

    /// Gives a replay its next packet. Packets come in the order in which they enter, none before [`Sim::now`].
    ///
    /// # Panics
    /// If the network is not a replay, the flow does not exist or the timetable is longer than its path can be.
    pub fn push(&mut self, next: Injection<'_>) {
        let longest = self.fabric.paths().middle();
        assert!(next.flow.at() < self.cx.spec.flows.len() && next.times.len() <= longest);
        self.hosts.replay_mut().expect("a replay").push(&mut self.cx, next);
    }

    /// Nothing more will be pushed: the replay ends when its last packet has left.
    pub fn push_end(&mut self) {
        if let Some(replay) = self.hosts.replay_mut() {
            replay.end(&mut self.cx);
        }
    }

    /// A replay waits for its next packet.
    pub fn needs_input(&self) -> bool {
        self.hosts.replay().is_some_and(|replay| replay.needs_input())
    }

    /// The packets of a replay that have left since this was called last, in the order in which they left.
    pub fn take_exits(&mut self) -> Vec<Exit> {
        self.hosts.replay_mut().map(|replay| replay.take_exits()).unwrap_or_default()
    }

    /// t_min(p, NIC, destination) of a packet of `wire` bytes that travels with (or against) a flow's data: all
    /// transmission and propagation on its path.
    pub fn t_min(&self, flow: FlowId, forward: bool, wire: u32) -> Span {
        let ports = self.path(flow, forward).into_iter().map(|id| &self.fabric.ports()[id.at()]);
        ports.map(|p| p.span(wire) + p.timing.delay).sum()
    }

    /// The ports that packets with (or against) a flow's data pass, the NIC first.
    pub fn path(&self, flow: FlowId, forward: bool) -> Vec<PortId> {
        let both = self.fabric.lay_path(&self.cx.spec, flow);
        let (data, ack) = both.split_at(self.fabric.paths().middle());
        if forward { data } else { ack }.iter().copied().take_while(|id| *id != PortId::NONE).collect()
    }

    /// A flow's completion times alone on its path at line rate: at the receiver, at the sender.
    ///
    /// Endless flows have none: zero.
    pub fn ideal(&self, flow: FlowId) -> (Span, Span) {
        let routes = self.fabric.outages().intact.as_deref().unwrap_or(self.fabric.routes());
        ideal::of_flow(&self.cx.spec, routes, flow)
    }
}
