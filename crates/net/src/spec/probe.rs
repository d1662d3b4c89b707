//! What is recorded besides the flows.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, PortId, Span, Time};

/// Time series.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Queue length of these ports every so often.
    pub queues: Option<(Span, Vec<PortId>)>,
    /// And of how many flows packets wait there, in how many queues, where orders report that.
    pub queue_flows: bool,
    /// Bytes and packets carried by these ports every so often.
    pub links: Option<(Span, Vec<PortId>)>,
    /// Bytes carried by every port between two instants.
    pub carried: Option<(Time, Time)>,
    /// Window, threshold, flight, smoothed RTT, delivered bytes of these flows every so often.
    pub controllers: Option<(Span, Vec<FlowId>)>,
    /// Count packets per ADS priority (of this cap and MTU) at every port: input of static ADS maps.
    pub priority_histogram: Option<(Bytes, u32)>,
    /// Every round trip that a sender measured in this window, and its pace after it.
    pub completions: Option<(Time, Time)>,
    /// Count what data packets waited on their way.
    pub delays: Option<DelaySpec>,
    /// Keep a list of all pauses.
    pub pauses: bool,
    /// Keep the most that each input of a switch, and each shared memory, has held.
    pub memory: bool,
    /// Record the decisions of every controller.
    pub decisions: bool,
    /// Record what passes these ports, which have these names.
    pub ports: Vec<(PortId, String)>,
    /// Record every packet.
    pub record: Option<RecordSpec>,
}

/// How much of each packet is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSpec {
    /// When it came to every hop and when its service began there, too.
    pub hops: bool,
}

/// Which packets are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelaySpec {
    /// Those that arrive from this instant on.
    pub from: Time,
    /// And before this one.
    pub until: Time,
    /// By [`FlowSpec::group`](super::FlowSpec::group): whether its packets count.
    pub groups: Vec<bool>,
}
