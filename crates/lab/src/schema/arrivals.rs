//! Traffic that arrives at random at a target load: flows, and remote procedure calls.

use super::{Sizes, defaults};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Flows arrive at random at a target load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// How large flows are.
    #[schemars(extend("examples" = ["heavy-tailed"]))]
    pub sizes: Sizes,
    /// Target, a fraction of the capacity of the links that `of` names, in (0, 1].
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.7]))]
    pub load: f64,
    /// Which links the load is a fraction of.
    #[serde(default)]
    pub of: LoadOf,
    /// Times between arrivals.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Whether each host has its own arrivals or all share one sequence (then sources are drawn uniformly).
    #[serde(default)]
    pub process: Process,
    /// Which pairs of hosts talk.
    #[serde(default)]
    pub pairs: Pairs,
    /// First arrival not before.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// Last arrival before; the end of the measured window, or of the run, if not given.
    pub until: Option<Q<Span>>,
    /// At most this many flows, the earliest; all if not given.
    #[schemars(range(min = 1))]
    pub max_flows: Option<u64>,
    /// Payload per packet that the load is computed with: the same for every scheme, so that all get the same
    /// flows.
    #[serde(default = "default::mss")]
    pub packet_payload: Q<Bytes>,
    /// Headers per packet that the load is computed with; `0B` counts payload only.
    #[serde(default = "default::header")]
    pub packet_header: Q<Bytes>,
}

/// What a load is a fraction of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LoadOf {
    /// Each host's link, outgoing direction.
    #[default]
    HostLinks,
    /// All links from edge switches into the core, one direction, together (whether or not a flow crosses them).
    CoreLinks,
    /// This rate, for every host that sends.
    Rate {
        /// What one host sends at load 1.
        rate: Q<Rate>,
    },
    /// The link between switches that is busiest when every host sends alike to all its partners. Only with the routing
    /// `lowest`, which says which link that is.
    BusiestLink,
}

/// Times between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// Exponential gaps.
    #[default]
    Poisson,
    /// Log-normal gaps of the same mean: bursty.
    LogNormal {
        /// Shape σ.
        #[serde(default = "default::sigma")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
        sigma: f64,
    },
}

/// Who has an arrival process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// Every source host.
    #[default]
    PerHost,
    /// The whole network.
    Global,
}

/// Which pairs of hosts talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pairs {
    /// Any two different hosts.
    #[default]
    Uniform,
    /// Two hosts on different edge switches.
    InterRack,
    /// Two hosts on the same edge switch.
    IntraRack,
    /// Everybody sends to host 0, which sends nothing.
    ToHostZero,
    /// Two hosts at least so many links apart.
    MinLinks {
        /// Links on the shortest path between them, their own included.
        #[schemars(range(min = 3, max = 1_000))]
        links: u32,
    },
}

/// Clients ask servers at random times. Every host is a client and a server; a response follows its request at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rpc {
    /// Target, a fraction of the capacity of the links that `of` names, in (0, 1]: requests and responses together.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.5]))]
    pub load: f64,
    /// Which links the load is a fraction of.
    #[serde(default)]
    pub of: LoadOf,
    /// Payload of a request.
    #[serde(default = "default::message")]
    pub request: Q<Bytes>,
    /// Payload of a response.
    #[serde(default = "default::message")]
    pub response: Q<Bytes>,
    /// Whom a client asks, drawn anew for each request.
    #[serde(default)]
    pub servers: Servers,
    /// First request not before.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// Last request before; the end of the measured window, or of the run, if not given.
    pub until: Option<Q<Span>>,
    /// Payload per packet that the load is computed with: the same for every scheme, so that all get the same
    /// flows.
    #[serde(default = "default::mss")]
    pub packet_payload: Q<Bytes>,
    /// Headers per packet that the load is computed with; `0B` counts payload only.
    #[serde(default = "default::header")]
    pub packet_header: Q<Bytes>,
}

/// Whom a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Servers {
    /// Any other host.
    #[default]
    Others,
    /// A host on another edge switch.
    OtherRacks,
    /// A host at least six links away: in a fat-tree, one in another pod.
    OtherPods,
}

defaults! {
    zero: Q<Span> = Q(Span::ZERO);
    sigma: f64 = 2.0; // BFC §3.6.2
    mss: Q<Bytes> = Q::of("1460B");
    header: Q<Bytes> = Q::of("40B");
    message: Q<Bytes> = Q::of("64KB"); // TIMELY, dissertation §3.5.2
}
