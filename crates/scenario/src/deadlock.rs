//! Whether pauses could go round in a circle in a scenario's network, and what elision exempts:
//! `thalweg check deadlock`.

use crate::schema::Document;
use crate::topology::Graph;
use crate::{Diagnostic, Scenario, Stop, network};
use thalweg_machines::route::Paths;
use thalweg_net::dependencies::{Dependencies, Turn, Ways, elision, layers};
use thalweg_net::routing::RouteError;
use thalweg_net::spec::{Incident, RoutingSpec};
use thalweg_units::PortId;

/// The backpressure graph of a scenario (Goyal, MIT 2022, App. D), looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockCheck {
    /// Output ports of switches.
    pub nodes: usize,
    /// From one of them straight to the next, on some route.
    pub edges: usize,
    /// The nodes that a shortest cycle passes, the first one again at the end; empty: there is none.
    pub cycle: Vec<String>,
    /// The same as ports.
    pub ports: Vec<u32>,
    /// Links join layers: elision exempts what comes from a higher layer and returns to one.
    pub layered: bool,
    /// How many ways through a switch elision exempts, whether some route takes them or not.
    pub exempt: usize,
    /// Those that some route takes: from a node, through a switch, to a node.
    pub routed: Vec<[String; 3]>,
    /// The scenario has `switch.backpressure.elide = "cycles"`.
    pub elides: bool,
}

impl Scenario {
    /// Looks for cycles of pauses on the scenario's routes, those after its link failures included.
    ///
    /// # Errors
    /// Flows without a pinned path; given up because `stop` was raised.
    pub fn check_deadlock(&self, stop: &Stop) -> Result<DeadlockCheck, Diagnostic> {
        let (doc, graph) = (self.document(), self.graph());
        let incidents = network::incidents(doc, graph);
        if doc.routing.rule.needs().paths == Paths::Given {
            let spec = self.network_unless(stop)?;
            return self.looked_through(&Ways::of(&spec));
        }
        self.looked_through(&ways(graph, &rule(doc), &incidents))
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

/// Nothing of a network could be exempt, whatever routes there are; `None`: that depends on the flows.
pub(crate) fn nothing_to_elide(doc: &Document, graph: &Graph) -> Option<bool> {
    if doc.routing.rule.needs().paths == Paths::Given {
        return None;
    }
    let incidents = network::incidents(doc, graph);
    elision(&ways(graph, &rule(doc), &incidents)).ok().map(|turns| turns.is_empty())
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

/// The rule without its file: offsets make no difference to which paths there are. (Pinned ones are the caller's
/// affair.)
fn rule(doc: &Document) -> RoutingSpec {
    doc.routing.rule.clone().into()
}
