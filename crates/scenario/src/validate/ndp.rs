//! `[transport]` of kind `ndp`, and queues that trim.

use super::Report;
use super::transports::{Checked, LARGEST, sizes};
use crate::resolve;
use crate::schema::{Document, Ndp};
use crate::topology::Graph;
use thalweg_machines::problems::{Problem, Problems};

impl Checked for Ndp {
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, _: &Graph) {
        let at = |name: &str| format!("{key}.{name}");
        sizes(r, key, "payload", self.payload.0, self.header.0);
        let control = self.control_size.0;
        if control.get() == 0 || control.get() > LARGEST {
            let reason = format!("{control} is not a packet size: it must be 1 B to 1 MB");
            r.error(&at("control_size"), reason, "for example \"64B\"");
        }
        if self.header.0.get() == 0 {
            let reason = "a trimmed packet keeps only its header, and would be empty";
            r.error(&at("header"), reason, "for example \"64B\"");
        }
        if self.window == Some(0) {
            r.error(
                &at("window"),
                "with a window of 0 packets a sender never sends, and nothing is pulled",
                "at least 1",
            );
        }
        if !(self.pull_share > 0.0 && self.pull_share <= 1.0) {
            r.error(
                &at("pull_share"),
                format!("{} is not a fraction of the link's rate", self.pull_share),
                "write a number above 0 and at most 1",
            );
        }
        if self.retry.is_some_and(|retry| retry.0.is_zero()) {
            r.error(
                &at("retry"),
                "a time of 0 has passed before anything can arrive",
                "write a time above zero",
            );
        }
        if self.paths == Some(0) {
            r.error(&at("paths"), "with 0 paths a packet has none to take", "at least 1");
        }
        if self.paths.is_some() && !doc.routing.rule.needs().path_values {
            let why = "the routing rule ignores the path numbers that senders write";
            r.ineffective(&at("paths"), why, "write `routing = \"numbered\"`, or remove the key");
        }
        if !doc.nic.order.pulls() {
            let reason = "ndp chooses the most urgent packet when the link is free, so packets must not wait in a queue of the NIC";
            r.error(&at("kind"), reason, "write `nic.order = \"round-robin\"`");
        }
        let name = key.strip_prefix("transports.").unwrap_or("default");
        for (i, t) in doc.traffic.iter().enumerate() {
            if t.uses_transport(name) && t.class > 0 {
                let why = "switches serve headers of this transport first and its data in order of arrival, whatever the class";
                r.ineffective(&format!("traffic.{i}.class"), why, "remove the key");
            }
        }
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        Some((
            "the receiver learns the end of a flow from its last packet, and this flow has none",
            "use traffic whose flows end",
        ))
    }
}

/// Transports and congestion points that cannot cope with trimmed packets.
pub(super) fn trimming(doc: &Document) -> Vec<Problem> {
    let mut problems = Problems::default();
    let datagrams = doc.traffic.iter().any(|t| t.pattern.family().brings_transport());
    if datagrams || resolve::used(doc).any(|t| !t.spec().needs().reads_trimmed) {
        let reason = "some transport cannot read trimmed packets, whose payload was cut off";
        problems.wrong("", reason, "use the transports ndp or uet for all traffic, or another scheduler");
    }
    if doc.switch.congestion_point.is_some() {
        let reason = "congestion points rely on packets that leave with the size at which they arrived";
        problems.wrong("", reason, "remove `switch.congestion_point`, or use another scheduler");
    }
    problems.0
}
