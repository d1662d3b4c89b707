//! `buffer` and `marking` of `[[link]]`: what is different at the ports of switches that send on such links.

use super::{Report, marking, queues, schedulers};
use crate::resolve;
use crate::schema::Document;
use crate::topology::Graph;
use thalweg_machines::stage::Around;
use thalweg_units::{NodeId, PortId};

pub(super) fn check(r: &mut Report<'_>, i: usize, doc: &Document, graph: &Graph, ports: &[u32]) {
    let link = &doc.link[i];
    let (section, full, room) = (format!("link.{i}"), resolve::full_packet(doc), doc.switch.room());
    let at = |name: &str| format!("{section}.{name}");
    let parts = [("buffer", link.buffer.is_some()), ("marking", link.marking.is_some())];
    let of_switch = |port: &u32| !graph.is_nic(graph.ends(PortId(*port)).0);
    if !ports.is_empty() && !ports.iter().any(of_switch) {
        for (name, _) in parts.iter().filter(|(_, written)| *written) {
            let why = format!("only hosts send in this direction of these links, and `nic.{name}` is theirs");
            r.ineffective(&at(name), &why, "write the other `direction`, or remove the key");
        }
        return;
    }
    let mixed = |node: NodeId| doc.switch.mix.as_ref().filter(|mix| mix.nodes.has(node.0));
    if let Some(own) = link.buffer {
        queues::buffer(r, &section, own, full);
        if own == room {
            r.ineffective(
                &at("buffer"),
                "it is the same as `switch.buffer`",
                "write another one, or remove the key",
            );
        }
        let sizes_itself = |port: &u32| {
            let (from, _) = graph.ends(PortId(*port));
            !graph.is_nic(from)
                && mixed(from).map_or(&doc.switch.scheduler, |mix| &mix.scheduler).needs().sizes_itself
        };
        if ports.iter().any(sizes_itself) {
            let why = "the scheduler limits its queue itself";
            r.ineffective(&at("buffer"), why, "remove the key");
        }
    }
    if let Some(own) = link.marking {
        if own == doc.switch.marking {
            r.ineffective(
                &at("marking"),
                "it is the same as `switch.marking`",
                "write another one, or remove the key",
            );
        }
        let buffer = link.buffer.unwrap_or(room);
        let batches = ports.iter().any(|port| graph.direction(PortId(*port)).is_batched());
        let ecn_capable = resolve::ecn_capable(doc);
        let around = Around { buffer, room: buffer.bytes(full).get(), full, ecn_capable, batches };
        marking::row(r, &section, (&[], own), &around, doc);
        schedulers::stage_inside(r, &at("marking"), &doc.switch.scheduler, own);
    }
}
