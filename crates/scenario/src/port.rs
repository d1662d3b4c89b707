//! One port of a scenario's network as a machine of its own.

use crate::{Diagnostic, Scenario};
use thalweg_net::port::{Entangled, PortSpec};
use thalweg_net::routing::Routes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::PortId;

/// The key of what keeps a port from standing alone; empty: no key in particular.
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
        let graph = self.graph();
        let node = |text: &str| {
            let known = |node: u32| (node as usize) < graph.nodes();
            let named = graph.names.node(text).map_err(|(why, hint)| self.whole_file(why).hint(hint))?;
            if known(named) { Ok(named) } else { Err(self.whole_file(format!("there is no node {named}"))) }
        };
        let (from, to) = (node(from)?, node(to)?);
        let mut links = graph.between([from, to]);
        let (Some(link), None) = (links.next(), links.next()) else {
            let between = format!("`{}` and `{}`", graph.names.of(from), graph.names.of(to));
            let why = match graph.between([from, to]).count() {
                0 => format!("there is no link between {between}"),
                many => format!("there are {many} links between {between}: their ports have the same names"),
            };
            return Err(self.whole_file(why));
        };
        let backward = graph.links[link as usize].a.0 != from;
        self.port_of(&self.network()?, PortId(2 * link + u32::from(backward)))
    }

    /// The port of a switch at which the flows have least of the rate each.
    ///
    /// # Errors
    /// As [`Scenario::port`], and if no flow passes a switch.
    pub fn bottleneck(&self) -> Result<PortSpec, Diagnostic> {
        let network = self.network()?;
        let routes = Routes::new(network.hosts, network.switches, &network.links, network.seed)
            .map_err(|e| self.whole_file(e.to_string()))?;
        let port = network.bottleneck(&routes);
        self.port_of(&network, port.ok_or_else(|| self.whole_file("no flow passes a switch".into()))?)
    }

    fn port_of(&self, network: &NetworkSpec, id: PortId) -> Result<PortSpec, Diagnostic> {
        let (from, to) = network.ends(id);
        let names = &self.graph().names;
        network.port(id).map_err(|why| {
            let reason = format!(
                "the port `{}` -> `{}` does not stand alone: {why}",
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
