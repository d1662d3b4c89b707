//! What is drawn of a run, as JSON: its summary, its resolved scenario, and columns of its tables. Pages, notebooks
//! and reports take the same (`thalweg.animation` makes it of results in Python).

use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use thalweg_lab::{Column, ColumnData, Run, Table};

/// The columns of each table that are drawn. Tables that a run does not have are left out.
pub const COLUMNS: [(&str, &[&str]); 7] = [
    ("nodes", &["name", "kind"]),
    (
        "ports",
        &["from", "to", "rate_bps", "dropped", "lost", "max_queue", "pauses", "paused_ps", "utilisation"],
    ),
    (
        "flows",
        &[
            "id",
            "src",
            "dst",
            "size",
            "start_ps",
            "fct_ps",
            "slowdown",
            "delivered",
            "throughput_bps",
            "retransmissions",
            "timeouts",
            "drops",
            "section",
            "controller",
            "status",
        ],
    ),
    ("queues", &["time_ps", "port", "packets", "bytes", "dropped", "marked"]),
    ("links", &["time_ps", "port", "bytes", "capacity"]),
    ("controllers", &["time_ps", "flow", "window", "in_flight", "srtt_ps", "arrived", "pace"]),
    ("pauses", &["port", "began_ps", "ended_ps"]),
];

/// Instants of each series; of more, every second, third, .. is kept.
pub const MOST_SAMPLES: usize = 1000;

/// All of it.
pub(crate) fn json(run: &Run) -> Json {
    let tables = run.tables();
    let mut drawn = Map::new();
    for (name, columns) in COLUMNS {
        if let Some(table) = tables.iter().find(|table| table.name == name) {
            drawn.insert(name.to_owned(), of_table(table, columns));
        }
    }
    json!({ "tables": drawn, "summary": run.summary(), "scenario": run.scenario_toml() })
}

fn of_table(table: &Table, wanted: &[&str]) -> Json {
    let find = |name: &str| table.columns.iter().find(|column| column.name == name);
    let kept = find("time_ps").and_then(thinned);
    let columns =
        wanted.iter().filter_map(|name| Some(((*name).to_owned(), values(find(name)?, kept.as_deref()))));
    Json::Object(columns.collect())
}

/// Which rows of a series are kept, if not all are.
fn thinned(times: &Column) -> Option<Vec<usize>> {
    let ColumnData::U64(times) = &times.data else { return None };
    let instants: BTreeSet<u64> = times.iter().copied().collect();
    let nth = instants.len().div_ceil(MOST_SAMPLES);
    let kept: BTreeSet<u64> = instants.into_iter().step_by(nth.max(1)).collect();
    (nth > 1).then(|| (0..times.len()).filter(|row| kept.contains(&times[*row])).collect())
}

fn values(column: &Column, kept: Option<&[usize]>) -> Json {
    fn all<T: Clone + Into<Json>>(values: &[T], kept: Option<&[usize]>) -> Json {
        match kept {
            None => values.iter().cloned().map(Into::into).collect(),
            Some(rows) => rows.iter().map(|row| values[*row].clone().into()).collect(),
        }
    }
    match &column.data {
        ColumnData::U64(v) => all(v, kept),
        ColumnData::Maybe(v) => all(v, kept),
        ColumnData::F64(v) => all(v, kept),
        ColumnData::MaybeF64(v) => all(v, kept),
        ColumnData::U32(v) => all(v, kept),
        ColumnData::Bool(v) => all(v, kept),
        ColumnData::Text(v) => all(v, kept),
        ColumnData::MaybeText(v) => all(v, kept),
    }
}
