//! Flows in the simulator's order.

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::{Connection, Document, Pattern};
use crate::topology::Graph;
use crate::workload::{self, Draft};
use std::collections::BTreeMap;
use thalweg_sim::spec::{FlowSpec, Precedence};
use thalweg_units::{FlowId, HostId, Time};

/// The flows in the simulator's order, what they follow, and what their files call them.
pub(super) fn flows(
    cx: &Cx<'_>,
    doc: &Document,
    graph: &Graph,
) -> Result<(Vec<FlowSpec>, Precedence, Vec<u64>), Diagnostic> {
    let drafts = workload::generate(cx, doc, graph)?;
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    // Those that start by the clock by (start, position), then those that follow.
    order.sort_by_key(|i| {
        (
            drafts[*i].after.is_some(),
            if drafts[*i].after.is_some() { Time::ZERO } else { drafts[*i].start },
            *i,
        )
    });
    let mut place = vec![0u32; drafts.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new as u32;
    }
    let names: Vec<&String> = doc.transports.keys().collect();
    let mut udp = 1 + names.len();
    let transport_of: Vec<u16> = doc
        .traffic
        .iter()
        .map(|t| match &t.pattern {
            Pattern::Udp(_) => {
                udp += 1;
                (udp - 1) as u16
            }
            _ => names.iter().position(|n| **n == t.transport).map_or(0, |i| i as u16 + 1),
        })
        .collect();
    let from = Time::from_ps(doc.measure.from.0.ps());
    let until = Time::from_ps(doc.measure.until.map_or(doc.run.until.0, |q| q.0).ps());
    let spec = |d: &Draft| {
        let section = &doc.traffic[usize::from(d.group)];
        // When a flow starts that follows another is not known yet. A response to a request that does not
        // count does not count either.
        let known = match (d.after, &section.pattern) {
            (None, _) => Some(d),
            (Some(request), Pattern::Rpc(_)) => Some(&drafts[request]),
            (Some(_), _) => None,
        };
        let inside = known.is_none_or(|d| d.start >= from && d.start < until);
        FlowSpec {
            src: HostId(d.src),
            dst: HostId(d.dst),
            size: d.size,
            start: d.start,
            until: d.until.unwrap_or(Time::MAX),
            connection: u32::MAX,
            back_to_back: false,
            transport: transport_of[usize::from(d.group)],
            class: section.class,
            measured: section.measured && inside && d.size != u64::MAX,
            group: d.group,
        }
    };
    let mut flows: Vec<FlowSpec> = order.iter().map(|i| spec(&drafts[*i])).collect();
    share_connections(doc, &mut flows);
    let labels = order.iter().enumerate().map(|(new, i)| drafts[*i].label.unwrap_or(new as u64)).collect();
    let precedence =
        Precedence::new(order.iter().map(|i| drafts[*i].after.map(|before| FlowId(place[before]))));
    Ok((flows, precedence, labels))
}

/// Gives one number to all flows of a section from one host to another, if the section says so.
fn share_connections(doc: &Document, flows: &mut [FlowSpec]) {
    let mut known: BTreeMap<(u16, u32, u32), u32> = BTreeMap::new();
    for f in flows {
        let connection = doc.traffic[usize::from(f.group)].connection;
        if connection != Connection::Fresh {
            let next = known.len() as u32;
            f.connection = *known.entry((f.group, f.src.0, f.dst.0)).or_insert(next);
            f.back_to_back = connection == Connection::BackToBack;
        }
    }
}
