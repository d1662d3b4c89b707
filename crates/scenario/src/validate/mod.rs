//! Checks of a resolved document: settings that are impossible, and settings that are ineffective.

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
mod tcp;
mod transports;
mod udp;
mod uet;

use crate::Diagnostic;
use crate::context::Cx;
use crate::diagnostic::quoted;
use crate::resolve;
use crate::schema::Document;
use crate::text::origin::Inherited;
use crate::text::tree;
use crate::topology::{Graph, Overlays};
use thalweg_machines::problems::Problem;

/// Collects mistakes.
pub(crate) struct Report<'a> {
    pub cx: &'a Cx<'a>,
    pub errors: Vec<Diagnostic>,
    /// Ineffective keys that a section's transport inherits from another: the key and its source, the reason, the hint.
    inherited: Vec<(Inherited, String, String)>,
}

/// The result of the checks.
pub(crate) struct Verdict {
    pub errors: Vec<Diagnostic>,
    /// Inherited keys that are ineffective in the transport that inherits them, though not in every one.
    pub ineffective: Vec<String>,
}

impl Report<'_> {
    pub fn error(&mut self, key: &str, reason: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(self.cx.error(key, reason, hint));
    }
    /// Reports the problems that an algorithm finds in its own table, `key`.
    pub fn report(&mut self, key: &str, problems: Vec<Problem>) {
        for Problem { key: inner, reason, hint, useless, .. } in problems {
            let key = if inner.is_empty() { key.to_owned() } else { format!("{key}.{inner}") };
            match useless {
                true => self.ineffective(&key, &reason, hint),
                false => self.error(&key, reason, hint),
            }
        }
    }
    /// Reports inherited keys that neither a transport that inherits them nor their own can use. Returns the paths of
    /// all that are ineffective where they are inherited.
    fn settle_inherited(&mut self, doc: &Document) -> Vec<String> {
        let inherited = std::mem::take(&mut self.inherited);
        for (key, why, hint) in &inherited {
            let of = |from: &str| self.cx.origin.inherited.iter().filter(|k| k.from == from).count();
            let cannot = inherited.iter().filter(|(k, ..)| k.from == key.from).map(|(k, ..)| &k.path);
            let cannot: std::collections::BTreeSet<&String> = cannot.collect();
            let source = key.from.strip_prefix("transports.").and_then(|rest| rest.split('.').next());
            let carries = resolve::carries_traffic(doc, source.unwrap_or(tree::MAIN));
            if cannot.len() == of(&key.from) && !carries {
                self.ineffective(&key.from, why, hint.as_str());
            }
        }
        inherited.into_iter().map(|(key, ..)| key.path).collect()
    }
    /// Reports a setting that cannot take effect. One that is inherited may have an effect elsewhere and is kept for
    /// later.
    pub fn ineffective(&mut self, key: &str, why: &str, hint: impl Into<String>) {
        if let Some(key) = self.cx.origin.inherits(key) {
            return self.inherited.push((key.clone(), why.to_owned(), hint.into()));
        }
        let reason = format!("it has no effect: {why}");
        match self.cx.origin.scheme_of(key) {
            None => self.error(key, reason, hint),
            // The user can override it, but not remove it.
            Some(scheme) => {
                let hint = format!(
                    "the scheme `{}` sets it: replace that name by its settings (`thalweg show` prints them) without this one",
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
    let mut report = Report { cx, errors: Vec::new(), inherited: Vec::new() };
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
    let ineffective = report.settle_inherited(doc);
    Verdict { errors: report.errors, ineffective }
}
