//! Runs of scenarios given as text, and their tables.
#![allow(dead_code, missing_docs)]

#[path = "../../../../scenario/tests/all/common/mod.rs"]
mod scenarios;

pub use scenarios::*;
use std::path::Path;
use thalweg_lab::{ColumnData, Run};
use thalweg_scenario::{Scenario, load};

/// Runs a scenario to its end.
#[track_caller]
pub fn run(text: &str) -> Run {
    finish(&scenario(text, Path::new("."), &[]))
}

/// Settings, as `--set` has them.
pub fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// What is refused of a scenario with these settings: from the key on.
#[track_caller]
pub fn refusals(text: &str, pairs: &[(&str, &str)]) -> Vec<String> {
    let errors = load(text, "s.toml", Path::new("."), &set(pairs)).map(|_| ()).expect_err("a refusal");
    let tail = |text: String| text.split_once(": `").map_or(text.clone(), |(_, rest)| format!("`{rest}"));
    errors.iter().map(|e| tail(e.to_string())).collect()
}

/// Runs a scenario to its end; no law of the simulator may be broken.
#[track_caller]
pub fn finish(scenario: &Scenario) -> Run {
    let mut run = Run::new(scenario).unwrap_or_else(|e| panic!("{e}"));
    while run.step(1 << 20) {}
    assert_eq!(run.violation(), None);
    run
}

/// A column of whole numbers, -1 where there is none (text columns have none).
#[track_caller]
pub fn column(run: &Run, table: &str, name: &str) -> Vec<i128> {
    let tables = run.tables();
    let table = tables.iter().find(|t| t.name == table).unwrap_or_else(|| panic!("no table {table}"));
    let column = table.columns.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}"));
    match &column.data {
        ColumnData::U64(v) => v.iter().map(|x| i128::from(*x)).collect(),
        ColumnData::Maybe(v) => v.iter().map(|x| x.map_or(-1, i128::from)).collect(),
        ColumnData::U32(v) => v.iter().map(|x| i128::from(*x)).collect(),
        ColumnData::Bool(v) => v.iter().map(|x| i128::from(*x)).collect(),
        ColumnData::F64(v) if v.iter().all(|x| x.fract() == 0.0) => v.iter().map(|x| *x as i128).collect(),
        ColumnData::F64(_) | ColumnData::MaybeF64(_) | ColumnData::Text(_) | ColumnData::MaybeText(_) => {
            panic!("{name} is not a whole number")
        }
    }
}

/// All tables as text, bit for bit (not-a-number equals itself there).
pub fn bytes(run: &Run) -> String {
    format!("{:?}", run.tables())
}
