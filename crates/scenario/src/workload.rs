//! From traffic sections to a list of flows. The list depends on the seed, the topology and the traffic sections, never
//! on schedulers or transports, so that every scheme gets the same flows.

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::Document;
use crate::topology::Graph;
use crate::traffic::{Drafts, Expected, MOST_FLOWS, Section};

/// Checks every section without drawing flows; reports all problems together.
pub(crate) fn check(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Vec<Diagnostic> {
    (0..doc.traffic.len()).filter_map(|i| expected(cx, doc, graph, i).err()).collect()
}

fn section<'a>(cx: &'a Cx<'a>, doc: &Document, graph: &'a Graph, index: usize) -> Section<'a> {
    let offered_until = doc.measure.until.map_or(doc.run.until.0, |q| q.0);
    Section { cx, graph, seed: doc.seed, index, end: doc.run.until.0, offered_until }
}

/// The expected number of flows and bytes of one section. Refuses impossible sections.
fn expected(cx: &Cx<'_>, doc: &Document, graph: &Graph, index: usize) -> Result<Expected, Diagnostic> {
    doc.traffic[index].pattern.family().expected(&section(cx, doc, graph, index))
}

/// Expected flows of every section.
pub(crate) fn expectations(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Vec<Expected>, Diagnostic> {
    (0..doc.traffic.len()).map(|i| expected(cx, doc, graph, i)).collect()
}

/// All flows, section by section.
pub(crate) fn generate(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Drafts, Diagnostic> {
    let mut out = Drafts::default();
    for (i, traffic) in doc.traffic.iter().enumerate() {
        let e = expected(cx, doc, graph, i)?;
        if out.len() as f64 + e.flows + e.endless > MOST_FLOWS as f64 {
            let reason = format!("the section would generate about {:.0} flows", e.flows + e.endless);
            let hint = format!("at most {MOST_FLOWS} flows are possible in a run");
            return Err(cx.error(&format!("traffic.{i}"), reason, hint));
        }
        traffic.pattern.family().generate(&section(cx, doc, graph, i), &mut out)?;
    }
    Ok(out)
}
