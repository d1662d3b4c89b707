//! Switch memory, flow control, NICs and incidents.

use crate::schema::{Crossbar, Document, Incident, Release};
use crate::topology::Graph;
use thalweg_machines::buffer as b;
use thalweg_net::spec as s;
use thalweg_units::{PortId, Span, Time};

pub(super) fn shared_buffer(doc: &Document) -> Option<s::SharedBufferSpec> {
    let shared = doc.switch.shared_buffer.as_ref()?;
    Some(s::SharedBufferSpec { total: shared.total.0, sharing: shared.sharing.clone() })
}

pub(super) fn inputs(doc: &Document) -> Option<b::InputSpec> {
    let inputs = doc.switch.inputs?;
    let memory = match inputs.shared {
        Some(shared) => b::InputMemory::Shared(shared.0),
        None => b::InputMemory::PerInput(inputs.memory.unwrap_or_default().0),
    };
    Some(b::InputSpec {
        memory,
        pause: doc.switch.pause(),
        release_at_start: inputs.release == Release::Start,
        one_per_input: inputs.crossbar == Crossbar::OnePerInput,
    })
}

pub(super) fn nic(doc: &Document) -> s::NicSpec {
    s::NicSpec { order: doc.nic.order, pause_control: doc.nic.pause_control }
}

/// Incidents in order of time. At one instant, ends come before beginnings.
pub(crate) fn incidents(doc: &Document, graph: &Graph) -> Vec<s::Incident> {
    let at = |span: Span| Time::from_ps(span.ps());
    let (mut begins, mut out) = (Vec::new(), Vec::new());
    for incident in &doc.incident {
        match incident {
            Incident::LinkFailure { at: from, until, link } => {
                for l in graph.between(*link) {
                    begins.push(s::Incident { at: at(from.0), what: s::IncidentKind::LinkDown(l) });
                    out.extend(until.map(|u| s::Incident { at: at(u.0), what: s::IncidentKind::LinkUp(l) }));
                }
            }
            Incident::PauseLoss { from, until, probability, port } => {
                let port = port.map(PortId);
                let loses = |p| s::IncidentKind::PauseLoss(port, p);
                begins.push(s::Incident { at: at(from.0), what: loses(*probability) });
                out.extend(until.map(|u| s::Incident { at: at(u.0), what: loses(0.0) }));
            }
        }
    }
    out.append(&mut begins);
    out.sort_by_key(|i| i.at);
    out
}
