//! `[slack]` and `[edge]`: what NICs write into the slack header, and what the receiving edge makes of what is left.

use super::defaults;
use crate::quantity::{Delay, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// What NICs write into the slack header of every packet as its transmission begins (Mittal et al., Universal Packet
/// Scheduling, NSDI 2016 §3). Every switch subtracts what the packet waited there, whatever its scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slack {
    /// The objective.
    #[serde(flatten)]
    pub rule: SlackRule,
    /// Added once per traffic class: longer than any wait makes classes strict (§3.4).
    #[serde(default = "default::zero")]
    pub class_offset: Q<Span>,
}

/// Rules for the initial slack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SlackRule {
    /// The same slack for every packet, against long tails of delay (FIFO+, NSDI 2016 §3.2).
    Constant(ConstantSlack),
    /// In proportion to the flow's size in packets, for short completion times; control packets have none (NSDI 2016
    /// §3.1).
    FlowSize(FlowSizeSlack),
    /// By the Virtual Clock, for fairness (NSDI 2016 §3.3).
    VirtualClock(VirtualClockSlack),
}

/// The same for every packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantSlack {
    /// Of every packet.
    #[serde(default = "default::second")]
    pub value: Q<Span>,
}

/// In proportion to the flow's size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSizeSlack {
    /// D, per packet of the flow: longer than any wait.
    #[serde(default = "default::second")]
    pub unit: Q<Span>,
}

/// By the Virtual Clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VirtualClockSlack {
    /// r_est, what a flow of weight 1 is entitled to: at most its fair share.
    #[schemars(extend("examples" = ["100Mbps"]))]
    pub rate: Q<Rate>,
    /// Count this many bytes for every packet, ACKs too, instead of its size on the wire, as the authors'
    /// simulator does.
    pub ack_full_size: Option<Q<Bytes>>,
}

/// Queue management at the receiving edge, by the slack that data packets used on their way (NSDI 2016 §4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Edge {
    /// CoDel on the delay of the whole path, per flow (NSDI 2016 §4.1).
    Codel {
        /// Queueing delay that may stand.
        #[serde(default = "default::codel_target")]
        target: Q<Span>,
        /// How long it must stand before the first drop.
        #[serde(default = "default::codel_interval")]
        interval: Q<Span>,
        /// R, a gap between send times after which the flow's queues count as empty; above `target`.
        #[serde(default = "default::refresh")]
        refresh: Q<Span>,
    },
    /// Marks ECN-capable packets that waited longer than a threshold (NSDI 2016 §4.2).
    Ecn {
        /// A time, or K packets: so many full packets' transmission times on a host's link.
        threshold: Delay,
    },
}

defaults! {
    zero: Q<Span> = Q(Span::ZERO);
    second: Q<Span> = Q::of("1s"); // NSDI 2016 §3.1, §3.2
    codel_target: Q<Span> = Q::of("5ms"); // NSDI 2016 §4.1, RFC 8289 §4.4
    codel_interval: Q<Span> = Q::of("100ms"); // NSDI 2016 §4.1, RFC 8289 §4.3
    refresh: Q<Span> = Q::of("20ms"); // NSDI 2016 App. D: 4 x target
}
