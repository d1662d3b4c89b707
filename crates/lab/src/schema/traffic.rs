//! `[[traffic]]`: who sends what to whom.

use super::{Poisson, Rpc, defaults};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// One section of traffic. Sections draw from their own random streams: changing one leaves the others alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// What it is.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// What tables, legends and metrics call the section; no two are called alike. If not given: after its transport
    /// or controller where sections differ by that, else after its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How its flows talk: the name of one of `[transports]` (`default` is `[transport]`); a table with keys of
    /// `transport`, such as `{ congestion = "bbr" }`, which has all else from `[transport]`; or, for short, the name
    /// of a controller or of a kind of transport.
    #[serde(default = "default::transport")]
    #[schemars(extend("x-table" = "transport", "examples" = ["default", "bbr"]))]
    pub transport: String,
    /// Which flows share a connection, and with it a queue pair's state. Only with transports of kind `rdma`.
    #[serde(default)]
    pub connection: Connection,
    /// Traffic class of its data: 0 is served first by the scheduler `priority`.
    #[serde(default)]
    pub class: u8,
    /// Weight of its flows under the slack rule `virtual-clock`: each is entitled to this many times `slack.rate`.
    #[serde(default = "default::weight")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
    pub weight: f64,
    /// Whether its flows count (those that start in the measured window).
    #[serde(default = "default::yes")]
    pub measured: bool,
}

/// Which flows share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// None: every flow has one of its own.
    #[default]
    Fresh,
    /// Those of this section from one host to another: one after the other, in the order of their starts, and
    /// the controller goes on where the flow before left it.
    PerPair,
    /// Those of this section from one host to another: back to back, in the order of their starts, as
    /// messages of one stream. A flow's first packet follows the last one of the flow before as rate and
    /// window allow; what is counted per packet (losses, retransmissions, round trips) stands with the first
    /// flow of the connection.
    BackToBack,
}

/// Patterns of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Pattern {
    /// Flows arrive at random at a target load.
    Poisson(Poisson),
    /// Every host sends one flow and receives one.
    Permutation(Permutation),
    /// Every host sends one flow to every other.
    AllToAll(AllToAll),
    /// Many hosts send to one at once.
    Incast(Incast),
    /// Flows from a file.
    List(List),
    /// Flows without end, or with one in time.
    Backlogged(Backlogged),
    /// One flow.
    Flow(Flow),
    /// A client asks, a server answers, again and again.
    RequestResponse(RequestResponse),
    /// Clients ask servers at random times, whether or not earlier answers have come (Mittal et al., TIMELY,
    /// SIGCOMM 2015, §6.2).
    Rpc(Rpc),
    /// Open-loop datagrams from one host to another.
    Udp(UdpStream),
}

/// Every host sends one flow and receives one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Of each flow, payload.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// Earliest start.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// Starts are uniform in `start` to `start + jitter`.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
}

/// Every host sends one flow to every other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Of each flow, payload.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// Earliest start.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// Starts are uniform in `start` to `start + jitter`.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
}

/// Many hosts send to one at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Number of flows per event.
    #[schemars(range(min = 1, max = 10_000_000), extend("examples" = [10]))]
    pub fan_in: u32,
    /// Of each flow, payload.
    #[schemars(extend("examples" = ["64KB"]))]
    pub size: Q<Bytes>,
    /// The host that receives; drawn for each event if not given.
    #[schemars(extend("x-node" = "host"))]
    pub receiver: Option<u32>,
    /// Who sends.
    #[serde(default)]
    pub senders: Senders,
    /// First event.
    #[serde(default = "default::zero")]
    pub at: Q<Span>,
    /// Time between events.
    #[serde(default = "default::zero")]
    pub period: Q<Span>,
    /// Number of events.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub repeat: u32,
}

/// Who takes part in an incast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Senders {
    /// Different hosts, drawn for each event.
    #[default]
    Distinct,
    /// Drawn one by one; a host may send several flows.
    WithReplacement,
    /// The hosts after the receiver in order of their number.
    Neighbours,
}

/// Flows from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Where it is, relative to the scenario.
    #[schemars(extend("examples" = ["flows.csv"]))]
    pub file: String,
    /// How it is written.
    #[serde(default)]
    pub format: ListFormat,
    /// Starts are put off by up to this much, at random.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
    /// By whole multiples of this.
    #[serde(default = "default::nanosecond")]
    pub jitter_step: Q<Span>,
}

/// Formats of flow lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// CSV with the header `id,src,dst,size_bytes,start_ns`; hosts by number or by name. Columns come in any
    /// order, others are not read, and `id` may be left out; starts may be in other units (`start_us`).
    #[default]
    Csv,
    /// The HPCC ns-3 simulator's: the number of flows, then `src dst class port size start` in seconds. As many
    /// flows are read as it says; hosts are numbered as in the topology file.
    Hpcc,
}

/// Flows without end, or with one in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backlogged {
    /// The host that sends.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub src: u32,
    /// The host that receives.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub dst: u32,
    /// When the first starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// When all of them stop: they end with what they have sent by then, which is still repaired and
    /// delivered. Never, without the key.
    pub until: Option<Q<Span>>,
    /// Number of flows.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Time between starts.
    #[serde(default = "default::zero")]
    pub spacing: Q<Span>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The host that sends.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub src: u32,
    /// The host that receives.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub dst: u32,
    /// Payload.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// When it starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

/// A client asks, a server answers, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// The host that asks.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub client: u32,
    /// The host that answers.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub server: u32,
    /// Payload of a request.
    #[schemars(extend("examples" = ["100B"]))]
    pub request: Q<Bytes>,
    /// Payload of a response.
    #[schemars(extend("examples" = ["64KB"]))]
    pub response: Q<Bytes>,
    /// Number of rounds.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub count: u32,
    /// Pause between a response and the next request.
    #[serde(default = "default::zero")]
    pub think: Q<Span>,
    /// When the first request starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

/// Open-loop datagrams from one host to another; brings its own transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdpStream {
    /// The host that sends.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub src: u32,
    /// The host that receives.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub dst: u32,
    /// On the wire, headers included.
    #[schemars(extend("examples" = ["1Gbps"]))]
    pub rate: Q<Rate>,
    /// Times between datagrams.
    #[serde(default)]
    pub spacing: Spacing,
    /// Payload of a datagram.
    #[serde(default = "default::mss")]
    pub payload: Q<Bytes>,
    /// Headers of a datagram.
    #[serde(default = "default::header")]
    pub header: Q<Bytes>,
    /// Payload in all; without end if not given.
    pub size: Option<Q<Bytes>>,
    /// When it starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

/// Times between datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Always the same.
    #[default]
    Constant,
    /// Exponential.
    Poisson,
}

defaults! {
    transport: String = "default".into();
    yes: bool = true;
    zero: Q<Span> = Q(Span::ZERO);
    nanosecond: Q<Span> = Q::of("1ns"); // what lists of flows count in
    one: u32 = 1;
    weight: f64 = 1.0; // NSDI 2016 §3.3: all flows alike
    mss: Q<Bytes> = Q::of("1460B");
    header: Q<Bytes> = Q::of("40B");
}
