//! Records of decisions, for Python.

use crate::simulation::{PyTable, to_python};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thalweg_lab::decisions;

fn damaged(e: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(e.to_string())
}

/// A row for each decision.
#[pyfunction]
pub fn decisions_table(py: Python<'_>, file: &[u8]) -> PyResult<PyTable> {
    let table = py.detach(|| decisions::table(file)).map_err(damaged)?;
    Ok(to_python(py, vec![table])?.remove(0))
}

/// By flow: its number, controller, decisions, the same ones, digest, the first that differs in words.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn decisions_replay(
    py: Python<'_>,
    file: &[u8],
) -> PyResult<Vec<(u32, &'static str, u64, u64, String, Option<String>)>> {
    let found = py.detach(|| decisions::replay(file)).map_err(damaged)?;
    let row = |r: decisions::Replayed| {
        (r.flow, r.controller, r.decisions, r.same, format!("{:016x}", r.digest), r.differs)
    };
    Ok(found.into_iter().map(row).collect())
}

/// By flow, where two records part.
#[pyfunction]
pub fn decisions_compare(py: Python<'_>, a: &[u8], b: &[u8]) -> PyResult<Vec<(u32, String)>> {
    py.detach(|| decisions::compare(a, b)).map_err(damaged)
}
