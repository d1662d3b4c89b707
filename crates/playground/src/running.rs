//! From a scenario's text to what is drawn.

use crate::drawn;
use serde_json::{Value as Json, json};
use std::path::Path;
use thalweg_lab::{Progress, Run};
use thalweg_machines::schedule::policy::Stopped;
use thalweg_scenario::{Changes, Diagnostic, Scenario, Source, Stop, load, load_with};

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
/// Where the scenario samples no queues, or no links, it is run twice: once to know how long it takes, and again with
/// a few hundred samples. Samples count as events; digest and scenario are those of the text as it is written.
pub fn run(text: &str, progress: &mut dyn FnMut(Progress)) -> String {
    let answer = finished(text, progress).unwrap_or_else(|errors| {
        let lines: Vec<Json> = errors.iter().map(line).collect();
        json!({ "errors": lines })
    });
    answer.to_string()
}

fn finished(text: &str, progress: &mut dyn FnMut(Progress)) -> Result<Json, Vec<Diagnostic>> {
    let scenario = loaded(text, &[])?;
    let run = complete(&scenario, progress)?;
    if let Some(law) = run.violation() {
        return Ok(json!({ "errors": [{ "text": format!("a bug of the simulator: {law}") }] }));
    }
    let missing = missing(&scenario, run.progress().now_ps);
    if missing.is_empty() {
        return Ok(drawn::json(&run));
    }
    let mut answer = drawn::json(&complete(&loaded(text, &missing)?, progress)?);
    answer["scenario"] = run.scenario_toml().into();
    answer["summary"] = run.summary();
    Ok(answer)
}

/// The instruments to be added to a scenario whose run takes so long: none, or all that it does not have.
fn missing(scenario: &Scenario, took_ps: u64) -> Vec<(String, String)> {
    let measure = &scenario.document().measure;
    let there = [measure.queues.is_some(), measure.links.is_some(), measure.controllers.is_some()];
    if there[0] && there[1] {
        return Vec::new();
    }
    let every = format!("{{ every = \"{}ps\" }}", (took_ps / SAMPLES).max(1));
    let missing = INSTRUMENTS.iter().zip(there).filter(|(_, there)| !there);
    missing.map(|(name, _)| (format!("measure.{name}"), every.clone())).collect()
}

/// A page has one thread, and results do not depend on their number.
fn loaded(text: &str, set: &[(String, String)]) -> Result<Scenario, Vec<Diagnostic>> {
    let scenario = load(text, FILE, Path::new(""), set)?;
    if scenario.document().run.threads.is_none() {
        return Ok(scenario);
    }
    let source = Source { text, file: FILE, dir: Path::new("") };
    let changes = Changes { set, unset: &["run.threads".to_owned()] };
    load_with(&source, &changes, &Stop::default())
}

fn complete(scenario: &Scenario, progress: &mut dyn FnMut(Progress)) -> Result<Run, Vec<Diagnostic>> {
    let mut run = Run::new(scenario).map_err(|error| vec![error])?;
    while run.step(STEP) {
        progress(run.progress());
    }
    match Stopped::take() {
        Some(stopped) => Err(vec![scenario.whole_file(stopped.to_string())]),
        None => Ok(run),
    }
}

/// A file that a scenario names cannot be there.
fn line(error: &Diagnostic) -> Json {
    let mut error = error.clone();
    if error.reason.ends_with("cannot be read: unsupported") {
        error = error.hint("a page has no files: run it with `thalweg run`");
    }
    json!({ "text": error.to_string(), "line": error.line, "column": error.column, "key": error.key })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: &str = r#"
topology = { kind = "pair", rate = "10Gbps" }
run = { threads = 2 }
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1MB"
"#;

    fn answer(text: &str) -> Json {
        serde_json::from_str(&run(text, &mut |_| {})).expect("JSON")
    }

    #[test]
    fn a_run_without_instruments_is_sampled_and_keeps_its_digest() {
        let found = answer(PAIR);
        let times = found["tables"]["controllers"]["time_ps"].as_array().expect("samples");
        assert!((SAMPLES as usize..SAMPLES as usize + 3).contains(&times.len()), "{}", times.len());
        let text = PAIR.replace("run = { threads = 2 }", "");
        let scenario = load(&text, FILE, Path::new(""), &[]).expect("a scenario");
        let alone = complete(&scenario, &mut |_| {}).expect("a run");
        assert_eq!(found["summary"]["digest"], format!("{:016x}", alone.digest()));
        assert_eq!(found["scenario"], alone.scenario_toml());
    }

    #[test]
    fn an_error_has_its_line_and_key() {
        let found = answer(&PAIR.replace("size = \"1MB\"", "size = 1"));
        let error = &found["errors"][0];
        assert_eq!(
            (error["line"].as_u64(), error["key"].as_str()),
            (Some(8), Some("traffic.0.size")),
            "{error}"
        );
        assert!(
            error["text"]
                .as_str()
                .is_some_and(|text| text.starts_with("scenario.toml:8: `traffic.0.size`: "))
        );
    }
}
