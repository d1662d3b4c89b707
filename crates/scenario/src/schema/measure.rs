//! `[measure]` and `[run]`: what counts, what is recorded, when it ends.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Which flows count, and what is recorded besides them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Flows that start before do not count. Flows without end do, wherever they start: what they do from here on.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// Flows that start at this time or later do not count, nor what flows without end do then; the end of the run if
    /// not given.
    pub until: Option<Q<Span>>,
    /// When a flow is complete.
    #[serde(default)]
    pub fct: Fct,
    /// Upper edges of the size classes of the summary, payload; a class above the last edge is added.
    #[serde(default = "default::edges")]
    pub size_classes: Vec<Q<Bytes>>,
    /// Queue lengths over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueProbe>,
    /// Bytes and packets that links carried over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<PortProbe>,
    /// Windows, round trips and progress of flows over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controllers: Option<FlowProbe>,
    /// Every round trip that a sender measured in the measured window, and its rate after it.
    #[serde(default)]
    pub round_trips: bool,
    /// What data packets waited on their way: how long each took from its sender to its receiver in the measured
    /// window, less what it takes alone on its flow's path (that of `ecmp` where rules choose packet by packet). Mean
    /// and percentiles over packets, in the summary. If not given, measured where some traffic has no end
    /// (`backlogged`, `udp`).
    pub delays: Option<bool>,
    /// A list of all pauses of PFC: of which port, from when until when, and which other pause was the cause.
    #[serde(default)]
    pub pauses: bool,
    /// The most that each input of a switch, and each memory that inputs share, has held. Needs `switch.inputs`.
    #[serde(default)]
    pub memory: bool,
    /// Record the decisions of every congestion controller: what it observed, and what it allowed after that.
    #[serde(default)]
    pub decisions: bool,
    /// Ports of switches whose arrivals and decisions are recorded, for `thalweg replay-port`: link l is port 2l
    /// from its first node and 2l + 1 from its second. A port whose decisions depend on more than what arrives
    /// there is refused: one of a `switch` with `inputs` or a `shared_buffer`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub port_records: Vec<u32>,
    /// Record every packet: when it entered the network, when it left, how long it waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketRecord>,
    /// Count packets per ADS priority at every port: the input of static ADS maps.
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

/// Samples of queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueProbe {
    /// Time between samples.
    #[schemars(extend("examples" = ["10us"]))]
    pub every: Q<Span>,
    /// Ports: link l is port 2l from its first node and 2l + 1 from its second; empty: all ports of switches,
    /// or of hosts where there is no switch.
    #[serde(default)]
    pub ports: Vec<u32>,
    /// Also of how many flows data waits, and in how many queues. Schedulers `fifo` and `bfc` report them.
    #[serde(default)]
    pub flows: bool,
}

/// Samples of ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortProbe {
    /// Time between samples.
    #[schemars(extend("examples" = ["10us"]))]
    pub every: Q<Span>,
    /// Ports: link l is port 2l from its first node and 2l + 1 from its second; empty: all ports of switches,
    /// or of hosts where there is no switch.
    #[serde(default)]
    pub ports: Vec<u32>,
}

/// Samples of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowProbe {
    /// Time between samples.
    #[schemars(extend("examples" = ["10us"]))]
    pub every: Q<Span>,
    /// Flows by their number; empty: the first 16.
    #[serde(default)]
    pub flows: Vec<u32>,
}

/// Every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketRecord {
    /// Also when it came to every switch port on its way and when its transmission began there.
    #[serde(default)]
    pub hops: bool,
}

/// Packets per ADS priority.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityHistogram {
    /// Remaining sizes above this count as this.
    #[serde(default = "default::cap")]
    pub cap: Q<Bytes>,
    /// Bytes per priority step.
    #[serde(default = "default::mtu")]
    pub mtu: Q<Bytes>,
}

/// When the run ends: whichever comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Simulated time.
    #[serde(default = "default::until")]
    pub until: Q<Span>,
    /// As soon as every measured flow is complete at both ends. A measured flow without end never is: then the run goes
    /// on until `until`.
    #[serde(default = "default::yes")]
    pub stop_when_done: bool,
    /// Number of events; unlimited if not given.
    #[schemars(range(min = 1))]
    pub max_events: Option<u64>,
    /// Which of several events of one instant is first.
    #[serde(default)]
    pub ties: Ties,
    /// Check invariants after every event (packet conservation, buffer accounting, order); slow.
    #[serde(default)]
    pub check: bool,
    /// Threads for this one run, as many at most as its network can be cut into parts: the result is the same. If not
    /// given, the command decides: a large network that can be cut gets one per core.
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

/// Who is first among equals at one instant: packets that land, timers that expire, ports that decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Drawn anew at every instant from the seed: equal senders share what being second costs.
    #[default]
    Drawn,
    /// Always the one with the lower number: for schedules that are computed by hand.
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
