//! `name`, which becomes the name of a folder, and the names of traffic sections.

use super::Report;
use crate::diagnostic::{invisible, quoted};
use crate::schema::Traffic;

/// File systems allow 255 bytes; the rest is for what is put before and after the name.
const LONGEST: usize = 150;
/// The most characters that a legend has room for.
const LONGEST_OF_SECTION: usize = 64;

pub(super) fn check(r: &mut Report<'_>, name: &str) {
    let Some(why) = unfit(name) else { return };
    let hint = match fitting(name) {
        better if better.is_empty() => "for example `name = \"incast\"`".to_owned(),
        better => format!("for example `name = \"{better}\"`"),
    };
    r.error("name", format!("`{}` cannot be the name of a folder: {why}", quoted(name)), hint);
}

/// Names of traffic sections, which appear in tables, legends and dotted metrics.
pub(super) fn sections(r: &mut Report<'_>, traffic: &[Traffic]) {
    for (at, section) in traffic.iter().enumerate() {
        let Some(name) = &section.name else { continue };
        let key = format!("traffic.{at}.name");
        let why = match () {
            () if name.is_empty() => "it is empty",
            () if name.trim() != name => "it begins or ends with a space",
            () if name.chars().count() > LONGEST_OF_SECTION => "it is longer than 64 characters",
            () if name.chars().any(|c| c.is_control() || invisible(c)) => {
                "it contains characters that cannot be printed"
            }
            () => "",
        };
        if !why.is_empty() {
            r.error(
                &key,
                format!("`{}` cannot be a name: {why}", quoted(name)),
                "for example `name = \"BBR\"`",
            );
        } else if let Some(first) = traffic[..at].iter().position(|t| t.name.as_ref() == Some(name)) {
            let reason = format!("traffic.{first} has the name `{name}`, too");
            r.error(&key, reason, format!("for example `name = \"{name} 2\"`"));
        }
    }
}

fn unfit(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > LONGEST {
        Some("it is longer than 150 bytes")
    } else if name.contains(['/', '\\']) {
        Some("it contains a `/` or a `\\`")
    } else if name.chars().any(|c| c.is_control() || invisible(c)) {
        Some("it contains characters that cannot be printed")
    } else if name.starts_with('.') {
        Some("it begins with a dot")
    } else if name.trim() != name {
        Some("it begins or ends with a space")
    } else {
        None
    }
}

/// A name without the characters that may cause problems.
fn fitting(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "+=,._".contains(c) { c } else { ' ' };
    let plain: String = name.chars().take(80).map(kept).collect();
    let words: Vec<&str> = plain.split(' ').map(|w| w.trim_matches('.')).filter(|w| !w.is_empty()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        for name in ["irn-timely+voq-pfc", "a b", "größe: 5", "-x", "a.b"] {
            assert_eq!(unfit(name), None, "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../../victim",
            "/tmp/x",
            "a\\b",
            "a\0",
            "\u{1b}[31mred",
            "x\u{202e}",
            ".x",
            "x ",
            "\n",
        ] {
            assert!(unfit(name).is_some(), "{name:?}");
            assert!(fitting(name).is_empty() || unfit(&fitting(name)).is_none(), "{name:?}");
        }
        assert_eq!(fitting("../../victim"), "victim");
        assert_eq!(fitting("/tmp/x"), "tmp-x");
    }
}
