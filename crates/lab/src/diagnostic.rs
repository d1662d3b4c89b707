//! One line that names the file, the line, the key, the reason and the way out.

use std::fmt;

/// Something wrong with a scenario or a file that it names.
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
    /// What is wrong.
    pub reason: String,
    /// The nearest valid choice.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// About a whole file, or about a line of one.
    pub fn in_file(file: &str, line: u32, reason: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: 0, key: String::new(), reason: reason.into(), hint: None }
    }

    /// The same with a way out.
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
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}
impl std::error::Error for Diagnostic {}

/// Damerau–Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and
/// swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let substitution = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitution.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

/// The name nearest to what was written, if it is near at all.
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
            // The beginning of a long name counts as one mistake.
            let begins = written.len() >= 3 && known.starts_with(written.trim_end_matches('s'));
            (if begins { 1.min(distance(&written, &known)) } else { distance(&written, &known) }, name)
        })
        .filter(|(d, name)| *d <= (name.len().max(written.len()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name)
}

/// "did you mean `drr`? (known: drr, fifo)"
pub fn suggest(written: &str, known: &[String]) -> String {
    let list = format!("known: {}", known.join(", "));
    match nearest(written, known.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`? ({list})"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_mistake() {
        assert_eq!(distance("ddr", "drr"), 1);
        assert_eq!(distance("fiof", "fifo"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("bufer", ["buffer", "marking"]), Some("buffer"));
        assert_eq!(nearest("zzz", ["buffer", "marking"]), None);
    }

    #[test]
    fn a_diagnostic_is_one_line_even_if_the_user_wrote_two() {
        let mut d = Diagnostic::in_file("a.toml", 5, "`x\ny` is wrong").hint("write `z`");
        d.key = "switch.scheduler".into();
        assert_eq!(d.to_string(), "a.toml:5: `switch.scheduler`: `x\\ny` is wrong; write `z`");
    }
}
