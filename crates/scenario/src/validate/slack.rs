//! `[slack]` and `[edge]`: their own keys, and the schedulers that read slack.

use super::Report;
use crate::network::header::entitled;
use crate::quantity::Delay;
use crate::resolve;
use crate::schema::{Document, Edge, Scheduler, Slack, SlackRule};
use crate::topology::Graph;
use thalweg_machines::problems::Problems;
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::codel;
use thalweg_units::{Bytes, Rate};

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    readers(r, doc);
    keys(r, doc);
    weights(r, doc);
    if let Some(slack) = &doc.slack {
        header(r, doc);
        rule(r, slack, doc);
    }
    if let Some(e) = doc.edge {
        edge(r, e, doc, graph);
    }
}

/// Schedulers that sort by slack need it in packets, and slack needs something that reads it.
fn readers(r: &mut Report<'_>, doc: &Document) {
    let mut read = doc.edge.is_some();
    for (section, s) in resolve::schedulers(doc) {
        let key = format!("{section}.scheduler");
        if section == "nic" && resolve::reads_slack(s) && (least(s) || doc.slack.is_some()) {
            let reason =
                "slack is written when the NIC begins to transmit, so its own queue cannot sort by it";
            r.error(&key, reason, "write \"fifo\"");
        } else if least(s) && doc.slack.is_none() {
            let reason = "the scheduler lstf sorts by slack, and packets carry none";
            r.error(&key, reason, "write [slack], for example with `kind = \"constant\"`");
        }
        read |= section != "nic" && (resolve::reads_slack(s) || s.needs().anything());
    }
    if doc.slack.is_some() && !read {
        let hint = "use the scheduler lstf, or [edge], or remove [slack]";
        r.ineffective("slack", "nothing reads the slack", hint);
    }
}

fn least(scheduler: &Scheduler) -> bool {
    scheduler.needs().key == Key::Slack
}

/// Sorting by slack needs exact transmission times.
fn keys(r: &mut Report<'_>, doc: &Document) {
    for (section, s) in resolve::schedulers(doc).filter(|(section, _)| *section != "nic") {
        if least(s) && !doc.topology.time_quantum.0.is_zero() {
            let reason =
                format!("`{section}.scheduler` needs exact transmission times, which a time quantum rounds");
            return r.error("topology.time_quantum", reason, "remove the key, or use another scheduler");
        }
    }
}

fn weights(r: &mut Report<'_>, doc: &Document) {
    let clock = match &doc.slack {
        Some(Slack { rule: SlackRule::VirtualClock(v), .. }) => Some(v.rate.0),
        _ => None,
    };
    for (i, t) in doc.traffic.iter().enumerate() {
        let key = format!("traffic.{i}.weight");
        match clock {
            None if t.weight != 1.0 => {
                let hint = "write [slack] with `kind = \"virtual-clock\"`, or remove the key";
                r.ineffective(&key, "no slack rule uses weights", hint);
            }
            Some(rate) if rate > Rate::ZERO && entitled(rate, t.weight) == Rate::ZERO => {
                let reason =
                    format!("its flows would be entitled to {} times {rate}, less than 1bps", t.weight);
                r.error(&key, reason, "raise it or `slack.rate`");
            }
            _ => {}
        }
    }
}

/// Ranks and slack use the same header field.
fn header(r: &mut Report<'_>, doc: &Document) {
    let ranked = resolve::schedulers(doc).find(|(_, s)| resolve::rank_of(s).is_some());
    if let Some((section, _)) = ranked {
        let reason = "it sorts by rank, and [slack] uses the same header field";
        let hint = "remove [slack], or use the scheduler lstf with `slack.kind = \"flow-size\"`";
        r.error(&format!("{section}.scheduler"), reason, hint);
    }
    if doc.measure.priority_histogram.is_some() {
        let reason = "it counts ranks, and [slack] uses the same header field";
        r.error("measure.priority_histogram", reason, "remove the key, or [slack]");
    }
}

fn rule(r: &mut Report<'_>, slack: &Slack, doc: &Document) {
    match &slack.rule {
        SlackRule::Constant(_) => {}
        SlackRule::FlowSize(f) => {
            if f.unit.0.is_zero() {
                r.error(
                    "slack.unit",
                    "with a unit of 0 flows of all sizes have the same slack",
                    "for example \"1s\"",
                );
            }
            let mine = doc.transport.wire().payload;
            let other = resolve::transports(doc).into_iter().find(|(_, t)| t.wire().payload != mine);
            if let Some((key, t)) = other {
                let reason = format!(
                    "flow sizes are counted in packets of {mine} bytes, and packets of {key} carry {}",
                    t.wire().payload
                );
                r.error("slack.kind", reason, "give all transports packets of one size");
            }
        }
        SlackRule::VirtualClock(v) => {
            if v.rate.0.bps() == 0 {
                r.error("slack.rate", "no flow can be entitled to 0bps", "for example \"100Mbps\"");
            }
            if let Some(size) = v.ack_full_size.map(|b| b.0)
                && (size.get() == 0 || size.get() > 1 << 30)
            {
                let reason = format!("{size} is not a packet size: it must be 1 B to 1 GiB");
                r.error("slack.ack_full_size", reason, "for example \"1460B\"");
            }
        }
    }
    let one_class =
        || doc.traffic.iter().all(|t| t.class == 0) && resolve::used(doc).all(|t| t.classes() == 0);
    if !slack.class_offset.0.is_zero() && one_class() {
        let hint = "write `class = 1` in a [[traffic]] section, or remove the key";
        r.ineffective("slack.class_offset", "all traffic is of class 0", hint);
    }
}

fn edge(r: &mut Report<'_>, edge: Edge, doc: &Document, graph: &Graph) {
    if doc.slack.is_none() {
        let reason =
            "it computes waiting times from the slack that packets have used, and packets carry none";
        r.error("edge", reason, "write [slack], for example with `kind = \"constant\"`");
    }
    match edge {
        Edge::Codel { target, interval, refresh } => {
            let mut problems = Problems::default();
            codel::Params {
                target: target.0,
                interval: interval.0,
                mtu: Bytes::ZERO,
                ..codel::Params::default()
            }
            .check_times(&mut problems);
            r.report("edge", problems.0);
            if refresh.0 <= target.0 {
                let reason = format!("a gap of {} is not longer than the target, {}", refresh.0, target.0);
                r.error("edge.refresh", reason, "write two to four times the target");
            }
            if !resolve::used(doc).any(|t| t.slows_on_loss()) {
                let why = "no transport slows down when packets are dropped";
                r.ineffective("edge", why, "use a transport of kind tcp, or remove [edge]");
            }
        }
        Edge::Ecn { threshold } => {
            if !resolve::ecn_capable(doc) && !resolve::wants_marks(doc) {
                let why = "no transport is ECN-capable, so no packet can be marked";
                let hint = "write `transport.ecn = \"classic\"`, or the controller dctcp, or remove [edge]";
                r.ineffective("edge", why, hint);
            }
            let rates = graph.nic_rates();
            if matches!(threshold, Delay::Packets(_)) && rates.iter().any(|rate| *rate != rates[0]) {
                let reason = "hosts' links have different rates, so a number of packets is no single time";
                r.error("edge.threshold", reason, "write a time, for example \"17.5us\"");
            }
        }
    }
}
