//! A TOML document as a tree with the position of each value.

use crate::diagnostic::quoted;
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

/// A value and its position (for a table of a file, that of its header or key).
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
    /// The type of the value, for messages.
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
    /// Adds missing entries from `under`. Tables of different kinds are not merged.
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

pub(super) fn table_of(table: DeTable<'_>) -> Result<Value, (usize, String)> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        // The position of a value is that of its key; the position of a table with a header is that of the header.
        let at = key.span().start;
        entries.push((key.into_inner().into_owned(), convert(value.into_inner(), at)?));
    }
    Ok(Value::Table(entries))
}

/// Gives all nodes of a tree the same place.
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
