//! The one place that touches the simulator.
//!
//! Stand-in until `thalweg_sim::Sim` exists: the same operations, no simulation. Only this file changes
//! when it does.

use serde::{Deserialize, Serialize};
use thalweg_sim::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span, Time};

/// Running totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub events: u64,
    pub packet_hops: u64,
    pub packets_dropped: u64,
    pub packets_marked: u64,
    pub flows_started: u64,
    pub flows_done: u64,
    pub flows_total: u64,
    pub measured_done: u64,
    pub measured_total: u64,
}

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowOutcome {
    pub started: Option<Time>,
    pub received: Option<Time>,
    pub acked: Option<Time>,
    pub delivered: u64,
    pub sent: u32,
    pub retransmitted: u32,
    pub timeouts: u32,
    pub drops: u32,
    pub ideal: Span,
    pub ideal_acked: Span,
}

/// What a port has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortTotals {
    pub packets: u64,
    pub bytes: u64,
    pub dropped: u64,
    pub marked: u64,
    pub max_queue: u64,
    /// Packet · ps.
    pub waited: u64,
}

/// One look at one queue.
pub(crate) struct QueueSample {
    pub at: Time,
    pub port: PortId,
    pub packets: u32,
    pub bytes: u64,
    pub dropped: u64,
    pub marked: u64,
}

/// One look at one link direction.
pub(crate) struct LinkSample {
    pub at: Time,
    pub port: PortId,
    pub packets: u64,
    pub bytes: u64,
}

/// One look at one sender.
pub(crate) struct ControllerSample {
    pub at: Time,
    pub flow: FlowId,
    pub window: u64,
    pub threshold: u64,
    pub in_flight: u64,
    pub srtt: u64,
    pub delivered: u64,
}

/// What the probes have seen.
#[derive(Default)]
pub(crate) struct Probes {
    pub queues: Vec<QueueSample>,
    pub links: Vec<LinkSample>,
    pub controllers: Vec<ControllerSample>,
    /// Per port, per ADS priority.
    pub priorities: Vec<Vec<u64>>,
}

/// A simulated network.
#[derive(Serialize, Deserialize)]
pub(crate) struct Engine {
    spec: NetworkSpec,
    stopped: bool,
}

impl Engine {
    pub fn new(spec: NetworkSpec) -> Result<Self, String> {
        Ok(Self { spec, stopped: false })
    }
    pub fn run(&mut self, _max_events: u64) -> bool {
        self.stopped = true;
        false
    }
    /// As `run`, with the invariants checked.
    pub fn run_checked(&mut self, max_events: u64) -> Result<bool, String> {
        Ok(self.run(max_events))
    }
    pub fn now(&self) -> Time {
        if self.stopped { self.spec.stop.until } else { Time::ZERO }
    }
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }
    pub fn counters(&self) -> Counters {
        let measured = self.spec.flows.iter().filter(|f| f.measured).count() as u64;
        Counters {
            flows_total: self.spec.flows.len() as u64,
            measured_total: measured,
            ..Counters::default()
        }
    }
    pub fn outcome(&self, _flow: FlowId) -> FlowOutcome {
        FlowOutcome::default()
    }
    pub fn totals(&self, _port: PortId) -> PortTotals {
        PortTotals::default()
    }
    pub fn probes(&self) -> Probes {
        Probes::default()
    }
    pub fn digest(&self) -> u64 {
        0
    }
    pub fn save(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
    pub fn load(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|e| e.to_string())
    }
}
