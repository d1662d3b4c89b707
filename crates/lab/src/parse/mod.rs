//! Readers of other people's files. Pure: text in, values or a line number and a reason out.

pub mod cdf;
mod csv;
pub mod flows;
pub mod graph;
pub mod tables;
pub mod trace;

use crate::Diagnostic;
pub(crate) use crate::diagnostic::quoted;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, counted from 1; 0: the whole text.
    pub line: u32,
    /// What is wrong.
    pub reason: String,
    /// The way out; empty: none.
    pub hint: String,
}

impl ParseError {
    pub(crate) fn new(line: usize, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line: u32::try_from(line).unwrap_or(0), reason: reason.into(), hint: hint.into() }
    }
    pub(crate) fn in_file(self, file: &str) -> Diagnostic {
        let d = Diagnostic::in_file(file, self.line, self.reason);
        if self.hint.is_empty() { d } else { d.hint(self.hint) }
    }
}

/// Lines that say something, numbered from 1; `#` starts a comment.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.strip_prefix('\u{feff}')
        .unwrap_or(text)
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty())
}

/// A field of a line.
pub(crate) fn field<T: std::str::FromStr>(
    line: usize,
    what: &str,
    text: Option<&str>,
) -> Result<T, ParseError> {
    let Some(text) = text.map(str::trim).filter(|t| !t.is_empty()) else {
        return Err(ParseError::new(line, format!("{what} is missing"), ""));
    };
    text.parse().map_err(|_| ParseError::new(line, format!("`{}` is not {what}", quoted(text)), ""))
}
