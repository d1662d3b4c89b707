//! Walks a document along the JSON Schema: unknown keys, wrong types, wrong units, ranges, choices.
//!
//! The schema is generated from the Rust types, so this is the one description of what may be
//! written; deserialisation after it cannot fail on the user's account. On the way, short forms are
//! opened: `"drr"` for `{ kind = "drr" }`, `{ fixed = "2MB" }` for `{ kind = "fixed", size = "2MB" }`,
//! and a name that a user registered for `{ kind = "custom", name = .. }`.

use super::tree::{Node, Origin, Value};
use crate::diagnostic::{quoted, suggest};
use crate::{Diagnostic, quantity};
use serde_json::Value as Json;
use thalweg_units::Bytes;

/// A node that is written by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The key.
    pub path: String,
    /// Whether it must be a host.
    pub host: bool,
}

/// Checks and opens `root` (which is then put back into the origin by the caller).
pub(crate) fn document(schema: &Json, root: &mut Node, origin: &Origin) -> (Vec<Diagnostic>, Vec<Named>) {
    let mut checker = Checker::new(origin, &[]);
    checker.walk(schema, root, "");
    checker.refuse_dates(root, "");
    (checker.errors, checker.named)
}

/// Opens `root`, under which these will be laid: a table that says no kind is of theirs, not of the default. What is
/// wrong is not reported.
pub(crate) fn open_over(schema: &Json, root: &mut Node, origin: &Origin, under: &[Node]) {
    Checker::new(origin, under).walk(schema, root, "");
}

/// Lengths written as multiples of the bandwidth-delay product.
enum Products {
    Count(usize),
    /// It is known: they become bytes.
    Are(Bytes),
}

/// Whether anything is written as a multiple of the bandwidth-delay product.
pub(crate) fn has_products(schema: &Json, root: &Node, origin: &Origin) -> bool {
    let mut checker = Checker::new(origin, &[]);
    checker.walk(schema, &mut root.clone(), "");
    matches!(checker.products, Products::Count(n) if n > 0)
}

/// Writes multiples of the bandwidth-delay product as bytes.
pub(crate) fn write_products(
    schema: &Json,
    root: &mut Node,
    origin: &Origin,
    product: Bytes,
) -> Vec<Diagnostic> {
    let mut checker = Checker { products: Products::Are(product), ..Checker::new(origin, &[]) };
    checker.walk(schema, root, "");
    checker.errors
}

struct Checker<'a> {
    origin: &'a Origin,
    /// What will be laid under the document.
    under: &'a [Node],
    errors: Vec<Diagnostic>,
    products: Products,
    named: Vec<Named>,
}

impl<'a> Checker<'a> {
    fn new(origin: &'a Origin, under: &'a [Node]) -> Self {
        Self { origin, under, errors: Vec::new(), products: Products::Count(0), named: Vec::new() }
    }

    /// The kind of the table at this path in what will be laid under the document.
    fn kind_under(&self, path: &str) -> Option<String> {
        let of = |under: &Node| path.split('.').try_fold(under.clone(), |node, key| node.get(key).cloned());
        self.under.iter().filter_map(of).find_map(|table| table.get("kind")?.text().map(str::to_owned))
    }
}

/// The alternative that is not `null`.
pub(crate) fn present(schema: &Json) -> &Json {
    match schema.get("anyOf").and_then(Json::as_array) {
        Some(options) => {
            options.iter().find(|o| o.get("type") != Some(&Json::from("null"))).unwrap_or(schema)
        }
        None => schema,
    }
}

/// The variants of a tagged enum.
pub(crate) fn variants(schema: &Json) -> Option<Vec<&Json>> {
    let options = schema.get("oneOf").and_then(Json::as_array)?;
    options.iter().all(|o| tag(o).is_some()).then(|| options.iter().collect())
}

/// The tag of a variant.
pub(crate) fn tag(variant: &Json) -> Option<&str> {
    variant.get("properties")?.get("kind")?.get("const")?.as_str()
}

/// The words of a plain enum.
pub(crate) fn words(schema: &Json) -> Option<Vec<String>> {
    let list = |v: &Json| -> Option<Vec<String>> {
        v.as_array()?.iter().map(|w| w.as_str().map(str::to_owned)).collect()
    };
    if let Some(words) = schema.get("enum") {
        return list(words);
    }
    let options = schema.get("oneOf")?.as_array()?;
    let mut out = Vec::new();
    for option in options {
        match (option.get("const"), option.get("enum")) {
            (Some(word), _) => out.push(word.as_str()?.to_owned()),
            (_, Some(words)) => out.extend(list(words)?),
            _ => return None,
        }
    }
    Some(out)
}

/// What is meant by a word that is none of these; what it is called now, if it is one of earlier versions.
fn suggest_word(schema: &Json, word: &str, words: &[String]) -> String {
    let now = schema.get("x-renamed-kinds").and_then(|names| names.get(word)?.as_str());
    now.map_or_else(|| suggest(word, words), |now| format!("`{word}` is now called `{now}`"))
}

/// The keys that a table must have.
pub(crate) fn required(schema: &Json) -> Vec<&str> {
    let list = schema.get("required").and_then(Json::as_array);
    list.into_iter().flatten().filter_map(Json::as_str).collect()
}

fn is_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(t)) => t == name,
        Some(Json::Array(list)) => list.iter().any(|t| t == name),
        _ => false,
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What a key of earlier versions is called now.
fn renamed(key: &str) -> Option<&'static str> {
    match key {
        "path" => Some("file"),
        _ => None,
    }
}

/// "schedulers" for `scheduler`: what registered names may stand for.
fn registered(custom: &Json) -> Vec<String> {
    match custom.get("x-registry").and_then(Json::as_str) {
        Some("controllers") => thalweg_machines::congestion::custom::controllers(),
        Some("schedulers") => thalweg_machines::schedule::custom::disciplines(),
        _ => Vec::new(),
    }
}

/// Whether users' own are of this kind.
fn is_registry(custom: Option<&Json>, kind: &str) -> bool {
    custom.and_then(|custom| custom.get("x-registry")).is_some_and(|registry| registry == kind)
}

impl Checker<'_> {
    fn error(&mut self, node: &Node, path: &str, reason: String, hint: Option<String>) {
        self.errors.push(self.origin.diagnostic(node.place, path, reason, hint));
    }

    /// TOML has dates, and what parameters of users' own become (JSON) does not.
    fn refuse_dates(&mut self, node: &Node, path: &str) {
        match &node.value {
            Value::Date => {
                let hint = Some("in quotes it is a text".to_owned());
                self.error(node, path, "dates have no meaning here".to_owned(), hint);
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.refuse_dates(item, &join(path, &i.to_string()));
                }
            }
            Value::Table(entries) => {
                for (key, entry) in entries {
                    self.refuse_dates(entry, &join(path, key));
                }
            }
            _ => {}
        }
    }

    fn walk(&mut self, schema: &Json, node: &mut Node, path: &str) {
        let schema = present(schema);
        if let Some(variants) = variants(schema) {
            self.tagged(schema, &variants, node, path);
        } else if let Some(words) = words(schema) {
            match node.text() {
                Some(word) if words.iter().any(|w| w == word) => {}
                Some(word) => {
                    let (reason, hint) =
                        (format!("`{}` is not a choice", quoted(word)), suggest_word(schema, word, &words));
                    self.error(node, path, reason, Some(hint));
                }
                None => {
                    let reason = format!("expected a string, found {}", node.kind());
                    self.error(node, path, reason, Some(format!("known: {}", words.join(", "))));
                }
            }
        } else if is_type(schema, "object") {
            self.table(&[schema], node, path);
        } else if is_type(schema, "array") {
            self.array(schema, node, path);
        } else {
            self.scalar(schema, node, path);
        }
    }

    fn tagged(&mut self, schema: &Json, variants: &[&Json], node: &mut Node, path: &str) {
        let names: Vec<String> = variants.iter().filter_map(|v| tag(v)).map(str::to_owned).collect();
        let custom = variants.iter().find(|v| tag(v) == Some("custom")).copied();
        let users = custom.map(registered).unwrap_or_default();
        let place = node.place;
        // Short forms.
        if let Value::Text(word) = &node.value {
            let word = word.clone();
            node.value = Value::Table(vec![("kind".into(), Node::new(Value::Text(word), place))]);
        }
        let Value::Table(entries) = &mut node.value else {
            let reason = format!("expected a name or a table with a `kind`, found {}", node.kind());
            self.error(node, path, reason, Some(format!("known: {}", names.join(", "))));
            return;
        };
        if !entries.iter().any(|(k, _)| k == "kind") {
            let short = |k: &str| variants.iter().find(|v| tag(v) == Some(&k.replace('_', "-"))).copied();
            if let [(key, value)] = &entries[..]
                && let Some(variant) = short(key)
            {
                let needs: Vec<&str> = required(variant).into_iter().filter(|k| *k != "kind").collect();
                let mut opened =
                    vec![("kind".to_owned(), Node::new(Value::Text(key.replace('_', "-")), place))];
                match (&value.value, needs.as_slice()) {
                    (Value::Table(inner), _) => opened.extend(inner.iter().cloned()),
                    (_, [need]) => opened.push(((*need).to_owned(), value.clone())),
                    _ => opened.push((key.clone(), value.clone())),
                }
                *entries = opened;
            } else if let Some(kind) = self.kind_under(path).filter(|kind| names.contains(kind)) {
                entries.push(("kind".into(), Node::new(Value::Text(kind), place)));
            } else if let Some(kind) = schema.get("x-default-kind").and_then(Json::as_str) {
                entries.push(("kind".into(), Node::new(Value::Text(kind.into()), place)));
            } else {
                let hint = format!("known kinds: {}", names.join(", "));
                self.error(node, path, "`kind` is missing".into(), Some(hint));
                return;
            }
        }
        let kind = entries.iter_mut().find(|(k, _)| k == "kind").map(|(_, n)| n).expect("put there above");
        let Value::Text(word) = &mut kind.value else {
            let (kind, reason) = (kind.clone(), format!("expected a string, found {}", kind.kind()));
            self.error(&kind, &join(path, "kind"), reason, Some(format!("known: {}", names.join(", "))));
            return;
        };
        if !names.contains(word) && users.contains(word) {
            let name = std::mem::replace(word, "custom".into());
            entries.push(("name".into(), Node::new(Value::Text(name), place)));
        }
        let word = node.get("kind").and_then(Node::text).unwrap_or_default().to_owned();
        match variants.iter().find(|v| tag(v) == Some(&word)) {
            Some(variant) => self.table(&[schema, variant], node, path),
            None => {
                let known: Vec<String> = names.into_iter().chain(users).collect();
                let now = schema.get("x-renamed-kinds").and_then(|names| names.get(&word)?.as_str());
                let mut hint =
                    now.map_or_else(|| suggest(&word, &known), |now| format!("it is called `{now}` now"));
                if now.is_none() && is_registry(custom, "controllers") {
                    hint.push_str("; one of your own: name its file with `--import FILE`");
                }
                let reason = format!("`{}` is not a choice", quoted(&word));
                let node = node.get("kind").cloned().unwrap_or_else(|| node.clone());
                self.error(&node, path, reason, Some(hint));
            }
        }
    }

    /// `schemas`: the table's own properties and those of its variant.
    fn table(&mut self, schemas: &[&Json], node: &mut Node, path: &str) {
        let place = node.place;
        let Value::Table(entries) = &mut node.value else {
            let (reason, node) = (format!("expected a table, found {}", node.kind()), node.clone());
            self.error(&node, path, reason, None);
            return;
        };
        let property = |key: &str| schemas.iter().find_map(|s| s.get("properties")?.get(key));
        let known = || -> Vec<String> {
            let maps = schemas.iter().filter_map(|s| s.get("properties")?.as_object());
            let mut keys: Vec<String> =
                maps.flat_map(|m| m.keys().cloned()).filter(|k| k != "kind").collect();
            keys.sort();
            keys
        };
        // A table of named things, or of anything.
        let others =
            schemas.iter().find_map(|s| s.get("additionalProperties")).filter(|s| **s != Json::Bool(false));
        let mut unknown = Vec::new();
        for (key, value) in entries.iter_mut() {
            match property(key) {
                Some(schema) => self.walk(schema, value, &join(path, key)),
                None if others.is_some() => {
                    self.walk(others.expect("just checked"), value, &join(path, key));
                }
                None => unknown.push((key.clone(), value.clone())),
            }
        }
        let mut missing: Vec<&str> = schemas
            .iter()
            .flat_map(|s| required(s))
            .filter(|k| !entries.iter().any(|(key, _)| key == k))
            .collect();
        for (key, value) in unknown {
            let now = schemas.iter().find_map(|s| s.get("x-renamed")?.get(&key)?.as_str());
            let meant = renamed(&key).filter(|now| property(now).is_some());
            missing.retain(|key| now.or(meant) != Some(*key));
            let hint = match (now, meant) {
                (Some(now), _) => format!("it is called `{now}` now"),
                (None, Some(meant)) => format!("did you mean `{meant}`?"),
                (None, None) => suggest(&key, &known()),
            };
            self.error(&value, &join(path, &quoted(&key)), "unknown key".into(), Some(hint));
        }
        for key in missing {
            let schema = property(key).cloned().unwrap_or_default();
            let reason = "the key is missing".into();
            self.errors.push(self.origin.diagnostic(place, &join(path, key), reason, written(key, &schema)));
        }
    }

    fn array(&mut self, schema: &Json, node: &mut Node, path: &str) {
        let Value::Array(items) = &mut node.value else {
            let (reason, node) = (format!("expected an array, found {}", node.kind()), node.clone());
            self.error(&node, path, reason, None);
            return;
        };
        let most = schema.get("maxItems").and_then(Json::as_u64);
        if let Some(n) =
            most.filter(|n| items.len() as u64 != *n && schema.get("minItems") == schema.get("maxItems"))
        {
            let (reason, node) = (format!("expected {n} entries, found {}", items.len()), node.clone());
            self.error(&node, path, reason, example(schema).map(|e| format!("for example `{e}`")));
            return;
        }
        if let Some(inner) = schema.get("items") {
            for (i, item) in items.iter_mut().enumerate() {
                if self.is_named(schema, item, || join(path, &i.to_string())) {
                    continue;
                }
                let schema = inner;
                self.walk(schema, item, &join(path, &i.to_string()));
            }
        }
    }

    /// Keeps the name of a node where the schema takes one: whether there is such a node shows when the
    /// network is there.
    fn is_named(&mut self, schema: &Json, node: &Node, path: impl Fn() -> String) -> bool {
        let Some(what) = schema.get("x-node") else { return false };
        let named = node.text().is_some();
        if named {
            self.named.push(Named { path: path(), host: what == "host" });
        }
        named
    }

    fn scalar(&mut self, schema: &Json, node: &mut Node, path: &str) {
        if self.is_named(schema, node, || path.to_owned()) {
            return;
        }
        let word = |key: &str| schema.get(key).and_then(Json::as_str).unwrap_or_default();
        let (format, unit) = (word("format"), word("x-quantity"));
        let mismatch = |wanted: &str, node: &Node| {
            (
                format!("expected {wanted}, found {}", node.kind()),
                example(schema).map(|e| format!("for example `{e}`")),
            )
        };
        if let Value::Text(text) = &node.value
            && let Some(multiple) = quantity::multiple(unit, text)
        {
            match (&mut self.products, multiple) {
                (Products::Count(n), Ok(_)) => *n += 1,
                (Products::Are(product), Ok(multiple)) => match quantity::times(*product, multiple) {
                    Some(bytes) => node.value = Value::Text(format!("{}B", bytes.get())),
                    None => {
                        let reason = format!(
                            "`{text}` is too large: the bandwidth-delay product is {} B",
                            product.get()
                        );
                        let node = node.clone();
                        self.error(&node, path, reason, None);
                    }
                },
                (_, Err(reason)) => {
                    let node = node.clone();
                    self.error(&node, path, reason, None);
                }
            }
            return;
        }
        let problem = match &node.value {
            // [`Checker::refuse_dates`].
            Value::Date => None,
            Value::Text(text) if !unit.is_empty() && text.len() > 80 => {
                Some((format!("`{}` is too long", quoted(text)), example(schema)))
            }
            Value::Text(text) if is_type(schema, "string") => {
                quantity::check(unit, text).err().map(|reason| (reason, None))
            }
            Value::Int(i) if is_type(schema, "integer") || is_type(schema, "number") => {
                range(schema, *i as f64, format).map(|hint| (format!("{i} is out of range"), Some(hint)))
            }
            _ if is_type(schema, "string") => {
                let wanted = if unit.is_empty() { "a string" } else { "a string with a unit" };
                Some(mismatch(wanted, node))
            }
            Value::Bool(_) if is_type(schema, "boolean") => None,
            _ if is_type(schema, "boolean") => Some(mismatch("true or false", node)),
            Value::Float(x) if is_type(schema, "number") => {
                range(schema, *x, format).map(|hint| (format!("{x} is out of range"), Some(hint)))
            }
            _ if schema.get("x-node").is_some() => Some(mismatch("the number or the name of a node", node)),
            _ if is_type(schema, "integer") => Some(mismatch("a whole number", node)),
            _ if is_type(schema, "number") => Some(mismatch("a number", node)),
            _ => None,
        };
        if let Some((reason, hint)) = problem {
            let node = node.clone();
            self.error(&node, path, reason, hint);
        }
    }
}

fn example(schema: &Json) -> Option<String> {
    let schema = present(schema);
    if let Some(variants) = variants(schema) {
        return variants.first().and_then(|v| tag(v)).map(|t| format!("\"{t}\""));
    }
    let first = schema.get("examples").and_then(Json::as_array).and_then(|e| e.first());
    first.or_else(|| schema.get("default").filter(|d| !d.is_null())).map(Json::to_string)
}

/// What a key that must be there can be written as.
fn written(key: &str, schema: &Json) -> Option<String> {
    let example = example(schema).map(|e| format!("for example `{key} = {e}`"));
    let one_of = || words(present(schema)).map(|words| format!("one of {}", words.join(", ")));
    let whole = || is_type(schema, "integer").then(|| "a whole number".to_owned());
    example.or_else(one_of).or_else(whole)
}

/// What is allowed, if `x` is not.
fn range(schema: &Json, x: f64, format: &str) -> Option<String> {
    let limit = |key: &str| schema.get(key).and_then(Json::as_f64);
    let top = match format {
        "uint8" => Some(255.0),
        "uint16" => Some(65_535.0),
        "uint32" => Some(4_294_967_295.0),
        _ => None,
    };
    let (above, min) = (limit("exclusiveMinimum"), limit("minimum"));
    let (below, max) = (limit("exclusiveMaximum"), limit("maximum").or(top));
    let ok = above.is_none_or(|a| x > a)
        && min.is_none_or(|m| x >= m)
        && below.is_none_or(|b| x < b)
        && max.is_none_or(|m| x <= m);
    if ok {
        return None;
    }
    // Whole numbers as the schema writes them: as floats the largest would be rounded.
    let exact = |key: &str, x: f64| match schema.get(key) {
        Some(Json::Number(n)) if !n.is_f64() => n.to_string(),
        _ => x.to_string(),
    };
    let low =
        above.map(|a| format!("above {a}")).or(min.map(|m| format!("at least {}", exact("minimum", m))));
    let high =
        below.map(|b| format!("below {b}")).or(max.map(|m| format!("at most {}", exact("maximum", m))));
    Some(format!("allowed: {}", [low, high].into_iter().flatten().collect::<Vec<_>>().join(" and ")))
}
