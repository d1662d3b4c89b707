//! Reads the files in which schedulers are written, before their needs are looked up.

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::{Document, Scheduler};

/// Reads the files of all sections.
///
/// # Errors
/// Files that cannot be read, and all mistakes in them with their positions.
pub(crate) fn read(cx: &Cx<'_>, doc: &mut Document) -> Result<(), Vec<Diagnostic>> {
    let mix = doc.switch.mix.iter_mut().map(|m| ("switch.mix", &mut m.scheduler));
    let nic = doc.nic.scheduler.iter_mut().map(|s| ("nic", s));
    let all = std::iter::once(("switch", &mut doc.switch.scheduler)).chain(mix).chain(nic);
    let mut errors = Vec::new();
    for (section, scheduler) in all {
        of_one(cx, section, scheduler, &mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn of_one(cx: &Cx<'_>, section: &str, scheduler: &mut Scheduler, errors: &mut Vec<Diagnostic>) {
    let key = |own: &str| format!("{section}.scheduler.{own}");
    let files = scheduler.files();
    let mut texts = Vec::with_capacity(files.len());
    for (own, file) in &files {
        match cx.read(&key(own), file) {
            Ok(text) => texts.push(text),
            Err(refused) => errors.push(refused),
        }
    }
    if texts.len() < files.len() {
        return;
    }
    scheduler.read(&texts);
    for (own, in_file, wrong) in scheduler.mistakes() {
        let file = files.iter().find(|(known, _)| in_file && *known == own);
        errors.push(match file {
            Some((_, file)) => {
                let reason = format!("column {}: {}", wrong.column, wrong.reason);
                Diagnostic { column: wrong.column, ..Diagnostic::in_file(file, wrong.line, reason) }
                    .hint(wrong.hint)
            }
            None => {
                let reason = format!("line {}, column {}: {}", wrong.line, wrong.column, wrong.reason);
                cx.error(&key(&own), reason, wrong.hint)
            }
        });
    }
}
