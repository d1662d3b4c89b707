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
            let reason = format!("a packet of {control} is impossible");
            r.error(&at("control_size"), reason, "for example \"64B\"");
        }
        if self.header.0.get() == 0 {
            let reason = "of a packet that is trimmed nothing would be left";
            r.error(&at("header"), reason, "for example \"64B\"");
        }
        if self.window == Some(0) {
            r.error(&at("window"), "nothing would ever be pulled", "at least 1");
        }
        if !(self.pull_share > 0.0 && self.pull_share <= 1.0) {
            r.error(&at("pull_share"), format!("{} is no share", self.pull_share), "above 0, at most 1");
        }
        if self.retry.0.is_zero() {
            r.error(&at("retry"), "a time of 0 is over before anything comes", "write a time above zero");
        }
        if self.paths == Some(0) {
            r.error(&at("paths"), "a packet takes some path", "at least 1");
        }
        if self.paths.is_some() && !doc.routing.rule.needs().path_values {
            let why = "the routing does not go by the numbers of paths";
            r.useless(&at("paths"), why, "write `routing = \"numbered\"`, or remove the key");
        }
        if !doc.nic.order.pulls() {
            let reason = "a pull calls for what is most urgent when the link is free: nothing may wait in a queue of the NIC";
            r.error(&at("kind"), reason, "write `nic.order = \"round-robin\"`");
        }
        let name = key.strip_prefix("transports.").unwrap_or("default");
        for (i, t) in doc.traffic.iter().enumerate() {
            if t.uses_transport(name) && t.class > 0 {
                let why = "the transport has no classes: headers go first, data in order of arrival";
                r.useless(&format!("traffic.{i}.class"), why, "remove the key");
            }
        }
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        Some(("the last packet says so, and this one has none", "use a pattern whose flows end"))
    }
}

/// What cannot stand headers of which the payload was cut.
pub(super) fn trimming(doc: &Document) -> Vec<Problem> {
    let mut problems = Problems::default();
    let datagrams = doc.traffic.iter().any(|t| t.pattern.family().brings_transport());
    if datagrams || resolve::used(doc).any(|t| !t.spec().needs().reads_trimmed) {
        let reason = "there are transports that do not know packets whose payload was cut";
        problems.wrong("", reason, "use the transports ndp or uet for all traffic, or another scheduler");
    }
    if doc.switch.congestion_point.is_some() {
        let reason = "congestion points count packets that leave as they came";
        problems.wrong("", reason, "remove `switch.congestion_point`, or use another scheduler");
    }
    problems.0
}
