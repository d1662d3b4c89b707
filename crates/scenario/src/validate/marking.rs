//! `marking` and `stages` of `[switch]` and `[nic]`: their own keys, and marks or feedback that no sender can use.

use super::Report;
use crate::resolve;
use crate::schema::{Document, EcnMode, Edge, Marking, Transport};
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind, Marks};
use thalweg_machines::stage::abc::Encoding;
use thalweg_machines::stage::{Acts, Around, StageSpec};

/// Checks a queue's stages in order: those in front of it, and its marking.
pub(super) fn row(
    r: &mut Report<'_>,
    section: &str,
    (front, last): (&[Marking], Marking),
    at: &Around,
    doc: &Document,
) {
    let keys =
        (0..front.len()).map(|i| format!("{section}.stages.{i}")).chain([format!("{section}.marking")]);
    for (i, (key, marking)) in keys.zip(front.iter().chain([&last])).enumerate() {
        if i < front.len() && *marking == Marking::default() {
            r.ineffective(&key, "the stage `none` does nothing", "remove it");
        }
        if marking.acts() == Acts::Marks && !at.ecn_capable && !resolve::wants_marks(doc) {
            let hint = "write `transport.ecn = \"classic\"`, or the controller dctcp, or remove the marking";
            let why = "no transport is ECN-capable, so no packet can be marked";
            r.ineffective(&key, why, hint);
        }
        if let Acts::Signals(kind) = marking.acts() {
            let listens = |c: &ControllerSpec| c.needs().feedback == FeedbackKind::Explicit(kind);
            if !resolve::used(doc).any(|t| t.congestion().is_some_and(listens)) {
                let hint =
                    "write the controller of the same name as `transport.congestion`, or remove the marking";
                r.ineffective(&key, "no controller reads its feedback", hint);
            }
        }
        r.report(&key, marking.problems(at));
    }
}

/// Senders and routers of ABC must use the same encoding, and nothing else may mark where a mark means brake (Goyal,
/// MIT 2022, §2.4.2).
pub(super) fn encodings(r: &mut Report<'_>, doc: &Document) {
    ect1(doc).into_iter().for_each(|(at, reason, hint)| r.error(&at, reason, hint));
    for (key, t) in resolve::transports(doc) {
        let Some(ControllerSpec::Abc(sender)) = t.congestion() else { continue };
        let (at, marker) =
            (format!("{key}.congestion.encoding"), t.congestion().and_then(|c| c.needs().marker));
        for (queue, marking) in resolve::markings(doc) {
            if let StageSpec::Abc(router) = marking
                && router.encoding != sender.encoding
            {
                let reason = format!("routers use another encoding: `{queue}.encoding`");
                return r.error(&at, reason, "write the same in both");
            }
            if marker.is_some_and(|name| name != marking.key()) && marking.acts().marks() {
                let reason = format!(
                    "`{queue}` marks packets, too, and with this encoding ABC reads every mark as a brake"
                );
                return r.error(&at, reason, "write \"full\" here and in ABC's marking");
            }
        }
        if marker.is_some() && matches!(doc.edge, Some(Edge::Ecn { .. })) {
            let reason = "[edge] marks packets, too, and with this encoding ABC reads every mark as a brake";
            return r.error(&at, reason, "write \"full\" here and in ABC's marking");
        }
        if t.congestion().is_some_and(|c| c.needs().marks == Marks::Codepoints) {
            match t {
                Transport::Tcp(tcp) if tcp.ecn == Some(EcnMode::Classic) => {
                    let reason = "the controller needs an exact echo of both codepoints";
                    r.error(&format!("{key}.ecn"), reason, "write \"accurate\" or remove the key");
                }
                Transport::Tcp(_) => {}
                _ => r.error(&at, "only TCP's ACKs carry both codepoints", "write \"proxy\""),
            }
        }
    }
}

/// On a path ECT(1) can have only one meaning: L4S (RFC 9331 §4.1) or ABC's accelerate (Goyal, MIT 2022, §2.4.2). And
/// nothing else may mark where a mark means brake. Returns mistakes as key, reason and hint.
fn ect1(doc: &Document) -> Vec<(String, String, &'static str)> {
    let dual = resolve::schedulers(doc).find(|(_, s)| s.needs().l4s).map(|(section, _)| section);
    let brakes = |marking: &Marking| matches!(marking, StageSpec::Abc(abc) if abc.encoding == Encoding::Full);
    let router = resolve::markings(doc).find(|(_, m)| brakes(m)).map(|(queue, _)| queue);
    let mut wrong = Vec::new();
    for (key, t) in resolve::transports(doc) {
        let Some(controller) = t.congestion() else { continue };
        let (needs, at) = (controller.needs(), format!("{key}.congestion"));
        if let (true, Some(queue)) = (needs.l4s, &router) {
            let reason =
                format!("it sends ECT(1), which `{queue}` reads as ABC's accelerate and changes to ECT(0)");
            let hint = "write `encoding = \"proxy\"` in ABC's marking, or choose a controller with ECT(0)";
            wrong.push((at.clone(), reason, hint));
        }
        if let (Marks::Codepoints, Some(section)) = (needs.marks, dual) {
            let reason =
                format!("its ECT(1) means accelerate, and `{section}.scheduler` reads ECT(1) as L4S");
            wrong.push((at.clone(), reason, "choose another scheduler"));
        }
        if let (Some(_), Some(section)) = (needs.marker, dual) {
            let reason = format!(
                "`{section}.scheduler` marks packets, and the controller reads every mark as a brake"
            );
            wrong.push((at, reason, "choose another scheduler"));
        }
    }
    wrong
}
