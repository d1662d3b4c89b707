//! What ends a run from inside: a controller written in Python or in a library, a policy that cannot go on.

use crate::errands::attach;
use crate::native;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use thalweg_machines::Invalid;
use thalweg_machines::plugin::{self, Failed};
use thalweg_machines::schedule::policy::Stopped;
use thalweg_plugin::host;
use thalweg_units::Time;

/// Keeps what a controller has raised, and the instant of the call if it was one of a run, for [`raise`].
pub fn keep(now: Option<Time>, e: PyErr) {
    plugin::fail(Failed { at: now, what: Box::new(e) });
}

/// Raises the first failure on this thread since the last call.
pub fn raise(_py: Python<'_>) -> PyResult<()> {
    raised().map_or(Ok(()), Err)
}

/// The first failure on this thread since the last call.
pub fn raised() -> Option<PyErr> {
    plugin::take_failure().map(error_of)
}

/// What has failed, as the error that ends the run.
pub fn error_of(failed: Failed) -> PyErr {
    let what = match failed.what.downcast::<PyErr>() {
        Ok(error) => return *error,
        Err(other) => other,
    };
    let what = match what.downcast::<host::Failure>() {
        Ok(failure) => return native::error_of(*failure),
        Err(other) => other,
    };
    let what = match what.downcast::<Stopped>() {
        Ok(stopped) => return attach(|py| refused(py, &stopped.to_string())),
        Err(other) => other,
    };
    // A factory that refuses what a flow begins with in the midst of a run.
    match what.downcast::<Invalid>() {
        Ok(invalid) => attach(|py| refused(py, &invalid.to_string())),
        Err(_) => PyRuntimeError::new_err("a machine of the run has failed"),
    }
}

/// A `thalweg.ScenarioError` of one line.
fn refused(py: Python<'_>, why: &str) -> PyErr {
    let made = py.import("thalweg.errors").and_then(|m| m.getattr("ScenarioError")?.call1((why,)));
    made.map_or_else(|e| e, PyErr::from_value)
}
