//! The life of every flow and every computation: when it starts, what follows it, and its results. The two ends of
//! a flow are kept by its hosts.

mod followers;
pub(crate) mod record;
pub(crate) mod works;

use crate::cx::Cx;
use crate::events::Phase;
use followers::Followers;
use record::FlowRecord;
use serde::{Deserialize, Serialize};
use thalweg_machines::transport::SenderStats;
use thalweg_net::spec::{Edge, End, NetworkSpec, Step};
use thalweg_units::{FlowId, Span, Time, WorkId};
use thalweg_wire::{Kind, Packet};
use works::{WorkRecord, Works};

/// Running totals of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlowTally {
    /// Flows that have started.
    pub started: u64,
    /// Flows complete at both ends.
    pub done: u64,
    /// Measured flows complete at both ends.
    pub measured_done: u64,
}

/// Every flow and every computation of the scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Flows {
    records: Vec<FlowRecord>,
    tally: FlowTally,
    /// The next flow that starts by the clock.
    next_start: u32,
    works: Works,
    #[serde(skip)]
    followers: Followers,
    /// Number of measured flows.
    #[serde(skip)]
    measured_total: u64,
}

impl Flows {
    pub fn new(spec: &NetworkSpec) -> Self {
        let records = vec![FlowRecord::default(); spec.flows.len()];
        let works = Works::new(&spec.works);
        Self {
            followers: Followers::new(&spec.precedence, &records, works.records()),
            records,
            works,
            measured_total: spec.flows.iter().filter(|f| f.measured).count() as u64,
            ..Self::default()
        }
    }

    /// The record of each flow.
    pub fn records(&self) -> &[FlowRecord] {
        &self.records
    }

    /// Running totals.
    pub fn tally(&self) -> FlowTally {
        self.tally
    }

    /// The record of each computation.
    pub fn works(&self) -> &[WorkRecord] {
        self.works.records()
    }

    /// Measured computations that are not over.
    pub fn works_left(&self) -> u64 {
        self.works.left()
    }

    /// Number of measured flows.
    pub fn measured_total(&self) -> u64 {
        self.measured_total
    }

    /// Sets the record of a flow whose ends are in several parts.
    pub fn set_record(&mut self, flow: FlowId, record: FlowRecord) {
        self.records[flow.at()] = record;
    }

    /// Sets the record of a computation of another part.
    pub fn set_work(&mut self, work: WorkId, record: WorkRecord) {
        self.works.set_record(work, record);
    }

    /// Sets the totals of several parts.
    pub fn set_tally(&mut self, tally: FlowTally, works_left: u64) {
        self.tally = tally;
        self.works.set_left(works_left);
    }

    /// Puts saved flows in place of these freshly built ones.
    pub fn resume(self, spec: &NetworkSpec, saved: Self) -> Result<Self, String> {
        if saved.records.len() != self.records.len() {
            return Err("its flows do not fit its network".into());
        }
        let works = self.works.resume(saved.works)?;
        let followers = Followers::new(&spec.precedence, &saved.records, works.records());
        Ok(Self { followers, works, measured_total: self.measured_total, ..saved })
    }

    /// Schedules the first flow at or after position `from` that starts by the clock.
    pub fn schedule_next_start(&mut self, cx: &mut Cx, from: u32) {
        let mut next = from;
        while let Some(flow) = cx.spec.flows.get(next as usize) {
            if !cx.spec.precedence.follows(FlowId(next)) && cx.boundary.is_home(flow.src) {
                cx.schedule(flow.start, Phase::Start, next);
                break;
            }
            next += 1;
        }
        self.next_start = next;
    }

    /// Starts a flow.
    pub fn start(&mut self, cx: &mut Cx, flow: FlowId) {
        if flow.0 == self.next_start {
            self.schedule_next_start(cx, flow.0 + 1);
        }
        self.tally.started += 1;
        self.records[flow.at()].started = cx.now;
        let until = cx.spec.flows[flow.at()].until;
        if until != Time::MAX {
            cx.schedule(until, Phase::Stop, flow.0);
        }
        self.release(cx, flow, End::Started);
    }

    /// Decodes the entity of [`Phase::Start`]: a flow, or a computation.
    #[inline]
    pub fn step_of(&self, entity: u32) -> Step {
        match (entity as usize).checked_sub(self.records.len()) {
            None => Step::Flow(FlowId(entity)),
            Some(work) => Step::Work(WorkId::from(work)),
        }
    }

    /// Schedules the computations that are ready by the clock.
    pub fn schedule_works(&self, cx: &mut Cx) {
        for number in (0..cx.spec.works.len()).map(WorkId::from) {
            let spec = cx.spec.works[number.at()];
            if cx.spec.precedence.of_work(number).is_empty() && cx.boundary.is_home(spec.host) {
                schedule_work(cx, spec.start, number);
            }
        }
    }

    /// Handles the event of a computation that is ready, or over.
    pub fn on_work_event(&mut self, cx: &mut Cx, work: WorkId) {
        if self.works.is_under_way(work) {
            self.end_work(cx, work);
        } else if self.works.claim_processor(work) {
            self.begin_work(cx, work);
        }
    }

    fn begin_work(&mut self, cx: &mut Cx, work: WorkId) {
        self.works.begin(work, cx.now);
        schedule_work(cx, cx.now + cx.spec.works[work.at()].lasts, work);
        self.release_by_work(cx, work, Edge::Begun);
    }

    fn end_work(&mut self, cx: &mut Cx, work: WorkId) {
        let next = self.works.end(work, cx.now);
        self.release_by_work(cx, work, Edge::Ended);
        if let Some(next) = next {
            self.begin_work(cx, next);
        }
        if !cx.spec.works[work.at()].measured {
            return;
        }
        if cx.features.partitioned {
            cx.boundary.works_ended += 1;
        } else {
            self.works.count_done();
            self.stop_if_done(cx);
        }
    }

    /// Sets the number of bytes delivered.
    pub fn deliver(&mut self, flow: FlowId, bytes: u64) {
        self.records[flow.at()].delivered = bytes;
    }

    /// Notes that a flow's last byte has arrived.
    pub fn received(&mut self, cx: &mut Cx, flow: FlowId) {
        self.records[flow.at()].received = cx.now;
        self.release(cx, flow, End::Received);
    }

    /// Notes that a flow's sender has nothing left to wait for.
    pub fn acked(&mut self, cx: &mut Cx, flow: FlowId) {
        self.records[flow.at()].acked = cx.now;
        self.release(cx, flow, End::Acked);
    }

    /// Schedules what waited for this end of a flow, and for nothing else any more, after a pause of its own.
    // CHOICE: the hosts of followers know at once, wherever they are, without a packet. This is the only
    // place where a flow starts because of what happened at another host.
    fn release(&mut self, cx: &mut Cx, flow: FlowId, end: End) {
        self.followers.released_by(flow, end).for_each(|follower| schedule_follower(cx, follower));
    }

    fn release_by_work(&mut self, cx: &mut Cx, work: WorkId, edge: Edge) {
        self.followers.released_by_work(work, edge).for_each(|follower| schedule_follower(cx, follower));
    }

    /// Counts a flow that is complete at both ends.
    pub fn count_done(&mut self, cx: &mut Cx, flow: FlowId) {
        self.tally.done += 1;
        if cx.spec.flows[flow.at()].measured {
            self.tally.measured_done += 1;
            self.stop_if_done(cx);
        }
    }

    /// Ends the run if all measured flows and computations are done.
    fn stop_if_done(&self, cx: &mut Cx) {
        let done = self.tally.measured_done == self.measured_total && self.works.left() == 0;
        cx.stopped |= done && cx.spec.stop.when_measured_done;
    }

    /// Counts a lost packet of a flow.
    pub fn lose(&mut self, packet: &Packet) {
        let record = &mut self.records[packet.flow.at()];
        record.counts.drops += 1;
        record.counts.data_drops += u64::from(packet.kind == Kind::Data);
    }

    /// Counts a packet of a flow that was cut to its header.
    pub fn trim(&mut self, flow: FlowId) {
        self.records[flow.at()].counts.trims += 1;
    }

    /// Copies what the two ends of a flow know into its record.
    pub fn write(&mut self, flow: FlowId, stats: &SenderStats, delivered: u64) {
        self.records[flow.at()].count(stats, delivered);
    }
}

/// Schedules the next event of a computation.
fn schedule_work(cx: &mut Cx, at: Time, work: WorkId) {
    cx.schedule(at, Phase::Start, cx.spec.flows.len() as u32 + work.0);
}

/// Schedules a follower that waits for nothing else: it starts, or is ready, after a pause of its own.
fn schedule_follower(cx: &mut Cx, follower: Step) {
    match follower {
        Step::Flow(flow) => {
            let pause = Span::from_ps(cx.spec.flows[flow.at()].start.ps());
            cx.schedule(cx.now + pause, Phase::Start, flow.0);
        }
        Step::Work(work) => {
            let pause = Span::from_ps(cx.spec.works[work.at()].start.ps());
            schedule_work(cx, cx.now + pause, work);
        }
    }
}
