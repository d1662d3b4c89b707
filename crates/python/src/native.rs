//! Congestion controllers in libraries of their own (`thalweg_plugin`): opened here, and their failures reported as
//! those of controllers in Python are.

use crate::errands::attach;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use thalweg_plugin::host;
use thalweg_units::Time;

/// Opens a library and registers its controller, unless its name is taken: by name, what to say then. Answers with it.
#[pyfunction]
pub fn open_library(py: Python<'_>, path: PathBuf, taken: BTreeMap<String, String>) -> PyResult<String> {
    let allow = |name: &str| taken.get(name).map_or(Ok(()), |why| Err(why.clone()));
    py.detach(|| host::open(&path, allow)).map_err(PyValueError::new_err)
}

/// What a library's controller has failed with, as the error that ends the run.
pub fn error_of(failure: host::Failure) -> PyErr {
    attach(|py| {
        let (flow, now) = (failure.flow.map(|f| f.0), failure.now.map(Time::ps));
        let reported = (&failure.name, flow, now, failure.doing, &failure.why);
        let made = py.import("thalweg.libraries").and_then(|m| m.call_method1("failure", reported));
        made.map_or_else(|_| PyRuntimeError::new_err(failure.why), PyErr::from_value)
    })
}
