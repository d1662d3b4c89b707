//! From the text of a scenario to a [`Scenario`]: parsed, changed, laid over its scheme, checked, resolved, and checked
//! again for what is impossible or ineffective.

use crate::catalogue;
use crate::context::Cx;
use crate::diagnostic::shown;
use crate::schema::{Document, scheme};
use crate::text::check::{self, Named};
use crate::text::inline;
use crate::text::origin::Origin;
use crate::text::tree::{Node, Place, Value, stamp};
use crate::topology::{self, Overlays};
use crate::{Diagnostic, Scenario, Stop, resolve, validate, workload};
use std::path::Path;
use thalweg_units::Bytes;

/// The text of a scenario, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The scenario, in TOML.
    pub text: &'a str,
    /// Its name in messages.
    pub file: &'a str,
    /// The folder at which relative paths in it start.
    pub dir: &'a Path,
}

/// What to change in a scenario before it is checked. The default changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// Overrides, in this order: a dotted key, and its value in TOML or as a bare string.
    pub set: &'a [(String, String)],
    /// Dotted keys to leave out, whether the text or its scheme writes them. They get their defaults.
    pub unset: &'a [String],
}

/// Reads a scenario. `file` is its name in messages, `dir` the folder at which relative paths in it start, `set`
/// overrides as in [`Changes`]. [`load_with`] can also leave out keys, and be interrupted.
///
/// # Errors
/// All mistakes found, in the order of the file. A mistake that hides others is reported alone: syntax comes before
/// keys and values, and these come before what the settings mean together.
pub fn load(
    text: &str,
    file: &str,
    dir: &Path,
    set: &[(String, String)],
) -> Result<Scenario, Vec<Diagnostic>> {
    let changes = Changes { set, ..Changes::default() };
    load_with(&Source { text, file, dir }, &changes, &Stop::default())
}

/// Reads a scenario with changes. It is given up soon after `stop` is raised.
///
/// # Errors
/// As [`load`]; for a key to leave out that is not written; and if it was given up.
pub fn load_with(
    source: &Source<'_>,
    changes: &Changes<'_>,
    stop: &Stop,
) -> Result<Scenario, Vec<Diagnostic>> {
    let mut origin = changed(source, changes)?;
    inline::name_transports(catalogue::raw_schema(), &mut origin).map_err(sorted)?;
    let mut root = origin.root.clone();
    let (errors, named) = check::document(catalogue::raw_schema(), &mut root, &origin);
    origin.root = root;
    if !errors.is_empty() {
        return Err(sorted(errors));
    }
    if !named.is_empty() {
        number_nodes(&mut origin, &named, source.dir, stop)?;
    }
    complete(origin, source.dir, stop)
}

/// The parsed text with its changes, laid over its scheme.
fn changed(source: &Source<'_>, changes: &Changes<'_>) -> Result<Origin, Vec<Diagnostic>> {
    let mut origin = Origin::parse(source.text, source.file, changes.set)?;
    let (mut of_text, of_scheme): (Vec<&String>, Vec<&String>) =
        changes.unset.iter().partition(|key| origin.has(key));
    // Elements of an array from its end, so that those before them keep their positions.
    let position = |key: &&String| -> Vec<(usize, String)> {
        key.split('.').map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
    };
    of_text.sort_by_cached_key(position);
    for key in of_text.into_iter().rev() {
        origin.remove(key);
    }
    merge_scheme(&mut origin)?;
    let mut missing = Vec::new();
    for key in of_scheme {
        if !origin.remove(key) {
            missing.push(origin.no_such(key));
        }
    }
    if missing.is_empty() { Ok(origin) } else { Err(shown(missing)) }
}

/// Replaces names of nodes by their numbers.
fn number_nodes(
    origin: &mut Origin,
    named: &[Named],
    dir: &Path,
    stop: &Stop,
) -> Result<(), Vec<Diagnostic>> {
    // The names are known once the network is built, which does not depend on the traffic: until then zeros stand in
    // their place.
    let mut draft = origin.clone();
    named.iter().for_each(|n| put(&mut draft.root, &n.path, 0));
    let cx = Cx { origin: &draft, dir, stop };
    let mut probe = written(&cx)?;
    resolve::resolve(&mut probe);
    let sizes = probe.transport.packet_sizes();
    let plain = Overlays::default();
    let graph = topology::build(&cx, &mut probe.topology, sizes, &plain).map_err(|e| vec![e])?;
    let mut errors = Vec::new();
    for Named { path, host } in named {
        let node = path.split('.').try_fold(&origin.root, |node, part| node.get(part));
        let text = node.and_then(Node::text).unwrap_or_default();
        let found =
            if *host { graph.names.host(text, graph.hosts, graph.nics()) } else { graph.names.node(text) };
        match found {
            Ok(number) => put(&mut origin.root, path, number),
            Err((reason, hint)) => errors.push(origin.at(path, reason).hint(hint)),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(sorted(errors)) }
}

/// Resolves and checks the document. Keys that a section's transport inherits but cannot use are taken out of it, and
/// it starts over, until none is left.
fn complete(mut origin: Origin, dir: &Path, stop: &Stop) -> Result<Scenario, Vec<Diagnostic>> {
    loop {
        let cx = Cx { origin: &origin, dir, stop };
        let mut written = written(&cx)?;
        if origin.main_is_template {
            // No traffic uses `[transport]`: only its packets matter, which give the round trip of the empty network.
            written.transport = written.transport.bare();
        }
        let mut doc = written.clone();
        resolve::resolve(&mut doc);
        let sizes = doc.transport.packet_sizes();
        let links = Overlays::read(&cx, &doc).map_err(sorted)?;
        let graph = topology::build(&cx, &mut doc.topology, sizes, &links).map_err(|e| vec![e])?;
        resolve::by_rate(&cx, &mut doc, &graph);
        resolve::by_graph(&mut doc, &graph);
        resolve::by_sizes(&cx, &mut doc);
        let validate::Verdict { mut errors, ineffective } =
            validate::document(&cx, &written, &doc, &graph, &links);
        errors.extend(workload::check(&cx, &doc, &graph));
        if !errors.is_empty() {
            return Err(sorted(errors));
        }
        if ineffective.is_empty() {
            return Ok(Scenario::new(doc, graph, origin, dir.to_owned()));
        }
        for path in &ineffective {
            origin.remove(path);
        }
        origin.inherited.retain(|key| !ineffective.contains(&key.path));
    }
}

/// The document as it was written. Lengths in bandwidth-delay products (`"2 BDP"`) become bytes of its network.
fn written(cx: &Cx<'_>) -> Result<Document, Vec<Diagnostic>> {
    let (schema, origin) = (catalogue::raw_schema(), cx.origin);
    let read = |root: &Node| -> Result<Document, Vec<Diagnostic>> {
        let mut doc: Document = serde_json::from_value(root.to_json())
            .map_err(|e| vec![origin.at("", format!("cannot be read: {e}"))])?;
        resolve::texts::read(cx, &mut doc).map_err(sorted)?;
        Ok(doc)
    };
    if !check::has_products(schema, &origin.root, origin) {
        return read(&origin.root);
    }
    let with = |product: Bytes| {
        let mut root = origin.root.clone();
        let errors = check::write_products(schema, &mut root, origin, product);
        if errors.is_empty() { read(&root) } else { Err(sorted(errors)) }
    };
    // No length in products changes the network or the size of packets, so the product can be computed with any length.
    let mut probe = with(Bytes::new(1))?;
    resolve::resolve(&mut probe);
    let sizes = probe.transport.packet_sizes();
    let links = Overlays::read(cx, &probe).map_err(sorted)?;
    let graph = topology::build(cx, &mut probe.topology, sizes, &links).map_err(|e| vec![e])?;
    with(graph.bandwidth_delay(sizes))
}

/// Writes a number at a dotted key.
fn put(root: &mut Node, path: &str, number: u32) {
    let at = path.split('.').try_fold(root, |node, part| node.get_mut(part));
    if let Some(node) = at {
        node.value = Value::Int(number.into());
    }
}

/// Mistakes in the order of the file, each once, and not more than can be read.
fn sorted(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|d| (d.line, d.column));
    errors.dedup();
    shown(errors)
}

/// Fills in what the named scheme sets and the text does not.
fn merge_scheme(origin: &mut Origin) -> Result<(), Vec<Diagnostic>> {
    let Some(name) = origin.root.get("scheme").and_then(Node::text).map(str::to_owned) else { return Ok(()) };
    let Some(parts) = scheme::parts(&name) else {
        let mut d = origin.at("scheme", format!("there is no scheme `{name}`"));
        d.hint = Some(scheme::hint(&name));
        return Err(vec![d]);
    };
    // Short forms are expanded first: `{ fixed = "45us" }` is of the same kind as a scheme's
    // `{ kind = "fixed", value = "48us" }`. Mistakes are reported once, after the merge.
    let expand = |origin: &mut Origin, under: &[Node]| {
        let mut root = origin.root.clone();
        check::expand_over(catalogue::raw_schema(), &mut root, origin, under);
        origin.root = root;
    };
    let mut unders = Vec::new();
    for part in parts {
        let mut part = Origin::parse(part, "scheme", &[])?;
        expand(&mut part, &[]);
        let mut under = part.root;
        stamp(&mut under, Place::Scheme);
        unders.push(under);
    }
    expand(origin, &unders);
    for under in unders {
        origin.root.merge_under(&under);
    }
    Ok(())
}
