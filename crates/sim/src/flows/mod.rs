//! The life of every flow and every computation: when it starts, what follows it, what became of it. The two ends of
//! a flow are its hosts'.

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
    /// That have started.
    pub started: u64,
    /// Complete at both ends.
    pub done: u64,
    /// Measured ones complete at both ends.
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
    /// Flows that count towards the statistics.
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

    /// What became of each.
    pub fn records(&self) -> &[FlowRecord] {
        &self.records
    }

    /// Running totals.
    pub fn tally(&self) -> FlowTally {
        self.tally
    }

    /// What became of each computation.
    pub fn works(&self) -> &[WorkRecord] {
        self.works.records()
    }

    /// Computations that the run waits for and that are not over.
    pub fn works_left(&self) -> u64 {
        self.works.left()
    }

    /// How many count towards the statistics.
    pub fn measured_total(&self) -> u64 {
        self.measured_total
    }

    /// What became of a flow whose ends are in several parts.
    pub fn set_record(&mut self, flow: FlowId, record: FlowRecord) {
        self.records[flow.at()] = record;
    }

    /// What became of a computation of another part.
    pub fn set_work(&mut self, work: WorkId, record: WorkRecord) {
        self.works.set_record(work, record);
    }

    /// The totals of several parts.
    pub fn set_tally(&mut self, tally: FlowTally, works_left: u64) {
        self.tally = tally;
        self.works.set_left(works_left);
    }

    /// Takes the place of these freshly built flows.
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
            if !cx.spec.precedence.follows(FlowId(next)) && cx.border.is_home(flow.src) {
                cx.schedule(flow.start, Phase::Start, next);
                break;
            }
            next += 1;
        }
        self.next_start = next;
    }

    /// A flow starts.
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

    /// Whose event it is that belongs to this entity ([`Phase::Start`]).
    #[inline]
    pub fn step(&self, entity: u32) -> Step {
        match (entity as usize).checked_sub(self.records.len()) {
            None => Step::Flow(FlowId(entity)),
            Some(work) => Step::Work(WorkId::from(work)),
        }
    }

    /// Schedules the computations that are ready by the clock.
    pub fn schedule_works(&self, cx: &mut Cx) {
        for number in (0..cx.spec.works.len()).map(WorkId::from) {
            let spec = cx.spec.works[number.at()];
            if cx.spec.precedence.of_work(number).is_empty() && cx.border.is_home(spec.host) {
                schedule_work(cx, spec.start, number);
            }
        }
    }

    /// A computation is ready, or over.
    pub fn work(&mut self, cx: &mut Cx, work: WorkId) {
        if self.works.is_under_way(work) {
            self.end_work(cx, work);
        } else if self.works.is_ready(work) {
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
        if cx.features.parted {
            cx.border.works_ended += 1;
        } else {
            self.works.count_done();
            self.stop_if_done(cx);
        }
    }

    /// A message has arrived whole.
    pub fn deliver(&mut self, flow: FlowId, bytes: u64) {
        self.records[flow.at()].delivered = bytes;
    }

    /// A flow's last byte has arrived.
    pub fn received(&mut self, cx: &mut Cx, flow: FlowId) {
        self.records[flow.at()].received = cx.now;
        self.release(cx, flow, End::Received);
    }

    /// A flow's sender has nothing left to wait for.
    pub fn acked(&mut self, cx: &mut Cx, flow: FlowId) {
        self.records[flow.at()].acked = cx.now;
        self.release(cx, flow, End::Acked);
    }

    /// What waited for this end of a flow, and for nothing else any more, starts after its own pause.
    // CHOICE: the hosts of followers know at once, wherever they are, without a packet. This is the only
    // place where a flow starts because of what happened at another host.
    fn release(&mut self, cx: &mut Cx, flow: FlowId, end: End) {
        self.followers.released_by(flow, end).for_each(|follower| follow(cx, follower));
    }

    fn release_by_work(&mut self, cx: &mut Cx, work: WorkId, edge: Edge) {
        self.followers.released_by_work(work, edge).for_each(|follower| follow(cx, follower));
    }

    /// A flow is complete at both ends.
    pub fn count_done(&mut self, cx: &mut Cx, flow: FlowId) {
        self.tally.done += 1;
        if cx.spec.flows[flow.at()].measured {
            self.tally.measured_done += 1;
            self.stop_if_done(cx);
        }
    }

    /// The run is over if all that it waits for is.
    fn stop_if_done(&self, cx: &mut Cx) {
        let done = self.tally.measured_done == self.measured_total && self.works.left() == 0;
        cx.stopped |= done && cx.spec.stop.when_measured_done;
    }

    /// A packet of a flow is lost.
    pub fn lose(&mut self, packet: &Packet) {
        let record = &mut self.records[packet.flow.at()];
        record.counts.drops += 1;
        record.counts.data_drops += u64::from(packet.kind == Kind::Data);
    }

    /// A packet of a flow has been cut to its header.
    pub fn trim(&mut self, flow: FlowId) {
        self.records[flow.at()].counts.trims += 1;
    }

    /// Copies what the two ends of a flow know into its record.
    pub fn write(&mut self, flow: FlowId, stats: &SenderStats, delivered: u64) {
        self.records[flow.at()].count(stats, delivered);
    }
}

/// Something happens to a computation then.
fn schedule_work(cx: &mut Cx, at: Time, work: WorkId) {
    cx.schedule(at, Phase::Start, cx.spec.flows.len() as u32 + work.0);
}

/// What waits for nothing else any more starts, or is ready, after its own pause.
fn follow(cx: &mut Cx, follower: Step) {
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
