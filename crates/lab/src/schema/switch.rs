//! `[switch]` and `[nic]`: output queues.

use super::{Inputs, Pfc, defaults};
use crate::quantity::{Capacity, Length, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Output queues of switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Which packet leaves next, and which is given up when the buffer is full.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// What one port may hold, all its queues together; the packet being transmitted does not count. `500KB` if not given;
    /// with `inputs`, `"unlimited"`.
    pub buffer: Option<Capacity>,
    /// Whether and when packets are marked or dropped before the buffer is full.
    #[serde(default)]
    pub marking: Marking,
    /// Memory shared by all ports of a switch; without it every port has its own `buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBuffer>,
    /// Memory by the input at which packets came, instead of output queues with limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Inputs>,
    /// Priority flow control: full inputs make their upstream neighbours pause. Needs `inputs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Pfc>,
    /// ACKs, NACKs, notifications and set-up pass everything else at every port, hosts' too; no switch counts them, and no
    /// pause holds them but `nic.pause_control`.
    #[serde(default)]
    pub control_first: bool,
    /// A packet that should go first interrupts the one being transmitted, which later resumes where it stopped. Not for
    /// schedulers that serve in turns.
    #[serde(default)]
    pub preemptive: bool,
    /// Another scheduler at some switches, with the same buffer and marking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// Forward a packet when this many of its bytes have arrived instead of storing all of it; `0B` stores.
    #[serde(default = "default::store")]
    pub cut_through: Q<Bytes>,
}

impl Switch {
    /// What one port may hold.
    pub(crate) fn room(&self) -> Capacity {
        let own = || if self.inputs.is_some() { Capacity::Unlimited } else { default::buffer() };
        self.buffer.unwrap_or_else(own)
    }
}

impl Default for Switch {
    fn default() -> Self {
        Self {
            scheduler: Scheduler::default(),
            buffer: None,
            marking: Marking::default(),
            shared_buffer: None,
            inputs: None,
            pfc: None,
            control_first: false,
            preemptive: false,
            mix: None,
            cut_through: default::store(),
        }
    }
}

/// Output queues of hosts. A host's queue runs the scheduler under test unless told otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Who is asked for the next packet.
    #[serde(default)]
    pub order: NicOrder,
    /// A pause holds ACKs, NACKs and notifications too, not only data.
    #[serde(default = "default::yes")]
    pub pause_control: bool,
    /// Which packet leaves next; as `switch.scheduler` if not given.
    pub scheduler: Option<Scheduler>,
    /// What the port may hold; as `switch.buffer` if not given.
    pub buffer: Option<Capacity>,
    /// Marking; as `switch.marking` if not given.
    pub marking: Option<Marking>,
}

impl Default for Nic {
    fn default() -> Self {
        Self { order: NicOrder::default(), pause_control: true, scheduler: None, buffer: None, marking: None }
    }
}

/// How a host hands packets to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NicOrder {
    /// Flows put what they may send into the port's queue, which its scheduler orders.
    #[default]
    Queue,
    /// A packet from each flow that may send in turn, whenever the link is free; control packets before them. What RDMA NICs
    /// do.
    RoundRobin,
}

/// A switch's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// Of one switch.
    pub total: Q<Bytes>,
    /// How ports share it.
    #[serde(default)]
    pub sharing: Sharing,
}

/// Another scheduler at some switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Instead of `switch.scheduler`.
    #[schemars(extend("examples" = ["lstf"]))]
    pub scheduler: Scheduler,
    /// At which switches.
    #[serde(default)]
    pub nodes: Nodes,
}

/// Which switches.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Nodes {
    /// Those with odd numbers.
    // CHOICE NSDI 2016 §2.3: half of the routers run another scheduler; which half is not said.
    #[default]
    Odd,
    /// Those with even numbers.
    Even,
    /// These.
    Listed {
        /// By number; switches follow the hosts.
        nodes: Vec<u32>,
    },
}

impl Nodes {
    /// True if the node is one of them.
    pub(crate) fn has(&self, node: u32) -> bool {
        match self {
            Self::Odd => !node.is_multiple_of(2),
            Self::Even => node.is_multiple_of(2),
            Self::Listed { nodes } => nodes.contains(&node),
        }
    }
}

/// How the ports of a switch share its memory.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sharing {
    /// First come, first served.
    #[default]
    Complete,
    /// A port may hold alpha × the free bytes (Choudhury & Hahne, IEEE/ACM ToN 1998).
    Dynamic {
        /// alpha.
        #[serde(default = "default::alpha")]
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        alpha: f64,
    },
}

/// Order of service.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduler {
    /// First come, first served; drops the arriving packet.
    #[default]
    Fifo,
    /// Deficit round robin over flows (Shreedhar & Varghese, SIGCOMM 1995).
    Drr {
        /// Added to a flow's deficit per round.
        #[serde(default = "default::quantum")]
        quantum: Q<Bytes>,
        /// Victim on overflow.
        #[serde(default)]
        overflow: Overflow,
    },
    /// Fair queueing by finish numbers of bit-by-bit round robin (Demers, Keshav, Shenker, SIGCOMM 1989).
    Fq {
        /// Victim on overflow.
        #[serde(default)]
        overflow: Overflow,
    },
    /// Strict priority over the traffic class; 0 is served first (IEEE 802.1Q §8.6.8.1).
    Priority {
        /// Number of classes; higher classes share the last.
        #[serde(default = "default::classes")]
        #[schemars(range(min = 1, max = 255))]
        classes: u8,
    },
    /// Shortest job first: smallest flow size first; drops the latest packet of the largest flow.
    Sjf,
    /// Shortest remaining processing time (pFabric, SIGCOMM 2013): fewest remaining bytes first, earliest
    /// packet of that flow; drops the packet with the most remaining bytes.
    Srpt,
    /// Approximate and deployable SRPT: a few strict-priority FIFOs behind a table from remaining size to queue
    /// (Mushtaq et al., ACM CCR, §3).
    Ads {
        /// k, the number of FIFOs.
        #[serde(default = "default::ads_queues")]
        #[schemars(range(min = 1, max = 64))]
        queues: u8,
        /// Remaining sizes above this count as this.
        #[serde(default = "default::ads_cap")]
        cap: Q<Bytes>,
        /// Bytes per priority step: priority = min(remaining, cap) / mtu, rounded up.
        #[serde(default = "default::quantum")]
        mtu: Q<Bytes>,
        /// Where the table comes from.
        #[serde(default)]
        map: AdsMap,
    },
    /// Last come, first served; drops the arriving packet.
    Lifo,
    /// Any waiting packet, all equally likely; drops the arriving packet.
    Random,
    /// Least slack time first: least slack of the last bit, the wait is subtracted at every switch (Mittal et al.,
    /// Universal Packet Scheduling, NSDI 2016); needs `[slack]`.
    Lstf {
        /// Slacks are cut down to whole multiples of this and packets of one bucket leave in order of arrival, as in a
        /// calendar queue; exact if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bucket: Option<Q<Span>>,
    },
    /// A push-in first-out queue: lowest rank header first, in order of arrival among equals; drops the highest (Sivaraman
    /// et al., SIGCOMM 2016). Say what senders write: `transport.rank`.
    Pifo,
    /// Packet by packet round robin over flows, new flows first; drops from the longest queue in packets (stochastic fair
    /// queueing: McKenney, INFOCOM 1990).
    RoundRobin {
        /// Flows are hashed into so many queues; every flow and direction has its own if not given.
        #[schemars(range(min = 1, max = 1_000_000))]
        bins: Option<u32>,
    },
    /// The same with CoDel in every queue (FQ-CoDel, RFC 8290, with a quantum of one packet).
    FqCodel {
        /// Flows are hashed into so many queues; every flow and direction has its own if not given.
        #[schemars(range(min = 1, max = 1_000_000))]
        bins: Option<u32>,
        /// Queueing delay that may stand.
        #[serde(default = "default::codel_target")]
        target: Q<Span>,
        /// How long it must stand before the first drop.
        #[serde(default = "default::codel_interval")]
        interval: Q<Span>,
        /// With no more than this in the queue delay does not count.
        #[serde(default = "default::quantum")]
        mtu: Q<Bytes>,
    },
    /// A packet from each input of the switch in turn, first come, first served inside: the outputs of a switch with virtual
    /// output queues (IRN §4.3.1). Needs `switch.inputs`.
    InputRoundRobin,
    /// Two classes, flows of even and of odd number, that send a packet each in turn (NSDI 2016 §2.3: FQ between SJF and
    /// FIFO).
    Parity {
        /// Order among flows of even number.
        #[serde(default = "default::even")]
        even: ClassOrder,
        /// Order among flows of odd number.
        #[serde(default)]
        odd: ClassOrder,
    },
    /// A scheduler registered by the user.
    #[schemars(extend("x-registry" = "schedulers"))]
    Custom {
        /// The name it was registered under.
        name: String,
        /// What its factory is given, as JSON.
        #[serde(default)]
        #[schemars(schema_with = "super::anything")]
        params: serde_json::Value,
    },
}

/// Order inside a class of the scheduler `parity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassOrder {
    /// First come, first served.
    #[default]
    Fifo,
    /// Last come, first served.
    Lifo,
    /// Any, all equally likely.
    Random,
    /// Smallest flow size first.
    Sjf,
    /// Fewest remaining bytes first.
    Srpt,
}

/// Victim of a fair queue's overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// The tail of the longest queue in bytes.
    // CHOICE (ads M2.2): protects the flows that keep to their share.
    #[default]
    LongestQueue,
    /// The arriving packet.
    Tail,
}

/// The control plane of ADS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AdsMap {
    /// Recomputed from what each port has seen lately.
    Dynamic {
        /// I, time between two computations.
        #[serde(default = "default::ads_interval")]
        interval: Q<Span>,
        /// W, number of intervals that count.
        #[serde(default = "default::ads_window")]
        #[schemars(range(min = 1, max = 100_000))]
        window: u32,
    },
    /// Computed once, from a histogram of packet priorities.
    Static {
        /// CSV `priority,packets` or `port,priority,packets` (one histogram per port), relative to the scenario.
        file: Option<String>,
        /// Instead of a file: packets of priority 0, 1, 2, ..
        counts: Option<Vec<u64>>,
    },
}

impl Default for AdsMap {
    fn default() -> Self {
        Self::Dynamic { interval: default::ads_interval(), window: default::ads_window() }
    }
}

/// Active queue management.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Marking {
    /// The buffer's limit alone.
    #[default]
    None,
    /// Marks ECN-capable packets when the queue has reached a threshold (DCTCP, SIGCOMM 2010).
    Step {
        /// K: a packet is marked that meets at least this much.
        threshold: Length,
        /// When it is decided.
        #[serde(default)]
        at: MarkAt,
        /// At departure: count the departing packet too, and mark above the threshold only.
        #[serde(default)]
        include_self: bool,
    },
    /// Random early detection (Floyd & Jacobson, IEEE/ACM ToN 1993).
    Red {
        /// min_th, packets.
        #[schemars(extend("minimum" = 0.0, "examples" = [5]))]
        min: f64,
        /// max_th, packets.
        #[schemars(extend("exclusiveMinimum" = 0.0, "examples" = [15]))]
        max: f64,
        /// max_p.
        #[serde(default = "default::red_probability")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        max_probability: f64,
        /// w_q, weight of the instantaneous queue in the average; 1 follows it exactly.
        #[serde(default = "default::red_weight")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        weight: f64,
        /// Above max_th the probability rises linearly to 1 at 2 max_th instead of jumping.
        #[serde(default = "default::yes")]
        gentle: bool,
        /// Mark ECN-capable packets instead of dropping them; on if a transport is ECN-capable.
        ecn: Option<bool>,
        /// A typical packet, for the average over idle times.
        #[serde(default = "default::quantum")]
        mean_packet: Q<Bytes>,
    },
    /// Marks with a probability that rises with the queue as it is, in bytes: DCQCN's congestion point (Zhu et al., SIGCOMM
    /// 2015, §3.1).
    Ramp {
        /// K_min: up to here nothing is marked.
        #[schemars(extend("examples" = ["5KB"]))]
        min: Q<Bytes>,
        /// K_max: above, everything is marked.
        #[schemars(extend("examples" = ["200KB"]))]
        max: Q<Bytes>,
        /// P_max, the probability at K_max.
        #[serde(default = "default::ramp_probability")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        max_probability: f64,
        /// When it is decided: as a packet arrives, from the queue with it; as it leaves, from the queue it leaves behind.
        #[serde(default)]
        at: MarkAt,
    },
    /// Controlled delay (RFC 8289): drops as packets leave when they have waited too long for too long.
    Codel {
        /// Queueing delay that may stand.
        #[serde(default = "default::codel_target")]
        target: Q<Span>,
        /// How long it must stand before the first drop.
        #[serde(default = "default::codel_interval")]
        interval: Q<Span>,
        /// With no more than this in the queue delay does not count.
        #[serde(default = "default::quantum")]
        mtu: Q<Bytes>,
    },
}

/// When marking decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// As a packet arrives, from the queue it meets.
    #[default]
    Arrival,
    /// As a packet leaves, from the queue it leaves behind.
    Departure,
}

defaults! {
    buffer: Capacity = Capacity::Bytes(Bytes::kb(500)); // ads §2.2
    store: Q<Bytes> = Q(Bytes::ZERO);
    alpha: f64 = 1.0;
    quantum: Q<Bytes> = Q(Bytes::new(1500)); // one full Ethernet payload
    classes: u8 = 8; // IEEE 802.1Q
    ads_queues: u8 = 8; // ads §3.3
    ads_cap: Q<Bytes> = Q::of("2MB"); // ads §3.2
    ads_interval: Q<Span> = Q::of("5ms"); // ads §3.3
    ads_window: u32 = 10; // ads §3.3
    red_probability: f64 = 0.1; // Floyd's "gentle" note, 2000
    ramp_probability: f64 = 0.01; // DCQCN §4
    red_weight: f64 = 0.002; // Floyd & Jacobson §6
    yes: bool = true;
    codel_target: Q<Span> = Q::of("5ms"); // RFC 8289 §4.4
    codel_interval: Q<Span> = Q::of("100ms"); // RFC 8289 §4.3
    even: ClassOrder = ClassOrder::Sjf; // CHOICE NSDI 2016 §2.3: which flows form which class is not said
}
