//! `[transport]` of kinds `homa` and `expresspass`.

use super::Report;
use super::transports::{Checked, LARGEST, sizes};
use crate::quantity::Q;
use crate::resolve;
use crate::schema::{Document, ExpressPass, Homa, Scheduler};
use crate::topology::Graph;
use thalweg_machines::route::{Back, Paths};
use thalweg_units::Bytes;

/// The size of a control packet or credit.
fn small(r: &mut Report<'_>, key: &str, name: &str, size: Q<Bytes>) {
    if size.0.get() == 0 || size.0.get() > LARGEST {
        let reason = format!("{} is not a packet size: it must be 1 B to 1 MB", size.0);
        r.error(&format!("{key}.{name}"), reason, "for example \"84B\"");
    }
}

/// Classes of traffic, which the transport overwrites.
fn classes(r: &mut Report<'_>, key: &str, doc: &Document) {
    let name = key.strip_prefix("transports.").unwrap_or("default");
    for (i, t) in doc.traffic.iter().enumerate() {
        if t.uses_transport(name) && t.class > 0 {
            let why = "the transport writes the class of each packet itself";
            r.ineffective(&format!("traffic.{i}.class"), why, "remove the key");
        }
    }
}

impl Checked for Homa {
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, _: &Graph) {
        let at = |name: &str| format!("{key}.{name}");
        sizes(r, key, "payload", self.payload.0, self.header.0);
        small(r, key, "control_size", self.control_size);
        if self.rtt_bytes.is_some_and(|q| q.0.get() == 0) {
            let reason = "without unscheduled bytes no destination is notified of a message";
            r.error(&at("rtt_bytes"), reason, "at least \"1B\"");
        }
        if self.overcommitment == Some(0) {
            r.error(
                &at("overcommitment"),
                "with an overcommitment of 0 a receiver never grants anything",
                "at least 1",
            );
        }
        if self.resend.is_some_and(|resend| resend.0.is_zero()) {
            r.error(
                &at("resend"),
                "a time of 0 has passed before anything can arrive",
                "write a time above zero",
            );
        }
        let (known, levels) = (resolve::classes(doc).max(1), u32::from(self.levels.unwrap_or(1)));
        if levels == 0 || levels > known {
            let reason = format!("the scheduler of the switches has {known} classes");
            let hint = "write fewer, or use the scheduler priority with as many `classes`";
            r.error(&at("levels"), reason, hint);
        }
        let cuts = self.cuts();
        if !cuts.is_sorted_by(|a, b| a < b) {
            r.error(&at("cutoffs"), "the cutoffs are not in ascending order", "sort them, each once");
        } else if cuts.len() as u32 >= levels.max(1) {
            let reason =
                format!("{} cutoffs separate {} levels, and there are {levels}", cuts.len(), cuts.len() + 1);
            r.error(&at("cutoffs"), reason, "write fewer, or raise `levels`");
        }
        if doc.slack.is_some() {
            let reason = "slack and message sizes would use the same header field";
            r.error(&at("kind"), reason, "remove [slack], or use another transport");
        }
        if !doc.nic.order.pulls() {
            let reason = "homa sends the message with the least left next, so packets must not wait in a queue of the NIC";
            r.error(&at("kind"), reason, "write `nic.order = \"round-robin\"`");
        }
        classes(r, key, doc);
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        Some((
            "packets carry the size of their message, and a flow without end has none",
            "use traffic whose flows end",
        ))
    }
}

impl Checked for ExpressPass {
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, graph: &Graph) {
        let at = |name: &str| format!("{key}.{name}");
        sizes(r, key, "payload", self.payload.0, self.header.0);
        small(r, key, "control_size", self.control_size);
        small(r, key, "credit_min", self.credit_min);
        small(r, key, "credit_max", self.credit_max);
        if self.credit_max.0 < self.credit_min.0 {
            let reason = format!(
                "the largest credit, {}, is smaller than the smallest, {}",
                self.credit_max.0, self.credit_min.0
            );
            r.error(&at("credit_max"), reason, "swap them");
        }
        if self.max_rate.is_some_and(|q| q.0.bps() == 0) {
            r.error(&at("max_rate"), "at a rate of 0 no credit is ever sent", "write a rate above zero");
        }
        if self.retry.is_some_and(|retry| retry.0.is_zero()) {
            r.error(
                &at("retry"),
                "a time of 0 has passed before anything can arrive",
                "write a time above zero",
            );
        }
        let meters = |s: &Scheduler| matches!(s, Scheduler::ExpressPass(_));
        if let Some((section, _)) = resolve::schedulers(doc).find(|(_, s)| !meters(s)) {
            let reason = "every port must limit the rate of credits, and this scheduler does not";
            r.error(&format!("{section}.scheduler"), reason, "write \"expresspass\"");
        }
        if doc.nic.order.pulls() {
            let reason = "with this `nic.order` NICs have no queue at which to limit credits";
            r.error("nic.order", reason, "write \"queue\"");
        }
        let needs = doc.routing.rule.needs();
        let mirrored = needs.source_routes && needs.back != Back::Own;
        // In a tree there is one path; pinned paths are looked at when the network is built.
        let choice = graph.links.len() >= graph.nodes();
        if choice && !mirrored && needs.paths != Paths::Given {
            let reason =
                "data must take the path of its credits in reverse, and this rule does not ensure it";
            r.error("routing.kind", reason, "write \"ecmp-symmetric\"");
        }
        if doc.slack.is_some() {
            let reason = "slack and credit numbers would use the same header field";
            r.error(&at("kind"), reason, "remove [slack], or use another transport");
        }
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        Some((
            "a request carries the size of its flow, and a flow without end has none",
            "use traffic whose flows end",
        ))
    }
}
