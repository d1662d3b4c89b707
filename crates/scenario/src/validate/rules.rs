//! `[[traffic]]` classes, `[measure]`, `[run]`. (Families of traffic check themselves: [`crate::traffic`].)

use super::Report;
use crate::resolve;
use crate::schema::{Document, LoadOf};
use crate::topology::Graph;
use std::collections::BTreeSet;
use thalweg_machines::problems::{Problem, Problems};
use thalweg_machines::route::{Paths, RouteSpec};
use thalweg_units::Span;

pub(super) fn check(r: &mut Report<'_>, written: &Document, doc: &Document, graph: &Graph) {
    let one_path = graph.is_forest();
    if written.routing.rule != RouteSpec::default() && one_path {
        r.ineffective(
            "routing",
            "only one path joins any two hosts, so no rule has a choice",
            "remove the key",
        );
    }
    if doc.traffic.is_empty() {
        r.error("traffic", "no traffic is defined", "add a [[traffic]] section");
    }
    if doc.traffic.len() > usize::from(u16::MAX) {
        r.error("traffic", format!("there are {} sections", doc.traffic.len()), "at most 65535 are possible");
    }
    classes(r, doc);
    for (i, t) in doc.traffic.iter().enumerate() {
        let busiest = t.pattern.family().load_of() == Some(LoadOf::BusiestLink);
        if busiest && !one_path && doc.routing.rule.needs().paths != Paths::Lowest {
            let reason = "only with the routing `lowest` is the busiest link known in advance";
            r.error(
                &format!("traffic.{i}.of"),
                reason,
                "write `routing = \"lowest\"`, or `of = \"core-links\"`",
            );
        }
    }
    let end = doc.run.until.0;
    if end.is_zero() {
        r.error("run.until", "a run of no time simulates nothing", "for example \"100ms\"");
    }
    let (from, until) = (doc.measure.from.0, doc.measure.until.map_or(end, |q| q.0));
    if until > end {
        let reason = format!("the measured window ends at {until}, after the run, {end}");
        r.error("measure.until", reason, "lower it or raise `run.until`");
    } else if from >= until {
        let reason = format!("the measured window is empty: from {from} until {until}");
        r.error("measure.from", reason, "write a `from` before `until`");
    }
    if doc.measure.size_classes.windows(2).any(|w| w[1].0 <= w[0].0) {
        r.error(
            "measure.size_classes",
            "the limits of the classes are not in ascending order",
            "sort them, each once",
        );
    }
    let ports = 2 * graph.links.len() as u64;
    let queues = doc.measure.queues.as_ref().map(|q| ("queues", q.every.0, &q.ports));
    let links = doc.measure.links.as_ref().map(|l| ("links", l.every.0, &l.ports));
    for (name, span, listed) in [queues, links].into_iter().flatten() {
        every(r, &format!("measure.{name}.every"), span, end);
        for (i, port) in listed.iter().enumerate().filter(|(_, p)| u64::from(**p) >= ports) {
            let hint = format!("ports are 0 to {}", ports - 1);
            r.error(&format!("measure.{name}.ports.{i}"), format!("there is no port {port}"), hint);
        }
        r.report(&format!("measure.{name}"), each_once("ports", "port", listed));
    }
    for (i, port) in doc.measure.port_records.iter().enumerate() {
        let key = format!("measure.port_records.{i}");
        if u64::from(*port) >= ports {
            r.error(&key, format!("there is no port {port}"), format!("ports are 0 to {}", ports - 1));
        }
    }
    r.report("measure", each_once("port_records", "port", &doc.measure.port_records));
    if let Some(probe) = &doc.measure.controllers {
        every(r, "measure.controllers.every", probe.every.0, end);
        r.report("measure.controllers", each_once("flows", "flow", &probe.flows));
    }
    if doc.measure.decisions && !resolve::used(doc).any(|t| t.congestion().is_some()) {
        r.ineffective("measure.decisions", "no flow has a congestion controller", "remove the key");
    }
    if let Some(h) = &doc.measure.priority_histogram {
        let most = crate::parse::tables::MOST_PRIORITIES as u64;
        if h.mtu.0.get() == 0 || h.mtu.0.get() > 1 << 30 || h.cap.0.get().div_ceil(h.mtu.0.get()) >= most {
            let reason = format!(
                "{} in steps of {} need more than the 4096 priorities of a 12-bit header field",
                h.cap.0, h.mtu.0
            );
            r.error("measure.priority_histogram", reason, "for example `cap = \"2MB\"`, `mtu = \"1500B\"`");
        }
    }
}

/// Numbers that are listed twice.
fn each_once(key: &str, what: &str, listed: &[u32]) -> Vec<Problem> {
    let (mut seen, mut problems) = (BTreeSet::new(), Problems::default());
    for (i, number) in listed.iter().enumerate().filter(|(_, number)| !seen.insert(**number)) {
        problems.wrong(&format!("{key}.{i}"), format!("{what} {number} is listed twice"), "list each once");
    }
    problems.0
}

fn every(r: &mut Report<'_>, key: &str, every: Span, end: Span) {
    if every.is_zero() {
        r.error(key, "the interval between samples must be above zero", "for example \"10us\"");
    } else if every > end {
        r.ineffective(key, "the run ends before the first sample", "write a shorter time");
    }
}

fn classes(r: &mut Report<'_>, doc: &Document) {
    let classes = resolve::classes(doc);
    for (i, t) in doc.traffic.iter().enumerate().filter(|(_, t)| t.class > 0) {
        let key = format!("traffic.{i}.class");
        if classes == 0 {
            r.ineffective(
                &key,
                "no scheduler serves by class",
                "use the scheduler priority, or remove the key",
            );
        } else if u32::from(t.class) >= classes {
            let reason = format!("there is no class {}", t.class);
            r.error(&key, reason, format!("classes are 0 to {}", classes - 1));
        }
    }
}
