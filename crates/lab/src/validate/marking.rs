//! `switch.marking` and `nic.marking`: what a stage says of itself, and marks that nobody can receive.

use super::Report;
use crate::resolve;
use crate::schema::{Document, Marking};
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind};
use thalweg_machines::stage::{Acts, Around};

pub(super) fn check(r: &mut Report<'_>, section: &str, marking: Marking, at: &Around, doc: &Document) {
    let key = format!("{section}.marking");
    if marking.acts() == Acts::Marks && !at.ecn_capable && !resolve::wants_marks(doc) {
        let hint = "write `transport.ecn = \"classic\"`, or the controller dctcp, or remove the marking";
        let why = "no transport is ECN-capable, so no packet can be marked";
        r.useless(&key, why, hint);
    }
    if let Acts::Tells(kind) = marking.acts() {
        let listens = |c: &ControllerSpec| c.needs().feedback == FeedbackKind::Explicit(kind);
        if !resolve::used(doc).any(|t| t.congestion().is_some_and(listens)) {
            let hint = "use its controller, `transport.congestion`, of the same name, or remove the marking";
            r.useless(&key, "no controller listens to what it tells", hint);
        }
    }
    r.tell(&key, marking.problems(at));
}
