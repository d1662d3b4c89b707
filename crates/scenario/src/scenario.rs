//! A scenario: parsed, checked, resolved; the only thing that runs.

use crate::catalogue;
use crate::context::Cx;
use crate::diagnostic::shown;
use crate::estimate::Estimate;
use crate::parse::flows::{self, FlowRow};
use crate::parse::trace;
use crate::schema::{Document, SECTIONS, scheme};
use crate::text::check::{self, Named};
use crate::text::tree::{Node, Origin, Place, Value, stamp};
use crate::text::{emit, inline};
use crate::topology::{self, Family, Graph, Overlays};
use crate::{Diagnostic, Stop, estimate, network, resolve, validate, workload};
use std::path::{Path, PathBuf};
use thalweg_machines::link::{OPPORTUNITY, TracedSpec};
use thalweg_net::spec::{End, NetworkSpec, Predecessor};
use thalweg_units::{Bytes, FlowId, Time};

/// A scenario that has been found possible, with every default written out.
#[derive(Clone, Debug)]
pub struct Scenario {
    doc: Document,
    graph: Graph,
    origin: Origin,
    dir: PathBuf,
}

/// Scenarios are equal if their resolved settings are.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.doc == other.doc && self.graph == other.graph
    }
}

/// Reads a scenario. `file` is its name in messages, `dir` the folder that its paths are relative to, `set`
/// overrides as (dotted key, TOML value or bare string).
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn load(
    text: &str,
    file: &str,
    dir: &Path,
    set: &[(String, String)],
) -> Result<Scenario, Vec<Diagnostic>> {
    load_unless(&Stop::default(), text, file, dir, set)
}

/// As [`load`], given up soon after `stop` is raised.
///
/// # Errors
/// As [`load`], and if it was given up.
pub fn load_unless(
    stop: &Stop,
    text: &str,
    file: &str,
    dir: &Path,
    set: &[(String, String)],
) -> Result<Scenario, Vec<Diagnostic>> {
    load_changed(stop, text, file, dir, set, &[])
}

/// As [`load_unless`], without the keys of `unset`: what is written there, or in the scheme, is as if it were not.
///
/// # Errors
/// As [`load_unless`], and for a key that is not written.
pub fn load_changed(
    stop: &Stop,
    text: &str,
    file: &str,
    dir: &Path,
    set: &[(String, String)],
    unset: &[String],
) -> Result<Scenario, Vec<Diagnostic>> {
    let mut origin = Origin::parse(text, file, set)?;
    let (mut of_file, others): (Vec<&String>, Vec<&String>) = unset.iter().partition(|key| origin.has(key));
    // The last of a list first: the others keep their places.
    let place = |key: &&String| -> Vec<(usize, String)> {
        key.split('.').map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
    };
    of_file.sort_by_cached_key(place);
    for key in of_file.into_iter().rev() {
        origin.remove(key);
    }
    merge_scheme(&mut origin)?;
    let mut missing = Vec::new();
    for key in others {
        if !origin.remove(key) {
            missing.push(origin.no_such(key));
        }
    }
    if !missing.is_empty() {
        return Err(shown(missing));
    }
    inline::name_transports(catalogue::raw_schema(), &mut origin).map_err(sorted)?;
    let mut root = origin.root.clone();
    let (errors, named) = check::document(catalogue::raw_schema(), &mut root, &origin);
    origin.root = root;
    if !errors.is_empty() {
        return Err(sorted(errors));
    }
    if !named.is_empty() {
        // What nodes are called is known when the network is there, which does not depend on who sends: zeros
        // stand for names until then.
        let mut draft = origin.clone();
        named.iter().for_each(|n| put(&mut draft.root, &n.path, 0));
        let cx = Cx { origin: &draft, dir, stop };
        let mut probe = written(&cx)?;
        resolve::resolve(&mut probe);
        let frames = probe.transport.frames();
        let plain = Overlays::default();
        let graph = topology::build(&cx, &mut probe.topology, frames, &plain).map_err(|e| vec![e])?;
        number(&mut origin, &named, &graph)?;
    }
    loop {
        let cx = Cx { origin: &origin, dir, stop };
        let mut written = written(&cx)?;
        if origin.spares_main {
            // It says what sections inherit, and its packets give the round trip of the empty network.
            written.transport = written.transport.bare();
        }
        let mut doc = written.clone();
        resolve::resolve(&mut doc);
        let frames = doc.transport.frames();
        let links = Overlays::read(&cx, &doc).map_err(sorted)?;
        let graph = topology::build(&cx, &mut doc.topology, frames, &links).map_err(|e| vec![e])?;
        resolve::by_rate(&cx, &mut doc, &graph);
        resolve::by_graph(&mut doc, &graph);
        resolve::by_sizes(&cx, &mut doc);
        let validate::Verdict { mut errors, useless } =
            validate::document(&cx, &written, &doc, &graph, &links);
        errors.extend(workload::check(&cx, &doc, &graph));
        if !errors.is_empty() {
            return Err(sorted(errors));
        }
        if useless.is_empty() {
            return Ok(Scenario { doc, graph, origin, dir: dir.to_owned() });
        }
        // What a section's transport cannot use of another's, it does not inherit.
        for path in &useless {
            origin.remove(path);
        }
        origin.inherited.retain(|key| !useless.contains(&key.path));
    }
}

/// The document as it was written, lengths in bandwidth-delay products as the bytes that they are in its network.
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
    // No length in products changes the network's shape or the size of packets: any will do to find out the product.
    let mut probe = with(Bytes::new(1))?;
    resolve::resolve(&mut probe);
    let frames = probe.transport.frames();
    let links = Overlays::read(cx, &probe).map_err(sorted)?;
    let graph = topology::build(cx, &mut probe.topology, frames, &links).map_err(|e| vec![e])?;
    with(graph.bandwidth_delay(frames))
}

/// Writes a node's number at a key.
fn put(root: &mut Node, path: &str, number: u32) {
    let at = path.split('.').try_fold(root, |node, part| node.get_mut(part));
    if let Some(node) = at {
        node.value = Value::Int(number.into());
    }
}

/// Replaces names of nodes by their numbers.
fn number(origin: &mut Origin, named: &[Named], graph: &Graph) -> Result<(), Vec<Diagnostic>> {
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

fn sorted(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|d| (d.line, d.column));
    errors.dedup();
    shown(errors)
}

/// Lays the named scheme's settings under the written ones.
fn merge_scheme(origin: &mut Origin) -> Result<(), Vec<Diagnostic>> {
    let Some(name) = origin.root.get("scheme").and_then(Node::text).map(str::to_owned) else { return Ok(()) };
    let Some(parts) = scheme::parts(&name) else {
        let mut d = origin.at("scheme", format!("there is no scheme `{name}`"));
        d.hint = Some(scheme::hint(&name));
        return Err(vec![d]);
    };
    // Short forms are opened first, or `{ fixed = "45us" }` would not be seen to be what the scheme's
    // `{ kind = "fixed", value = "48us" }` is. What is wrong is reported once, after the merge.
    let open = |origin: &mut Origin, under: &[Node]| {
        let mut root = origin.root.clone();
        check::open_over(catalogue::raw_schema(), &mut root, origin, under);
        origin.root = root;
    };
    let mut unders = Vec::new();
    for part in parts {
        let mut part = Origin::parse(part, "scheme", &[])?;
        open(&mut part, &[]);
        let mut under = part.root;
        stamp(&mut under, Place::Scheme);
        unders.push(under);
    }
    open(origin, &unders);
    for under in unders {
        origin.root.merge_under(&under);
    }
    Ok(())
}

impl Scenario {
    fn cx<'a>(&'a self, stop: &'a Stop) -> Cx<'a> {
        Cx { origin: &self.origin, dir: &self.dir, stop }
    }

    /// About the scenario as a whole.
    pub fn whole_file(&self, reason: String) -> Diagnostic {
        Diagnostic::in_file(&self.origin.file, 0, reason)
    }

    /// About one of its keys.
    pub fn about(&self, key: &str, reason: String) -> Diagnostic {
        self.origin.at(key, reason)
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        &self.doc.name
    }

    /// Seed of every random stream.
    pub fn seed(&self) -> u64 {
        self.doc.seed
    }

    /// When the run ends at the latest.
    pub fn until(&self) -> Time {
        Time::from_ps(self.doc.run.until.0.ps())
    }

    /// The settings, every default filled in.
    pub fn document(&self) -> &Document {
        &self.doc
    }

    /// The network's shape.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The round trip of a full packet and its ACK over the longest path when nothing waits.
    pub fn base_rtt(&self) -> thalweg_units::Span {
        self.graph.base_rtt(self.doc.transport.frames())
    }

    /// The resolved scenario as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.doc).expect("plain data serialises")
    }

    /// The resolved scenario as TOML: every default written out; loads back to an equal scenario.
    pub fn to_toml(&self) -> String {
        emit::document(&self.to_json(), SECTIONS)
    }

    /// The files that the scenario reads, relative to its folder: a copy of the scenario needs them too.
    pub fn files(&self) -> Vec<String> {
        let mut out: Vec<String> = self.doc.topology.shape.file().map(str::to_owned).into_iter().collect();
        let traces = self.doc.link.iter().filter_map(|l| l.transmitter.as_ref()?.file());
        out.extend(traces.map(str::to_owned));
        out.extend(self.doc.routing.rule.file().map(|file| file.name.to_owned()));
        out.extend(
            resolve::schedulers(&self.doc).filter_map(|(_, s)| s.table()).map(|(_, file)| file.to_owned()),
        );
        out.extend(resolve::schedulers(&self.doc).flat_map(|(_, s)| s.files()).map(|(_, file)| file));
        out.extend(self.doc.traffic.iter().flat_map(|t| t.pattern.family().files(&self.dir)));
        out.sort();
        out.dedup();
        out
    }

    /// The delivery opportunities of a direction of a link, as Mahimahi writes them; without a port those of
    /// the only trace. What is a multiple of Mahimahi's 1504 B is as many of them at that instant: what one leaves over
    /// goes to the next.
    ///
    /// # Errors
    /// If there are none, or several to choose from; if Mahimahi's link would not be the same one.
    pub fn trace_text(&self, port: Option<u32>) -> Result<String, Diagnostic> {
        let traces = self.graph.traces();
        let some = |ports: &mut dyn Iterator<Item = u32>| {
            let all: Vec<String> = ports.map(|port| port.to_string()).collect();
            all[..all.len().min(16)].join(", ") + if all.len() > 16 { ", .." } else { "" }
        };
        let refuse = |reason: String, hint: String| Err(self.whole_file(reason).hint(hint));
        let Some((first, of_first)) = traces.first() else {
            let hint = "write `transmitter = \"cellular\"`, or one of kind \"traced\", under [[link]]";
            return refuse("no link has delivery opportunities".into(), hint.into());
        };
        let listed = || some(&mut traces.iter().map(|(port, _)| *port));
        match port {
            Some(port) => match traces.iter().find(|(with, _)| *with == port) {
                Some((port, traced)) => self.as_of_mahimahi(*port, traced),
                None => refuse(
                    format!("port {port} has no delivery opportunities"),
                    format!("ports with some: {}", listed()),
                ),
            },
            None if traces.iter().all(|(_, traced)| traced == of_first) => {
                self.as_of_mahimahi(*first, of_first)
            }
            None => refuse(
                "its links have different traces".into(),
                format!("choose one of the ports {}", listed()),
            ),
        }
    }

    /// A trace as Mahimahi reads it: every line is 1504 B, and the last one is where it begins again.
    fn as_of_mahimahi(&self, port: u32, traced: &TracedSpec) -> Result<String, Diagnostic> {
        let (each, rest) = (traced.bytes / OPPORTUNITY, traced.bytes % OPPORTUNITY);
        let refuse = |reason: String, hint: &str| Err(self.whole_file(reason).hint(hint));
        if rest > 0 {
            let sizes = format!("{}B on port {port}, and Mahimahi's are of {OPPORTUNITY}B", traced.bytes);
            return refuse(
                format!("opportunities of {sizes}"),
                "write `opportunity = \"1504B\"`, or a multiple",
            );
        }
        if !traced.trace.repeats() {
            let reason =
                format!("the trace of port {port} ends with its last line, and Mahimahi's begin again there");
            return refuse(reason, "remove `repeat`");
        }
        Ok(trace::to_text(&traced.trace, each))
    }

    /// What the run will cost, before it is run.
    ///
    /// # Errors
    /// If a file has vanished or changed since the scenario was loaded.
    pub fn estimate(&self) -> Result<Estimate, Diagnostic> {
        self.estimate_unless(&Stop::default())
    }

    /// As [`Scenario::estimate`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::estimate`], and if it was given up.
    pub fn estimate_unless(&self, stop: &Stop) -> Result<Estimate, Diagnostic> {
        estimate::estimate(&self.cx(stop), &self.doc, &self.graph)
    }

    /// The network that the simulator runs.
    ///
    /// # Errors
    /// What only shows when flows are drawn: flows without a pinned path, probes of flows that do not exist.
    pub fn network(&self) -> Result<NetworkSpec, Diagnostic> {
        self.network_unless(&Stop::default())
    }

    /// As [`Scenario::network`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::network`], and if it was given up.
    pub fn network_unless(&self, stop: &Stop) -> Result<NetworkSpec, Diagnostic> {
        Ok(self.numbered_network_unless(stop)?.0)
    }

    /// As [`Scenario::network_unless`], and by flow the number that its list gives it (`id`, or the row's); none of a
    /// flow that is of no list.
    ///
    /// # Errors
    /// As [`Scenario::network_unless`].
    pub fn numbered_network_unless(
        &self,
        stop: &Stop,
    ) -> Result<(NetworkSpec, Vec<Option<u64>>), Diagnostic> {
        network::build(&self.cx(stop), &self.doc, &self.graph)
    }

    /// The flows as a list.
    fn rows(&self, stop: &Stop) -> Result<Vec<FlowRow>, Diagnostic> {
        let spec = self.network_unless(stop)?;
        // A list has no computations, and nothing starts when another flow does.
        let listed = |before: &Predecessor| match *before {
            Predecessor::Flow { end: End::Started, .. } | Predecessor::Work { .. } => None,
            Predecessor::Flow { flow, end } => Some((u64::from(flow.0), end)),
        };
        let row = |(i, f): (usize, &thalweg_net::spec::FlowSpec)| {
            let key = format!("traffic.{}", f.group);
            if f.size == u64::MAX {
                return Err(self.cx(stop).error(
                    &key,
                    "a list cannot hold a flow without end",
                    "remove the section",
                ));
            }
            Ok(FlowRow {
                line: 0,
                id: i as u64,
                src: spec.host_of(f.src).0,
                dst: spec.host_of(f.dst).0,
                size: f.size,
                start: f.start,
                after: spec
                    .precedence
                    .of(FlowId(i as u32))
                    .iter()
                    .map(listed)
                    .collect::<Option<_>>()
                    .ok_or_else(|| {
                        let reason =
                            "a list cannot hold a flow that follows a computation, or the start of a flow";
                        self.cx(stop).error(&key, reason, "remove the section")
                    })?,
            })
        };
        spec.flows.iter().enumerate().map(row).collect()
    }

    /// The flows as CSV `id,src,dst,size_bytes,start_ns`, with `after` and `after_acked` if some follow others: what
    /// other simulators can run too.
    ///
    /// # Errors
    /// If a flow cannot be written: one without end.
    pub fn flows_csv(&self) -> Result<String, Diagnostic> {
        self.flows_csv_unless(&Stop::default())
    }

    /// As [`Scenario::flows_csv`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::flows_csv`], and if it was given up.
    pub fn flows_csv_unless(&self, stop: &Stop) -> Result<String, Diagnostic> {
        Ok(flows::to_csv(&self.rows(stop)?))
    }

    /// The flows in the HPCC ns-3 simulator's format.
    ///
    /// # Errors
    /// As [`Scenario::flows_csv`], and if a flow follows another.
    pub fn flows_hpcc(&self) -> Result<String, Diagnostic> {
        self.flows_hpcc_unless(&Stop::default())
    }

    /// As [`Scenario::flows_hpcc`], given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Scenario::flows_hpcc`], and if it was given up.
    pub fn flows_hpcc_unless(&self, stop: &Stop) -> Result<String, Diagnostic> {
        let rows = self.rows(stop)?;
        if rows.iter().any(|row| !row.after.is_empty()) {
            let reason = "this format cannot say that a flow follows another";
            return Err(self.cx(stop).error("traffic", reason, "write CSV, or remove the section"));
        }
        Ok(flows::to_hpcc(&rows, self.graph()))
    }
}
