//! Keys two to four at a time: what the checks let through runs to its end, breaks no law, and is the same
//! without short cuts.
//!
//! They are drawn from the rows, the same ones every time. `THALWEG_MIXES=20000` draws more; `THALWEG_MIX=17`
//! looks at one.

use super::scenarios::FILES;
use super::{Row, Settings, key_of, plugins, rows};
use crate::common::Folder;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use thalweg_net::spec::{NetworkSpec, StopSpec};
use thalweg_scenario::load;
use thalweg_sim::Sim;
use thalweg_units::{FlowId, PortId, Span, Stream, Time};

/// Long enough for flows to end, losses and pauses to happen.
const LONG: Span = Span::from_ms(3);
/// A run is cut after so many: then its laws alone are looked at.
const EVENTS: u64 = 400_000;

/// A row's settings and one of its values.
fn value((path, row, settings): &(String, Row, Settings), s: &mut Stream) -> Settings {
    let value = if s.below(2) == 0 { row.3 } else { row.4 };
    let mut all = settings.clone();
    if !value.is_empty() {
        all.push((key_of(path), value.to_owned()));
    }
    all
}

/// To the end, or so many events; whether it ended. `None`: refused.
fn ends(spec: NetworkSpec, shortcuts: bool) -> Option<Result<(bool, Sim), String>> {
    let mut sim = Sim::new(NetworkSpec { shortcuts, ..spec }).ok()?;
    for _ in 0..EVENTS / 1000 {
        match sim.run_checked(1000, 499) {
            Ok(true) => {}
            Ok(false) => return Some(Ok((true, sim))),
            Err(law) => return Some(Err(law.to_string())),
        }
    }
    Some(Ok((false, sim)))
}

/// What the two differ in.
fn agree(short: &Sim, long: &Sim) -> Result<(), String> {
    for flow in (0..short.spec().flows.len()).map(FlowId::from) {
        let (a, b) = (short.outcome(flow), long.outcome(flow));
        if a != b {
            return Err(format!("flow {}: {a:?}, without short cuts {b:?}", flow.0));
        }
    }
    for port in (0..short.ports().len()).map(PortId::from).filter(|port| short.backlog(*port).packets == 0) {
        let (a, b) = (short.totals(port), long.totals(port));
        if a != b {
            return Err(format!("port {}: {a:?}, without short cuts {b:?}", port.0));
        }
    }
    if short.digest() != long.digest() { Err("another digest without short cuts".into()) } else { Ok(()) }
}

/// Whether there was anything to see, or what is wrong.
fn look(text: &str, dir: &Path, set: &[(String, String)]) -> Result<bool, String> {
    let Ok(scenario) = load(text, "s.toml", dir, set) else { return Ok(false) };
    let Ok(spec) = scenario.network() else { return Ok(false) };
    // How many events there are is a matter of short cuts.
    let until = spec.stop.until.min(Time::ZERO + LONG);
    let stop = StopSpec { until, when_measured_done: false, max_events: u64::MAX };
    let spec = NetworkSpec { stop, ..spec };
    let Some(short) = ends(spec.clone(), true) else { return Ok(false) };
    let (done, short) = short?;
    if let Some(long) = ends(spec, false) {
        let (also, long) = long.map_err(|law| format!("without short cuts: {law}"))?;
        if done && also {
            agree(&short, &long)?;
        }
    }
    Ok(true)
}

#[test]
fn keys_that_go_together_run_together() {
    plugins::register();
    let files = Folder::new("mixes", FILES);
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().expect("a whole number"));
    let one = number("THALWEG_MIX");
    let all = one.map_or(0..number("THALWEG_MIXES").unwrap_or(250), |n| n..n + 1);
    let (rows, mut seen, mut wrong) = (rows(), 0, Vec::new());
    for mix in all {
        let mut s = Stream::new(1, "mixes", mix);
        let drawn: Vec<_> = (0..2 + s.below(3)).map(|_| &rows[s.below(rows.len() as u64) as usize]).collect();
        let set: Settings = drawn.iter().flat_map(|row| value(row, &mut s)).collect();
        let found = catch_unwind(AssertUnwindSafe(|| look(drawn[0].1.1, &files.0, &set)));
        let why = match found {
            Ok(Ok(there)) => {
                seen += u64::from(there);
                continue;
            }
            Ok(Err(why)) => why,
            Err(_) => "a panic".into(),
        };
        let keys: Vec<&str> = drawn.iter().map(|row| row.0.as_str()).collect();
        wrong.push(format!("THALWEG_MIX={mix}: {}: {why}\n  {set:?}", keys.join(", ")));
    }
    assert!(wrong.is_empty(), "{} of {seen}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(one.is_some() || seen > 50, "{seen} ran");
}

#[test]
fn what_a_failing_link_loses_is_counted_at_its_port_though_a_neighbour_may_go_on_for_it() {
    plugins::register();
    let files = Folder::new("mixes-failing-link", FILES);
    let set = [
        ("switch.scheduler", "bfc"),
        ("switch.inputs", "{shared=\"2MB\"}"),
        ("switch.backpressure", "{expires=\"3us\"}"),
        ("routing.convergence", "100us"),
        ("incident", "[{kind=\"link-failure\",at=\"200us\",link=[7,8]}]"),
    ];
    let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let rows = rows();
    let text = rows.iter().find(|row| row.0 == "switch.backpressure.expires").expect("a row of this key").1.1;
    assert_eq!(look(text, &files.0, &set), Ok(true));
}
