//! From a resolved scenario to the network that the simulator runs.

mod fabric;
mod flows;
pub(crate) mod header;
mod probes;
mod queues;
mod routing;

use crate::Diagnostic;
use crate::context::Cx;
use crate::resolve;
use crate::schema::{Document, Ties};
use crate::topology::Graph;
pub(crate) use fabric::incidents;
use flows::Workload;
use thalweg_machines::stage::{CarriedSpec, StageSpec};
use thalweg_net::spec::{CutThrough, NetworkSpec, StopSpec, TieSpec};
use thalweg_units::Time;

/// The number of each flow in the list that it comes from; `None` for flows that come from no list.
pub(crate) type Listed = Vec<Option<u64>>;

/// Builds the network.
pub(crate) fn build(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<(NetworkSpec, Listed), Diagnostic> {
    let Workload { flows, works, precedence, listed } = flows::flows(cx, doc, graph)?;
    let (disciplines, port_discipline) = queues::queues(cx, doc, graph)?;
    let header = doc.switch.cut_through.0.get();
    let spec = NetworkSpec {
        seed: doc.seed,
        hosts: graph.nics(),
        further_nics: graph.further.clone(),
        switches: graph.switches,
        links: graph.links.clone(),
        disciplines,
        port_discipline,
        shared_buffer: fabric::shared_buffer(doc),
        inputs: fabric::inputs(doc),
        nic: fabric::nic(doc),
        control_first: doc.switch.control_first,
        incidents: fabric::incidents(doc, graph),
        convergence: doc.routing.convergence.0,
        carried: if doc.slack.is_some() { CarriedSpec::Slack } else { CarriedSpec::Nothing },
        stages: if resolve::has_telemetry(doc) { vec![StageSpec::int()] } else { Vec::new() },
        point: doc.switch.congestion_point,
        relief: doc.switch.relief,
        slack: doc.slack.as_ref().map(|s| header::slack(s, doc)),
        edge: doc.edge.map(|e| header::edge(e, doc, graph)),
        replay: false,
        routing: routing::routing(cx, doc, graph, &flows, &listed)?,
        cut_through: (header > 0).then_some(CutThrough { header: header as u32 }),
        transports: crate::transport::specs(doc, resolve::written(doc)),
        probes: probes::probes(cx, doc, graph, flows.len())?,
        stop: StopSpec {
            until: Time::from_ps(doc.run.until.0.ps()),
            // With no measured flow the run would end immediately; with a measured flow without end it would never end
            // early.
            when_measured_done: doc.run.stop_when_done
                && flows.iter().any(|f| f.measured)
                && !flows.iter().any(|f| f.size == u64::MAX && doc.traffic[usize::from(f.group)].measured),
            max_events: doc.run.max_events.unwrap_or(u64::MAX),
        },
        flows,
        works,
        precedence,
        ties: match doc.run.ties {
            Ties::Drawn => TieSpec::Drawn,
            Ties::ByNumber => TieSpec::ByNumber,
        },
        shortcuts: true,
    };
    probes::check_records(cx, &spec)?;
    Ok((spec, listed))
}
