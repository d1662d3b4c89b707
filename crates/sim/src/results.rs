//! What a run has done so far.

use crate::fabric::carried::{self, Carried};
use crate::fabric::failures::is_reachable;
use crate::fabric::memory::MemoryPeaks;
use crate::flows::record::{FlowEnd, FlowOutcome, FlowRecord};
use crate::flows::works::WorkRecord;
use crate::instruments::EdgeTally;
use crate::instruments::delays::Delays;
use crate::instruments::pauses::{Deadlock, PauseRecord};
use crate::instruments::probe::Probes;
use crate::instruments::recording::Recorded;
use crate::port::{Backlog, Port, PortTotals};
use crate::sim::Sim;
use thalweg_machines::buffer::Inputs;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::pause::Paused;
use thalweg_machines::relief::{self, ReliefMachine};
use thalweg_net::ideal;
use thalweg_net::routing::Routes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Time, WorkId, mix64};

/// What a run has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events processed.
    pub events: u64,
    /// Transmissions of a packet, data or ACK, on a link.
    pub packet_hops: u64,
    /// Packets discarded by ports: for want of memory, by queue management, because their flow withdrew them, or
    /// because a link had failed.
    pub packets_dropped: u64,
    /// Packets marked CE.
    pub packets_marked: u64,
    /// Packets cut to their headers.
    pub packets_trimmed: u64,
    /// Packets that joined a queue at the same instant as another packet from another link: a random draw, or the
    /// number of the link, decided their order.
    pub contested_ties: u64,
    /// Frames that stop or slow down a neighbour, of any pause policy (PFC's XOFF and its refreshes, pauses of
    /// queues or flows, bitmaps, lower rates).
    pub pause_frames: u64,
    /// Frames that let a neighbour go on, of any pause policy (PFC's XON, resumes of queues or flows, full rate).
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
    /// Sums what two parts of a network have counted; fields that describe the whole network are taken from `self`.
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

/// What the reliefs of all switches have done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReliefTotals {
    /// Their acts and signals.
    pub tally: relief::Tally,
    /// Packets that left for their hosts behind one of their flow that was sent later.
    pub reordered: u64,
}

/// Losses caused by incidents: failed links, and links that lose pause frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncidentLosses {
    /// Packets lost because a link had failed.
    pub packets: u64,
    /// Pause frames lost, on failed links and on links that lose some.
    pub frames: u64,
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

    /// What the run has done so far.
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

    /// Packets that made a queue too long and were exempt from backpressure, lest pauses form a cycle; `None`:
    /// nothing is exempt.
    pub fn exempt_packets(&self) -> Option<u64> {
        let own = self.cx.spec.inputs.and_then(|inputs| inputs.queue_pauses())?;
        own.elide.then_some(self.cx.instruments.tally.exempt_packets)
    }

    /// What the reliefs of all switches have done so far; `None`: there are none.
    pub fn relief(&self) -> Option<ReliefTotals> {
        let reliefs = &self.fabric.mechanisms().relief;
        self.cx.spec.relief.map(|_| ReliefTotals { tally: reliefs.tally(), reordered: reliefs.reordered })
    }

    /// Active flows whose data pass a port.
    pub fn flows_through(&self, port: PortId) -> Vec<FlowId> {
        let paths = self.fabric.paths();
        let passes = |(_, slot): &(FlowId, usize)| paths.of(*slot)[..paths.middle()].contains(&port);
        paths.active().filter(passes).map(|(flow, _)| flow).collect()
    }

    /// The reliefs, by switch.
    pub fn reliefs(&self) -> &[ReliefMachine] {
        &self.fabric.mechanisms().relief.machines
    }

    /// The ports: rates, counters, queues.
    pub fn ports(&self) -> &[Port] {
        self.fabric.ports()
    }

    /// What the probes have recorded.
    pub fn probes(&self) -> &Probes {
        &self.cx.instruments.probes
    }

    /// By group of flows: how long their data packets waited on their way; empty unless the probes measure it
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

    /// The record of a computation.
    pub fn work(&self, work: WorkId) -> WorkRecord {
        self.flows.works()[work.at()]
    }

    /// The results of a flow.
    pub fn outcome(&self, flow: FlowId) -> FlowOutcome {
        let record = self.record(flow);
        let ideal = self.ideal(flow);
        let spec = &self.cx.spec;
        let routes = self.fabric.outages().intact.as_deref().unwrap_or(self.fabric.routes());
        let endless = spec.flows[flow.at()].size == u64::MAX;
        let round_trip = endless.then(|| ideal::round_trip(spec, routes, flow)).flatten();
        let reached = |t: Time| (t != Time::MAX).then_some(t);
        FlowOutcome {
            started: reached(record.started),
            // Express ports book departures ahead: one in the future has not happened yet.
            begun: reached(self.cx.instruments.firsts.of(flow)).filter(|at| *at <= self.cx.now),
            received: reached(record.received),
            acked: reached(record.acked),
            delivered: record.delivered,
            rtt_sum: record.rtt_sum,
            rtts: record.rtts,
            counts: record.counts,
            end: self.end(flow),
            ideal: ideal.received,
            ideal_acked: ideal.acked,
            round_trip,
        }
    }

    fn record(&self, flow: FlowId) -> FlowRecord {
        self.hosts.record(&self.fabric, &self.flows, flow, &self.cx.spec.flows[flow.at()])
    }

    /// How a flow has ended, or why it has not ended yet.
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
        // With relief, a cycle that has just closed may still be broken.
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

    /// What a port has put on its wire so far.
    pub fn carried(&self, port: PortId) -> Carried {
        carried::by(&self.fabric, &self.cx.spec, port, self.cx.now)
    }

    /// What waits at a port, without the packet being transmitted.
    pub fn backlog(&self, port: PortId) -> Backlog {
        self.fabric.backlog(port, self.cx.now)
    }

    /// What the neighbour of a port has paused; `None`: the port cannot be paused.
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

    /// By switch: the most that its memory has held, if the probes record it
    /// ([`thalweg_net::spec::ProbeSpec::memory`]); else empty.
    pub fn memory_peaks(&self) -> &[MemoryPeaks] {
        &self.fabric.memory().peaks
    }

    /// By switch: the state of per-ingress accounting; empty without it.
    pub fn memories(&self) -> &[Inputs] {
        &self.fabric.memory().switches
    }

    /// The recorded packets that are ready; at the `end` of a recorded run all of them, including those still in
    /// the network.
    pub fn take_recorded(&mut self, end: bool) -> Recorded {
        self.cx.instruments.take_recorded(end, self.fabric.packets(), self.cx.now)
    }

    /// The decisions that controllers have recorded since the last call, by flow.
    pub fn take_decisions(&mut self) -> Vec<Log> {
        let mut logs = self.hosts.take_logs();
        logs.retain(|log| !log.is_empty());
        logs.sort_by_key(Log::flow);
        logs
    }

    /// Packets lost on lossy links. Their flows count them as drops; they are not among
    /// [`Counters::packets_dropped`].
    pub fn lost_on_links(&self) -> u64 {
        self.cx.instruments.tally.lost
    }

    /// What was lost to failed links and to lossy pause frames.
    pub fn lost_to_incidents(&self) -> IncidentLosses {
        let outages = self.fabric.outages();
        IncidentLosses { packets: outages.lost, frames: outages.frames_lost }
    }
}
