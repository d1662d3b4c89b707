//! The kernel's TCP. Python owns the loop: it asks for a bounded time of work, with the interpreter released.

use super::shared;
use crate::failures;
use crate::scenario::Scenario;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use thalweg_connect::kernel::{Attached, Error, Summary};
use thalweg_connect::{Datapath, Sender};
use thalweg_machines::congestion::{ControllerSpec, decisions};
use thalweg_units::Rate;

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<KernelAttached>()?;
    m.add_function(wrap_pyfunction!(kernel_check, m)?)
}

/// What the user wrote is a `ValueError`, what the system refuses an `OSError`.
fn raised(error: Error) -> PyErr {
    match error {
        Error::Refused(_) | Error::Invalid(_) => PyValueError::new_err(error.to_string()),
        other => PyOSError::new_err(other.to_string()),
    }
}

/// Refuses a controller that the kernel's TCP cannot run.
#[pyfunction]
fn kernel_check(kind: &str) -> PyResult<()> {
    shared::check(kind, Datapath::KERNEL)
}

/// A controller for the TCP connections of a command.
#[pyclass(module = "thalweg._core")]
struct KernelAttached(Mutex<Attached<ControllerSpec>>);

impl KernelAttached {
    /// (A panic while it was held is over already.)
    fn lock(&self) -> MutexGuard<'_, Attached<ControllerSpec>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl KernelAttached {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, line_rate: u64, records: bool) -> PyResult<Self> {
        let spec = shared::controller(py, scenario)?;
        let sender = Sender { line_rate: Rate::from_bps(line_rate), records, ..Sender::default() };
        let made = py.detach(|| Attached::new(spec, sender));
        failures::raise(py)?;
        Ok(Self(Mutex::new(made.map_err(raised)?)))
    }

    /// The algorithm's name in the kernel.
    #[getter]
    fn name(&self) -> String {
        self.lock().name().to_owned()
    }

    /// What runs such a command in the group whose connections are steered.
    fn command(&self, arguments: Vec<String>) -> PyResult<Vec<String>> {
        let (program, rest) =
            arguments.split_first().ok_or_else(|| PyValueError::new_err("no command is given"))?;
        let command = self.lock().group().command(program);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words = words.map(|word| word.to_string_lossy().into_owned());
        Ok(words.chain(rest.iter().cloned()).collect())
    }

    /// Works for at most so many seconds.
    fn step(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let done = py.detach(|| self.lock().step(Duration::from_secs_f64(seconds.clamp(0.0, 10.0))));
        failures::raise(py)?;
        done.map_err(raised)
    }

    /// What controllers have recorded since the last time, as a file or a part of one.
    fn take_decisions<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let file = py.detach(|| decisions::write(&self.lock().take_logs()));
        PyBytes::new(py, &file)
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let s = py.detach(|| self.lock().statistics());
        let dict = PyDict::new(py);
        dict.set_item("samples", s.samples)?;
        dict.set_item("lost_samples", s.lost_samples)?;
        dict.set_item("connections", s.connections)?;
        dict.set_item("marks", s.marks)?;
        dict.set_item("latency_p50_s", s.latency_ns.map(|(p50, _)| p50 as f64 / 1e9))?;
        dict.set_item("latency_p99_s", s.latency_ns.map(|(_, p99)| p99 as f64 / 1e9))?;
        let summaries = s.summaries.iter().map(|summary| row(py, summary)).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("per_connection", summaries)?;
        Ok(dict)
    }
}

fn row<'py>(py: Python<'py>, s: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("connection", s.connection)?;
    dict.set_item("acked", s.acked)?;
    dict.set_item("seconds", s.seconds)?;
    dict.set_item("lost_segments", s.lost)?;
    dict.set_item("resent_segments", s.resent)?;
    dict.set_item("marked_segments", s.marked)?;
    dict.set_item("ecn", s.ecn)?;
    dict.set_item("rtt_s", s.rtt)?;
    dict.set_item("records", s.records)?;
    dict.set_item("unfollowed", s.unfollowed)?;
    dict.set_item("decisions", s.decisions)?;
    dict.set_item("window", s.permit.window.get())?;
    dict.set_item("pace_bps", s.permit.pace.map(Rate::bps))?;
    dict.set_item("cwnd_segments", s.cwnd)?;
    dict.set_item("closed", s.closed)?;
    Ok(dict)
}
