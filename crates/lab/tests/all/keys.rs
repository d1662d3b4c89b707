//! A test per key: changing it changes what happens in some scenario, or the tables if it is about them.
//!
//! The list is compared with the JSON Schema: a key or a choice without an entry fails. Paths are those of
//! the schema: `switch.scheduler(drr).quantum` is a key of one kind, `switch.scheduler=drr` the choice itself.
#[path = "keys/links.rs"]
mod links;
#[path = "keys/lossless.rs"]
mod lossless;
#[path = "keys/mixes.rs"]
mod mixes;
#[path = "keys/nimbus.rs"]
mod nimbus;
#[path = "keys/plugins.rs"]
pub(crate) mod plugins;
#[path = "keys/points.rs"]
mod points;
#[path = "keys/relief.rs"]
mod relief;
#[path = "keys/resolved.rs"]
mod resolved;
#[path = "keys/scenarios.rs"]
mod scenarios;
#[path = "keys/switch.rs"]
mod switch;
#[path = "keys/topology.rs"]
mod topology;
#[path = "keys/traffic.rs"]
mod traffic;
#[path = "keys/transport.rs"]
mod transport;
#[path = "keys/uet.rs"]
mod uet;

use crate::common::*;
use scenarios::{BUSY, FILES, PLAIN};
use std::collections::BTreeSet;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::{load, schema};

/// Where a change must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// In the digest, and in the flows or ports tables.
    Outcome,
    /// In the tables; what happens stays the same.
    Tables,
    /// In the summary; what happens and the tables stay the same.
    Summary,
    /// Nowhere: it watches.
    Nowhere,
    /// The second value is refused here.
    Refused,
}
use Shows::*;

/// path · scenario · settings that make the key matter · value · other value · where it shows.
///
/// `@` stands for `switch` and for `nic`, `~` for the other one; `@.scheduler` also for
/// `switch.mix.scheduler`; `%` for `transport` and for `transports.x`. An empty value leaves the key out.
type Row = (&'static str, &'static str, &'static [&'static str], &'static str, &'static str, Shows);

/// Rows for what is of no section, what is measured, and when runs end.
#[rustfmt::skip]
const KEYS: &[Row] = &[
    ("name", BUSY, &[], "a", "b", Summary),
    ("seed", BUSY, &[], "1", "2", Outcome),
    ("scheme", BUSY, &[], "", "tcp+fq", Outcome),

    // ---- measure
    ("measure", BUSY, &[], "", "{queues={every=\"100us\"}}", Tables),
    ("measure.from", BUSY, &["run.stop_when_done=false"], "", "100us", Tables),
    ("measure.until", BUSY, &["run.stop_when_done=false"], "", "500us", Tables),
    ("measure.fct", BUSY, &[], "", "sender", Tables),
    ("measure.fct=receiver", BUSY, &[], "receiver", "sender", Tables),
    ("measure.fct=sender", BUSY, &[], "sender", "receiver", Tables),
    ("measure.size_classes", BUSY, &[], "", "[\"5KB\"]", Summary),
    ("measure.queues", BUSY, &[], "", "{every=\"100us\"}", Tables),
    ("measure.queues.every", BUSY, &["measure.queues={every=\"100us\"}"], "100us", "50us", Tables),
    ("measure.queues.ports", BUSY, &["measure.queues={every=\"100us\"}"], "", "[1]", Tables),
    ("measure.queues.flows", BUSY, &["measure.queues={every=\"100us\"}"], "", "true", Tables),
    ("measure.links", BUSY, &[], "", "{every=\"100us\"}", Tables),
    ("measure.links.every", BUSY, &["measure.links={every=\"100us\"}"], "100us", "50us", Tables),
    ("measure.links.ports", BUSY, &["measure.links={every=\"100us\"}"], "", "[1]", Tables),
    ("measure.controllers", BUSY, &[], "", "{every=\"100us\"}", Tables),
    ("measure.controllers.every", BUSY, &["measure.controllers={every=\"100us\"}"], "100us", "50us", Tables),
    ("measure.controllers.flows", BUSY, &["measure.controllers={every=\"100us\"}"], "", "[3]", Tables),
    ("measure.delays", BUSY, &[], "false", "true", Summary),
    ("measure.decisions", BUSY, &[], "false", "true", Nowhere),
    ("measure.port_records", BUSY, &[], "[]", "[1]", Nowhere),
    ("measure.packets", BUSY, &[], "", "{}", Tables),
    // In the rows of the recording, which stream past the tables: see the tests of recordings.
    ("measure.packets.hops", BUSY, &["measure.packets={}"], "false", "true", Nowhere),
    ("measure.priority_histogram", BUSY, &[], "", "{}", Tables),
    ("measure.priority_histogram.cap", BUSY, &["measure.priority_histogram={}"], "", "20KB", Tables),
    ("measure.priority_histogram.mtu", BUSY, &["measure.priority_histogram={}"], "", "3000B", Tables),

    // ---- run
    ("run", BUSY, &[], "{until=\"3ms\"}", "{until=\"1ms\"}", Outcome),
    ("run.until", BUSY, &[], "3ms", "1ms", Outcome),
    ("run.max_events", BUSY, &[], "", "1000", Outcome),
    ("run.stop_when_done", PLAIN, &["traffic.0={kind=\"backlogged\",src=2,dst=3,transport=\"x\",measured=false}"], "true", "false", Outcome),
    ("run.ties", BUSY, &[], "drawn", "by-number", Outcome),
    ("run.ties=drawn", BUSY, &[], "drawn", "by-number", Outcome),
    ("run.ties=by-number", BUSY, &[], "by-number", "drawn", Outcome),
    ("run.check", PLAIN, &[], "false", "true", Nowhere),
    ("run.threads", BUSY, &[], "", "1", Nowhere),
];

/// All rows.
const ALL: [&[Row]; 11] = [
    KEYS,
    topology::KEYS,
    links::KEYS,
    switch::KEYS,
    transport::KEYS,
    nimbus::KEYS,
    traffic::KEYS,
    lossless::KEYS,
    points::KEYS,
    relief::KEYS,
    uet::KEYS,
];

/// Every key and every choice of the schema.
fn paths_of(schema: &serde_json::Value, path: &str, out: &mut BTreeSet<String>) {
    let dot = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for list in ["oneOf", "anyOf"] {
        for v in schema.get(list).and_then(|l| l.as_array()).into_iter().flatten() {
            if let Some(kind) = v.pointer("/properties/kind/const").and_then(|k| k.as_str()) {
                out.insert(format!("{path}={kind}"));
                paths_of(v, &format!("{path}({kind})"), out);
            } else if let Some(word) = v.get("const").and_then(|c| c.as_str()) {
                out.insert(format!("{path}={word}"));
            } else {
                paths_of(v, path, out);
            }
        }
    }
    for word in schema.get("enum").and_then(|e| e.as_array()).into_iter().flatten() {
        if let Some(word) = word.as_str() {
            out.insert(format!("{path}={word}"));
        }
    }
    for (name, v) in schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten() {
        // `true`: a key of every kind, described outside of the kinds.
        if name != "kind" && v.is_object() {
            out.insert(dot(name));
            paths_of(v, &dot(name), out);
        }
    }
    if let Some(v) = schema.get("items").filter(|v| v.is_object()) {
        paths_of(v, &format!("{path}[]"), out);
    }
    if let Some(v) = schema.get("additionalProperties").filter(|v| v.is_object()) {
        paths_of(v, &format!("{path}.*"), out);
    }
}

/// `traffic[](poisson).sizes=point` → `traffic.0.sizes`.
fn key_of(path: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for c in path.split('=').next().unwrap_or_default().chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out.replace("[]", ".0").replace(".*", ".x")
}

/// Overrides: dotted key, value.
type Settings = Vec<(String, String)>;

/// A row for one of the places it stands for: its path, the settings around it.
fn rows() -> Vec<(String, Row, Settings)> {
    let mut out = Vec::new();
    for row in ALL.into_iter().flatten() {
        let places: &[(&str, &str)] = if row.0.starts_with("@.scheduler") && row.0 != "@.scheduler" {
            &[("switch", "nic"), ("nic", "switch"), ("switch.mix", "nic")]
        } else if row.0.starts_with('@') {
            &[("switch", "nic"), ("nic", "switch")]
        } else if row.0.starts_with('%') {
            &[("transport", ""), ("transports.*", "")]
        } else {
            &[("", "")]
        };
        for (here, there) in places {
            let path = row.0.replacen(['@', '%'], here, 1);
            let transport = if *here == "transports.*" { "transports.x" } else { "transport" };
            let section = if row.0.starts_with('@') { *here } else { "switch" };
            let mut settings: Vec<(String, String)> = Vec::new();
            let mut set = |k: &str, v: &str| settings.push((k.to_owned(), v.to_owned()));
            if *here == "transports.*" {
                for (section, name) in [(0, "x"), (1, "x"), (2, "default")] {
                    set(&format!("traffic.{section}.transport"), name);
                }
            }
            if *here == "switch.mix" {
                // Two switches; the one before host 0 is mixed, the other has what no row has.
                set("topology", "{kind=\"dumbbell\",pairs=3}");
                set("switch.scheduler", "{kind=\"drr\",quantum=\"9000B\"}");
                set("switch.mix", "{scheduler=\"fifo\",nodes=\"even\"}");
            }
            if here.starts_with("switch") {
                // What is left out at hosts is copied from switches: here it must not be.
                set("nic.buffer", "unlimited");
                set("nic.scheduler", "fifo");
                set("nic.marking", "none");
            }
            for given in row.2 {
                let given = given.replace('@', section).replace('~', there).replace('%', transport);
                let (key, value) = given.split_once('=').expect("key=value");
                set(key, value);
            }
            out.push((path, *row, settings));
        }
    }
    out
}

fn go(text: &str, dir: &Path, set: &[(String, String)]) -> Result<Run, String> {
    let s = load(text, "s.toml", dir, set)
        .map_err(|e| e.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let mut run = Run::new(&s).map_err(|e| e.to_string())?;
    while run.step(1 << 20) {}
    if let Some(law) = run.violation() {
        return Err(law.to_owned());
    }
    Ok(run)
}

/// What happened, as text: the flows and ports tables.
fn outcome(run: &Run) -> String {
    let tables = run.tables();
    format!("{:?}", tables.iter().filter(|t| ["flows", "ports"].contains(&t.name)).collect::<Vec<_>>())
}

fn verdict(one: &Result<Run, String>, two: &Result<Run, String>, shows: Shows) -> Result<(), String> {
    let one = one.as_ref().map_err(|e| format!("the first value is refused: {e}"))?;
    let two = match two {
        Ok(_) if shows == Refused => return Err("the second value is accepted".into()),
        Ok(two) => two,
        Err(_) if shows == Refused => return Ok(()),
        Err(e) => return Err(format!("the second value is refused: {e}")),
    };
    let (digests, outcomes) = (one.digest() != two.digest(), outcome(one) != outcome(two));
    let (tables, summaries) = (bytes(one) != bytes(two), one.summary() != two.summary());
    let right = match shows {
        Outcome => digests && outcomes,
        Tables => tables,
        Summary => !digests && !tables && summaries,
        Nowhere => !digests && !tables && !summaries,
        Refused => false,
    };
    if right {
        return Ok(());
    }
    Err(format!(
        "digest {digests}, outcome {outcomes}, tables {tables}, summary {summaries}: expected {shows:?}"
    ))
}

#[test]
fn every_key_of_the_schema_has_an_entry() {
    let mut known = BTreeSet::new();
    paths_of(&schema(), "", &mut known);
    let listed = rows().into_iter().map(|r| r.0).filter(|p| p != "transports.*");
    // A controller's keys are the same over every transport, and a stage's in front of a queue and in it, at all ports
    // and at some: a row for one of them will do.
    let shared = |path: String| {
        let path =
            path.replace("(rdma).congestion(", ".congestion(").replace("(tcp).congestion(", ".congestion(");
        let path =
            path.replace("link[].marking=", "switch.marking=").replace("link[].marking(", "switch.marking(");
        path.replace(".stages[]", ".marking")
    };
    let known: BTreeSet<String> = known.into_iter().map(shared).collect();
    let listed: BTreeSet<String> = listed.map(shared).collect();
    let missing: Vec<&String> = known.difference(&listed).collect();
    let stale: Vec<&String> = listed.difference(&known).collect();
    assert!(missing.is_empty(), "keys without a test that they take effect: {missing:#?}");
    assert!(stale.is_empty(), "no such keys: {stale:#?}");
}

/// One part of the table per test, so that they run side by side.
fn check(part: usize) {
    plugins::register();
    let files = Folder::new(&format!("keys-{part}"), FILES);
    let mut silent = Vec::new();
    for (path, row, settings) in rows().into_iter().skip(part).step_by(PARTS) {
        let key = key_of(&path);
        if let Some((_, word)) = path.split_once('=') {
            assert!(row.3.contains(word) || row.4.contains(word), "{path} is about {word}");
        }
        let with = |value: &str| {
            let mut set = settings.clone();
            if !value.is_empty() {
                set.push((key.clone(), value.to_owned()));
            }
            go(row.1, &files.0, &set)
        };
        if let Err(why) = verdict(&with(row.3), &with(row.4), row.5) {
            silent.push(format!("{path}: `{}` and `{}`: {why}", row.3, row.4));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

const PARTS: usize = 4;

#[test]
fn keys_take_effect_part_1() {
    check(0);
}
#[test]
fn keys_take_effect_part_2() {
    check(1);
}
#[test]
fn keys_take_effect_part_3() {
    check(2);
}
#[test]
fn keys_take_effect_part_4() {
    check(3);
}
