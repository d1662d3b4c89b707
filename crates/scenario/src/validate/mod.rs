//! Settings that are impossible, and settings that cannot take effect.

mod incidents;
mod link_queues;
mod links;
mod lossless;
mod marking;
mod name;
mod ndp;
mod pauses;
mod phost;
mod points;
mod queues;
mod rates;
mod rc3;
mod rdma;
mod receivers;
mod routing;
mod rules;
mod schedulers;
mod slack;
mod transports;
mod uet;

use crate::Diagnostic;
use crate::context::Cx;
use crate::diagnostic::quoted;
use crate::resolve;
use crate::schema::Document;
use crate::text::tree;
use crate::text::tree::Inherited;
use crate::topology::{Graph, Overlays};
use thalweg_machines::problems::Problem;

/// Collects what is wrong.
pub(crate) struct Report<'a> {
    pub cx: &'a Cx<'a>,
    pub errors: Vec<Diagnostic>,
    /// Keys that a transport of a section has from another one and cannot use: the key, its source, and why.
    spared: Vec<(Inherited, String, String)>,
}

/// What is wrong with a document.
pub(crate) struct Verdict {
    pub errors: Vec<Diagnostic>,
    /// What is inherited and has no effect there, though elsewhere.
    pub useless: Vec<String>,
}

impl Report<'_> {
    pub fn error(&mut self, key: &str, reason: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(self.cx.error(key, reason, hint));
    }
    /// What an algorithm says of its table `key`.
    pub fn report(&mut self, key: &str, problems: Vec<Problem>) {
        for Problem { key: inner, reason, hint, useless, .. } in problems {
            let key = if inner.is_empty() { key.to_owned() } else { format!("{key}.{inner}") };
            match useless {
                true => self.useless(&key, &reason, hint),
                false => self.error(&key, reason, hint),
            }
        }
    }
    /// A key that several inherit has an effect if one of them can use it, or its own transport.
    fn settle_inherited(&mut self, doc: &Document) -> Vec<String> {
        let spared = std::mem::take(&mut self.spared);
        for (key, why, hint) in &spared {
            let of = |from: &str| self.cx.origin.inherited.iter().filter(|k| k.from == from).count();
            let cannot = spared.iter().filter(|(k, ..)| k.from == key.from).map(|(k, ..)| &k.path);
            let cannot: std::collections::BTreeSet<&String> = cannot.collect();
            let source = key.from.strip_prefix("transports.").and_then(|rest| rest.split('.').next());
            let carries = resolve::carries_traffic(doc, source.unwrap_or(tree::MAIN));
            if cannot.len() == of(&key.from) && !carries {
                self.useless(&key.from, why, hint.as_str());
            }
        }
        spared.into_iter().map(|(key, ..)| key.path).collect()
    }
    /// A setting that changes nothing.
    pub fn useless(&mut self, key: &str, why: &str, hint: impl Into<String>) {
        if let Some(key) = self.cx.origin.inherits(key) {
            return self.spared.push((key.clone(), why.to_owned(), hint.into()));
        }
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
) -> Verdict {
    let mut report = Report { cx, errors: Vec::new(), spared: Vec::new() };
    name::check(&mut report, &doc.name);
    name::sections(&mut report, &doc.traffic);
    transports::check(&mut report, doc, graph);
    queues::check(&mut report, written, doc, graph);
    marking::encodings(&mut report, doc);
    lossless::check(&mut report, doc, graph);
    points::check(&mut report, doc);
    routing::check(&mut report, doc, graph);
    links::check(&mut report, written, doc, graph, overlays);
    incidents::check(&mut report, doc, graph);
    slack::check(&mut report, doc, graph);
    rules::check(&mut report, written, doc, graph);
    let useless = report.settle_inherited(doc);
    Verdict { errors: report.errors, useless }
}
