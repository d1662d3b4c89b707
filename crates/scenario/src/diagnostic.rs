//! Diagnostics: one line with the file, the line, the key, the reason and a hint.

use std::borrow::Cow;
use std::fmt;
use strsim::osa_distance;

/// A mistake in a scenario or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, or `--set KEY` for an override.
    pub file: String,
    /// Line, counted from 1; 0: the whole file.
    pub line: u32,
    /// Column in characters, counted from 1; 0: the whole line.
    pub column: u32,
    /// Dotted key, positions in arrays counted from 0 (`traffic.0.load`); empty: none.
    pub key: String,
    /// The reason.
    pub reason: String,
    /// A hint, such as the nearest valid choice.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic about a whole file, or about a line of it.
    pub fn in_file(file: &str, line: u32, reason: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: 0, key: String::new(), reason: reason.into(), hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = self.file.clone();
        if self.line > 0 {
            line.push_str(&format!(":{}", self.line));
        }
        line.push_str(": ");
        if !self.key.is_empty() {
            line.push_str(&format!("`{}`: ", self.key));
        }
        line.push_str(&self.reason);
        if let Some(hint) = &self.hint {
            line.push_str("; ");
            line.push_str(hint);
        }
        // Always one line, whatever the user's strings contain.
        for c in line.chars() {
            if c.is_control() || invisible(c) {
                write!(f, "{}", c.escape_default())?
            } else {
                write!(f, "{c}")?
            }
        }
        Ok(())
    }
}
impl std::error::Error for Diagnostic {}

/// A user's text for a message: at most 80 characters, all of them printable.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    const MOST: usize = 80;
    let plain = |c: char| !c.is_control() && !invisible(c);
    if text.len() <= MOST && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut room = MOST;
    for c in text.chars() {
        let one = if plain(c) { c.to_string() } else { c.escape_default().to_string() };
        let Some(left) = room.checked_sub(one.chars().count()) else {
            out.push('…');
            break;
        };
        room = left;
        out.push_str(&one);
    }
    Cow::Owned(out)
}

/// Characters that reverse or hide adjacent text.
pub(crate) fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Number of errors that are shown; the others are counted, because a program could write endless diagnostics.
const MOST_SHOWN: usize = 20;

/// The first errors, and the number of others.
pub(crate) fn shown(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let more = errors.len().saturating_sub(MOST_SHOWN);
    if more > 1 {
        errors.truncate(MOST_SHOWN);
        let file = errors[0].file.clone();
        errors
            .push(Diagnostic::in_file(&file, 0, format!("and {more} more errors")).hint("mend these first"));
    }
    errors
}

/// The most similar name, if it is similar enough.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.chars().count() > 64 {
        return None;
    }
    let plain = |s: &str| s.to_ascii_lowercase().replace('_', "-");
    let written = plain(written);
    known
        .into_iter()
        .map(|name| {
            let known = plain(name);
            // The beginning of a long name counts as one mistake, as does a name with a suffix (`bbrv1`).
            let begins = written.len() >= 3 && known.starts_with(written.trim_end_matches('s'))
                || known.len() >= 3 && written.starts_with(&known);
            (
                if begins { 1.min(osa_distance(&written, &known)) } else { osa_distance(&written, &known) },
                name,
            )
        })
        .filter(|(d, name)| *d <= (name.len().max(written.len()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name)
}

/// "did you mean `drr`? (known: drr, fifo)"
pub fn suggest(written: &str, known: &[String]) -> String {
    suggest_of(written, known, &known.join(", "))
}

/// The same with another text for the list of known names, `reported`.
pub(crate) fn suggest_of(written: &str, known: &[String], reported: &str) -> String {
    match nearest(written, known.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`? (known: {reported})"),
        None if known.is_empty() => "there is none to choose from: remove it".into(),
        None => format!("known: {reported}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_mistake() {
        assert_eq!(nearest("ddr", ["drr", "dwrr"]), Some("drr"));
        assert_eq!(nearest("fiof", ["lifo", "fifo"]), Some("fifo"));
        assert_eq!(nearest("bufer", ["buffer", "marking"]), Some("buffer"));
        assert_eq!(nearest("zzz", ["buffer", "marking"]), None);
    }

    #[test]
    fn foreign_text_is_cut_and_made_printable() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("\u{1b}[31m\u{202e}x\0"), "\\u{1b}[31m\\u{202e}x\\u{0}");
        assert_eq!(quoted(&"é".repeat(50)), "é".repeat(50));
        assert_eq!(quoted(&"x".repeat(81)), format!("{}…", "x".repeat(80)));
        assert_eq!(quoted(&"\0".repeat(81)), format!("{}…", "\\u{0}".repeat(16)));
    }

    #[test]
    fn a_diagnostic_is_one_line_even_if_the_user_wrote_two() {
        let mut d = Diagnostic::in_file("a.toml", 5, "`x\ny` is wrong").hint("write `z`");
        d.key = "switch.scheduler".into();
        assert_eq!(d.to_string(), "a.toml:5: `switch.scheduler`: `x\\ny` is wrong; write `z`");
    }
}
