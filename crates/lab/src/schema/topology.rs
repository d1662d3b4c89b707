//! `[topology]`: the network's shape.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// The network's shape; hosts are nodes `0 .. hosts`, switches follow.
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
    /// One-way propagation delay of every host's link.
    #[serde(default = "default::delay")]
    pub host_delay: Q<Span>,
    /// One-way propagation delay of the link between the switches.
    #[serde(default = "default::delay")]
    pub bottleneck_delay: Q<Span>,
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

/// A graph in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// Where it is, relative to the scenario.
    #[schemars(extend("examples" = ["links.csv"]))]
    pub path: String,
    /// How it is written.
    pub format: GraphFormat,
    /// Of links for which the file gives none, each direction.
    pub rate: Option<Q<Rate>>,
    /// One-way propagation delay of links for which the file gives none.
    pub delay: Option<Q<Span>>,
}

/// Formats of graph files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFormat {
    /// thalweg's own: `hosts = 16`, `switches = 20`, `[[links]] a = 0, b = 16, rate = "10Gbps", delay = "1us"`.
    ThalwegToml,
    /// The same as JSON.
    ThalwegJson,
    /// The HPCC ns-3 simulator's `topology.txt`: nodes, switches and links; switch ids; `src dst rate delay error`.
    Hpcc,
    /// GraphML; hosts are the nodes with one link.
    Graphml,
    /// CSV with a header: `a,b` and optionally `rate,delay`; hosts are the nodes with one link.
    LinksCsv,
}

defaults! {
    quantum: Q<Span> = Q(Span::ZERO);
    ten_gbps: Q<Rate> = Q::of("10Gbps");
    forty_gbps: Q<Rate> = Q::of("40Gbps");
    delay: Q<Span> = Q::of("1us");
    one: u32 = 1;
}
