//! `switch.inputs`, `switch.pfc`, `switch.control_first` and what hosts make of them.

use super::Report;
use crate::deadlock;
use crate::quantity::Capacity;
use crate::resolve::{self, Headroom};
use crate::schema::{
    Backpressure, Connection, Crossbar, Document, Elide, Inputs, Marking, NicOrder, Pauses, Pfc,
    PfcThreshold, RoutingRule, Scheduler,
};
use crate::topology::Graph;
use thalweg_machines::relief::ReliefSpec;
use thalweg_machines::schedule::OrderSpec;
use thalweg_units::Bytes;

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    nic(r, doc);
    let answered = resolve::used(doc).any(|t| t.wire().is_acknowledged());
    if doc.switch.control_first && !answered && doc.switch.congestion_point.is_none() {
        let why = "nothing is acknowledged, so there are no control packets";
        r.useless("switch.control_first", why, "remove the key");
    }
    whole_packets(r, doc);
    if doc.measure.memory && doc.switch.inputs.is_none() {
        let hint = "remove the key, or write `switch.inputs = { memory = \"240KB\" }`";
        r.useless("measure.memory", "without `switch.inputs` no switch counts by input", hint);
    }
    if let Some(inputs) = doc.switch.inputs {
        memory(r, inputs, doc, graph);
        crossbar(r, inputs, doc, graph);
    } else {
        for (section, s) in resolve::schedulers(doc).filter(|(section, _)| *section != "nic") {
            if s.needs().inputs {
                let reason = "it serves the inputs of a switch, which has none";
                let hint = "write `switch.inputs = { memory = \"240KB\" }`, or another scheduler";
                r.error(&format!("{section}.scheduler"), reason, hint);
            }
        }
    }
    if !doc.nic.pause_control
        && doc.switch.pfc.is_some()
        && !doc.switch.control_first
        && doc.nic.order == NicOrder::Queue
    {
        let why = "control packets wait in the queue that is paused";
        r.useless(
            "nic.pause_control",
            why,
            "write `switch.control_first = true`, or `nic.order = \"round-robin\"`",
        );
    }
    backpressure(r, doc, graph);
    gfc(r, doc);
    relief(r, doc, graph);
    match (doc.switch.pfc, doc.switch.inputs) {
        (None, _) => no_pfc(r, doc),
        (Some(_), None) => {
            let reason = "flow control looks at the memory of inputs, and there is none";
            r.error("switch.pfc", reason, "write `switch.inputs = { memory = \"240KB\" }`");
        }
        (Some(pfc), Some(inputs)) => flow_control(r, pfc, inputs, doc, graph),
    }
}

/// `switch.backpressure`.
fn backpressure(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let Some(own) = doc.switch.backpressure else { return };
    let key = "switch.backpressure";
    if doc.switch.inputs.is_none() {
        let reason = "flow control counts packets by the input at which they came, and there are no inputs";
        r.error(key, reason, "write `switch.inputs = { shared = \"12MB\" }`");
    }
    if doc.switch.pfc.is_some() {
        r.error(key, "it pauses single queues, `switch.pfc` whole ports", "remove one of the two");
    }
    let bfc = |(section, s): (&str, &Scheduler)| section != "nic" && matches!(s, Scheduler::Bfc(_));
    if !resolve::schedulers(doc).any(bfc) {
        let why = "only queues of the scheduler `bfc` are ever too long";
        r.useless(key, why, "write `switch.scheduler = \"bfc\"`, or remove the key");
    }
    if own.frame.0.get() == 0 || own.frame.0.get() > super::transports::LARGEST {
        r.error(
            &format!("{key}.frame"),
            format!("a frame of {} is impossible", own.frame.0),
            "for example \"64B\"",
        );
    }
    if own.every.0.is_zero() {
        r.error(&format!("{key}.every"), "a time of 0 never passes", "for example \"2us\"");
    }
    if own.expires.0 <= own.every.0 {
        let reason =
            format!("pauses would expire after {}, and are confirmed every {}", own.expires.0, own.every.0);
        r.error(&format!("{key}.expires"), reason, "write more than `every`, for example 16 times as much");
    }
    if own.pauses == Pauses::Flow {
        flow_by_flow(r, doc);
    }
    if own.elide == Elide::Cycles && deadlock::nothing_to_elide(doc, graph) == Some(true) {
        r.useless(&format!("{key}.elide"), "no routes here close a cycle of pauses", "remove the key");
    }
}

/// `switch.backpressure.pauses = "flow"`: an ideal, in which every frame arrives.
fn flow_by_flow(r: &mut Report<'_>, doc: &Document) {
    let default = Backpressure::default();
    let own = doc.switch.backpressure.unwrap_or_default();
    for (key, differs) in [("every", own.every != default.every), ("expires", own.expires != default.expires)]
    {
        if differs {
            let why = "frames that name flows are not repeated, and no pause of a flow expires";
            r.useless(&format!("switch.backpressure.{key}"), why, "remove the key");
        }
    }
    if !doc.incident.is_empty() {
        let reason = "frames that name flows are not repeated: with links or frames that fail, flows would wait for ever";
        r.error("switch.backpressure.pauses", reason, "write \"queue\", or remove the incidents");
    }
    for (section, s) in resolve::schedulers(doc) {
        if let Scheduler::Bfc(own) = s
            && own.sampling < 1.0
        {
            let reason = "which flows wait where is not known if only some of their packets are counted";
            r.error(
                &format!("{section}.scheduler.sampling"),
                reason,
                "remove the key, or write `pauses = \"queue\"`",
            );
        }
    }
}

/// `switch.gfc`.
fn gfc(r: &mut Report<'_>, doc: &Document) {
    let Some(own) = doc.switch.gfc else { return };
    let key = "switch.gfc";
    if doc.switch.inputs.is_none() {
        let reason = "flow control looks at the memory of inputs, and there is none";
        r.error(key, reason, "write `switch.inputs = { memory = \"240KB\" }`");
    }
    for (there, other) in
        [(doc.switch.pfc.is_some(), "switch.pfc"), (doc.switch.backpressure.is_some(), "switch.backpressure")]
    {
        if there {
            r.error(key, format!("it slows neighbours down, `{other}` pauses them"), "remove one of the two");
        }
    }
    if own.last.0 <= own.first.0 {
        let reason = format!("{} is not above `first`, {}", own.last.0, own.first.0);
        r.error(&format!("{key}.last"), reason, "write more than `first`");
    }
    if let Some(memory) =
        doc.switch.inputs.and_then(|inputs| inputs.memory).filter(|memory| memory.0 < own.last.0)
    {
        let reason = format!("{} is above the memory of an input, {}", own.last.0, memory.0);
        r.error(&format!("{key}.last"), reason, "raise `switch.inputs.memory`");
    }
    if own.frame.0.get() == 0 || own.frame.0.get() > super::transports::LARGEST {
        r.error(
            &format!("{key}.frame"),
            format!("a frame of {} is impossible", own.frame.0),
            "for example \"64B\"",
        );
    }
}

/// `switch.relief`.
fn relief(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let Some(relief) = doc.switch.relief else { return };
    let key = "switch.relief";
    r.tell(key, relief.problems());
    if doc.switch.pfc.is_none() {
        let reason = "there are no pauses that it could relieve anybody from";
        return r.error(key, reason, "write `switch.pfc = {}` and `switch.inputs = { memory = \"240KB\" }`");
    }
    let other = |(section, s): &(&'static str, &Scheduler)| {
        *section != "nic" && !matches!(s, OrderSpec::Fifo(_) | OrderSpec::Liftable(_))
    };
    if let Some((section, s)) = resolve::schedulers(doc).find(other) {
        let reason =
            format!("`{}` has no packets that could be lifted out of the middle of a queue", s.key());
        r.error(&format!("{section}.scheduler"), reason, "write \"fifo\", or remove `switch.relief`");
    }
    if doc.switch.congestion_point.is_some() {
        r.error(key, "it does not go with `switch.congestion_point`", "remove one");
    }
    if matches!(doc.routing.rule, RoutingRule::SprayRandom | RoutingRule::SprayRoundRobin { .. }) {
        r.error(
            "routing",
            "signals name flows by their path, and packets that are sprayed have none",
            "write \"ecmp\"",
        );
    }
    // Messages of one stream are one flow to switches, and where there is one path nobody takes another.
    let alone =
        matches!(doc.routing.rule, RoutingRule::Pinned { .. } | RoutingRule::Lowest | RoutingRule::EcmpPairs)
            || graph.links.len() < graph.nodes();
    if matches!(relief, ReliefSpec::Escape(_))
        && !alone
        && doc.traffic.iter().any(|t| t.connection == Connection::PerPair)
    {
        r.error(
            "routing",
            "flows of a connection take paths of their own, and signals name connections",
            "write \"ecmp-pairs\", or another rule of one path",
        );
    }
}

/// Ports that choose between packets of several kinds wait for whole packets, and for the end of transmissions.
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
    let reason = format!("`{chooses}` goes with store and forward only");
    let hint = format!("remove the key or `{chooses}`");
    if doc.switch.cut_through.0.get() > 0 {
        r.error("switch.cut_through", &reason, &hint);
    }
    if doc.switch.preemptive {
        r.error("switch.preemptive", &reason, &hint);
    }
}

/// Settings that need flow control.
fn no_pfc(r: &mut Report<'_>, doc: &Document) {
    if !doc.nic.pause_control {
        r.useless("nic.pause_control", "without `switch.pfc` nobody pauses", "remove the key");
    }
    if doc.measure.pauses {
        r.useless("measure.pauses", "without `switch.pfc` nobody pauses", "remove the key");
    }
}

/// A host whose flows are asked in turn has no queue.
fn nic(r: &mut Report<'_>, doc: &Document) {
    if doc.nic.scheduler.as_ref().is_some_and(|s| s.needs().inputs) {
        let reason = "a host has no inputs to serve in turn";
        r.error("nic.scheduler", reason, "write \"fifo\", or `nic.order = \"round-robin\"`");
    }
    if !doc.nic.order.pulls() {
        return;
    }
    let why = "with `nic.order = \"round-robin\"` flows keep their packets until the link is free";
    if doc.nic.scheduler.as_ref().is_some_and(|s| *s != Scheduler::default()) {
        r.useless("nic.scheduler", why, "remove the key");
    }
    if doc.nic.buffer.is_some_and(|b| b != Capacity::Unlimited) {
        r.useless("nic.buffer", why, "remove the key");
    }
    if doc.nic.marking.is_some_and(|m| m != Marking::default()) {
        r.useless("nic.marking", why, "remove the key");
    }
}

fn memory(r: &mut Report<'_>, inputs: Inputs, doc: &Document, graph: &Graph) {
    let full = super::full_packet(doc);
    let (name, bytes) = match (inputs.memory, inputs.shared) {
        (Some(_), Some(_)) => {
            let reason = "`memory` of each input and `shared` memory exclude each other";
            return r.error("switch.inputs.shared", reason, "remove one");
        }
        (None, None) => {
            return r.error(
                "switch.inputs",
                "nobody says how much memory there is",
                "write `memory = \"240KB\"`",
            );
        }
        (Some(own), None) => ("memory", own.0),
        (None, Some(shared)) => ("shared", shared.0),
    };
    if graph.switches == 0 {
        return r.useless("switch.inputs", "the topology has no switch", "remove the key");
    }
    if bytes.get() < u64::from(full) {
        let reason = format!("{bytes} cannot hold one packet of {full} bytes");
        r.error(&format!("switch.inputs.{name}"), reason, format!("at least \"{full}B\""));
    }
    let ports = most_ports(graph);
    if ports > MOST_INPUTS {
        let reason = format!("a switch has {ports} links");
        r.error("switch.inputs", reason, format!("at most {MOST_INPUTS}, or remove the key"));
    }
    if doc.switch.room() != Capacity::Unlimited {
        let reason = "with memory by input, output queues have no limit of their own";
        r.error("switch.buffer", reason, "write \"unlimited\" or remove the key");
    }
    if doc.switch.shared_buffer.is_some() {
        let reason = "memory belongs to inputs or to output ports, not to both";
        r.error("switch.shared_buffer", reason, "remove the key or `switch.inputs`");
    }
}

/// `switch.inputs.crossbar`.
fn crossbar(r: &mut Report<'_>, inputs: Inputs, doc: &Document, graph: &Graph) {
    if inputs.crossbar == Crossbar::Unlimited {
        return;
    }
    let key = "switch.inputs.crossbar";
    for (section, s) in resolve::schedulers(doc).filter(|(section, _)| *section != "nic") {
        if !s.needs().inputs {
            let reason = format!(
                "`{section}.scheduler` does not serve inputs in turn, so none can be joined with an output"
            );
            r.error(key, reason, "write `scheduler = \"input-round-robin\"`");
        }
    }
    if doc.switch.control_first {
        let reason = "what goes first passes the queues of inputs";
        r.error(key, reason, "remove the key or `switch.control_first`");
    }
    if doc.switch.congestion_point.is_some() {
        let reason = "a congestion point looks at an output that decides for itself";
        r.error(key, reason, "remove the key or `switch.congestion_point`");
    }
    if graph.links.iter().any(|link| !(link.ab.is_plain() && link.ba.is_plain())) {
        let reason = "a link's rate varies, or it has jitter or loss: its port sends when the link says";
        r.error(key, reason, "links of fixed rate and delay without loss, or remove the key");
    }
}

/// Links of a switch that counts by input: the number of an input has eight bits.
const MOST_INPUTS: u64 = 256;

/// Ports of the switch that has the most.
fn most_ports(graph: &Graph) -> u64 {
    let mut ports = vec![0u64; graph.nodes()];
    for l in &graph.links {
        ports[l.a.at()] += 1;
        ports[l.b.at()] += 1;
    }
    ports[graph.hosts as usize..].iter().copied().max().unwrap_or(0)
}

fn flow_control(r: &mut Report<'_>, pfc: Pfc, inputs: Inputs, doc: &Document, graph: &Graph) {
    let key = "switch.pfc";
    let drops = |m: Marking| m.acts().drops();
    if drops(doc.switch.marking) {
        let reason = "it drops packets, which a network with flow control does not mend";
        r.error(
            "switch.marking",
            reason,
            "mark with the kind \"red-ecn\" or \"step\", or remove `switch.pfc`",
        );
    }
    if pfc.frame.0.get() == 0 || pfc.frame.0.get() > super::transports::LARGEST {
        let reason = format!("a frame of {} is impossible", pfc.frame.0);
        r.error("switch.pfc.frame", reason, "for example \"64B\"");
    }
    let needed = Headroom::of(doc, graph);
    // Half of the quanta, 32 B each, against what a refresh may have to wait for, and itself.
    let waits = u64::from(needed.packet).saturating_add(needed.frame.get());
    if let Some(quanta) = pfc.quanta.filter(|quanta| u64::from(*quanta) * 32 < waits) {
        let reason = format!(
            "a pause of {quanta} quanta may expire before its refresh has left, behind a packet of {} B",
            needed.packet
        );
        r.error("switch.pfc.quanta", reason, format!("at least {}", waits.div_ceil(32)));
    }
    let headroom = pfc.headroom.unwrap_or_default().0;
    if pfc.lossy_ok && headroom >= needed.bytes() {
        let why = format!("the headroom, {headroom}, is enough");
        r.useless(
            "switch.pfc.lossy_ok",
            &why,
            format!("remove the key, or write less than \"{}B\"", needed.bytes().get()),
        );
    }
    if headroom < needed.bytes() && !pfc.lossy_ok {
        let reason = format!("{headroom} is less than what may arrive after a pause was asked for: {needed}");
        let hint = format!(
            "at least \"{}B\", or remove the key; losses that are meant: `lossy_ok = true`",
            needed.bytes().get()
        );
        r.error("switch.pfc.headroom", reason, hint);
    }
    let ports = most_ports(graph);
    match pfc.threshold {
        PfcThreshold::Static { xoff: None, .. } => {
            let hint =
                "for example `threshold = { kind = \"static\", xoff = \"100KB\" }`, or the kind \"dynamic\"";
            r.error(key, "shared memory says nothing about the length at which an input pauses", hint);
        }
        PfcThreshold::Static { xoff: Some(xoff), xon } => {
            if xoff.0.get() == 0 {
                let reason = match inputs.memory {
                    Some(m) if m.0 <= headroom => {
                        format!("the memory of an input, {}, is not above its headroom, {headroom}", m.0)
                    }
                    _ => "a pause from the first byte on never ends".to_owned(),
                };
                return r.error("switch.pfc.threshold.xoff", reason, "raise it, or `switch.inputs.memory`");
            }
            if let Some(xon) = xon.filter(|xon| xon.0 > xoff.0) {
                let reason = format!("XON, {}, is above XOFF, {}", xon.0, xoff.0);
                r.error("switch.pfc.threshold.xon", reason, "swap them");
            }
            let each = xoff.0.get().saturating_add(headroom.get());
            if let Some(m) = inputs.memory.filter(|m| m.0.get() < each) {
                let (xoff, headroom, memory) = (xoff.0.get(), headroom.get(), m.0);
                let reason = format!(
                    "XOFF, {xoff} B, and headroom, {headroom} B, are {each} B, the memory of an input is {memory}"
                );
                let most = match memory.get().saturating_sub(headroom) {
                    0 => String::new(),
                    most => format!("at most \"{most}B\", or "),
                };
                r.error(
                    "switch.pfc.threshold.xoff",
                    reason,
                    format!("{most}`switch.inputs.memory` at least \"{each}B\""),
                );
            }
            fits(r, inputs, ports, each, "XOFF and headroom");
        }
        PfcThreshold::Dynamic { reserve, .. } => {
            if inputs.shared.is_none() {
                let reason = "a dynamic threshold is a fraction of shared memory, and there is none";
                return r.error(
                    "switch.pfc.threshold",
                    reason,
                    "write `switch.inputs = { shared = \"9MB\" }`",
                );
            }
            let each = reserve.0.get().saturating_add(headroom.get());
            fits(r, inputs, ports, each, "reserve and headroom");
        }
    }
}

/// What all inputs of a switch may claim at once must be there.
fn fits(r: &mut Report<'_>, inputs: Inputs, ports: u64, each: u64, what: &str) {
    let Some(shared) = inputs.shared else { return };
    let all = Bytes::new(each.saturating_mul(ports));
    if all > shared.0 {
        let reason =
            format!("{ports} inputs of {what} {each} B claim {} B, the memory has {}", all.get(), shared.0);
        r.error("switch.inputs.shared", reason, format!("at least \"{}B\"", all.get()));
    }
}
