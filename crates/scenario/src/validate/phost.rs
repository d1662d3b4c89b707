//! `[transport]` of kind `phost`.

use super::Report;
use super::transports::{Checked, LARGEST, sizes};
use crate::resolve;
use crate::schema::{Document, FreeFor, Phost};
use crate::topology::Graph;

impl Checked for Phost {
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, _: &Graph) {
        let at = |name: &str| format!("{key}.{name}");
        sizes(r, key, "payload", self.payload.0, self.header.0);
        let control = self.control_size.0;
        if control.get() == 0 || control.get() > LARGEST {
            let reason = format!("{control} is not a packet size: it must be 1 B to 1 MB");
            r.error(&at("control_size"), reason, "for example \"40B\"");
        }
        if self.window == Some(0) {
            r.error(&at("window"), "with a window of 0 no token is ever sent", "at least 1");
        }
        for (name, time) in [
            ("spacing", self.spacing),
            ("token_life", self.token_life),
            ("patience", self.patience),
            ("again", self.again),
            ("retry", self.retry),
        ] {
            if time.is_some_and(|q| q.0.is_zero()) {
                r.error(
                    &at(name),
                    "a time of 0 has passed before anything can arrive",
                    "write a time above zero",
                );
            }
        }
        if self.free_tokens == Some(0) && self.free_for == FreeFor::All {
            r.ineffective(
                &at("free_for"),
                "there are no free tokens",
                "remove the key, or raise `free_tokens`",
            );
        }
        if doc.slack.is_some() {
            let reason = "slack and token numbers would use the same header field";
            r.error(&at("kind"), reason, "remove [slack], or use another transport");
        }
        if !doc.nic.order.pulls() {
            let reason =
                "phost spends a token when the link is free, so packets must not wait in a queue of the NIC";
            r.error(&at("kind"), reason, "write `nic.order = \"round-robin\"`");
        }
        let classes = resolve::classes(doc);
        for (name, class) in [("free_class", self.free_class), ("token_class", self.token_class)] {
            let class = class.unwrap_or(0);
            if class > 0 && classes == 0 {
                let hint = "use the scheduler priority, or remove the key";
                r.ineffective(&at(name), "no scheduler serves by class", hint);
            } else if u32::from(class) >= classes.max(1) {
                let hint = format!("classes are 0 to {}", classes.max(1) - 1);
                r.error(&at(name), format!("there is no class {class}"), hint);
            }
        }
        let name = key.strip_prefix("transports.").unwrap_or("default");
        for (i, t) in doc.traffic.iter().enumerate() {
            if t.uses_transport(name) && t.class > 0 {
                let why = "the transport writes the class of each packet itself";
                r.ineffective(
                    &format!("traffic.{i}.class"),
                    why,
                    format!("remove the key; see `{key}.free_class`"),
                );
            }
        }
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        Some((
            "a request carries the size of its flow, and a flow without end has none",
            "use traffic whose flows end",
        ))
    }
}
