//! Names with `*` (anything) and `?` (one character) in them.

/// Whether a name is as the pattern says.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut chars = pattern.chars();
    match chars.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = chars.as_str();
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| matches(rest, &name[at..]))
        }
        Some(one) => {
            let mut others = name.chars();
            others.next().is_some_and(|c| one == '?' || one == c) && matches(chars.as_str(), others.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_anything_and_a_question_mark_one_character() {
        for (pattern, name, expected) in [
            ("two", "two", true),
            ("two", "two-way", false),
            ("two*", "two", true),
            ("*-up", "step-up", true),
            ("*-u", "step-up", false),
            ("t?o", "two", true),
            ("two?", "two", false),
            ("*s*-*p*", "vs-deep", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
