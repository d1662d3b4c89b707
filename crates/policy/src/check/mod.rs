//! From the tree to the normal form: names, types, and all checks before a policy runs.

mod attributes;
mod bodies;
mod conditions;
mod constants;
mod definitions;
mod entities;
mod names;
mod numbers;
mod order;
mod scope;
mod unused;
mod values;
mod wires;

use crate::diagnose::{Class, Diagnostic, Diagnostics, Span};
use crate::normal::Policy;
use crate::syntax::{self, tree::File};

/// The mistakes found so far.
#[derive(Default, Debug)]
struct Found(Vec<Diagnostic>);

impl Found {
    fn note(&mut self, class: Class, span: Span, reason: impl Into<String>, way_out: impl Into<String>) {
        self.0.push(Diagnostic::new(class, span, reason, way_out));
    }
    /// The mistakes if there are any, else `whole`.
    fn done<T>(self, whole: T) -> Result<T, Vec<Diagnostic>> {
        if self.0.is_empty() { Ok(whole) } else { Err(self.0) }
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Checks the policy `text`. Returns it, or all mistakes in it. `name`: name of the file in messages.
///
/// ```
/// let text = "q = Queue(64 pkts); out = Port(q); q.congestion = currSize >= size, drop(1);";
/// let policy = thalweg_policy::check(text, "fifo.oq").unwrap();
/// assert_eq!(policy.queues().len(), 1);
///
/// let wrong = thalweg_policy::check("q = Queue(64 pkts);\nout = Port(r);", "typo.oq").unwrap_err();
/// assert!(wrong.to_string().contains("typo.oq:2:12: `r` is declared nowhere"));
/// ```
pub fn check(text: &str, name: &str) -> Result<Policy, Diagnostics> {
    syntax::parse(text).and_then(|file| tree(file, name)).map_err(|found| Diagnostics::new(name, text, found))
}

fn tree(file: File, name: &str) -> Result<Policy, Vec<Diagnostic>> {
    let mut found = Found::default();
    let prelude = definitions::prelude();
    let definitions = definitions::Definitions::of(&file, &prelude, &mut found);
    let names = names::Names::of(&file, &|word| definitions.get(word).is_some(), &mut found);
    let mut policy = entities::entities(&file, &names, name, &mut found);
    if !found.is_empty() {
        // The later checks would find the same mistakes again.
        return Err(found.0);
    }
    let mut typed = bodies::Typed::default();
    attributes::set(&file, &names, &definitions, &mut policy, &mut typed, &mut found);
    wires::connect(&file, &names, &mut policy, &mut found);
    definitions::check_unused(&definitions, names.constants(), &typed, &mut found);
    if !found.is_empty() {
        return Err(found.0);
    }
    numbers::check(&typed, &policy, &mut found);
    if found.is_empty() {
        order::rank(&mut policy);
        order::check(&typed, &policy, &mut found);
        unused::check(&file, &names, &policy, &mut found);
    }
    policy.source = file;
    found.done(policy)
}
