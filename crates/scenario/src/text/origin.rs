//! A parsed document with its overrides, and where each of its keys was written.

use super::tree::{Node, Place, Value, stamp, table_of, uses};
use crate::Diagnostic;
use crate::diagnostic::{quoted, suggest};
use std::borrow::Cow;
use toml::de::DeTable;

/// A parsed document with the positions of its keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub file: String,
    /// Byte offset of each line's first character.
    lines: Vec<usize>,
    sets: Vec<String>,
    pub root: Node,
    /// Keys of `root` that the author wrote elsewhere: (`transports.bbr`, `traffic.1.transport`).
    pub aliases: Vec<(String, String)>,
    /// Keys that the transport of a section inherits from another transport.
    pub inherited: Vec<Inherited>,
    /// The transports that the text itself uses, before overrides.
    pub used: Vec<String>,
    /// True if no traffic uses `[transport]` and that is intended: sections inherit from it, or overrides moved its
    /// traffic to other transports. Then its keys without effect are no mistakes.
    pub main_is_template: bool,
}

/// A key that a table inherits from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// Its dotted key in the table that inherits it.
    pub path: String,
    /// The dotted key that it is inherited from.
    pub from: String,
}

impl Origin {
    /// Parses TOML and applies the overrides.
    pub fn parse(text: &str, file: &str, set: &[(String, String)]) -> Result<Self, Vec<Diagnostic>> {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        let root = Node::new(Value::Table(Vec::new()), Place::File(0));
        let mut origin = Self {
            file: file.to_owned(),
            lines,
            sets: Vec::new(),
            root,
            aliases: Vec::new(),
            inherited: Vec::new(),
            used: Vec::new(),
            main_is_template: false,
        };
        let syntax = |origin: &Self, at: usize, reason: String| {
            vec![origin.diagnostic(Place::File(at), "", reason, None)]
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table = DeTable::parse(text).map_err(|e| {
            let at = e.span().map_or(0, |s| s.start);
            syntax(&origin, at, e.message().trim().replace('\n', ", "))
        })?;
        let value = table_of(table.into_inner()).map_err(|(at, reason)| syntax(&origin, at, reason))?;
        origin.root.value = value;
        if let Some(Value::Array(sections)) = origin.root.get("traffic").map(|node| &node.value) {
            origin.used = sections.iter().filter_map(uses).map(str::to_owned).collect();
        }
        let mut errors = Vec::new();
        for (index, (key, value)) in set.iter().enumerate() {
            origin.sets.push(key.clone());
            if let Err(d) = origin.set(index, key, value) {
                errors.push(d);
            }
        }
        if errors.is_empty() { Ok(origin) } else { Err(errors) }
    }

    fn set(&mut self, index: usize, key: &str, value: &str) -> Result<(), Diagnostic> {
        let place = Place::Set(index);
        let parsed = DeTable::parse(&format!("x = {value}\n"))
            .ok()
            .filter(|t| t.get_ref().len() == 1)
            .and_then(|t| table_of(t.into_inner()).ok());
        let mut new = match parsed {
            Some(Value::Table(mut entries)) if entries.len() == 1 => entries.remove(0).1,
            _ => Node::new(Value::Text(value.to_owned()), place),
        };
        stamp(&mut new, place);
        let mut wrong = None;
        let mut node = &mut self.root;
        let parts: Vec<&str> = key.split('.').collect();
        for (depth, part) in parts.iter().enumerate() {
            if part.is_empty() {
                wrong = Some(("the key has an empty part".to_owned(), "write keys as `traffic.0.load`"));
                break;
            }
            // `scheduler = "drr"` can be refined by `scheduler.quantum`, so the short form is expanded.
            if let Value::Text(kind) = &node.value {
                let kind = Node::new(Value::Text(kind.clone()), node.place);
                node.value = Value::Table(vec![("kind".to_owned(), kind)]);
            }
            match &mut node.value {
                Value::Table(entries) => {
                    if !entries.iter().any(|(k, _)| k == part) {
                        entries.push(((*part).to_owned(), Node::new(Value::Table(Vec::new()), place)));
                    }
                }
                Value::Array(items) => {
                    if part.parse::<usize>().is_ok_and(|i| i == items.len()) {
                        items.push(Node::new(Value::Table(Vec::new()), place));
                    }
                }
                other => {
                    let path = parts[..depth].join(".");
                    let what = Node::new(other.clone(), place);
                    wrong = Some((
                        format!("`{path}` is {}, which has no keys", what.kind()),
                        "set the key itself",
                    ));
                    break;
                }
            }
            match node.get(part).is_some() {
                true => node = node.get_mut(part).expect("just looked up"),
                false => {
                    wrong =
                        Some((format!("there is no element `{}`", quoted(part)), "positions count from 0"));
                    break;
                }
            }
        }
        if let Some((reason, hint)) = wrong {
            return Err(self.diagnostic(place, key, reason, Some(hint.to_owned())));
        }
        *node = new;
        Ok(())
    }

    /// The deepest node on a dotted path that exists.
    fn deepest(&self, path: &str) -> &Node {
        let mut node = &self.root;
        for part in path.split('.').filter(|p| !p.is_empty()) {
            match node.get(part) {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// The scheme whose key this is, if neither the file nor an override wrote it.
    pub fn scheme_of(&self, path: &str) -> Option<&str> {
        let node = path.split('.').try_fold(&self.root, |node, part| node.get(part))?;
        let name = self.root.get("scheme").and_then(Node::text)?;
        (node.place == Place::Scheme).then_some(name)
    }

    /// A key under the name by which its author wrote it.
    fn as_written<'a>(&self, key: &'a str) -> Cow<'a, str> {
        let rest = |path: &str| match key.strip_prefix(path)? {
            rest if rest.is_empty() || rest.starts_with('.') => Some(rest.to_owned()),
            _ => None,
        };
        let found = self.aliases.iter().find_map(|(path, written)| Some(written.clone() + &rest(path)?));
        found.map_or(Cow::Borrowed(key), Cow::Owned)
    }

    /// The inherited key that is this key, or contains it.
    pub fn inherits(&self, path: &str) -> Option<&Inherited> {
        let within =
            |own: &str| path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.inherited.iter().find(|key| within(&key.path))
    }

    /// Whether a key is written.
    pub fn has(&self, path: &str) -> bool {
        path.split('.').try_fold(&self.root, |node, part| node.get(part)).is_some()
    }

    /// Removes a key. True if it was there.
    pub fn remove(&mut self, path: &str) -> bool {
        let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
        let parts = parent.split('.').filter(|part| !part.is_empty());
        let Some(table) = parts.clone().try_fold(&mut self.root, |node, part| node.get_mut(part)) else {
            return false;
        };
        match &mut table.value {
            Value::Table(entries) => {
                let before = entries.len();
                entries.retain(|(name, _)| name != key);
                entries.len() < before
            }
            Value::Array(items) => match key.parse::<usize>() {
                Ok(at) if at < items.len() => {
                    items.remove(at);
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The message for a key to unset that is not written.
    pub fn no_such(&self, path: &str) -> Diagnostic {
        let parts: Vec<&str> = path.split('.').collect();
        let mut node = &self.root;
        let mut depth = 0;
        while let Some(next) = parts.get(depth).and_then(|part| node.get(part)) {
            (node, depth) = (next, depth + 1);
        }
        let known: Vec<String> = match &node.value {
            Value::Table(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Value::Array(items) => (0..items.len()).map(|at| at.to_string()).collect(),
            _ => Vec::new(),
        };
        let inside =
            if depth == 0 { "the scenario".to_owned() } else { format!("`{}`", parts[..depth].join(".")) };
        let hint = match (known.is_empty(), parts.get(depth)) {
            (false, Some(part)) => {
                format!("written in {inside}: {}", suggest(part, &known).replace("known: ", ""))
            }
            _ => "to change a default, use --set".to_owned(),
        };
        let file = format!("--unset {}", long(path));
        let mut found =
            Diagnostic::in_file(&file, 0, "the scenario does not write this key, so it cannot be unset")
                .hint(hint);
        found.key = long(path);
        found
    }

    /// A diagnostic about the key at `path`, at the position of the key or of its nearest existing parent.
    pub fn at(&self, path: &str, reason: impl Into<String>) -> Diagnostic {
        self.diagnostic(self.deepest(path).place, path, reason.into(), None)
    }

    pub fn diagnostic(&self, place: Place, key: &str, reason: String, hint: Option<String>) -> Diagnostic {
        let (file, line, column) = match place {
            Place::File(at) => {
                let line = self.lines.partition_point(|start| *start <= at);
                let column = at - self.lines[line.max(1) - 1] + 1;
                (self.file.clone(), line as u32, column as u32)
            }
            Place::Set(i) => (format!("--set {}", long(&self.sets[i])), 0, 0),
            // Where its name stands.
            Place::Scheme => match self.root.get("scheme").map(|node| node.place) {
                Some(place) if place != Place::Scheme => return self.diagnostic(place, key, reason, hint),
                _ => (self.file.clone(), 0, 0),
            },
        };
        Diagnostic { file, line, column, key: long(&self.as_written(key)), reason, hint }
    }
}

/// A dotted key for a message; a key too long to have been written on purpose is shortened.
fn long(key: &str) -> String {
    if key.len() <= 240 { key.to_owned() } else { quoted(key).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_where_their_keys_are() {
        let o = Origin::parse("a = 1\n[b]\nc = 2\n[[d]]\ne = 3\n", "f.toml", &[]).expect("parses");
        assert_eq!(o.at("b.c", "x").line, 3);
        assert_eq!(o.at("d.0.e", "x").line, 5);
        assert_eq!(o.at("b.missing", "x").line, 2);
    }

    #[test]
    fn overrides_open_short_forms_and_name_themselves() {
        let set = [("switch.scheduler.quantum".to_owned(), "3000B".to_owned())];
        let o = Origin::parse("[switch]\nscheduler = \"drr\"\n", "f.toml", &set).expect("parses");
        let scheduler = o.root.get("switch").and_then(|n| n.get("scheduler")).expect("there");
        assert_eq!(scheduler.get("kind").and_then(Node::text), Some("drr"));
        assert_eq!(o.at("switch.scheduler.quantum", "x").file, "--set switch.scheduler.quantum");
        let set = [("seed.x".to_owned(), "1".to_owned())];
        let errors = Origin::parse("seed = 1\n", "f.toml", &set).expect_err("not a table");
        assert_eq!(
            errors[0].to_string(),
            "--set seed.x: `seed.x`: `seed` is an integer, which has no keys; set the key itself"
        );
    }
}
