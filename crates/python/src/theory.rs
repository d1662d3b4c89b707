//! Statements about schedulers that can be run: see `thalweg_theory`.

use crate::patience::interruptible;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_theory::{Scale, check, checks};

/// Every statement that can be run: name among the claims, statement.
#[pyfunction]
pub fn theory_checks() -> Vec<(&'static str, &'static str)> {
    checks().iter().map(|c| (c.id, c.statement)).collect()
}

/// Runs one; its numbers, and whether they uphold the statement.
#[pyfunction]
pub fn theory_run<'py>(py: Python<'py>, id: &str, quick: bool, seed: u64) -> PyResult<Bound<'py, PyDict>> {
    let check = check(id).ok_or_else(|| PyKeyError::new_err(format!("no statement is called `{id}`")))?;
    let scale = if quick { Scale::Quick } else { Scale::Full };
    let outcome = interruptible(py, move |_| check.run(scale, seed))?;
    let dict = PyDict::new(py);
    dict.set_item("id", check.id)?;
    dict.set_item("statement", check.statement)?;
    dict.set_item("upheld", check.upheld(&outcome))?;
    dict.set_item("instances", outcome.instances)?;
    dict.set_item("packets", outcome.packets)?;
    dict.set_item("violations", outcome.violations)?;
    dict.set_item("overdue", outcome.overdue)?;
    dict.set_item("found", outcome.found)?;
    dict.set_item("engine_runs", outcome.engine_runs)?;
    dict.set_item("schedule_differences", outcome.schedule_differences)?;
    dict.set_item("detail", outcome.detail)?;
    Ok(dict)
}
