//! The words of a program and its variables, with replacements for `{peer}` and others.

use crate::processes::Program;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The replacements in the words of a program.
pub(crate) struct Words {
    pub peer: (Ipv4Addr, Option<Ipv6Addr>),
    pub here: (Ipv4Addr, Option<Ipv6Addr>),
    pub level: String,
}

impl Words {
    /// `None` if it names an IPv6 address and there is none.
    fn filled(&self, text: &str) -> Option<String> {
        let mut text =
            text.replace("{peer}", &self.peer.0.to_string()).replace("{here}", &self.here.0.to_string());
        for (word, address) in [("{peer6}", self.peer.1), ("{here6}", self.here.1)] {
            if text.contains(word) {
                text = text.replace(word, &address?.to_string());
            }
        }
        Some(text.replace("{level}", &self.level))
    }

    /// Variables with a replacement that does not exist are not set.
    pub fn program(&self, words: &[String], environment: &[(String, String)]) -> io::Result<Program> {
        let missing = |word: &String| {
            io::Error::other(format!("`{word}`: there is no IPv6 here (`{{peer}}` is the address of IPv4)"))
        };
        let filled = |word: &String| self.filled(word).ok_or_else(|| missing(word));
        let words = words.iter().map(filled).collect::<io::Result<Vec<_>>>()?;
        let more = environment.iter().filter_map(|(name, value)| Some((name.clone(), self.filled(value)?)));
        Program::new(&words, &more.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(six: Option<Ipv6Addr>) -> Words {
        let end = |host| (Ipv4Addr::new(100, 65, 0, host), six);
        Words { peer: end(1), here: end(2), level: "1".into() }
    }

    #[test]
    fn words_stand_for_addresses_of_both_versions() {
        let found = words(Some(Ipv6Addr::LOCALHOST)).filled("{peer} {here} [{peer6}]:80 {level}");
        assert_eq!(found.as_deref(), Some("100.65.0.1 100.65.0.2 [::1]:80 1"));
    }

    #[test]
    fn without_ipv6_what_names_it_is_refused_in_words_and_not_set_in_the_environment() {
        let without = words(None);
        assert_eq!(without.filled("{peer}").as_deref(), Some("100.65.0.1"));
        let variables = [("SIX".into(), "{peer6}".into())];
        assert!(without.program(&["true".into()], &variables).is_ok());
        let why =
            without.program(&["ping".into(), "{here6}".into()], &[]).err().expect("refused").to_string();
        assert_eq!(why, "`{here6}`: there is no IPv6 here (`{peer}` is the address of IPv4)");
    }
}
