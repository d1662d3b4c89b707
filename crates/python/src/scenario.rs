//! Scenarios: text in, diagnostics or a resolved scenario out.

use crate::failures;
use crate::patience::interruptible;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;
use thalweg_lab as lab;

/// A `thalweg.ScenarioError` that carries the diagnostics as dictionaries.
pub fn scenario_error(py: Python<'_>, diagnostics: &[thalweg_scenario::Diagnostic]) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let list = diagnostics
            .iter()
            .map(|d| {
                let dict = PyDict::new(py);
                dict.set_item("file", &d.file)?;
                dict.set_item("line", d.line)?;
                dict.set_item("column", d.column)?;
                dict.set_item("key", &d.key)?;
                dict.set_item("reason", &d.reason)?;
                dict.set_item("hint", d.hint.as_deref())?;
                dict.set_item("text", d.to_string())?;
                Ok(dict)
            })
            .collect::<PyResult<Vec<_>>>()?;
        let error = py.import("thalweg.errors")?.getattr("ScenarioError")?.call1((list,))?;
        Ok(PyErr::from_value(error))
    };
    build().unwrap_or_else(|e| e)
}

/// A scenario with every default written out.
#[pyclass(frozen, module = "thalweg._core")]
pub struct Scenario {
    pub inner: Arc<thalweg_scenario::Scenario>,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario; `set` overrides dotted keys, those of `unset` are as if not written; relative paths in it
    /// start at `directory`.
    #[staticmethod]
    #[pyo3(signature = (text, file, directory, set, unset=Vec::new()))]
    fn load(
        py: Python<'_>,
        text: String,
        file: String,
        directory: PathBuf,
        set: Vec<(String, String)>,
        unset: Vec<String>,
    ) -> PyResult<Self> {
        interruptible(py, move |stop| {
            let source = thalweg_scenario::Source { text: &text, file: &file, dir: &directory };
            let changes = thalweg_scenario::Changes { set: &set, unset: &unset };
            thalweg_scenario::load_with(&source, &changes, stop)
        })?
        .map(|inner| Self { inner: Arc::new(inner) })
        .map_err(|d| scenario_error(py, &d))
    }

    /// The files that it reads, relative to its folder.
    fn files(&self) -> Vec<String> {
        self.inner.files()
    }

    #[getter]
    fn name(&self) -> String {
        self.inner.name().to_owned()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed()
    }

    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    fn to_json(&self) -> String {
        self.inner.to_json().to_string()
    }

    /// What a run will cost, as a dictionary.
    fn estimate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner.clone();
        let e = interruptible(py, move |stop| inner.estimate_unless(stop))?
            .map_err(|d| scenario_error(py, &[d]))?;
        let dict = PyDict::new(py);
        dict.set_item("flows", e.flows)?;
        dict.set_item("packets", e.packets)?;
        dict.set_item("packet_hops", e.packet_hops)?;
        dict.set_item("events", e.events)?;
        dict.set_item("memory_bytes", e.memory_bytes)?;
        let parts = PyDict::new(py);
        for (part, bytes) in e.memory {
            parts.set_item(part, bytes)?;
        }
        dict.set_item("memory", parts)?;
        dict.set_item("seconds", e.seconds)?;
        Ok(dict)
    }

    /// Cycles of pauses that routes allow, and what elision exempts, as a dictionary.
    fn check_deadlock<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner.clone();
        let found = interruptible(py, move |stop| inner.check_deadlock(stop))?
            .map_err(|d| scenario_error(py, &[d]))?;
        let dict = PyDict::new(py);
        dict.set_item("nodes", found.nodes)?;
        dict.set_item("edges", found.edges)?;
        dict.set_item("cycle", found.cycle)?;
        dict.set_item("ports", found.ports)?;
        dict.set_item("layered", found.layered)?;
        dict.set_item("exempt", found.exempt)?;
        dict.set_item("routed", found.routed)?;
        dict.set_item("elides", found.elides)?;
        Ok(dict)
    }

    fn flows_csv(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.inner.clone();
        interruptible(py, move |stop| inner.flows_csv_unless(stop))?.map_err(|d| scenario_error(py, &[d]))
    }

    #[pyo3(signature = (port=None))]
    fn trace_text(&self, py: Python<'_>, port: Option<u32>) -> PyResult<String> {
        self.inner.trace_text(port).map_err(|d| scenario_error(py, &[d]))
    }

    fn flows_hpcc(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.inner.clone();
        interruptible(py, move |stop| inner.flows_hpcc_unless(stop))?.map_err(|d| scenario_error(py, &[d]))
    }
}

/// The kinds that `catalogue` lists.
#[pyfunction]
pub fn kinds() -> Vec<String> {
    thalweg_scenario::KINDS.iter().map(|(kind, _)| (*kind).to_owned()).collect()
}

/// The JSON Schema of scenarios.
#[pyfunction]
pub fn schema() -> String {
    thalweg_scenario::schema().to_string()
}

/// `(name, summary, source)` of everything of a kind, or `None` for an unknown kind.
#[pyfunction]
pub fn catalogue(kind: &str) -> Option<Vec<(String, String, String)>> {
    let entries = thalweg_scenario::catalogue(kind)?;
    Some(
        entries
            .into_iter()
            .map(|e| (e.name.to_string(), e.summary.to_string(), e.source.to_string()))
            .collect(),
    )
}

/// What a dotted key means, or `None` for an unknown key.
#[pyfunction]
pub fn explain(key: &str) -> Option<String> {
    thalweg_scenario::explain(key)
}

/// `(keys, text)` of every choice of this name.
#[pyfunction]
pub fn choices(word: &str) -> Vec<(Vec<String>, String)> {
    thalweg_scenario::choices(word).into_iter().map(|choice| (choice.keys, choice.text)).collect()
}

/// The names of all choices.
#[pyfunction]
pub fn choice_names() -> Vec<String> {
    thalweg_scenario::choice_names()
}

/// `(key, kinds)` of every table of several kinds.
#[pyfunction]
pub fn kinds_of_tables() -> Vec<(String, Vec<String>)> {
    thalweg_scenario::kinds_of_tables()
}

/// What a scheme, or its rate setting alone, sets.
#[pyfunction]
pub fn explain_scheme(name: &str) -> Option<String> {
    thalweg_scenario::explain_scheme(name)
}

/// The first event in which two scenarios differ, or `None` if all events are the same.
#[pyfunction]
pub fn diff(py: Python<'_>, a: &Scenario, b: &Scenario) -> PyResult<Option<String>> {
    let (a, b) = (a.inner.clone(), b.inner.clone());
    let made = interruptible(py, move |stop| lab::Pair::new_unless(stop, &a, &b))?;
    let mut pair = made.map_err(|d| scenario_error(py, &[d]))?;
    loop {
        let found = py.detach(|| pair.step());
        failures::raise(py)?;
        py.check_signals()?;
        if let Some(found) = found {
            return Ok(found);
        }
    }
}
