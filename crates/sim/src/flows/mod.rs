//! The life of every flow: when it starts, what follows it, what became of it. Its two ends are its hosts'.

mod followers;
pub(crate) mod record;

use crate::cx::Cx;
use crate::events::Phase;
use followers::Followers;
use record::FlowRecord;
use serde::{Deserialize, Serialize};
use thalweg_machines::transport::SenderStats;
use thalweg_net::spec::{End, NetworkSpec};
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Kind, Packet};

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

/// Every flow of the scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Flows {
    records: Vec<FlowRecord>,
    tally: FlowTally,
    /// The next flow that starts by the clock.
    next_start: u32,
    #[serde(skip)]
    followers: Followers,
    /// Flows that count towards the statistics.
    #[serde(skip)]
    measured_total: u64,
}

impl Flows {
    pub fn new(spec: &NetworkSpec) -> Self {
        let records = vec![FlowRecord::default(); spec.flows.len()];
        Self {
            followers: Followers::new(&spec.precedence, &records),
            records,
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

    /// How many count towards the statistics.
    pub fn measured_total(&self) -> u64 {
        self.measured_total
    }

    /// What became of a flow whose ends are in several parts.
    pub fn set_record(&mut self, flow: FlowId, record: FlowRecord) {
        self.records[flow.at()] = record;
    }

    /// The totals of several parts.
    pub fn set_tally(&mut self, tally: FlowTally) {
        self.tally = tally;
    }

    /// Takes the place of these freshly built flows.
    pub fn resume(self, spec: &NetworkSpec, saved: Self) -> Result<Self, String> {
        if saved.records.len() != self.records.len() {
            return Err("its flows do not fit its network".into());
        }
        let followers = Followers::new(&spec.precedence, &saved.records);
        Ok(Self { followers, measured_total: self.measured_total, ..saved })
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
        for follower in self.followers.released_by(flow, end) {
            let pause = Span::from_ps(cx.spec.flows[follower.at()].start.ps());
            cx.schedule(cx.now + pause, Phase::Start, follower.0);
        }
    }

    /// A flow is complete at both ends.
    pub fn count_done(&mut self, cx: &mut Cx, flow: FlowId) {
        self.tally.done += 1;
        if cx.spec.flows[flow.at()].measured {
            self.tally.measured_done += 1;
            if cx.spec.stop.when_measured_done && self.tally.measured_done == self.measured_total {
                cx.stopped = true;
            }
        }
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
