//! Cycles of pauses that are possible in a scenario's network, and the packets that elision exempts from pauses:
//! `thalweg check deadlock`.

use crate::schema::Document;
use crate::topology::Graph;
use crate::{Diagnostic, Scenario, Stop, network};
use thalweg_machines::route::Paths;
use thalweg_net::dependencies::{Dependencies, Turn, Ways, elision, layers};
use thalweg_net::routing::RouteError;
use thalweg_net::spec::{Incident, RoutingSpec};
use thalweg_units::PortId;

/// An analysis of a scenario's backpressure graph (Goyal, MIT 2022, App. D).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockCheck {
    /// Number of output ports of switches.
    pub nodes: usize,
    /// Number of pairs of consecutive ports on some route.
    pub edges: usize,
    /// The nodes of a shortest cycle, with the first one repeated at the end; empty if there is none.
    pub cycle: Vec<String>,
    /// The same as ports.
    pub ports: Vec<u32>,
    /// True if the network consists of layers: elision then exempts packets that come from a higher layer and return to
    /// one.
    pub layered: bool,
    /// Number of turns through a switch that elision exempts, whether or not some route takes them.
    pub exempt: usize,
    /// Exempt turns that some route takes: from a node, through a switch, to a node.
    pub routed: Vec<[String; 3]>,
    /// True if the scenario has `switch.backpressure.elide = "cycles"`.
    pub elides: bool,
}

impl Scenario {
    /// Searches for cycles of pauses on the scenario's routes, including the routes after its link failures.
    ///
    /// # Errors
    /// Flows without a pinned path; an interruption by `stop`.
    pub fn check_deadlock(&self, stop: &Stop) -> Result<DeadlockCheck, Diagnostic> {
        let (doc, graph) = (self.document(), self.graph());
        let incidents = network::incidents(doc, graph);
        if doc.routing.rule.needs().paths == Paths::Given {
            let spec = self.network_unless(stop)?;
            return self.looked_through(&Ways::of(&spec));
        }
        self.looked_through(&ways(graph, &rule(doc, graph), &incidents))
    }

    fn looked_through(&self, ways: &Ways<'_>) -> Result<DeadlockCheck, Diagnostic> {
        let refused = |e: RouteError| self.whole_file(e.to_string());
        let names = &self.graph().names;
        let name = |port: PortId, far: bool| {
            let (near, other) = ways.links[port.link().at()].ends(port);
            names.of(if far { other } else { near }.0)
        };
        let found = Dependencies::of(ways).map_err(refused)?;
        let exempt = elision(ways).map_err(refused)?;
        let cycle = found.cycle().unwrap_or_default();
        let nodes = cycle.iter().chain(cycle.first()).map(|port| name(*port, false)).collect();
        let through = |turn: &Turn| [name(turn.from, false), name(turn.from, true), name(turn.to, true)];
        let routed = found.edges().filter(|turn| exempt.binary_search(turn).is_ok());
        Ok(DeadlockCheck {
            nodes: found.nodes(),
            edges: found.edges().count(),
            cycle: nodes,
            ports: cycle.iter().map(|port| port.0).collect(),
            layered: layers(ways).is_some(),
            exempt: exempt.len(),
            routed: routed.map(|turn| through(&turn)).collect(),
            elides: self
                .document()
                .switch
                .pause_effects()
                .and_then(|own| own.queues())
                .is_some_and(|own| own.elide),
        })
    }
}

/// True if elision exempts nothing in this network, whatever the routes; `None` if that depends on the flows.
pub(crate) fn nothing_to_elide(doc: &Document, graph: &Graph) -> Option<bool> {
    if doc.routing.rule.needs().paths == Paths::Given {
        return None;
    }
    let incidents = network::incidents(doc, graph);
    elision(&ways(graph, &rule(doc, graph), &incidents)).ok().map(|turns| turns.is_empty())
}

fn ways<'a>(graph: &'a Graph, routing: &'a RoutingSpec, incidents: &'a [Incident]) -> Ways<'a> {
    Ways {
        hosts: graph.nics(),
        switches: graph.switches,
        links: &graph.links,
        routing,
        flows: &[],
        incidents,
    }
}

/// The rule without its file: offsets do not change the set of paths. (The caller handles pinned paths.)
fn rule(doc: &Document, graph: &Graph) -> RoutingSpec {
    RoutingSpec { structure: graph.structure.clone(), ..doc.routing.rule.clone().into() }
}
