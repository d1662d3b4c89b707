//! `[measure]` and `[run]`: which flows are measured, what is recorded, when the run ends.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Which flows are measured, and what is recorded in addition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Start of the measured window: flows that start before it are not measured. Flows without end are, wherever they
    /// start: by what they do within the window.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// End of the measured window: flows that start at this time or later are not measured, nor what flows without end
    /// do from then on. If not given, the end of the run.
    pub until: Option<Q<Span>>,
    /// When a flow is complete.
    #[serde(default)]
    pub fct: Fct,
    /// Upper edges of the summary's size classes, in payload bytes. One more class holds the flows above the last edge.
    #[serde(default = "default::edges")]
    pub size_classes: Vec<Q<Bytes>>,
    /// Samples of queue lengths over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueProbe>,
    /// Samples of the bytes and packets that links have carried over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<PortProbe>,
    /// Samples of the windows, round trips and progress of flows over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controllers: Option<FlowProbe>,
    /// Record every round trip that a sender measures in the measured window, and the sender's rate after it.
    #[serde(default)]
    pub round_trips: bool,
    /// Queueing delays of data packets in the measured window: the time from sender to receiver less the time in the
    /// empty network on the path of the flow (with a routing that chooses per packet, on the path of `ecmp`). The
    /// summary has their mean and percentiles. If not given, `true` if some traffic has no end (`backlogged`, `udp`).
    pub delays: Option<bool>,
    /// Record all pauses: which port was paused, from when until when, and which other pause caused it. Needs
    /// `switch.pfc`.
    #[serde(default)]
    pub pauses: bool,
    /// Record the peak occupancy of every switch input and of every memory that inputs share. Needs `switch.inputs`.
    #[serde(default)]
    pub memory: bool,
    /// Record the decisions of every congestion controller: its observations, and the window or rate that it set.
    #[serde(default)]
    pub decisions: bool,
    /// Switch ports whose arrivals and decisions are recorded, for `thalweg replay-port`, by number: link l is port 2l
    /// from its first node and port 2l + 1 from its second. Ports of a `switch` with `inputs` or a `shared_buffer` are
    /// refused: their decisions do not depend on their own arrivals alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub port_records: Vec<u32>,
    /// Record every packet: when it entered and left the network, and how long it waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketRecord>,
    /// Count packets per ADS priority at every port, which static ADS maps are computed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_histogram: Option<PriorityHistogram>,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            from: default::zero(),
            until: None,
            fct: Fct::default(),
            size_classes: default::edges(),
            queues: None,
            links: None,
            controllers: None,
            round_trips: false,
            delays: None,
            pauses: false,
            memory: false,
            decisions: false,
            port_records: Vec::new(),
            packets: None,
            priority_histogram: None,
        }
    }
}

/// When a flow is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fct {
    /// When its last byte has arrived at the receiver.
    #[default]
    Receiver,
    /// When the ACK that covers its last byte has arrived at the sender.
    Sender,
}

/// Samples of queues at regular intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueProbe {
    /// Interval between samples.
    #[schemars(extend("examples" = ["10us"]))]
    pub every: Q<Span>,
    /// Ports by number: link l is port 2l from its first node and port 2l + 1 from its second. If empty, all ports of
    /// switches, or all ports of hosts in a network without switches.
    #[serde(default)]
    pub ports: Vec<u32>,
    /// Also sample how many flows have data at the port, and in how many of its queues. Only the schedulers `fifo` and
    /// `bfc` report them.
    #[serde(default)]
    pub flows: bool,
}

/// Samples of ports at regular intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortProbe {
    /// Interval between samples.
    #[schemars(extend("examples" = ["10us"]))]
    pub every: Q<Span>,
    /// Ports by number: link l is port 2l from its first node and port 2l + 1 from its second. If empty, all ports of
    /// switches, or all ports of hosts in a network without switches.
    #[serde(default)]
    pub ports: Vec<u32>,
}

/// Samples of flows at regular intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowProbe {
    /// Interval between samples.
    #[schemars(extend("examples" = ["10us"]))]
    pub every: Q<Span>,
    /// Flows by number. If empty, the first 16.
    #[serde(default)]
    pub flows: Vec<u32>,
}

/// A record of every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketRecord {
    /// Also record when the packet arrived at every switch port on its path, and when its transmission there began.
    #[serde(default)]
    pub hops: bool,
}

/// Counts of packets per ADS priority.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityHistogram {
    /// Remaining sizes above this count as this size.
    #[serde(default = "default::cap")]
    pub cap: Q<Bytes>,
    /// Bytes per priority: the priority of a packet is the remaining size of its flow in steps of this, rounded up.
    #[serde(default = "default::mtu")]
    pub mtu: Q<Bytes>,
}

/// When the run ends: whichever comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Simulated time after which the run ends.
    #[serde(default = "default::until")]
    pub until: Q<Span>,
    /// End the run as soon as every measured flow is complete at its sender and its receiver. With a measured flow
    /// without end the run always lasts until `until`.
    #[serde(default = "default::yes")]
    pub stop_when_done: bool,
    /// End the run after this many events. If not given, there is no limit.
    #[schemars(range(min = 1))]
    pub max_events: Option<u64>,
    /// The order of events at the same instant.
    #[serde(default)]
    pub ties: Ties,
    /// Check invariants after every event (conservation of packets, accounting of buffers, order of delivery). Slow.
    #[serde(default)]
    pub check: bool,
    /// Number of threads for this run, at most the number of parts into which its network can be cut. Results do not
    /// depend on it. If not given, the command decides: one per core for a large network that can be cut.
    #[schemars(range(min = 1))]
    pub threads: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            until: default::until(),
            stop_when_done: true,
            max_events: None,
            ties: Ties::Drawn,
            check: false,
            threads: None,
        }
    }
}

/// The order of events at the same instant: arrivals of packets, expiries of timers, decisions of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// A random order, drawn from the seed at every instant, so that equal senders share the disadvantage of coming
    /// second.
    #[default]
    Drawn,
    /// The lower number first, always: for schedules that are computed by hand.
    ByNumber,
}

defaults! {
    zero: Q<Span> = Q(Span::ZERO);
    edges: Vec<Q<Bytes>> = ["10KB", "100KB", "1MB", "10MB"].map(Q::of).to_vec();
    cap: Q<Bytes> = Q::of("2MB");
    mtu: Q<Bytes> = Q::of("1500B");
    until: Q<Span> = Q::of("1s");
    yes: bool = true;
}
