//! `[[traffic]]`: the flows that hosts send. One file per family of traffic.

mod arrivals;
mod collective;
mod course;
mod declare;
mod drafts;
mod job;
mod list;
mod order;
mod partners;
mod rounds;
mod section;
pub mod sizes;

// One file each of the list below.
mod all_to_all;
mod backlogged;
mod chakra;
mod flow;
mod flow_list;
mod goal;
mod halving_doubling;
mod hierarchical;
mod incast;
mod permutation;
mod poisson;
mod request_response;
mod ring_all_gather;
mod ring_all_reduce;
mod rpc;
mod simai;
mod tree_all_reduce;
mod udp;

pub use all_to_all::Exchange;
pub use arrivals::Arrivals;
pub(crate) use chakra::translate_alone as translate_chakra;
pub(crate) use course::{Course, Fluid};
use declare::default;
pub(crate) use declare::{Arrives, Family};
pub(crate) use drafts::{Draft, Drafts, MOST_FLOWS, WorkDraft};
pub use flow_list::ListFormat;
pub(crate) use goal::assemble as assemble_goal;
pub use incast::Senders;
pub use partners::{LoadOf, Pairs};
pub use poisson::Process;
pub use rpc::Servers;
pub(crate) use section::{Expected, Section};
pub(crate) use simai::translate_twice as translate_simai;
pub use sizes::{Interpolation, Sizes};
pub use udp::Spacing;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The one list. Each family has a file of its own, which declares its keys ([`Family`]).
list::families! {
    poisson: Poisson, "poisson";
    permutation: Permutation, "permutation";
    all_to_all: AllToAll, "all-to-all";
    incast: Incast, "incast";
    flow_list: FlowList, "list";
    backlogged: Backlogged, "backlogged";
    flow: Flow, "flow";
    request_response: RequestResponse, "request-response";
    rpc: Rpc, "rpc";
    ring_all_reduce: RingAllReduce, "ring-all-reduce";
    ring_all_gather: RingAllGather, "ring-all-gather";
    halving_doubling: HalvingDoubling, "halving-doubling-all-reduce";
    hierarchical: Hierarchical, "hierarchical-all-reduce";
    tree_all_reduce: TreeAllReduce, "tree-all-reduce";
    goal: Goal, "goal";
    chakra: Chakra, "chakra";
    simai: SimAi, "simai";
    udp: UdpStream, "udp";
}

/// A section of traffic. Every section has random streams of its own, so changing one section does not change the flows
/// of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// The family of the traffic.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// Name of the section in tables, legends and metrics, different from all others. If not given: the transport or
    /// controller if sections differ by that, else the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Transport of the section's flows: the name of one of `[transports]` (`default` is `[transport]`); or a table
    /// with keys of `transport`, such as `{ congestion = "bbr" }`, which override those of `[transport]`; or, in short,
    /// the name of a controller or of a kind of transport.
    #[serde(default = "default::transport")]
    #[schemars(extend("x-table" = "transport", "examples" = ["default", "bbr"]))]
    pub transport: String,
    /// Which flows share a connection, and with it the state of a queue pair. Only with transports of kind `rdma`.
    #[serde(default)]
    pub connection: ConnectionSharing,
    /// Traffic class of the section's data packets. The scheduler `priority` serves class 0 first.
    #[serde(default)]
    pub class: u8,
    /// Weight of the section's flows under the slack rule `virtual-clock`: each flow is entitled to this many times
    /// `slack.rate`.
    #[serde(default = "default::weight")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
    pub weight: f64,
    /// Whether the section's flows are measured, if they start in the measured window.
    #[serde(default = "default::yes")]
    pub measured: bool,
}

impl Traffic {
    /// True if the section's flows use this transport of the scenario, and not one that the family brings.
    pub(crate) fn uses_transport(&self, name: &str) -> bool {
        self.transport == name && !self.pattern.family().brings_transport()
    }
}

/// Which flows share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionSharing {
    /// None: every flow has a connection of its own.
    #[default]
    Fresh,
    /// Flows of the section from one host to another share one: a flow starts when the one before is complete, in the
    /// order of their starts, and the controller keeps its state.
    PerPair,
    /// Flows of the section from one host to another share one, and follow each other without a gap in the order of
    /// their starts, as messages of one stream. The first packet of a flow follows the last one of the flow before as
    /// rate and window allow. Counts of packets (losses, retransmissions, round trips) are added to the first flow of
    /// the connection.
    BackToBack,
}

#[cfg(test)]
mod tests;
