//! Any graph from a file: reads it, numbers hosts first, checks it.

use super::graph::SLOWEST;
use super::{Family, Graph, MOST_LINKS, Names};
use crate::Diagnostic;
use crate::context::Cx;
use crate::diagnostic::quoted;
use crate::parse::graph::{RawGraph, RawLink, gml, graphml, hpcc, htsim, links_csv, native, rocketfuel};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::LinkSpec;
use thalweg_units::{NodeId, Rate, Span};

/// Any graph from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// The file, relative to the scenario.
    #[schemars(extend("examples" = ["links.csv"]))]
    pub file: String,
    /// Format of the file.
    pub format: GraphFormat,
    /// Rate, each direction, of links for which the file gives none.
    pub rate: Option<Q<Rate>>,
    /// One-way propagation delay of links for which the file gives none.
    pub delay: Option<Q<Span>>,
    /// Number of hosts on every router, for files that hold a map of routers: host h is on router h / hosts_per_router.
    /// With this key every node of a `graphml`, `gml` or `links-csv` file is a router, leaves too; files of the other
    /// formats must have no hosts of their own.
    #[schemars(range(min = 1, max = 10_000))]
    pub hosts_per_router: Option<u32>,
    /// Rate of the links of hosts that `hosts_per_router` adds. If not given, as `rate`.
    pub host_rate: Option<Q<Rate>>,
    /// One-way propagation delay of the links of hosts that `hosts_per_router` adds. If not given, as `delay`.
    pub host_delay: Option<Q<Span>>,
    /// Of an unconnected graph, keep only the part with the most nodes, or the first of equal ones. If not given,
    /// `true` for maps of routers (`rocketfuel`, `rocketfuel-weights`, `rocketfuel-latencies`, and `graphml` and `gml`
    /// with `hosts_per_router`), which are seldom connected; else `false`, and an unconnected graph is refused.
    pub largest_part: Option<bool>,
    /// For `graphml` and `gml`: a link for which the file gives no delay has that of the great circle between its
    /// nodes' `Latitude` and `Longitude`, at 200 000 km/s. Links between nodes without coordinates have `delay`.
    #[serde(default)]
    pub geographic: bool,
}

/// Formats of graph files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFormat {
    /// thalweg's own, in TOML: `hosts = 16`, `switches = 20`, `[[links]] a = 0, b = 16, rate = "10Gbps", delay =
    /// "1us"`; optionally `names = ["web", ..]`.
    ThalwegToml,
    /// thalweg's own, in JSON: the same keys as `thalweg-toml`.
    ThalwegJson,
    /// The HPCC ns-3 simulator's `topology.txt`: the numbers of nodes, switches and links; the ids of switches; a line
    /// `src dst rate delay error` for each link, as many as the first line says. The first lines of PowerTCP (nodes,
    /// switches, ToRs, links) and of SimAI (nodes, GPUs per server, NVSwitches, switches, links, kind of GPU) are
    /// recognised.
    Hpcc,
    /// csg-htsim's `.topo`: a tree of two or three tiers, given by the radix of each. Half of a switch's latency is
    /// added to each of its links.
    Htsim,
    /// GraphML, such as the Topology Zoo's. Without `hosts_per_router`, nodes with one link are hosts. The name of a
    /// node is its `label`, else its id.
    Graphml,
    /// GML, such as the Topology Zoo's; hosts and names as with `graphml`.
    Gml,
    /// CSV with the header `a,b` and optionally `rate,delay`; nodes by number or by name. Without `hosts_per_router`,
    /// nodes with one link are hosts.
    LinksCsv,
    /// A router map of Rocketfuel (`.cch`, whole or trimmed; Spring, Mahajan, Wetherall, SIGCOMM 2002): the links
    /// within the ISP.
    Rocketfuel,
    /// Rocketfuel's link weights: `a b weight`. Weights are checked, but routes are the shortest in hops.
    RocketfuelWeights,
    /// Rocketfuel's link latencies: `a b milliseconds`.
    RocketfuelLatencies,
}

impl GraphFormat {
    /// True if the format has routers only, so that hosts come from `hosts_per_router`.
    fn is_map(self) -> bool {
        matches!(self, Self::Rocketfuel | Self::RocketfuelWeights | Self::RocketfuelLatencies)
    }
}

impl Family for GraphFile {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let text = cx.read("topology.file", &self.file)?;
        let routers = self.hosts_per_router.is_some();
        let raw = match self.format {
            GraphFormat::ThalwegToml => native::toml(&text),
            GraphFormat::ThalwegJson => native::json(&text),
            GraphFormat::Hpcc => hpcc::parse(&text),
            GraphFormat::Htsim => htsim::parse(&text),
            GraphFormat::Graphml if routers => graphml::map(&text),
            GraphFormat::Graphml => graphml::parse(&text),
            GraphFormat::Gml if routers => gml::map(&text),
            GraphFormat::Gml => gml::parse(&text),
            GraphFormat::LinksCsv if routers => links_csv::map(&text),
            GraphFormat::LinksCsv => links_csv::parse(&text),
            GraphFormat::Rocketfuel => rocketfuel::cch(&text),
            GraphFormat::RocketfuelWeights => rocketfuel::weights(&text),
            GraphFormat::RocketfuelLatencies => rocketfuel::latencies(&text),
        };
        let raw = raw.map_err(|e| e.in_file(&self.file))?;
        let raw = if self.keeps_largest_part() { raw.largest_part() } else { raw };
        assemble(cx, self, &with_hosts(cx, self, raw)?)
    }

    fn resolve(&mut self) {
        self.largest_part = Some(self.keeps_largest_part());
    }

    fn file(&self) -> Option<&str> {
        Some(&self.file)
    }
}

impl GraphFile {
    fn keeps_largest_part(&self) -> bool {
        let maybe = matches!(self.format, GraphFormat::Graphml | GraphFormat::Gml);
        let map = self.format.is_map() || maybe && self.hosts_per_router.is_some();
        self.largest_part.unwrap_or(map)
    }
}

/// Adds hosts to maps of routers; other files have hosts of their own.
fn with_hosts(cx: &Cx<'_>, f: &GraphFile, raw: RawGraph) -> Result<RawGraph, Diagnostic> {
    let Some(each) = f.hosts_per_router else {
        if raw.hosts == 0 {
            let reason = format!("`{}` is a map of routers without hosts", f.file);
            return Err(cx.error("topology.file", reason, "write `hosts_per_router = 1` under [topology]"));
        }
        for (key, given) in [("host_rate", f.host_rate.is_some()), ("host_delay", f.host_delay.is_some())] {
            if given {
                let reason = format!("it has no effect: `{}` has hosts of its own", f.file);
                let hint = "remove the key: it is for the hosts that `hosts_per_router` adds";
                return Err(cx.error(&format!("topology.{key}"), reason, hint));
            }
        }
        return Ok(raw);
    };
    if raw.hosts > 0 {
        let reason = format!("`{}` has {} hosts of its own", f.file, raw.hosts);
        let hint = "remove the key: it is for maps of routers without hosts";
        return Err(cx.error("topology.hosts_per_router", reason, hint));
    }
    let (rate, delay) = (f.host_rate.map(|r| r.0), f.host_delay.map(|d| d.0));
    raw.with_hosts(each, rate, delay).ok_or_else(|| {
        let reason = format!("`{}` with {each} hosts on every router has too many nodes", f.file);
        cx.error("topology.hosts_per_router", reason, "use fewer")
    })
}

fn shown(g: &Graph, node: u32) -> String {
    g.shown(NodeId(node))
}

fn assemble(cx: &Cx<'_>, f: &GraphFile, raw: &RawGraph) -> Result<Graph, Diagnostic> {
    if raw.links.len() as u64 > MOST_LINKS {
        let reason = format!("`{}` has {} links", f.file, raw.links.len());
        return Err(cx.error("topology.file", reason, format!("at most {MOST_LINKS}")));
    }
    let (mut any_rate, mut any_delay) = (false, false);
    let mut g = Graph::new(raw.hosts, raw.nodes - raw.hosts);
    if !raw.names.is_empty() {
        g.names = Names::listed(raw.nodes - raw.names.len() as u32, raw.names.clone()).map_err(|twice| {
            let reason = format!("`{}` has two nodes called `{twice}`", quoted(&f.file));
            cx.error("topology.file", reason, "give every node a name of its own")
        })?;
    }
    let missing = |g: &Graph, l: &RawLink, what: &str| {
        let (link, key) = match l.line {
            // Hosts that `hosts_per_router` has added.
            0 if f.hosts_per_router.is_some() && l.a < g.hosts => (String::new(), format!("host_{what}")),
            0 => (String::new(), what.to_owned()),
            line => (format!(" (line {line})"), what.to_owned()),
        };
        let reason =
            format!("`{}` gives no {what} for the link {} - {}{link}", f.file, shown(g, l.a), shown(g, l.b));
        cx.error("topology.file", reason, format!("write `{key}` under [topology]"))
    };
    let mut placed = false;
    for l in &raw.links {
        any_rate |= l.rate.is_none();
        let rate = l.rate.or(f.rate.map(|r| r.0)).ok_or_else(|| missing(&g, l, "rate"))?;
        if rate < SLOWEST && l.line > 0 {
            let link = format!("the link {} - {} has the rate {rate}", shown(&g, l.a), shown(&g, l.b));
            let reason = format!("`{}`, line {}: {link}", f.file, l.line);
            return Err(cx.error("topology.file", reason, format!("the lowest rate of a link is {SLOWEST}")));
        }
        let geographic = l.geographic.filter(|_| f.geographic && l.delay.is_none());
        placed |= geographic.is_some();
        any_delay |= l.delay.is_none() && geographic.is_none();
        let delay = l.delay.or(geographic).or(f.delay.map(|d| d.0)).ok_or_else(|| missing(&g, l, "delay"))?;
        let (a, b) = (NodeId(l.a), NodeId(l.b));
        g.links.push(LinkSpec::fixed(a, b, rate, delay, Span::ZERO));
    }
    if f.geographic && !placed {
        let reason = format!(
            "it has no effect: `{}` has no link without a delay between two nodes with coordinates",
            f.file
        );
        return Err(cx.error("topology.geographic", reason, "remove the key"));
    }
    if f.rate.is_some() && !any_rate {
        let reason = format!("it has no effect: every link of `{}` has its own rate", f.file);
        return Err(cx.error("topology.rate", reason, "remove the key"));
    }
    if f.delay.is_some() && !any_delay {
        let reason = format!("it has no effect: every link of `{}` has its own delay", f.file);
        return Err(cx.error("topology.delay", reason, "remove the key"));
    }
    let mut degree = vec![0u32; g.nodes()];
    g.links.iter().flat_map(|l| [l.a, l.b]).for_each(|node| degree[node.at()] += 1);
    if g.hosts < 2 {
        let reason = format!("`{}` has {} hosts", f.file, g.hosts);
        return Err(cx.error("topology.file", reason, "a network needs at least two hosts"));
    }
    let several = degree[..g.hosts as usize].iter().any(|links| *links > 1);
    if let Some(node) = lost(&g, &degree, several) {
        let what = if g.is_nic(node) { "host" } else { "switch" };
        let from = if several { "" } else { " from host 0" };
        let reason =
            format!("the graph of `{}` is not connected: no path{from} to {what} {}", f.file, g.shown(node));
        let hint = "add the missing links, or write `largest_part = true` under [topology]";
        return Err(cx.error("topology.file", reason, hint));
    }
    // If the file numbers its nodes, switches keep their numbers as names, because further NICs take numbers before
    // theirs.
    if several && raw.names.is_empty() {
        let switches = (raw.hosts..raw.nodes).map(|id| format!("n{id}")).collect();
        g.names = Names::listed(raw.hosts, switches).unwrap_or_default();
    }
    Ok(g)
}

/// A node that host 0 cannot reach. Where hosts have several links they may be in several networks; then a node without
/// any link. (Which pairs of hosts are connected is checked when flows are made.)
fn lost(g: &Graph, degree: &[u32], several: bool) -> Option<NodeId> {
    let all = (0..g.nodes()).map(NodeId::from);
    if several {
        return all.into_iter().find(|node| degree[node.at()] == 0);
    }
    let distance = g.distances(&g.adjacency(), NodeId(0));
    all.into_iter().find(|node| distance[node.at()] == u32::MAX)
}
