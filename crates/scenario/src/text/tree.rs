//! A TOML document as a tree that remembers where each value was written.

use crate::Diagnostic;
use crate::diagnostic::{quoted, suggest};
use std::borrow::Cow;
use toml::de::{DeTable, DeValue};

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Byte offset in the file.
    File(usize),
    /// Position in the list of overrides.
    Set(usize),
    /// The named scheme that the file refers to.
    Scheme,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Date,
    Array(Vec<Node>),
    Table(Vec<(String, Node)>),
}

/// A value and its place (for tables of a file: that of the header or of the key).
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

impl Node {
    pub fn new(value: Value, place: Place) -> Self {
        Self { value, place }
    }
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, n)| n),
            Value::Array(items) => key.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        }
    }
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|(k, _)| k == key).map(|(_, n)| n),
            Value::Array(items) => key.parse::<usize>().ok().and_then(|i| items.get_mut(i)),
            _ => None,
        }
    }
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(s) => Some(s),
            _ => None,
        }
    }
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Bool(_) => "a boolean",
            Value::Date => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(s) => s.clone().into(),
            Value::Int(i) => (*i).into(),
            Value::Float(x) => (*x).into(),
            Value::Bool(b) => (*b).into(),
            Value::Date => serde_json::Value::Null,
            Value::Array(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(entries) => {
                serde_json::Value::Object(entries.iter().map(|(k, n)| (k.clone(), n.to_json())).collect())
            }
        }
    }
    /// Fills in what is missing from `under`; tables of different kinds are not mixed.
    pub fn merge_under(&mut self, under: &Node) {
        let kind = |n: &Node| match &n.value {
            Value::Text(s) => Some(s.clone()),
            _ => n.get("kind").and_then(Node::text).map(str::to_owned),
        };
        if kind(self).is_some() && kind(under).is_some() && kind(self) != kind(under) {
            return;
        }
        if let (Value::Table(mine), Value::Table(theirs)) = (&mut self.value, &under.value) {
            for (key, theirs) in theirs {
                match mine.iter_mut().find(|(k, _)| k == key) {
                    Some((_, mine)) => mine.merge_under(theirs),
                    None => mine.push((key.clone(), theirs.clone())),
                }
            }
        }
    }
}

fn convert(value: DeValue<'_>, at: usize) -> Result<Node, (usize, String)> {
    let place = Place::File(at);
    let value = match value {
        DeValue::String(s) => Value::Text(s.into_owned()),
        DeValue::Integer(i) => {
            let parsed = i64::from_str_radix(i.as_str(), i.radix());
            Value::Int(
                parsed.map_err(|_| (at, format!("`{}` is not an integer of 64 bits", quoted(i.as_str()))))?,
            )
        }
        DeValue::Float(x) => {
            let parsed = x
                .as_str()
                .parse::<f64>()
                .map_err(|_| (at, format!("`{}` is not a number", quoted(x.as_str()))))?;
            if !parsed.is_finite() {
                return Err((at, format!("`{}` is not a finite number", quoted(x.as_str()))));
            }
            Value::Float(parsed)
        }
        DeValue::Boolean(b) => Value::Bool(b),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            let mut out = Vec::with_capacity(items.len());
            for item in items {
                let at = item.span().start;
                out.push(convert(item.into_inner(), at)?);
            }
            Value::Array(out)
        }
        DeValue::Table(table) => table_of(table)?,
    };
    Ok(Node::new(value, place))
}

fn table_of(table: DeTable<'_>) -> Result<Value, (usize, String)> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        // A value is found where its key is written; a table by a header, where the header is.
        let at = key.span().start;
        entries.push((key.into_inner().into_owned(), convert(value.into_inner(), at)?));
    }
    Ok(Value::Table(entries))
}

/// A parsed document: what was written, and how to say where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub file: String,
    /// Byte offset of each line's first character.
    lines: Vec<usize>,
    sets: Vec<String>,
    pub root: Node,
    /// Keys that are not written where they stand in `root`: `transports.bbr` is written as `traffic.1.transport`.
    pub aliases: Vec<(String, String)>,
    /// Keys that a transport of a section has from another one.
    pub inherited: Vec<Inherited>,
    /// The transports that the text itself uses, before any override.
    pub used: Vec<String>,
    /// `[transport]` carries no traffic, and that is no mistake: sections inherit from it, or an override is the cause.
    pub spares_main: bool,
}

/// A key that a table has from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inherited {
    pub path: String,
    /// Where it is written.
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
            spares_main: false,
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
            // `scheduler = "drr"` can be refined by `scheduler.quantum`: the short form is opened.
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
                    wrong =
                        Some((format!("`{path}` is {}, it has no keys", what.kind()), "set the key itself"));
                    break;
                }
            }
            match node.get(part).is_some() {
                true => node = node.get_mut(part).expect("just looked up"),
                false => {
                    wrong = Some((
                        format!("there is no element `{}`", quoted(part)),
                        "positions are counted from 0",
                    ));
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

    /// A key as its author wrote it.
    fn as_written<'a>(&self, key: &'a str) -> Cow<'a, str> {
        let rest = |path: &str| match key.strip_prefix(path)? {
            rest if rest.is_empty() || rest.starts_with('.') => Some(rest.to_owned()),
            _ => None,
        };
        let found = self.aliases.iter().find_map(|(path, written)| Some(written.clone() + &rest(path)?));
        found.map_or(Cow::Borrowed(key), Cow::Owned)
    }

    /// The key that a transport of a section has from another one, if this is one of these or below.
    pub fn inherits(&self, path: &str) -> Option<&Inherited> {
        let within =
            |own: &str| path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.inherited.iter().find(|key| within(&key.path))
    }

    /// Whether a key is written.
    pub fn has(&self, path: &str) -> bool {
        path.split('.').try_fold(&self.root, |node, part| node.get(part)).is_some()
    }

    /// Takes a key out; whether it was there.
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

    /// Why a key cannot be taken out that is not there.
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
            _ => "only what is written can be unset; defaults are changed with --set".to_owned(),
        };
        let file = format!("--unset {}", long(path));
        let mut found =
            Diagnostic::in_file(&file, 0, "this key is not written: there is nothing to unset").hint(hint);
        found.key = long(path);
        found
    }

    /// About the key at `path`, wherever it or its nearest parent was written.
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

/// A dotted key for a message: one too long to have been written on purpose is cut.
fn long(key: &str) -> String {
    if key.len() <= 240 { key.to_owned() } else { quoted(key).into_owned() }
}

/// Gives a whole tree one place.
pub(crate) fn stamp(node: &mut Node, place: Place) {
    node.place = place;
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|n| stamp(n, place)),
        Value::Table(entries) => entries.iter_mut().for_each(|(_, n)| stamp(n, place)),
        _ => {}
    }
}

/// The main transport's name.
pub(crate) const MAIN: &str = "default";

/// The transport that a section names.
pub(crate) fn uses(section: &Node) -> Option<&str> {
    if section.get("kind").and_then(Node::text) == Some("udp") {
        return None;
    }
    section.get("transport").map_or(Some(MAIN), Node::text)
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
            "--set seed.x: `seed.x`: `seed` is an integer, it has no keys; set the key itself"
        );
    }
}
