//! From a scenario's text to what is drawn.

use crate::drawn;
use serde_json::{Value as Json, json};
use std::path::Path;
use thalweg_lab::{Progress, Run};
use thalweg_scenario::{Diagnostic, Scenario, Stop, load_changed};

/// What errors call the text.
const FILE: &str = "scenario.toml";
/// Events between two reports of progress: some tens of milliseconds.
const STEP: u64 = 100_000;
/// Samples of a run that does not say how often to look.
const SAMPLES: u64 = 400;
/// Instruments that are read if the scenario does not say otherwise.
const INSTRUMENTS: [&str; 3] = ["queues", "links", "controllers"];

/// Runs a scenario to its end and gives what is drawn of it, or `{"errors": [..]}`: a line for each, as the command
/// prints it, with its `line`, `column` (counted from 1; 0: none) and `key`. `progress` is called now and then.
///
/// Where the scenario has no instrument for queues, links or controllers it is run twice: once to know how long it
/// takes, and again with a few hundred samples. Nothing of the result depends on either.
pub fn run(text: &str, progress: &mut dyn FnMut(Progress)) -> String {
    match finished(text, progress) {
        Ok(run) => match run.violation() {
            Some(law) => json!({ "errors": [{ "text": format!("a bug of the simulator: {law}") }] }).to_string(),
            None => drawn::json(&run),
        },
        Err(errors) => json!({ "errors": errors.iter().map(line).collect::<Vec<_>>() }).to_string(),
    }
}

fn finished(text: &str, progress: &mut dyn FnMut(Progress)) -> Result<Run, Vec<Diagnostic>> {
    let scenario = loaded(text, &[])?;
    let measure = &scenario.document().measure;
    let there = [measure.queues.is_some(), measure.links.is_some(), measure.controllers.is_some()];
    let run = complete(&scenario, progress)?;
    let every = (run.progress().now_ps / SAMPLES).max(1);
    let missing = INSTRUMENTS.iter().zip(there).filter(|(_, there)| !there);
    let added: Vec<(String, String)> =
        missing.map(|(of, _)| (format!("measure.{of}"), format!("{{ every = \"{every}ps\" }}"))).collect();
    if added.is_empty() { Ok(run) } else { complete(&loaded(text, &added)?, progress) }
}

/// A page has one thread, and results do not depend on their number.
fn loaded(text: &str, set: &[(String, String)]) -> Result<Scenario, Vec<Diagnostic>> {
    let scenario = load_changed(&Stop::default(), text, FILE, Path::new(""), set, &[])?;
    if scenario.document().run.threads.is_none() {
        return Ok(scenario);
    }
    load_changed(&Stop::default(), text, FILE, Path::new(""), set, &["run.threads".to_owned()])
}

fn complete(scenario: &Scenario, progress: &mut dyn FnMut(Progress)) -> Result<Run, Vec<Diagnostic>> {
    let mut run = Run::new(scenario).map_err(|error| vec![error])?;
    while run.step(STEP) {
        progress(run.progress());
    }
    Ok(run)
}

fn line(error: &Diagnostic) -> Json {
    json!({ "text": error.to_string(), "line": error.line, "column": error.column, "key": error.key })
}
