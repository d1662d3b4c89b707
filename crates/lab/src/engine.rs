//! The one place that makes and drives the simulator, whole or in parts.

use crate::threads::{BegunInParts, NotParallel};
use std::sync::OnceLock;
use thalweg_machines::buffer::Inputs;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::congestion::{ControllerSpec, Interval, Permit, custom};
use thalweg_machines::transport::TransportSpec;
use thalweg_net::spec::NetworkSpec;
use thalweg_sim::parts::{Partitioned, Plan};
use thalweg_sim::port::PortTotals;
use thalweg_sim::probe::Probes;
use thalweg_sim::{
    Carried, Counters, Deadlock, Delays, Exit, FlowOutcome, Halt, IncidentLosses, Injection, MemoryPeaks,
    PauseRecord, Recorded, ReliefTotals, Sim, WorkRecord,
};
use thalweg_units::{FlowId, PortId, Span, Time, WorkId};

/// Events between two recounts of a checked run.
const CHECK_EVERY: u64 = 50_000;

/// A simulated network.
#[derive(Clone)]
pub(crate) struct Engine {
    /// Run whole: the network. In parts: as it was when nothing had happened, and when it has ended.
    sim: Sim,
    partitioned: Option<Partitioned>,
    /// In parts: as it is now, once it has been read.
    view: OnceLock<Box<Sim>>,
    threads: usize,
}

impl Engine {
    pub fn new(spec: NetworkSpec) -> Result<Self, String> {
        Sim::new(spec).map(Self::whole).map_err(|e| e.to_string())
    }

    fn whole(sim: Sim) -> Self {
        Self { sim, partitioned: None, view: OnceLock::new(), threads: 1 }
    }

    /// Runs on so many threads from now on, as many at most as it has parts. What is run whole is divided only
    /// before anything has happened; `pays`: and only where that is worth its while.
    ///
    /// # Errors
    /// If it stays whole, with the reason.
    pub fn divide(&mut self, threads: usize, pays: bool) -> Result<usize, NotParallel> {
        if self.partitioned.is_none() && threads > 1 {
            let events = self.sim.counters().events;
            if events > 0 {
                return Err(NotParallel::BegunWhole { events });
            }
            let plan = Plan::new(&self.sim, threads)?;
            if pays && !plan.pays() {
                return Err(self.unpaid(&plan));
            }
            self.partitioned = Some(Partitioned::new(&self.sim, plan));
        }
        self.threads = threads;
        Ok(self.threads())
    }

    /// Why a plan does not pay.
    fn unpaid(&self, plan: &Plan) -> NotParallel {
        let spec = self.sim.spec();
        let serial = |t: &TransportSpec| match t.controller() {
            Some(ControllerSpec::Custom(own)) if custom::declared(&own.name).serial => Some(own.name.clone()),
            _ => None,
        };
        match spec.transports.iter().find_map(serial) {
            Some(controller) => NotParallel::Serial { controller },
            None => NotParallel::Small {
                ports: 2 * spec.links.len(),
                flows: spec.flows.len(),
                parts: plan.parts().into(),
                lookahead: plan.lookahead(),
            },
        }
    }

    /// Runs whole.
    ///
    /// # Errors
    /// If it is under way in parts.
    pub fn unite(&mut self) -> Result<(), BegunInParts> {
        if let Some(partitioned) = &self.partitioned {
            let (parts, events) = (partitioned.plan().parts().into(), partitioned.counters().events);
            if events > 0 {
                return Err(BegunInParts { parts, events });
            }
        }
        self.partitioned = None;
        Ok(())
    }

    /// On how many it runs.
    pub fn threads(&self) -> usize {
        self.partitioned.as_ref().map_or(1, |partitioned| self.threads.min(partitioned.plan().parts().into()))
    }

    /// The network to be read.
    fn sim(&self) -> &Sim {
        match &self.partitioned {
            None => &self.sim,
            Some(partitioned) => self.view.get_or_init(|| Box::new(partitioned.view())),
        }
    }

    /// No event later than `at`, and at most so many; a network in parts may go on to the end of a window.
    pub fn run_until(&mut self, max_events: u64, at: Time) -> Halt {
        let Some(partitioned) = &mut self.partitioned else { return self.sim.run_until(max_events, at) };
        self.view = OnceLock::new();
        let halt = partitioned.run_until(self.threads, max_events, at);
        if halt == Halt::Ended
            && let Some(partitioned) = self.partitioned.take()
        {
            self.sim = partitioned.into_view();
        }
        halt
    }
    pub fn run(&mut self, max_events: u64) -> bool {
        self.run_until(max_events, Time::MAX) != Halt::Ended
    }
    /// As `run_until`, with the invariants checked.
    pub fn run_checked(&mut self, max_events: u64, at: Time) -> Result<Halt, String> {
        debug_assert!(self.partitioned.is_none(), "laws are checked of a network that is run whole");
        self.sim.run_checked_until(max_events, CHECK_EVERY, at).map_err(|e| e.to_string())
    }
    /// What a network with flow control has dropped although it may not.
    pub fn check_lossless(&self) -> Result<(), String> {
        self.sim().check_lossless()
    }
    pub fn now(&self) -> Time {
        self.partitioned.as_ref().map_or_else(|| self.sim.now(), Partitioned::now)
    }
    pub fn spec(&self) -> &NetworkSpec {
        self.sim.spec()
    }
    pub fn counters(&self) -> Counters {
        self.partitioned.as_ref().map_or_else(|| self.sim.counters(), Partitioned::counters)
    }
    pub fn outcome(&self, flow: FlowId) -> FlowOutcome {
        self.sim().outcome(flow)
    }
    pub fn work(&self, work: WorkId) -> WorkRecord {
        self.sim().work(work)
    }
    pub fn totals(&self, port: PortId) -> PortTotals {
        let Carried { packets, bytes, .. } = self.carried(port);
        PortTotals { packets, bytes, ..self.sim().totals(port) }
    }
    /// Packets and bytes that a port has begun to send by now, and bytes that are out.
    pub fn carried(&self, port: PortId) -> Carried {
        self.sim().carried(port)
    }
    /// Bytes that a port has carried since the window of `ProbeSpec::carried` opened, until it closed.
    pub fn carried_in_window(&self, port: PortId) -> u64 {
        let probes = self.sim().probes();
        match probes.carried.get(port.at()) {
            Some(bytes) if probes.carried_closed => *bytes,
            Some(before) => self.sim().carried(port).left - before,
            None => 0,
        }
    }
    pub fn pauses(&self) -> &[PauseRecord] {
        self.sim().pauses()
    }
    pub fn memory_peaks(&self) -> impl Iterator<Item = (&MemoryPeaks, &Inputs)> {
        self.sim().memory_peaks().iter().zip(self.sim().memories())
    }
    pub fn deadlocks(&self) -> &[Deadlock] {
        self.sim().deadlocks()
    }
    /// What the reliefs of switches have done.
    pub fn relief(&self) -> Option<ReliefTotals> {
        self.sim().relief()
    }
    /// Packets exempt from accounting, lest pauses form a cycle, if the network elides.
    pub fn exempt_packets(&self) -> Option<u64> {
        self.sim().exempt_packets()
    }
    /// Active flows whose data pass a port.
    pub fn flows_through(&self, port: PortId) -> Vec<FlowId> {
        self.sim().flows_through(port)
    }
    /// Packets lost on links that lose some.
    pub fn lost_on_links(&self) -> u64 {
        self.sim().lost_on_links()
    }

    /// What was lost to failed links and to lossy pause frames.
    pub fn lost_to_incidents(&self) -> IncidentLosses {
        self.sim().lost_to_incidents()
    }
    pub fn probes(&self) -> &Probes {
        self.sim().probes()
    }
    /// By traffic section: what data packets waited on their way.
    pub fn delays(&self) -> &[Delays] {
        self.sim().delays()
    }
    pub fn digest(&self) -> u64 {
        self.sim().digest()
    }
    pub fn save_after(&self, bytes: Vec<u8>) -> Vec<u8> {
        match &self.partitioned {
            None => self.sim.save_after(bytes),
            Some(partitioned) => partitioned.save_after(bytes),
        }
    }
    pub fn load(bytes: &[u8]) -> Result<Self, String> {
        let Some(partitioned) = Partitioned::load(bytes) else {
            return Sim::load(bytes).map(Self::whole).map_err(|e| e.to_string());
        };
        let partitioned = partitioned.map_err(|e| e.to_string())?;
        let sim = Sim::new(partitioned.spec()).map_err(|e| e.to_string())?;
        Ok(Self { partitioned: Some(partitioned), ..Self::whole(sim) })
    }
    pub fn take_recorded(&mut self, end: bool) -> Recorded {
        self.sim.take_recorded(end)
    }
    pub fn take_decisions(&mut self) -> Vec<Log> {
        self.partitioned.as_mut().map_or_else(|| self.sim.take_decisions(), Partitioned::take_decisions)
    }
    /// See [`Sim::interval`].
    pub fn interval(&self, flow: FlowId) -> Option<&Interval> {
        self.sim.interval(flow)
    }
    /// See [`Sim::decide`].
    pub fn decide(&mut self, flow: FlowId, decided: Permit) -> bool {
        self.sim.decide(flow, decided)
    }
    pub fn feed(&mut self, next: Injection<'_>) {
        self.sim.push(next);
    }
    pub fn feed_end(&mut self) {
        self.sim.push_end();
    }
    pub fn needs_input(&self) -> bool {
        self.sim.needs_input()
    }
    pub fn take_exits(&mut self) -> Vec<Exit> {
        self.sim.take_exits()
    }
    pub fn t_min(&self, flow: FlowId, forward: bool, wire: u32) -> Span {
        self.sim.t_min(flow, forward, wire)
    }
    pub fn path(&self, flow: FlowId, forward: bool) -> Vec<PortId> {
        self.sim.path(flow, forward)
    }
    /// See [`thalweg_sim::diff::compare_some`].
    pub fn compare_some(&mut self, other: &mut Self) -> thalweg_sim::diff::Compared {
        // Event by event: of whole networks, from their beginning.
        (self.partitioned, other.partitioned) = (None, None);
        thalweg_sim::diff::compare_some(&mut self.sim, &mut other.sim)
    }
}
