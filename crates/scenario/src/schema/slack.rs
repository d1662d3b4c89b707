//! `[slack]` and `[edge]`: the slack that NICs write into packets, and queue management by the slack that packets used.

use super::defaults;
use crate::quantity::{Delay, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// The slack that NICs write into the header of every packet when its transmission begins (Mittal et al., Universal
/// Packet Scheduling, NSDI 2016 §3). Every switch subtracts the time that the packet waited there, whatever its
/// scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slack {
    /// The rule for the initial slack, by objective.
    #[serde(flatten)]
    pub rule: SlackRule,
    /// Slack added per traffic class. If it is longer than any waiting time, classes have strict priority (§3.4).
    #[serde(default = "default::zero")]
    pub class_offset: Q<Span>,
}

/// Rules for the initial slack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SlackRule {
    /// The same slack for every packet, which shortens the tail of delays (FIFO+, NSDI 2016 §3.2).
    Constant(ConstantSlack),
    /// Slack in proportion to the flow's size in packets, for short completion times. Control packets have none (NSDI
    /// 2016 §3.1).
    FlowSize(FlowSizeSlack),
    /// Slack by the Virtual Clock, for fairness (NSDI 2016 §3.3).
    VirtualClock(VirtualClockSlack),
}

/// The same slack for every packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantSlack {
    /// Slack of every packet.
    #[serde(default = "default::second")]
    pub value: Q<Span>,
}

/// Slack in proportion to the flow's size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSizeSlack {
    /// D: slack per packet of the flow. It should be longer than any waiting time.
    #[serde(default = "default::second")]
    pub unit: Q<Span>,
}

/// Slack by the Virtual Clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VirtualClockSlack {
    /// r_est: rate to which a flow of weight 1 is entitled. It should be at most the fair share.
    #[schemars(extend("examples" = ["100Mbps"]))]
    pub rate: Q<Rate>,
    /// Bytes that every packet counts with, ACKs too, instead of its size on the wire: as in the authors' simulator. If
    /// not given, the size on the wire.
    pub ack_full_size: Option<Q<Bytes>>,
}

/// Queue management at the receiving edge, by the slack that data packets used on their path (NSDI 2016 §4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Edge {
    /// CoDel, per flow, on the queueing delay of the whole path (NSDI 2016 §4.1).
    Codel {
        /// Target: acceptable standing queueing delay.
        #[serde(default = "default::codel_target")]
        target: Q<Span>,
        /// How long the delay must stay above the target before the first drop.
        #[serde(default = "default::codel_interval")]
        interval: Q<Span>,
        /// R: gap between send times after which the queues of the flow count as empty. It must be above `target`.
        #[serde(default = "default::refresh")]
        refresh: Q<Span>,
    },
    /// Marks ECN-capable packets whose queueing delay exceeds a threshold (NSDI 2016 §4.2).
    Ecn {
        /// The threshold: a time, or K packets, each for the transmission time of a full packet on a host's link.
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
