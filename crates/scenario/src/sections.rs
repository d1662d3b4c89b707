//! Names of traffic sections in tables, legends and metrics.

use crate::Scenario;
use crate::schema::{Document, Traffic};
use crate::text::tree::MAIN;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::ControllerSpec;

/// A section of traffic in results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its own name, or one derived from its settings; all names differ.
    pub name: String,
    /// Its kind of traffic.
    pub kind: String,
    /// Its congestion controller; the kind of its transport, if that has none.
    pub controller: String,
    /// True if its flows are measured.
    pub counted: bool,
    /// True if flows that follow others are responses, which are measured if their requests are.
    pub answers: bool,
    /// True if the section has a completion time as a whole.
    pub job: bool,
}

/// The word under `kind` of a tagged value.
fn kind_of(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned()
}

fn controller(doc: &Document, section: &Traffic) -> String {
    if section.pattern.family().brings_transport() {
        return kind_of(&section.pattern);
    }
    let transport = doc.transports.get(&section.transport).unwrap_or(&doc.transport);
    match transport.congestion() {
        Some(ControllerSpec::Custom(own)) => own.name.clone(),
        Some(own) => own.key().to_owned(),
        None => kind_of(transport),
    }
}

impl Scenario {
    /// The sections of traffic in their order, as results name them.
    pub fn sections(&self) -> Vec<Section> {
        sections(self.document())
    }
}

/// Sections in order. One without a name is named after its transport if sections differ by that, else after its kind;
/// equal names are numbered.
fn sections(doc: &Document) -> Vec<Section> {
    let controllers: Vec<String> = doc.traffic.iter().map(|section| controller(doc, section)).collect();
    let transport = |at: usize| match doc.traffic[at].transport.as_str() {
        MAIN => controllers[at].clone(),
        named => named.to_owned(),
    };
    let differ = (1..doc.traffic.len()).any(|at| transport(at) != transport(0));
    let plain = |at: usize| if differ { transport(at) } else { kind_of(&doc.traffic[at].pattern) };
    let own = |at: usize| doc.traffic[at].name.clone();
    let stems: Vec<String> = (0..doc.traffic.len()).map(|at| own(at).unwrap_or_else(|| plain(at))).collect();
    let alike = |at: usize| stems.iter().filter(|stem| **stem == stems[at]).count();
    let mut taken: Vec<String> = doc.traffic.iter().filter_map(|section| section.name.clone()).collect();
    let mut out = Vec::with_capacity(stems.len());
    for (at, section) in doc.traffic.iter().enumerate() {
        let name = own(at).unwrap_or_else(|| {
            let numbered = (1..).map(|n| format!("{}-{n}", stems[at]));
            let first = (alike(at) == 1).then(|| stems[at].clone());
            let mut free = first.into_iter().chain(numbered).filter(|name| !taken.contains(name));
            free.next().unwrap_or_default()
        });
        taken.push(name.clone());
        let (kind, controller) = (kind_of(&section.pattern), controllers[at].clone());
        let answers = section.pattern.family().answers();
        let job = section.pattern.family().is_job();
        out.push(Section { name, kind, controller, counted: section.measured, answers, job });
    }
    out
}
