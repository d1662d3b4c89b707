//! Walks a document along the JSON Schema: unknown keys, wrong types, wrong units, ranges, choices.
//!
//! The schema is generated from the Rust types, so it is the only description of valid documents, and a document that
//! passes can be deserialised. Short forms are expanded in the same pass: `"drr"` to `{ kind = "drr" }`, `{ fixed =
//! "2MB" }` to `{ kind = "fixed", size = "2MB" }`, and a name registered by a user to `{ kind = "custom", name = .. }`.

use super::origin::Origin;
use super::schema::{
    example, is_registry, is_type, present, range, registered, renamed, required, suggest_word, tag,
    variants, words, written,
};
use super::tree::{Node, Value};
use crate::diagnostic::{quoted, suggest};
use crate::{Diagnostic, quantity};
use serde_json::Value as Json;
use thalweg_units::Bytes;

/// A key whose value names a node instead of giving its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The dotted key.
    pub path: String,
    /// True if the node must be a host.
    pub host: bool,
}

/// Checks `root` and expands its short forms; the caller puts it back into the origin.
pub(crate) fn document(schema: &Json, root: &mut Node, origin: &Origin) -> (Vec<Diagnostic>, Vec<Named>) {
    let mut checker = Checker::new(origin, &[]);
    checker.walk(schema, root, "");
    checker.refuse_dates(root, "");
    (checker.errors, checker.named)
}

/// Expands the short forms in `root`. A table without a `kind` takes that of the layers `under` it, which will be
/// merged into it, rather than the default one. Mistakes are not reported: the check after the merge finds them.
pub(crate) fn expand_over(schema: &Json, root: &mut Node, origin: &Origin, under: &[Node]) {
    Checker::new(origin, under).walk(schema, root, "");
}

/// What to do with lengths in multiples of the bandwidth-delay product.
enum Products {
    /// Count them, while the product is not known yet.
    Count(usize),
    /// Replace them by bytes, with this product.
    Are(Bytes),
}

/// True if some length is written as a multiple of the bandwidth-delay product.
pub(crate) fn has_products(schema: &Json, root: &Node, origin: &Origin) -> bool {
    let mut checker = Checker::new(origin, &[]);
    checker.walk(schema, &mut root.clone(), "");
    matches!(checker.products, Products::Count(n) if n > 0)
}

/// Replaces multiples of the bandwidth-delay product by bytes.
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
    /// The scheme's layers, which will be merged under the document.
    under: &'a [Node],
    errors: Vec<Diagnostic>,
    products: Products,
    named: Vec<Named>,
}

impl<'a> Checker<'a> {
    fn new(origin: &'a Origin, under: &'a [Node]) -> Self {
        Self { origin, under, errors: Vec::new(), products: Products::Count(0), named: Vec::new() }
    }

    /// The kind that the layers under the document give the table at this path.
    fn kind_under(&self, path: &str) -> Option<String> {
        let of = |under: &Node| path.split('.').try_fold(under.clone(), |node, key| node.get(key).cloned());
        self.under.iter().filter_map(of).find_map(|table| table.get("kind")?.text().map(str::to_owned))
    }
}

impl Checker<'_> {
    fn error(&mut self, node: &Node, path: &str, reason: String, hint: Option<String>) {
        self.errors.push(self.origin.diagnostic(node.place, path, reason, hint));
    }

    /// Refuses dates: TOML has them, but users' own parameters become JSON, which has none.
    fn refuse_dates(&mut self, node: &Node, path: &str) {
        match &node.value {
            Value::Date => {
                let hint = Some("write it in quotes to make it a string".to_owned());
                self.error(node, path, "a date is not a value of any key".to_owned(), hint);
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
                    hint.push_str("; for a controller of your own, name its file with `--import FILE`");
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
        // A table with free names, or with any content.
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

    /// If the schema allows the name of a node here, keeps it. The node is looked up when the network has been built.
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

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
