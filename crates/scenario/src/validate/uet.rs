//! `[transport]` of kind `uet`.

use super::Report;
use super::transports::{Checked, LARGEST, sizes};
use crate::schema::{Document, NsccWindow, Uet, UetWindow};
use crate::topology::Graph;
use thalweg_machines::transport::AckValues;

impl Checked for Uet {
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
        self.check_window(r, &at("window"));
        match self.credits {
            Some(credits) => {
                if !(credits.share > 0.0 && credits.share <= 1.0) {
                    let reason = format!("{} is not a fraction of the link's rate", credits.share);
                    r.error(&at("credits.share"), reason, "write a number above 0 and at most 1");
                }
                if credits.quanta == 0 {
                    r.error(
                        &at("credits.quanta"),
                        "a pull of 0 quanta grants nothing",
                        "write at least 1, which is 256 B",
                    );
                }
                if credits.first.is_some_and(|first| first.0.get() == 0) {
                    let reason =
                        "with 0 bytes of first credit a sender never sends, and so never requests more";
                    r.error(&at("credits.first"), reason, "write at least a packet, for example \"150KB\"");
                }
            }
            None if matches!(self.window, UetWindow::None(_)) => {
                let reason = "neither a window nor credits limit the data in flight";
                r.error(&at("window"), reason, "write `credits = {}`, or `window = \"nscc\"`");
            }
            None => {}
        }
        let by_values = doc.routing.rule.needs().path_values;
        if let Some(selection) = &self.path_selection {
            r.report(&at("path_selection"), selection.problems());
            if !by_values {
                let why = "the routing rule ignores the path values that senders write";
                r.ineffective(&at("path_selection"), why, "write `routing = \"entropy\"`, or remove the key");
            }
        }
        if self.ack_values != AckValues::One {
            let at = at("ack_values");
            if !by_values || self.path_selection.is_none() {
                r.ineffective(
                    &at,
                    "packets carry no path values",
                    "write `routing = \"entropy\"`, or remove the key",
                );
            } else if self.ack_every.is_some_and(|bytes| bytes.0.get() <= self.payload.0.get()) {
                r.ineffective(
                    &at,
                    "every packet has an ACK of its own, which echoes one value",
                    "remove the key, or raise `ack_every`",
                );
            }
        }
        if self.retry.is_some_and(|retry| retry.0.is_zero()) {
            r.error(
                &at("retry"),
                "a time of 0 has passed before anything can arrive",
                "write a time above zero",
            );
        }
        if self.base_rtt.is_some_and(|rtt| rtt.0.is_zero()) {
            r.error(&at("base_rtt"), "a round trip of 0 is impossible", "write a time above zero");
        }
        if self.back_off > 30 {
            r.error(&at("back_off"), "a time-out that doubles so often outlasts any run", "write at most 30");
        }
        if !doc.nic.order.pulls() {
            let reason = "uet chooses the next packet when the link is free, so packets must not wait in a queue of the NIC";
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

impl Uet {
    fn check_window(&self, r: &mut Report<'_>, key: &str) {
        let mut share = |name: &str, value: f64, zero: bool| {
            if !(0.0..=1.0).contains(&value) || value == 0.0 && !zero {
                let hint =
                    if zero { "write a number from 0 to 1" } else { "write a number above 0 and at most 1" };
                r.error(&format!("{key}.{name}"), format!("{value} is not a fraction"), hint);
            }
        };
        let products = match self.window {
            UetWindow::Nscc(NsccWindow { gamma, floor, weight, products, .. }) => {
                share("gamma", gamma, true);
                share("floor", floor, true);
                share("weight", weight, false);
                products
            }
            UetWindow::Dctcp(own) => {
                share("cut", own.cut, true);
                own.products
            }
            UetWindow::Fixed(own) => {
                if own.size.0.get() < self.payload.0.get() + self.header.0.get() {
                    let reason = format!("a full packet is larger than a window of {}", own.size.0);
                    r.error(&format!("{key}.size"), reason, "write at least a packet, for example \"120KB\"");
                }
                return;
            }
            UetWindow::None(_) => return,
        };
        if !(products > 0.0 && products.is_finite()) {
            let reason = format!("a window of {products} bandwidth-delay products is not positive");
            r.error(&format!("{key}.products"), reason, "write a number above 0, for example 1.5");
        }
        if let UetWindow::Nscc(NsccWindow { scale: Some(scale), .. }) = self.window
            && !(scale > 0.0 && scale.is_finite())
        {
            r.error(
                &format!("{key}.scale"),
                format!("gains cannot be scaled by {scale}"),
                "write a number above 0",
            );
        }
    }
}
