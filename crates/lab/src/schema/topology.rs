//! `[topology]`: the network's shape.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// The network's shape; hosts are nodes `0 .. hosts`, switches follow. Every node also has a name: hosts `h0`, `h1`, .., switches
/// by their tier (`leaf0`, `spine0`, `edge0`, `agg0`, `core0`, else `switch0`), or as the file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Which one.
    #[serde(flatten)]
    pub shape: Shape,
    /// Serialisation times are cut down to whole multiples of this, as simulators with nanosecond clocks do;
    /// `0ps` keeps them exact (rounded up to 1 ps).
    #[serde(default = "default::quantum")]
    pub time_quantum: Q<Span>,
}

/// The shapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shape {
    /// Two hosts and one link.
    Pair(Pair),
    /// Hosts around one switch; host 0 may have a link of its own speed.
    Star(Star),
    /// Two switches with a bottleneck between them; hosts `0 .. n` left, `n .. 2n` right.
    Dumbbell(Dumbbell),
    /// A chain of bottlenecks: hosts 0 and 1 at its ends, hosts 2 + 2i and 3 + 2i before and after bottleneck i.
    ParkingLot(ParkingLot),
    /// Two tiers (Clos): every leaf is linked to every spine; host h is on leaf h / hosts_per_leaf.
    LeafSpine(LeafSpine),
    /// Three tiers of k-port switches, k³/4 hosts (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
    FatTree(FatTree),
    /// The Internet2 backbone as simulations of universal packet scheduling have it (Mittal et al., NSDI 2016 §2.3):
    /// 10 core routers, 16 core links, 100 edge routers with a host each.
    Internet2(Internet2),
    /// A random backbone by preferential attachment (Barabási & Albert, Science 1999), its links as fast as uniform
    /// traffic asks for; edge routers with a host each.
    Backbone(Backbone),
    /// Any graph from a file.
    File(GraphFile),
}

/// Two hosts and one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Of each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path when nothing
    /// waits, serialisation at every hop included; the delay of the links is solved from it.
    pub base_rtt: Option<Q<Span>>,
}

/// Hosts around one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub hosts: u32,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// Of host 0's link, each direction; the same as `rate` if not given.
    pub sink_rate: Option<Q<Rate>>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path when nothing
    /// waits, serialisation at every hop included; the delay of the links is solved from it.
    pub base_rtt: Option<Q<Span>>,
}

/// Two switches with a bottleneck between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-renamed" = { "bottleneck_delay": "delay" }))]
pub struct Dumbbell {
    /// Hosts on each side.
    #[schemars(range(min = 1, max = 500_000))]
    pub pairs: u32,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Of the link between the switches, each direction.
    #[serde(default = "default::ten_gbps")]
    pub bottleneck_rate: Q<Rate>,
    /// One-way propagation delay of the link between the switches; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// One-way propagation delay of every host's link; as `delay` if not given.
    pub host_delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK from one side to the other when nothing waits,
    /// serialisation at every hop included; what `host_delay` leaves of it is the bottleneck's, without `host_delay` each
    /// link has a third.
    pub base_rtt: Option<Q<Span>>,
}

/// A chain of bottlenecks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Number of bottlenecks.
    #[schemars(range(min = 1, max = 10_000))]
    pub bottlenecks: u32,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Of every bottleneck, each direction.
    #[serde(default = "default::ten_gbps")]
    pub bottleneck_rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path when nothing
    /// waits, serialisation at every hop included; the delay of the links is solved from it.
    pub base_rtt: Option<Q<Span>>,
}

/// Leaf–spine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaves (top-of-rack switches).
    #[schemars(range(min = 1, max = 10_000))]
    pub leaves: u32,
    /// Number of spines.
    #[schemars(range(min = 1, max = 10_000))]
    pub spines: u32,
    /// Hosts on each leaf.
    #[schemars(range(min = 1, max = 10_000))]
    pub hosts_per_leaf: u32,
    /// Links between each leaf and each spine.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub links_per_pair: u32,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Of every leaf–spine link, each direction.
    #[serde(default = "default::forty_gbps")]
    pub spine_rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path when nothing
    /// waits, serialisation at every hop included; the delay of the links is solved from it.
    pub base_rtt: Option<Q<Span>>,
}

/// k-ary fat-tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports per switch, even.
    #[schemars(range(min = 2, max = 128))]
    pub k: u32,
    /// Of every link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub rate: Q<Rate>,
    /// One-way propagation delay of each link; `1us` if neither this nor `base_rtt` is given.
    pub delay: Option<Q<Span>>,
    /// Instead of `delay`: the round trip of a full packet and its ACK over the longest path when nothing
    /// waits, serialisation at every hop included; the delay of the links is solved from it.
    pub base_rtt: Option<Q<Span>>,
}

/// The Internet2 backbone. Host h is linked to edge router 110 + h, that to core router 100 + h mod 10. The rates of
/// the core links are such that uniform traffic between different core routers loads all of them alike (routing
/// `lowest`, sources of 1 Gb/s: `of = { rate = "1Gbps" }`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Internet2 {
    /// Whether hosts have edge routers of their own; without them host h is linked to core router 100 + h mod 10.
    #[serde(default = "default::yes")]
    pub edge_routers: bool,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Of the links between edge and core, each direction; `1Gbps` if not given. Only with edge routers.
    pub edge_rate: Option<Q<Rate>>,
    /// Every rate is divided by this.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub slower: u32,
    /// One-way propagation delay of the links between core routers.
    #[serde(default = "default::core_delay")]
    pub core_delay: Q<Span>,
    /// One-way propagation delay of all other links.
    #[serde(default = "default::access_delay")]
    pub access_delay: Q<Span>,
}

/// A random backbone. Its C core routers are numbered first among the switches; host h is linked to edge router
/// h, that to core router h mod C. Core links are as fast as the number of pairs of core routers that use them (routing
/// `lowest`, the busier direction), scaled so that the median is `median_rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backbone {
    /// Number of core routers.
    #[serde(default = "default::backbone_routers")]
    #[schemars(range(min = 3, max = 2_000))]
    pub routers: u32,
    /// Number of links between them: each router that joins brings one or two.
    #[serde(default = "default::backbone_links")]
    pub links: u32,
    /// Seed of the graph (traffic has its own).
    #[serde(default = "default::backbone_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_i64))]
    pub seed: u64,
    /// Edge routers, with one host each, on every core router.
    #[serde(default = "default::edge_routers")]
    #[schemars(range(min = 1, max = 1_000))]
    pub edges_per_router: u32,
    /// Of every host's link, each direction.
    #[serde(default = "default::ten_gbps")]
    pub host_rate: Q<Rate>,
    /// Of the links between edge and core, each direction.
    #[serde(default = "default::one_gbps")]
    pub edge_rate: Q<Rate>,
    /// Median of the rates of the links between core routers, each direction.
    #[serde(default = "default::one_gbps")]
    pub median_rate: Q<Rate>,
    /// One-way propagation delay of the links between core routers.
    #[serde(default = "default::core_delay")]
    pub core_delay: Q<Span>,
    /// One-way propagation delay of all other links.
    #[serde(default = "default::access_delay")]
    pub access_delay: Q<Span>,
}

/// A graph in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// Where it is, relative to the scenario.
    #[schemars(extend("examples" = ["links.csv"]))]
    pub file: String,
    /// How it is written.
    pub format: GraphFormat,
    /// Of links for which the file gives none, each direction.
    pub rate: Option<Q<Rate>>,
    /// One-way propagation delay of links for which the file gives none.
    pub delay: Option<Q<Span>>,
    /// Hosts on every router, for maps of routers (rocketfuel): host h is on router h / hosts_per_router.
    #[schemars(range(min = 1, max = 10_000))]
    pub hosts_per_router: Option<u32>,
    /// Of these hosts' links; as `rate` if not given.
    pub host_rate: Option<Q<Rate>>,
    /// One-way propagation delay of these hosts' links; as `delay` if not given.
    pub host_delay: Option<Q<Span>>,
}

/// Formats of graph files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFormat {
    /// thalweg's own: `hosts = 16`, `switches = 20`, `[[links]] a = 0, b = 16, rate = "10Gbps", delay = "1us"`;
    /// if wanted `names = ["web", ..]`.
    ThalwegToml,
    /// The same as JSON.
    ThalwegJson,
    /// The HPCC ns-3 simulator's `topology.txt`: nodes, switches and links; switch ids; `src dst rate delay error`.
    Hpcc,
    /// GraphML; hosts are the nodes with one link; nodes are called by their `label`, else by their id.
    Graphml,
    /// CSV with a header: `a,b` and optionally `rate,delay`; nodes by number or by name; hosts are the nodes with one link.
    LinksCsv,
    /// A router map of Rocketfuel (`.cch`; Spring, Mahajan, Wetherall, SIGCOMM 2002): links within the ISP, of the
    /// largest connected part.
    Rocketfuel,
    /// Rocketfuel's link weights: `a b weight`. Weights are checked and not used: routes are the shortest in hops.
    RocketfuelWeights,
    /// Rocketfuel's link latencies: `a b milliseconds`.
    RocketfuelLatencies,
}

defaults! {
    quantum: Q<Span> = Q(Span::ZERO);
    ten_gbps: Q<Rate> = Q::of("10Gbps");
    forty_gbps: Q<Rate> = Q::of("40Gbps");
    one: u32 = 1;
    yes: bool = true;
    one_gbps: Q<Rate> = Q::of("1Gbps");
    core_delay: Q<Span> = Q::of("10ms"); // ups: the authors' ns-2 code
    access_delay: Q<Span> = Q::of("1ms"); // ups: the authors' ns-2 code
    // CHOICE UPS §2.3: the Rocketfuel map is not named, only its size and that half of the core links are slower
    // than the access links (1 Gb/s).
    backbone_routers: u32 = 83;
    backbone_links: u32 = 131;
    backbone_seed: u64 = 1;
    edge_routers: u32 = 10; // NSDI 2016 §2.3
}
