//! The keys and choices of scenarios: the JSON Schema, the lists of names, the explanation of a key. All of it is
//! generated from the types in [`crate::schema`] and their doc comments.

use crate::editors;
use crate::schema::{Document, scheme};
use crate::text::schema::{present, tag, variants, words};
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The schema for the checker, with all references inlined.
pub(crate) fn raw_schema() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<Document>().to_value()
    })
}

/// The JSON Schema of scenarios, for editors and validators: patterns for quantities, short forms (`"drr"` for
/// `{ kind = "drr" }`), closed tables.
pub fn schema() -> Json {
    let mut out = raw_schema().clone();
    editors::complete(&mut out);
    out
}

/// A choice that can be written in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its description.
    pub summary: String,
    /// Its publication; empty if there is none.
    pub source: String,
}

/// The kinds of names that [`catalogue`] lists, with the dotted key that each is a choice of.
pub const KINDS: &[(&str, &str)] = &[
    ("schemes", "scheme"),
    ("topologies", "topology"),
    ("workloads", "traffic.0.sizes"),
    ("traffic", "traffic.0"),
    ("controllers", "transport.tcp.congestion"),
    ("transports", "transport"),
    ("schedulers", "switch.scheduler"),
    ("markings", "switch.marking"),
    ("sharings", "switch.shared_buffer.sharing"),
    ("congestion-points", "switch.congestion_point"),
    ("reliefs", "switch.relief"),
    ("incidents", "incident.0"),
    ("links", "link.0.transmitter"),
    ("losses", "link.0.loss"),
    ("jitters", "link.0.jitter"),
    ("slacks", "slack"),
    ("edges", "edge"),
    ("routings", "routing"),
    ("topology-formats", "topology.format"),
    ("flow-formats", "traffic.0.format"),
];

/// The names of one kind; `None` if there is no such kind.
pub fn catalogue(kind: &str) -> Option<Vec<Entry>> {
    let (_, key) = KINDS.iter().find(|(k, _)| *k == kind)?;
    if *key == "scheme" {
        let entry = |(name, r, s): (String, &scheme::Part, &scheme::Part)| Entry {
            name,
            summary: format!("{}; {}", r.summary, s.summary),
            source: r.source.to_owned(),
        };
        return Some(scheme::all().map(entry).collect());
    }
    let also = if kind == "controllers" { Some("transport.rdma.congestion") } else { None };
    let lists = std::iter::once(*key).chain(also);
    let options =
        lists.map(|key| present(find(key)?).get("oneOf")?.as_array()).collect::<Option<Vec<_>>>()?;
    let mut out: Vec<Entry> = Vec::new();
    for option in options.into_iter().flatten() {
        let name = tag(option).or_else(|| option.get("const").and_then(Json::as_str));
        let Some(name) = name.filter(|name| !out.iter().any(|e| e.name == *name)) else { continue };
        if name == "custom" {
            let users = match kind {
                "controllers" => thalweg_machines::congestion::custom::controllers(),
                _ => thalweg_machines::schedule::custom::disciplines(),
            };
            out.extend(users.into_iter().map(|name| Entry {
                name,
                summary: "registered by the user".into(),
                source: String::new(),
            }));
            continue;
        }
        let text = option.get("description").and_then(Json::as_str).unwrap_or_default();
        let (summary, source) = split_source(text);
        out.push(Entry { name: name.to_owned(), summary, source });
    }
    Some(out)
}

/// Splits a doc comment: the parenthesis with a year or an RFC is the source, the rest the description.
fn split_source(text: &str) -> (String, String) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = text.as_str();
    while let Some(open) = rest.find('(') {
        let Some(close) = rest[open..].find(')').map(|c| open + c) else { break };
        let inside = &rest[open + 1..close];
        let years = inside.split(|c: char| !c.is_ascii_digit()).any(|d| d.len() == 4);
        if years || inside.contains("RFC") || inside.contains('§') {
            let before = text[..text.len() - rest.len() + open].trim_end();
            let after = &rest[close + 1..];
            return (format!("{before}{after}").trim().to_owned(), inside.to_owned());
        }
        rest = &rest[close + 1..];
    }
    (text, String::new())
}

/// The schema of a dotted key; positions in arrays are numbers or `*`.
fn find(key: &str) -> Option<&'static Json> {
    find_all(key).first().map(|found| found.schema)
}

/// One meaning of a key: tables of different kinds may have keys of the same name.
struct Found {
    schema: &'static Json,
    /// The table with kinds on the path to the key, and the kind that has it. Empty: all kinds have it, or there are
    /// none.
    kinds: Vec<(String, &'static str)>,
}

/// All meanings of a dotted key, in the order of the kinds.
fn find_all(key: &str) -> Vec<Found> {
    let mut found = vec![Found { schema: raw_schema(), kinds: Vec::new() }];
    let mut path = String::new();
    for part in key.split('.').filter(|p| !p.is_empty()) {
        found = found.iter().flat_map(|at| step(at, part, &path)).collect();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(part);
    }
    found
}

fn step(at: &Found, part: &str, path: &str) -> Vec<Found> {
    let schema = present(at.schema);
    let on = |schema| vec![Found { schema, kinds: at.kinds.clone() }];
    if let Some(found) = schema.get("properties").and_then(|p| p.get(part)) {
        return on(found);
    }
    if let Some(kinds) = schema.get("oneOf").and_then(Json::as_array) {
        let inside = |v: &'static Json| v.get("properties").and_then(|p| p.get(part)).map(|found| (v, found));
        let of_kind = |(v, schema): (&'static Json, _)| {
            let kind = tag(v).map(|kind| (path.to_owned(), kind));
            Found { schema, kinds: at.kinds.iter().cloned().chain(kind).collect() }
        };
        let mut found: Vec<Found> = kinds.iter().filter_map(inside).map(of_kind).collect();
        let everywhere = found.len() == kinds.len() && found.iter().all(|f| f.schema == found[0].schema);
        if everywhere {
            found.truncate(1);
            found[0].kinds.clone_from(&at.kinds);
        }
        // `switch.scheduler.drr` is a choice. A choice may have the same name as a key, such as `topology.file`.
        found.extend(kinds.iter().filter(|v| tag(v) == Some(part)).flat_map(&on));
        if !found.is_empty() {
            return found;
        }
    }
    // The key may also be a table, which is described elsewhere.
    if let Some(table) = schema.get("x-table").and_then(Json::as_str) {
        let table = raw_schema().get("properties").and_then(|keys| keys.get(table));
        return table
            .map(|schema| step(&Found { schema, kinds: at.kinds.clone() }, part, path))
            .unwrap_or_default();
    }
    if let Some(items) = schema.get("items") {
        // `traffic.backlogged`: the keys of a list's tables have the same meaning in each of them.
        let position = part == "*" || part.parse::<usize>().is_ok();
        let inside = Found { schema: items, kinds: at.kinds.clone() };
        return if position { vec![inside] } else { step(&inside, part, path) };
    }
    schema.get("additionalProperties").filter(|s| s.is_object()).map(on).unwrap_or_default()
}

/// The explanation of a dotted key: its text, its default, its choices or keys, and the kinds of table that have it;
/// one for each meaning, if kinds differ. `None` if there is no such key.
pub fn explain(key: &str) -> Option<String> {
    let mut meanings: Vec<(String, Vec<String>)> = Vec::new();
    for found in find_all(key) {
        let text = meaning(found.schema);
        let kinds: Vec<String> =
            found.kinds.iter().map(|(table, kind)| format!("{table}.kind = \"{kind}\"")).collect();
        let kinds = kinds.join(" and ");
        match meanings.iter_mut().find(|(known, _)| *known == text) {
            Some((_, all)) => all.push(kinds),
            None => meanings.push((text, vec![kinds])),
        }
    }
    let found: Vec<String> = meanings
        .into_iter()
        .map(|(text, kinds)| match kinds.join(", or ") {
            kinds if kinds.is_empty() => text,
            kinds => format!("{text}\nwith: {kinds}"),
        })
        .collect();
    (!found.is_empty()).then(|| found.join("\n\n"))
}

/// The choices of a name: kinds of a table, or words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The keys that it is a choice of, first the one to explain further.
    pub keys: Vec<String>,
    /// Its description, and its keys.
    pub text: String,
}

/// Every choice of this name: `cubic` is a controller, `fq-codel` a scheduler. Choices with the same description are
/// one.
pub fn choices(word: &str) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    for_each_choice(raw_schema(), "", &mut |key, name, option| {
        if name != word {
            return;
        }
        let text = meaning(option);
        match found.iter_mut().find(|known| known.text == text) {
            Some(known) if known.keys.iter().any(|k| k == key) => {}
            Some(known) => known.keys.push(key.to_owned()),
            None => found.push(Choice { keys: vec![key.to_owned()], text }),
        }
    });
    found
}

/// The names of all choices, each once, in order.
pub fn choice_names() -> Vec<String> {
    let mut names = BTreeSet::new();
    for_each_choice(raw_schema(), "", &mut |_, name, _| {
        names.insert(name.to_owned());
    });
    names.into_iter().collect()
}

/// Every table with kinds: its key, and its kinds. In lists, the table at position 0.
pub fn kinds_of_tables() -> Vec<(String, Vec<String>)> {
    let mut tables: Vec<(String, Vec<String>)> = Vec::new();
    for_each_choice(raw_schema(), "", &mut |key, name, option| {
        if tag(option).is_none() {
            return;
        }
        match tables.iter_mut().find(|(known, _)| known == key) {
            Some((_, kinds)) if kinds.iter().any(|kind| kind == name) => {}
            Some((_, kinds)) => kinds.push(name.to_owned()),
            None => tables.push((key.to_owned(), vec![name.to_owned()])),
        }
    });
    tables
}

/// Calls `found` with (key, name, schema) for every choice in a schema.
fn for_each_choice(at: &'static Json, key: &str, found: &mut dyn FnMut(&str, &str, &'static Json)) {
    let schema = present(at);
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    for option in schema.get("oneOf").and_then(Json::as_array).into_iter().flatten() {
        match tag(option).or_else(|| option.get("const").and_then(Json::as_str)) {
            Some(name) => found(key, name, option),
            None => {
                let words = option.get("enum").and_then(Json::as_array).into_iter().flatten();
                words.filter_map(Json::as_str).for_each(|word| found(key, word, option));
            }
        }
        for_each_choice(option, key, found);
    }
    for word in schema.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
        found(key, word, schema);
    }
    for (name, inner) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        if name != "kind" {
            for_each_choice(inner, &below(name), found);
        }
    }
    if let Some(items) = schema.get("items") {
        for_each_choice(items, &below("0"), found);
    }
    if let Some(named) = schema.get("additionalProperties").filter(|s| s.is_object()) {
        for_each_choice(named, &below("NAME"), found);
    }
}

/// The keys that a scheme, or a part of one (`dctcp`, `srpt`), sets.
pub fn explain_scheme(name: &str) -> Option<String> {
    let described = |parts: &[&scheme::Part]| {
        let texts = parts.iter().map(|p| format!("{} [{}]", p.summary, p.source).replace(" [-]", ""));
        let sets: Vec<&str> = parts.iter().map(|p| p.toml.trim()).collect();
        format!("{}\nsets:\n{}", texts.collect::<Vec<_>>().join("; "), sets.join("\n"))
    };
    if let Some((_, rate, switch)) = scheme::all().find(|(scheme, ..)| scheme == name) {
        return Some(described(&[rate, switch]));
    }
    let rate = scheme::FAMILIES.iter().flat_map(|f| f.rates).find(|p| p.name == name)?;
    Some(described(&[rate]))
}

/// The description of a schema: its text, its default, its choices or keys.
fn meaning(found: &Json) -> String {
    let schema = present(found);
    let text = |s: &Json| s.get("description").and_then(Json::as_str).map(str::to_owned);
    let mut out = text(found).or_else(|| text(schema)).unwrap_or_default();
    let mut line = |label: &str, value: String| out.push_str(&format!("\n{label}: {value}"));
    let products = ", or a multiple of the bandwidth-delay product (\"0.5bdp\")";
    match schema.get("x-quantity").and_then(Json::as_str) {
        Some("time") => line("type", "a time (ps, ns, us, ms, s)".into()),
        Some("rate") => line("type", "a rate (bps, Kbps, Mbps, Gbps, Tbps)".into()),
        Some("size") => line("type", "a size (B, KB, MB, GB, TB, KiB, MiB, GiB)".into()),
        Some("room") => line("type", format!("a size (B, KB, MB, GB, TB, KiB, MiB, GiB){products}")),
        Some("length") => line("type", format!("a size or a number of packets (B, KB, .., pkts){products}")),
        Some("delay") => line("type", "a time or a number of packets (ps, ns, us, ms, s, pkts)".into()),
        Some("capacity") => {
            line("type", format!("a size, a number of packets (pkts), or \"unlimited\"{products}"))
        }
        _ => {}
    }
    match schema.get("x-node").and_then(Json::as_str) {
        Some("host") => line("type", "a host: its number or its name".into()),
        Some(_) => line("type", "nodes: their numbers or their names".into()),
        None => {}
    }
    if let Some(table) = schema.get("x-table").and_then(Json::as_str) {
        line("type", format!("a name, or a table with keys of `{table}`"));
    }
    if let Some(default) = found.get("default").or_else(|| schema.get("default")).filter(|d| !d.is_null()) {
        line("default", default.to_string());
    }
    // For a list, the description of its tables.
    let schema = schema.get("items").map_or(schema, present);
    if let Some(list) = variants(schema) {
        line("kinds", list.iter().filter_map(|v| tag(v)).collect::<Vec<_>>().join(", "));
    } else if let Some(words) = words(schema) {
        line("choices", words.join(", "));
    }
    if let Some(map) = schema.get("properties").and_then(Json::as_object) {
        let keys: Vec<&str> = map.keys().map(String::as_str).filter(|k| *k != "kind").collect();
        if !keys.is_empty() {
            line("keys", keys.join(", "));
        }
    }
    out
}
