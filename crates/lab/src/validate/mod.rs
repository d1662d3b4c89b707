//! Settings that are impossible, and settings that cannot take effect.

mod incidents;
mod links;
mod lossless;
mod marking;
mod name;
mod pauses;
mod phost;
mod points;
mod queues;
mod rates;
mod rc3;
mod rdma;
mod receivers;
mod rules;
mod schedulers;
mod slack;
mod spraying;
mod transports;

use crate::Diagnostic;
use crate::context::Cx;
use crate::diagnostic::quoted;
use crate::schema::Document;
use crate::topology::{Graph, Overlays};
use thalweg_machines::problems::Problem;

/// Collects what is wrong.
pub(crate) struct Report<'a> {
    pub cx: &'a Cx<'a>,
    pub errors: Vec<Diagnostic>,
}

impl Report<'_> {
    pub fn error(&mut self, key: &str, reason: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(self.cx.error(key, reason, hint));
    }
    /// What an algorithm says of its table `key`.
    pub fn tell(&mut self, key: &str, problems: Vec<Problem>) {
        for Problem { key: inner, reason, hint, useless } in problems {
            let key = if inner.is_empty() { key.to_owned() } else { format!("{key}.{inner}") };
            match useless {
                true => self.useless(&key, &reason, hint),
                false => self.error(&key, reason, hint),
            }
        }
    }
    /// A setting that changes nothing.
    pub fn useless(&mut self, key: &str, why: &str, hint: impl Into<String>) {
        let reason = format!("it has no effect: {why}");
        match self.cx.origin.scheme_of(key) {
            None => self.error(key, reason, hint),
            // It can be overridden, not removed.
            Some(scheme) => {
                let hint = format!(
                    "it is of the scheme `{}`: write the settings that you want instead of that name (`thalweg show` prints them)",
                    quoted(scheme)
                );
                self.error(key, reason, hint);
            }
        }
    }
}

/// Checks a resolved document; `written` is the document before resolution.
pub(crate) fn document(
    cx: &Cx<'_>,
    written: &Document,
    doc: &Document,
    graph: &Graph,
    overlays: &Overlays,
) -> Vec<Diagnostic> {
    let mut report = Report { cx, errors: Vec::new() };
    name::check(&mut report, &doc.name);
    transports::check(&mut report, doc, graph);
    queues::check(&mut report, written, doc, graph);
    marking::encodings(&mut report, doc);
    lossless::check(&mut report, doc, graph);
    points::check(&mut report, doc);
    spraying::check(&mut report, doc);
    links::check(&mut report, written, doc, graph, overlays);
    incidents::check(&mut report, doc, graph);
    slack::check(&mut report, doc, graph);
    rules::check(&mut report, written, doc, graph);
    report.errors
}
