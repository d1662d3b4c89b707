//! Names of nodes: hosts `h0`, `h1`, .., switches by their tier (`leaf3`), or as their file gives them. A number always
//! means a node number.

use crate::diagnostic::{nearest, quoted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The names of consecutive nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Part {
    /// A word followed by a number, from 0.
    Numbered(String, u32),
    /// A list of names.
    Listed(Vec<String>),
}

impl Part {
    fn len(&self) -> u32 {
        match self {
            Self::Numbered(_, count) => *count,
            Self::Listed(names) => names.len() as u32,
        }
    }
}

/// The names of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Part>", into = "Vec<Part>")]
pub struct Names {
    parts: Vec<Part>,
    /// The nodes of listed names.
    listed: BTreeMap<String, u32>,
}

impl From<Vec<Part>> for Names {
    fn from(parts: Vec<Part>) -> Self {
        let (mut listed, mut node) = (BTreeMap::new(), 0);
        for part in &parts {
            if let Part::Listed(names) = part {
                listed.extend(names.iter().cloned().zip(node..));
            }
            node += part.len();
        }
        Self { parts, listed }
    }
}

impl From<Names> for Vec<Part> {
    fn from(names: Names) -> Self {
        names.parts
    }
}

impl Names {
    /// Names switches by tier, from a word and a number of nodes for each.
    pub(crate) fn tiers(tiers: &[(&str, u32)]) -> Self {
        let part = |(word, count): &(&str, u32)| Part::Numbered((*word).to_owned(), *count);
        Self::from(tiers.iter().map(part).collect::<Vec<_>>())
    }

    /// Numbered hosts, followed by nodes with listed names.
    ///
    /// # Errors
    /// A name that two nodes have.
    pub(crate) fn listed(hosts: u32, names: Vec<String>) -> Result<Self, String> {
        let numbered = Self::tiers(&[("h", hosts)]);
        let count = names.len();
        if let Some(taken) = names.iter().find(|n| numbered.find(n).is_some()) {
            return Err(taken.clone());
        }
        let mut parts = numbered.parts;
        parts.push(Part::Listed(names));
        let all = Self::from(parts);
        if all.listed.len() < count
            && let Some(Part::Listed(names)) = all.parts.last()
        {
            let twice = |(i, name): &(usize, &String)| all.listed.get(*name) != Some(&(hosts + *i as u32));
            return Err(names.iter().enumerate().find(twice).map(|(_, n)| n.clone()).unwrap_or_default());
        }
        Ok(all)
    }

    /// Inserts names before the node `first`; the inserted nodes take its number and those after it.
    pub(crate) fn insert(&mut self, first: u32, names: Vec<String>) {
        if names.is_empty() {
            return;
        }
        let (mut parts, mut node) = (Vec::new(), 0);
        for part in std::mem::take(&mut self.parts) {
            let len = part.len();
            match part {
                Part::Listed(mut own) if node < first && first < node + len => {
                    let behind = own.split_off((first - node) as usize);
                    parts.extend([Part::Listed(own), Part::Listed(names.clone()), Part::Listed(behind)]);
                }
                part => {
                    parts.push(part);
                    if node + len == first {
                        parts.push(Part::Listed(names.clone()));
                    }
                }
            }
            node += len;
        }
        *self = Self::from(parts);
    }

    /// The name of a node.
    pub fn of(&self, node: u32) -> String {
        let mut first = 0;
        for part in &self.parts {
            if node - first < part.len() {
                return match part {
                    Part::Numbered(word, _) => format!("{word}{}", node - first),
                    Part::Listed(names) => names[(node - first) as usize].clone(),
                };
            }
            first += part.len();
        }
        node.to_string()
    }

    /// The node with a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        if let Some(node) = self.listed.get(name) {
            return Some(*node);
        }
        let mut first = 0;
        for part in &self.parts {
            if let Part::Numbered(word, count) = part
                && let Some(digits) = name.strip_prefix(word.as_str())
                && let Some(n) = number(digits).filter(|n| n < count && n.to_string() == digits)
            {
                return Some(first + n);
            }
            first += part.len();
        }
        None
    }

    /// The node that a text means: a number, even if no such node exists, or a name.
    ///
    /// # Errors
    /// Reason and hint.
    pub(crate) fn node(&self, text: &str) -> Result<u32, (String, String)> {
        number(text).or_else(|| self.find(text)).ok_or_else(|| self.unknown("node", text, u32::MAX))
    }

    /// The same among the first nodes only; further NICs of hosts follow them.
    ///
    /// # Errors
    /// Reason and hint.
    pub(crate) fn host(&self, text: &str, hosts: u32, nics: u32) -> Result<u32, (String, String)> {
        if let Some(n) = number(text) {
            return Ok(n);
        }
        match self.find(text) {
            Some(node) if node < hosts => Ok(node),
            Some(node) => {
                let what = if node < nics { "a further NIC of a host" } else { "a switch" };
                Err((format!("`{}` is {what}", quoted(text)), self.unknown("host", text, hosts).1))
            }
            None => Err(self.unknown("host", text, hosts)),
        }
    }

    fn unknown(&self, what: &str, text: &str, below: u32) -> (String, String) {
        let reason = format!("there is no {what} `{}`", quoted(text));
        let listed = self.listed.iter().filter(|(_, node)| **node < below).map(|(name, _)| name.as_str());
        // Searching more names than this takes noticeably long.
        if let Some(near) = nearest(text, listed.take(10_000)) {
            return (reason, format!("did you mean `{near}`?"));
        }
        let last = self.parts.iter().map(Part::len).sum::<u32>().min(below).saturating_sub(1);
        (reason, format!("{what}s are `{}` to `{}`, or by number 0 to {last}", self.of(0), self.of(last)))
    }
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

/// A name of a file made fit for messages, tables and legends. A name of digits only gets an `n`, because a number
/// means a node number.
pub(crate) fn fit(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.join(" ");
    if name.is_empty() || *quoted(&name) != *name {
        return None;
    }
    Some(if name.bytes().all(|b| b.is_ascii_digit()) { format!("n{name}") } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_number_their_nodes_from_zero() {
        let names = Names::tiers(&[("h", 4), ("leaf", 2), ("spine", 1)]);
        assert_eq!([0, 3, 4, 6].map(|n| names.of(n)), ["h0", "h3", "leaf0", "spine0"]);
        assert_eq!(names.find("leaf1"), Some(5));
        assert_eq!(names.find("leaf2"), None);
        assert_eq!(names.find("h01"), None);
        assert_eq!(
            (names.host("3", 4, 4), names.host("9", 4, 4)),
            (Ok(3), Ok(9)),
            "numbers are the caller's to check"
        );
        assert_eq!(names.host("leaf1", 4, 4).expect_err("a switch").0, "`leaf1` is a switch");
        let hint = "hosts are `h0` to `h3`, or by number 0 to 3";
        assert_eq!(names.host("x", 4, 4), Err(("there is no host `x`".into(), hint.into())));
        assert_eq!(names.node("spine0"), Ok(6));
    }

    #[test]
    fn names_are_inserted_between_hosts_and_switches() {
        let more = || vec!["h1.1".to_owned(), "h2.1".to_owned()];
        let mut names = Names::tiers(&[("h", 3), ("leaf", 2)]);
        names.insert(3, more());
        assert_eq!([2, 3, 4, 5, 6].map(|n| names.of(n)), ["h2", "h1.1", "h2.1", "leaf0", "leaf1"]);
        assert_eq!((names.find("h2.1"), names.find("leaf1")), (Some(4), Some(6)));
        assert_eq!(names.host("h2.1", 3, 5).expect_err("a NIC").0, "`h2.1` is a further NIC of a host");
        let mut names = Names::listed(0, ["a", "b", "c", "d"].map(str::to_owned).to_vec()).expect("names");
        names.insert(3, more());
        assert_eq!([2, 3, 4, 5].map(|n| names.of(n)), ["c", "h1.1", "h2.1", "d"]);
        assert_eq!((names.find("h1.1"), names.find("d")), (Some(3), Some(5)));
    }

    #[test]
    fn listed_names_follow_the_numbered_hosts_and_are_different() {
        let listed = |names: &[&str]| Names::listed(2, names.iter().map(|n| (*n).to_owned()).collect());
        let names = listed(&["oslo", "rome"]).expect("names");
        assert_eq!((names.of(3), names.find("oslo"), names.find("h1")), ("rome".into(), Some(2), Some(1)));
        assert_eq!(names.node("olso").expect_err("unknown").1, "did you mean `oslo`?");
        assert_eq!(listed(&["a", "b", "a"]), Err("a".into()));
        assert_eq!(listed(&["a", "h1"]), Err("h1".into()));
        let kept: Names =
            serde_json::from_str(&serde_json::to_string(&names).expect("written")).expect("read");
        assert_eq!(kept, names);
    }

    #[test]
    fn a_name_can_be_shown_and_is_no_number() {
        assert_eq!(fit(" New \n York "), Some("New York".into()));
        assert_eq!(fit("17"), Some("n17".into()));
        for unfit in ["", "a\u{1b}b", "a\u{202e}b", &"x".repeat(81)] {
            assert_eq!(fit(unfit), None);
        }
    }
}
