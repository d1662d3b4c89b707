//! `switch.inputs`, `switch.control_first`, and the settings of NICs that go with them.

use super::{Report, pauses};
use crate::quantity::Capacity;
use crate::resolve;
use crate::schema::{Crossbar, Document, Inputs, Marking, Scheduler};
use crate::topology::Graph;
use thalweg_machines::buffer::MOST_PORTS;

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    nic(r, doc);
    let answered = resolve::used(doc).any(|t| t.wire().is_acknowledged());
    if doc.switch.control_first && !answered && doc.switch.congestion_point.is_none() {
        let why = "nothing is acknowledged, so there are no control packets";
        r.ineffective("switch.control_first", why, "remove the key");
    }
    whole_packets(r, doc);
    if doc.measure.memory && doc.switch.inputs.is_none() {
        let hint = "remove the key, or write `switch.inputs = { memory = \"240KB\" }`";
        r.ineffective("measure.memory", "without `switch.inputs` no switch counts memory by input", hint);
    }
    if let Some(inputs) = doc.switch.inputs {
        memory(r, inputs, doc, graph);
        crossbar(r, inputs, doc, graph);
    } else {
        for (section, s) in resolve::schedulers(doc).filter(|(section, _)| *section != "nic") {
            if s.needs().inputs {
                let reason = "it serves the inputs of a switch one by one, and `switch.inputs` is not set";
                let hint = "write `switch.inputs = { memory = \"240KB\" }`, or another scheduler";
                r.error(&format!("{section}.scheduler"), reason, hint);
            }
        }
    }
    pauses::check(r, doc, graph);
}

/// `switch.inputs.crossbar`.
fn crossbar(r: &mut Report<'_>, inputs: Inputs, doc: &Document, graph: &Graph) {
    if inputs.crossbar == Crossbar::Unlimited {
        return;
    }
    let key = "switch.inputs.crossbar";
    for (section, s) in resolve::schedulers(doc).filter(|(section, _)| *section != "nic") {
        if !s.needs().by_input {
            let reason = format!(
                "a crossbar connects inputs and outputs, and `{section}.scheduler` does not serve inputs in turn"
            );
            r.error(key, reason, "write `scheduler = \"input-round-robin\"`");
        }
    }
    if doc.switch.control_first {
        let reason = "control packets that go first bypass the crossbar";
        r.error(key, reason, "remove the key or `switch.control_first`");
    }
    if doc.switch.congestion_point.is_some() {
        let reason =
            "a congestion point needs outputs that choose packets independently, which a crossbar prevents";
        r.error(key, reason, "remove the key or `switch.congestion_point`");
    }
    if !doc.switch.stages.is_empty() {
        let reason = "stages in front of a queue need outputs that choose packets independently, which a crossbar prevents";
        r.error(key, reason, "remove the key or `switch.stages`");
    }
    if graph.links.iter().any(|link| !(link.ab.is_plain() && link.ba.is_plain())) {
        let reason = "some link has a varying rate, jitter or loss, and then the link decides when its port sends, not the crossbar";
        r.error(key, reason, "use links of fixed rate and delay without loss, or remove the key");
    }
}

/// Ports that choose between several kinds of packets need whole packets, and transmissions that are not interrupted.
fn whole_packets(r: &mut Report<'_>, doc: &Document) {
    let chooses = if doc.switch.inputs.is_some() {
        "switch.inputs"
    } else if doc.switch.control_first {
        "switch.control_first"
    } else if doc.nic.order.pulls() {
        "nic.order"
    } else {
        return;
    };
    let reason = format!("`{chooses}` needs store and forward, and whole transmissions");
    let hint = format!("remove the key or `{chooses}`");
    if doc.switch.cut_through.0.get() > 0 {
        r.error("switch.cut_through", &reason, &hint);
    }
    if doc.switch.preemptive {
        r.error("switch.preemptive", &reason, &hint);
    }
}

/// A NIC that polls its flows in turn has no queue.
fn nic(r: &mut Report<'_>, doc: &Document) {
    if doc.nic.scheduler.as_ref().is_some_and(|s| s.needs().inputs) {
        let reason = "a host has no inputs to serve in turn";
        r.error("nic.scheduler", reason, "write \"fifo\", or `nic.order = \"round-robin\"`");
    }
    if !doc.nic.order.pulls() {
        return;
    }
    let why = "with `nic.order = \"round-robin\"` flows keep their packets until the link is free, so NICs have no queue";
    if doc.nic.scheduler.as_ref().is_some_and(|s| *s != Scheduler::default()) {
        r.ineffective("nic.scheduler", why, "remove the key");
    }
    if doc.nic.buffer.is_some_and(|b| b != Capacity::Unlimited) {
        r.ineffective("nic.buffer", why, "remove the key");
    }
    if !doc.nic.stages.is_empty() {
        r.ineffective("nic.stages", why, "remove the key");
    }
    if doc.nic.marking.is_some_and(|m| m != Marking::default()) {
        r.ineffective("nic.marking", why, "remove the key");
    }
}

fn memory(r: &mut Report<'_>, inputs: Inputs, doc: &Document, graph: &Graph) {
    let full = resolve::full_packet(doc);
    let (name, bytes) = match (inputs.memory, inputs.shared) {
        (Some(_), Some(_)) => {
            let reason = "`memory` of each input and `shared` memory exclude each other";
            return r.error("switch.inputs.shared", reason, "remove one of the two");
        }
        (None, None) => {
            return r.error("switch.inputs", "no amount of memory is given", "write `memory = \"240KB\"`");
        }
        (Some(own), None) => ("memory", own.0),
        (None, Some(shared)) => ("shared", shared.0),
    };
    if graph.switches == 0 {
        return r.ineffective("switch.inputs", "the topology has no switch", "remove the key");
    }
    if bytes.get() < u64::from(full) {
        let reason = format!("{bytes} cannot hold one packet of {full} bytes");
        r.error(&format!("switch.inputs.{name}"), reason, format!("at least \"{full}B\""));
    }
    let ports = graph.most_ports();
    if ports > MOST_PORTS as u64 {
        let reason = format!("a switch has {ports} ports, and at most {MOST_PORTS} inputs can be counted");
        r.error("switch.inputs", reason, "use smaller switches, or remove the key");
    }
    if doc.switch.room() != Capacity::Unlimited {
        let reason = "with memory by input, output queues have no limit of their own";
        r.error("switch.buffer", reason, "write \"unlimited\" or remove the key");
    }
    for (section, s) in resolve::schedulers(doc).filter(|(section, _)| *section != "nic") {
        if s.needs().sizes_itself {
            let reason = format!(
                "with memory by input, output queues have no limit of their own, and the scheduler `{}` sets one",
                s.key()
            );
            r.error(
                &format!("{section}.scheduler"),
                reason,
                "write another scheduler, or remove `switch.inputs`",
            );
        }
    }
    if doc.switch.shared_buffer.is_some() {
        let reason = "memory is counted by input or by output port, not by both";
        r.error("switch.shared_buffer", reason, "remove the key or `switch.inputs`");
    }
}
