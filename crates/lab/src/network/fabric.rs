//! Switch memory, flow control, NICs and what breaks.

use crate::schema::{
    Crossbar, Document, Elide, Incident, NicOrder, Pauses, Pfc, PfcThreshold, Release, Sharing,
};
use crate::topology::Graph;
use thalweg_machines::buffer as b;
use thalweg_machines::pause::{BackpressureSpec, GfcSpec, PauseSpec};
use thalweg_sim::spec as s;
use thalweg_units::{PortId, Span, Time};

pub(super) fn shared_buffer(doc: &Document) -> Option<s::SharedBufferSpec> {
    let shared = doc.switch.shared_buffer.as_ref()?;
    let alpha = match shared.sharing {
        Sharing::Complete => f64::INFINITY,
        Sharing::Dynamic { alpha } => alpha,
    };
    Some(s::SharedBufferSpec { total: shared.total.0, alpha })
}

pub(super) fn inputs(doc: &Document) -> Option<b::InputSpec> {
    let inputs = doc.switch.inputs?;
    let pfc = doc.switch.pfc.map(|p| PauseSpec::Pfc(pfc(p)));
    let memory = match inputs.shared {
        Some(shared) => b::InputMemory::Shared(shared.0),
        None => b::InputMemory::PerInput(inputs.memory.unwrap_or_default().0),
    };
    let backpressure = doc.switch.backpressure.map(|b| {
        PauseSpec::Backpressure(BackpressureSpec {
            frame_wire: b.frame.0.get() as u32,
            every: b.every.0,
            expires: b.expires.0,
            nics: b.nics,
            flows: b.pauses == Pauses::Flow,
            elide: b.elide == Elide::Cycles,
        })
    });
    let gfc = doc.switch.gfc.map(|g| {
        PauseSpec::Gfc(GfcSpec {
            first: g.first.0,
            last: g.last.0,
            stages: g.stages,
            frame_wire: g.frame.0.get() as u32,
        })
    });
    // (That there is one at most has been checked.)
    let pause = pfc.or(backpressure).or(gfc);
    Some(b::InputSpec {
        memory,
        pause,
        release_at_start: inputs.release == Release::Start,
        one_per_input: inputs.crossbar == Crossbar::OnePerInput,
    })
}

fn pfc(pfc: Pfc) -> b::PfcSpec {
    b::PfcSpec {
        // (Thresholds and headroom have been resolved by the topology.)
        threshold: match pfc.threshold {
            PfcThreshold::Static { xoff, xon } => {
                b::PfcThreshold::Static { xoff: xoff.unwrap_or_default().0, xon: xon.unwrap_or_default().0 }
            }
            PfcThreshold::Dynamic { alpha, reserve, hysteresis } => {
                b::PfcThreshold::Dynamic { alpha, reserve: reserve.0, hysteresis: hysteresis.0 }
            }
        },
        headroom: pfc.headroom.unwrap_or_default().0,
        frame_wire: pfc.frame.0.get() as u32,
        quanta: pfc.quanta,
        lossy_ok: pfc.lossy_ok,
    }
}

pub(super) fn nic(doc: &Document) -> s::NicSpec {
    let order = match doc.nic.order {
        NicOrder::Queue => s::NicOrder::Queue,
        NicOrder::RoundRobin => s::NicOrder::RoundRobin,
        NicOrder::Shortest => s::NicOrder::Shortest,
        NicOrder::Circle => s::NicOrder::Hpcc,
    };
    s::NicSpec { order, pause_control: doc.nic.pause_control }
}

/// What breaks and what is mended, in order of time; at one instant what is mended comes first.
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
