//! `scheduler` of `[switch]`, `[nic]` and `switch.mix`: order of service.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

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
    // CHOICE ADS §2.2: protects the flows that keep to their share.
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

defaults! {
    quantum: Q<Bytes> = Q(Bytes::new(1500)); // one full Ethernet payload
    classes: u8 = 8; // IEEE 802.1Q
    ads_queues: u8 = 8; // ads §3.3
    ads_cap: Q<Bytes> = Q::of("2MB"); // ads §3.2
    ads_interval: Q<Span> = Q::of("5ms"); // ads §3.3
    ads_window: u32 = 10; // ads §3.3
    codel_target: Q<Span> = Q::of("5ms"); // RFC 8289 §4.4
    codel_interval: Q<Span> = Q::of("100ms"); // RFC 8289 §4.3
    even: ClassOrder = ClassOrder::Sjf; // CHOICE UPS §2.3: which flows form which class is not said
}
