//! Keys of queues and pause policies whose defaults depend on the topology.

use crate::schema::{Document, Scheduler};
use crate::topology::Graph;
use thalweg_machines::pause::Site;

/// The properties of switches that pause policies depend on; `packet`: bytes of the largest packet.
pub(crate) fn site(doc: &Document, graph: &Graph, packet: u32) -> Site {
    Site {
        memory: doc.switch.inputs.and_then(|inputs| inputs.memory).map(|own| own.0),
        shared: doc.switch.inputs.and_then(|inputs| inputs.shared).map(|all| all.0),
        inputs: graph.inputs(),
        packet,
        more: doc.switch.relief.map_or(0, |relief| relief.more()),
    }
}

/// Fills in keys whose defaults depend on the topology; `packet`: bytes of the largest packet.
pub(super) fn by_graph(doc: &mut Document, graph: &Graph, packet: u32) {
    let hop =
        graph.links.iter().map(|link| link.delay().saturating_mul(2)).max().filter(|hop| !hop.is_zero());
    let mixed = doc.switch.mix.as_mut().map(|mix| &mut mix.scheduler);
    for scheduler in
        [Some(&mut doc.switch.scheduler), mixed, doc.nic.scheduler.as_mut()].into_iter().flatten()
    {
        if let Scheduler::Bfc(bfc) = scheduler {
            bfc.hop_rtt = bfc.hop_rtt.or(hop);
        }
    }
    let site = site(doc, graph, packet);
    doc.switch.settle_pauses(&site);
}
