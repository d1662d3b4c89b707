//! Transports that a traffic section gives itself, as a table or by the name of a controller, become entries of
//! `[transports]`.
//!
//! Keys that they leave out are those of `[transport]`, or of the transport that an override refines. `[transports]`
//! whose traffic overrides have taken away are removed, so that the scenario is the same as if they had not been
//! written.

use super::origin::{Inherited, Origin};
use super::tree::{MAIN, Node, Place, Value, uses};
use crate::Diagnostic;
use crate::schema::Transport;
use crate::text::check;
use serde_json::Value as Json;
use thalweg_machines::congestion::{ControllerSpec, custom};

/// The transport that a word means if it does not name one: a transport with this controller, or of this kind.
fn stands_for(word: &str, place: Place) -> Option<Node> {
    let is_controller = ControllerSpec::all().iter().any(|spec| spec.key() == word && word != "custom")
        || custom::controllers().iter().any(|name| name == word);
    let key = match () {
        () if is_controller => "congestion",
        () if Transport::KINDS.contains(&word) => "kind",
        () => return None,
    };
    let value = Node::new(Value::Text(word.to_owned()), place);
    Some(Node::new(Value::Table(vec![(key.to_owned(), value)]), place))
}

/// The kind of a transport in the document.
fn kind(transport: Option<&Node>) -> String {
    let short = |key: &&str| Transport::KINDS.contains(key);
    let word = match transport.map(|node| &node.value) {
        Some(Value::Text(word)) => Some(word.as_str()),
        Some(Value::Table(entries)) => entries
            .iter()
            .find_map(|(key, node)| if key == "kind" { node.text() } else { None })
            .or_else(|| entries.first().map(|(key, _)| key.as_str()).filter(short)),
        _ => None,
    };
    word.unwrap_or("tcp").to_owned()
}

/// The name of a new transport: that of its section, or of its controller, or of its kind.
fn called(section: &Node, transport: &Node) -> String {
    let congestion = transport.get("congestion");
    let controller = congestion.and_then(|c| c.text().or_else(|| c.get("kind")?.text()));
    let own = section.get("name").and_then(Node::text);
    own.or(controller).map_or_else(|| kind(Some(transport)), str::to_owned)
}

/// Gives every section of traffic the name of a transport, and adds these transports to the document.
pub(crate) fn name_transports(schema: &Json, origin: &mut Origin) -> Result<(), Vec<Diagnostic>> {
    let mut found: Vec<(String, usize, String)> = Vec::new();
    let mut errors = Vec::new();
    let sections = match origin.root.get("traffic").map(|node| &node.value) {
        Some(Value::Array(sections)) => sections.clone(),
        _ => Vec::new(),
    };
    for (at, section) in sections.iter().enumerate() {
        let Some(written) = section.get("transport") else { continue };
        let names =
            |word: &str| word == MAIN || origin.root.get("transports").is_some_and(|t| t.get(word).is_some());
        let mut own = match &written.value {
            Value::Text(word) if !names(word) => match stands_for(word, written.place) {
                Some(own) => own,
                None => continue,
            },
            Value::Table(_) => written.clone(),
            _ => continue,
        };
        if section.get("kind").and_then(Node::text) == Some("udp") {
            let key = format!("traffic.{at}.transport");
            let why = "it has no effect: traffic of kind `udp` brings its own transport";
            errors.push(origin.at(&key, why).hint("remove the key"));
            continue;
        }
        // An override that refines a named transport: `traffic.0.transport.mss` with `transport = "video"`.
        let mut base = MAIN.to_owned();
        if let Value::Table(entries) = &mut own.value
            && let Some(at) =
                entries.iter().position(|(key, node)| key == "kind" && node.text().is_some_and(names))
        {
            base = entries.remove(at).1.text().unwrap_or(MAIN).to_owned();
        }
        let stem = called(section, &own);
        let taken = |name: &str| names(name) || found.iter().any(|(known, ..)| known == name);
        let mut name = stem.clone();
        let mut number = at;
        while taken(&name) {
            name = format!("{stem}-{number}");
            number += 1;
        }
        let under = base_of(&origin.root, &base).cloned();
        if let Value::Table(entries) = &mut own.value
            && !entries.iter().any(|(key, _)| key == "kind")
            && !matches!(&entries[..], [(key, _)] if Transport::KINDS.contains(&key.as_str()))
        {
            let kind = Node::new(Value::Text(kind(under.as_ref())), written.place);
            entries.push(("kind".to_owned(), kind));
        }
        put(&mut origin.root, &name, own);
        if let Some(Value::Array(all)) = origin.root.get_mut("traffic").map(|node| &mut node.value)
            && let Some(node) = all[at].get_mut("transport")
        {
            node.value = Value::Text(name.clone());
        }
        origin.aliases.push((format!("transports.{name}"), format!("traffic.{at}.transport")));
        found.push((name, at, base));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    inherit(schema, origin, &found);
    drop_unused(origin, &found);
    Ok(())
}

fn base_of<'a>(root: &'a Node, name: &str) -> Option<&'a Node> {
    if name == MAIN { root.get("transport") } else { root.get("transports")?.get(name) }
}

fn put(root: &mut Node, name: &str, transport: Node) {
    let place = transport.place;
    let Value::Table(entries) = &mut root.value else { return };
    if !entries.iter().any(|(key, _)| key == "transports") {
        entries.push(("transports".to_owned(), Node::new(Value::Table(Vec::new()), place)));
    }
    if let Some(Value::Table(all)) = root.get_mut("transports").map(|node| &mut node.value) {
        all.push((name.to_owned(), transport));
    }
}

/// Merges each transport's base under it. Short forms are expanded first, because the kind decides what is merged: `{
/// fixed = "45us" }` is of another kind than `rfc6298`.
fn inherit(schema: &Json, origin: &mut Origin, found: &[(String, usize, String)]) {
    if found.is_empty() {
        return;
    }
    let mut root = origin.root.clone();
    check::document(schema, &mut root, origin);
    origin.root = root;
    for (name, _, base) in found {
        let Some(under) = base_of(&origin.root, base).cloned() else { continue };
        let Some(own) = origin.root.get_mut("transports").and_then(|all| all.get_mut(name)) else { continue };
        if kind(Some(own)) != kind(Some(&under)) {
            continue;
        }
        let mine: Vec<String> = keys(own).map(str::to_owned).collect();
        own.merge_under(&under);
        let source = if base == MAIN { "transport".to_owned() } else { format!("transports.{base}") };
        for key in keys(&under).filter(|key| *key != "kind" && !mine.iter().any(|known| known == key)) {
            let (path, from) = (format!("transports.{name}.{key}"), format!("{source}.{key}"));
            origin.inherited.push(Inherited { path, from });
        }
    }
}

fn keys(table: &Node) -> impl Iterator<Item = &str> {
    let entries = match &table.value {
        Value::Table(entries) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|(key, _)| key.as_str())
}

/// Removes transports whose traffic was taken away by overrides: that they are unused is no mistake of the file.
fn drop_unused(origin: &mut Origin, found: &[(String, usize, String)]) {
    let sections = || match origin.root.get("traffic").map(|node| &node.value) {
        Some(Value::Array(sections)) => sections.as_slice(),
        _ => &[],
    };
    let used = |name: &str| sections().iter().any(|section| uses(section) == Some(name));
    let refined = |name: &str| found.iter().any(|(.., base)| base == name);
    let excused = |name: &str| !used(name) && (refined(name) || origin.used.iter().any(|used| used == name));
    let main = excused(MAIN)
        && !origin.root.get("transport").is_some_and(|node| set_by_hand(node) && !refined(MAIN));
    let all = origin.root.get("transports").map(|node| keys(node).map(str::to_owned).collect::<Vec<_>>());
    let gone: Vec<String> = all.into_iter().flatten().filter(|name| excused(name)).collect();
    origin.main_is_template = main;
    if let Some(Value::Table(entries)) = origin.root.get_mut("transports").map(|node| &mut node.value) {
        entries.retain(|(name, node)| {
            !gone.contains(name) || (set_by_hand(node) && !found.iter().any(|f| f.2 == *name))
        });
    }
}

/// True if an override set some part of the node.
fn set_by_hand(node: &Node) -> bool {
    matches!(node.place, Place::Set(_))
        || match &node.value {
            Value::Table(entries) => entries.iter().any(|(_, node)| set_by_hand(node)),
            Value::Array(items) => items.iter().any(set_by_hand),
            _ => false,
        }
}
