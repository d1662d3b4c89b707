//! Ports of a scenario's network as machines of their own: one, or those along a path.

use crate::{Diagnostic, Scenario};
use thalweg_net::port::{Entangled, PortSpec};
use thalweg_net::routing::Routes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::PortId;

/// The key of the setting that ties a port to others; empty: no single key.
fn key(why: &Entangled) -> &'static str {
    match why {
        Entangled::Pulls => "nic.order",
        Entangled::Slack => "slack",
        Entangled::Carried | Entangled::Inputs => "switch.scheduler",
        Entangled::Relief => "switch.relief",
        Entangled::Fails => "incident",
        _ => "",
    }
}

impl Scenario {
    /// The port by which the node `from` sends to its neighbour `to`, both by number or name.
    ///
    /// # Errors
    /// As [`Scenario::network`]; if there is not exactly one link between them; by name, what does not go without
    /// the rest of the network.
    pub fn port(&self, from: &str, to: &str) -> Result<PortSpec, Diagnostic> {
        let id = self.port_between(self.node(from)?, self.node(to)?)?;
        self.port_of(&self.network()?, id)
    }

    /// The ports that a packet passes from the first of these nodes to the last, all by number or name: from each to
    /// the next, which is its neighbour. Two nodes are one port.
    ///
    /// # Errors
    /// As [`Scenario::port`]; if there are fewer than two nodes, or a node comes twice.
    pub fn ports(&self, nodes: &[impl AsRef<str>]) -> Result<Vec<PortSpec>, Diagnostic> {
        let nodes = nodes.iter().map(|text| self.node(text.as_ref())).collect::<Result<Vec<u32>, _>>()?;
        let twice = |at: &usize| nodes[..*at].contains(&nodes[*at]);
        if let Some(at) = (1..nodes.len()).find(twice) {
            let why = format!("the path passes `{}` twice", self.graph().names.of(nodes[at]));
            let before = nodes[at - 1];
            let hint = match self.neighbours(before, &nodes[..at]) {
                None => format!("a path passes a node once: end it at `{}`", self.graph().names.of(before)),
                Some(others) => format!("a path passes a node once: {others}, which it has not passed"),
            };
            return Err(self.whole_file(why).hint(hint));
        }
        if nodes.len() < 2 {
            return Err(self.whole_file("a port is between two nodes".into()));
        }
        let ids = nodes.windows(2).map(|pair| self.port_between(pair[0], pair[1]));
        let (ids, network) = (ids.collect::<Result<Vec<_>, _>>()?, self.network()?);
        ids.into_iter().map(|id| self.port_of(&network, id)).collect()
    }

    fn node(&self, text: &str) -> Result<u32, Diagnostic> {
        let graph = self.graph();
        let named = graph.names.node(text).map_err(|(why, hint)| self.whole_file(why).hint(hint))?;
        if (named as usize) < graph.nodes() {
            return Ok(named);
        }
        let hint = format!("nodes are numbered 0 to {}", graph.nodes() - 1);
        Err(self.whole_file(format!("there is no node {named}")).hint(hint))
    }

    /// The port of the one link between them.
    fn port_between(&self, from: u32, to: u32) -> Result<PortId, Diagnostic> {
        let graph = self.graph();
        let mut links = graph.between([from, to]);
        if let (Some(link), None) = (links.next(), links.next()) {
            let backward = graph.links[link as usize].a.0 != from;
            return Ok(PortId(2 * link + u32::from(backward)));
        }
        let between = format!("`{}` and `{}`", graph.names.of(from), graph.names.of(to));
        Err(match graph.between([from, to]).count() {
            0 => {
                let found = self.whole_file(format!("there is no link between {between}"));
                match self.neighbours(from, &[]) {
                    Some(hint) => found.hint(hint),
                    None => found,
                }
            }
            many => {
                let why = format!(
                    "there are {many} links between {between}: so the names of nodes do not identify a port"
                );
                self.whole_file(why)
            }
        })
    }

    /// "`switch0` is linked to `h0`, `switch1`": the first few that are not among `without`, if there are any.
    fn neighbours(&self, node: u32, without: &[u32]) -> Option<String> {
        const MOST: usize = 6;
        let graph = self.graph();
        let ends = graph.links.iter().map(|link| (link.a.0, link.b.0));
        let other = |(a, b)| (a == node).then_some(b).or((b == node).then_some(a));
        let mut all: Vec<u32> = ends.filter_map(other).filter(|n| !without.contains(n)).collect();
        all.sort_unstable();
        all.dedup();
        let named: Vec<String> = all.iter().take(MOST).map(|n| format!("`{}`", graph.names.of(*n))).collect();
        let more = if all.len() > MOST { ", .." } else { "" };
        let list = named.join(", ");
        (!all.is_empty()).then(|| format!("`{}` is linked to {list}{more}", graph.names.of(node)))
    }

    /// The port of a switch at which the flows have least of the rate each.
    ///
    /// # Errors
    /// As [`Scenario::port`], and if no flow passes a switch.
    pub fn bottleneck(&self) -> Result<PortSpec, Diagnostic> {
        let network = self.network()?;
        let routes = Routes::of(&network, &[]).map_err(|e| self.whole_file(e.to_string()))?;
        let port = network.bottleneck(&routes);
        self.port_of(&network, port.ok_or_else(|| self.whole_file("no flow passes a switch".into()))?)
    }

    fn port_of(&self, network: &NetworkSpec, id: PortId) -> Result<PortSpec, Diagnostic> {
        let (from, to) = network.ends(id);
        let names = &self.graph().names;
        network.port(id).map_err(|why| {
            let reason = format!(
                "the port `{}` -> `{}` cannot be simulated alone: {why}",
                names.of(from.0),
                names.of(to.0)
            );
            match key(&why) {
                "" => self.whole_file(reason),
                key => self.about(key, reason),
            }
        })
    }
}
