//! Any graph from a file: reads, numbers hosts first, checks.

use super::{Family, Graph, MOST_LINKS, Names};
use crate::Diagnostic;
use crate::context::Cx;
use crate::diagnostic::quoted;
use crate::parse::graph::{RawGraph, graphml, hpcc, links_csv, native, rocketfuel};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_sim::spec::LinkSpec;
use thalweg_units::{NodeId, Rate, Span};

/// Any graph from a file.
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
    /// thalweg's own, in JSON: the same keys as `thalweg-toml`.
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

impl Family for GraphFile {
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
        let text = cx.read("topology.file", &self.file)?;
        let raw = match self.format {
            GraphFormat::ThalwegToml => native::toml(&text),
            GraphFormat::ThalwegJson => native::json(&text),
            GraphFormat::Hpcc => hpcc::parse(&text),
            GraphFormat::Graphml => graphml::parse(&text),
            GraphFormat::LinksCsv => links_csv::parse(&text),
            GraphFormat::Rocketfuel => rocketfuel::cch(&text),
            GraphFormat::RocketfuelWeights => rocketfuel::weights(&text),
            GraphFormat::RocketfuelLatencies => rocketfuel::latencies(&text),
        };
        let raw = raw.map_err(|e| e.in_file(&self.file))?;
        assemble(cx, self, &with_hosts(cx, self, raw)?)
    }

    fn file(&self) -> Option<&str> {
        Some(&self.file)
    }
}

/// Maps of routers get hosts; the other formats bring theirs.
fn with_hosts(cx: &Cx<'_>, f: &GraphFile, raw: RawGraph) -> Result<RawGraph, Diagnostic> {
    use GraphFormat::{Rocketfuel, RocketfuelLatencies, RocketfuelWeights};
    if !matches!(f.format, Rocketfuel | RocketfuelWeights | RocketfuelLatencies) {
        let given = [
            ("hosts_per_router", f.hosts_per_router.is_some()),
            ("host_rate", f.host_rate.is_some()),
            ("host_delay", f.host_delay.is_some()),
        ];
        return match given.into_iter().find(|(_, given)| *given) {
            None => Ok(raw),
            Some((key, _)) => {
                let reason = "it has no effect: files of this format have hosts of their own";
                Err(cx.error(&format!("topology.{key}"), reason, "remove the key"))
            }
        };
    }
    let Some(each) = f.hosts_per_router else {
        let reason = format!("`{}` is a map of routers without hosts", f.file);
        return Err(cx.error("topology.format", reason, "write `hosts_per_router = 10` under [topology]"));
    };
    let (rate, delay) = (f.host_rate.map(|r| r.0), f.host_delay.map(|d| d.0));
    raw.with_hosts(each, rate, delay).ok_or_else(|| {
        let reason = format!("`{}` with {each} hosts on every router has too many nodes", f.file);
        cx.error("topology.hosts_per_router", reason, "use fewer")
    })
}

fn say(g: &Graph, node: u32) -> String {
    g.say(NodeId(node))
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
    for l in &raw.links {
        any_rate |= l.rate.is_none();
        any_delay |= l.delay.is_none();
        let rate = l.rate.or(f.rate.map(|r| r.0));
        let Some(rate) = rate else {
            let reason = format!(
                "`{}` gives no rate for the link {} - {} (line {})",
                f.file,
                say(&g, l.a),
                say(&g, l.b),
                l.line
            );
            return Err(cx.error("topology.file", reason, "write `rate` under [topology]"));
        };
        let delay = l.delay.or(f.delay.map(|d| d.0));
        let Some(delay) = delay else {
            let reason = format!(
                "`{}` gives no delay for the link {} - {} (line {})",
                f.file,
                say(&g, l.a),
                say(&g, l.b),
                l.line
            );
            return Err(cx.error("topology.file", reason, "write `delay` under [topology]"));
        };
        let (a, b) = (NodeId(l.a), NodeId(l.b));
        g.links.push(LinkSpec::fixed(a, b, rate, delay, Span::ZERO));
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
    for (l, raw) in g.links.iter().zip(&raw.links) {
        for node in [l.a, l.b] {
            degree[node.at()] += 1;
            if g.is_host(node) && degree[node.at()] > 1 {
                let reason = format!("host {} has a second link", g.say(node));
                return Err(
                    Diagnostic::in_file(&f.file, raw.line, reason).hint("a host has exactly one link")
                );
            }
        }
    }
    if g.hosts < 2 {
        let reason = format!("`{}` has {} hosts", f.file, g.hosts);
        return Err(cx.error(
            "topology.file",
            reason,
            "a network needs two hosts; hosts have exactly one link",
        ));
    }
    let distance = g.distances(&g.adjacency(), NodeId(0));
    let lost = (0..g.nodes()).find(|n| distance[*n] == u32::MAX);
    if let Some(node) = lost {
        let what = if node < g.hosts as usize { "host" } else { "switch" };
        let reason = format!(
            "the graph of `{}` is not connected: no path from host 0 to {what} {}",
            f.file,
            say(&g, node as u32)
        );
        return Err(cx.error("topology.file", reason, "add the missing links"));
    }
    Ok(g)
}
