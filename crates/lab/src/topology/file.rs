//! Any graph from a file: reads, numbers hosts first, checks.

use super::{Graph, MOST_LINKS, Names};
use crate::Diagnostic;
use crate::context::Cx;
use crate::diagnostic::quoted;
use crate::parse::graph::{RawGraph, graphml, hpcc, links_csv, native, rocketfuel};
use crate::schema::{GraphFile, GraphFormat};
use thalweg_sim::spec::LinkSpec;
use thalweg_units::{NodeId, Span};

pub(super) fn build(cx: &Cx<'_>, f: &GraphFile) -> Result<Graph, Diagnostic> {
    let text = cx.read("topology.file", &f.file)?;
    let raw = match f.format {
        GraphFormat::ThalwegToml => native::toml(&text),
        GraphFormat::ThalwegJson => native::json(&text),
        GraphFormat::Hpcc => hpcc::parse(&text),
        GraphFormat::Graphml => graphml::parse(&text),
        GraphFormat::LinksCsv => links_csv::parse(&text),
        GraphFormat::Rocketfuel => rocketfuel::cch(&text),
        GraphFormat::RocketfuelWeights => rocketfuel::weights(&text),
        GraphFormat::RocketfuelLatencies => rocketfuel::latencies(&text),
    };
    let raw = raw.map_err(|e| e.in_file(&f.file))?;
    assemble(cx, f, &with_hosts(cx, f, raw)?)
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
