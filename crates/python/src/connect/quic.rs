//! Files over QUIC. Python owns the loop: it asks for a bounded time of work, with the interpreter released.

use super::shared;
use crate::failures;
use crate::scenario::Scenario;
use pyo3::exceptions::{PyConnectionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;
use thalweg_connect::quic::{Error, Receiving, Sending};
use thalweg_connect::{Datapath, Sender};
use thalweg_machines::congestion::{ControllerSpec, decisions};
use thalweg_units::Rate;

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<QuicSending>()?;
    m.add_class::<QuicReceiving>()?;
    m.add_function(wrap_pyfunction!(quic_check, m)?)
}

/// What the user wrote is a `ValueError`, what became of the connection a `ConnectionError`.
fn raised(error: Error) -> PyErr {
    match error {
        Error::Refused(_) | Error::Invalid(_) | Error::Malformed(_) => {
            PyValueError::new_err(error.to_string())
        }
        other => PyConnectionError::new_err(other.to_string()),
    }
}

fn address(text: &str) -> PyResult<SocketAddr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("`{text}` is not of the form ADDRESS:PORT")))
}

/// Refuses a controller that QUIC cannot run.
#[pyfunction]
fn quic_check(kind: &str) -> PyResult<()> {
    shared::check(kind, Datapath::QUIC)
}

/// A file on its way.
#[pyclass(module = "thalweg._core")]
struct QuicSending(Mutex<Sending<ControllerSpec>>);

#[pymethods]
impl QuicSending {
    /// `to` is an address with a port; the scenario's first transport has the controller.
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        to: &str,
        fingerprint: &str,
        scenario: &Scenario,
        line_rate: u64,
        records: bool,
    ) -> PyResult<Self> {
        let spec = shared::controller(py, scenario)?;
        let (to, pinned) = (address(to)?, fingerprint.parse().map_err(raised)?);
        let sender = Sender { line_rate: Rate::from_bps(line_rate), records, ..Sender::default() };
        let made = py.detach(|| Sending::new(&path, to, pinned, spec, sender));
        failures::raise(py)?;
        Ok(Self(Mutex::new(made.map_err(raised)?)))
    }

    /// Works for at most so many seconds; whether the receiver has the file.
    fn step(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let done = py.detach(|| lock(&self.0).step(Duration::from_secs_f64(seconds.clamp(0.0, 10.0))));
        failures::raise(py)?;
        done.map_err(raised)
    }

    /// What the controller has recorded since the last time, as a file or a part of one.
    fn take_decisions<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let file = py.detach(|| decisions::write(lock(&self.0).take_log().as_slice()));
        PyBytes::new(py, &file)
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let s = py.detach(|| lock(&self.0).statistics());
        let dict = PyDict::new(py);
        dict.set_item("size", s.size)?;
        dict.set_item("written", s.written)?;
        dict.set_item("seconds", s.seconds)?;
        dict.set_item("goodput_bps", s.goodput())?;
        dict.set_item("rtt_s", s.rtt)?;
        dict.set_item("min_rtt_s", s.min_rtt)?;
        dict.set_item("sent_packets", s.sent_packets)?;
        dict.set_item("lost_packets", s.lost_packets)?;
        dict.set_item("congestion_events", s.congestion_events)?;
        dict.set_item("window", s.permit.map(|permit| permit.window.get()))?;
        dict.set_item("pace_bps", s.permit.and_then(|permit| permit.pace).map(Rate::bps))?;
        Ok(dict)
    }
}

/// A receiver of files.
#[pyclass(module = "thalweg._core")]
struct QuicReceiving(Mutex<Receiving>);

#[pymethods]
impl QuicReceiving {
    #[new]
    fn new(listen: &str, folder: PathBuf) -> PyResult<Self> {
        Receiving::new(address(listen)?, &folder).map(|made| Self(Mutex::new(made))).map_err(raised)
    }

    #[getter]
    fn address(&self) -> PyResult<String> {
        lock(&self.0).address().map(|address| address.to_string()).map_err(raised)
    }

    #[getter]
    fn fingerprint(&self) -> String {
        lock(&self.0).fingerprint().to_string()
    }

    /// Bytes that have come of files that are arriving, and how many they will be.
    fn progress(&self) -> (u64, u64) {
        lock(&self.0).progress()
    }

    /// Works for at most so many seconds; `(path, size, from, seconds)` of what has arrived.
    fn step(&self, py: Python<'_>, seconds: f64) -> PyResult<Vec<(PathBuf, u64, String, f64)>> {
        let arrived = py.detach(|| lock(&self.0).step(Duration::from_secs_f64(seconds.clamp(0.0, 10.0))));
        let listed = arrived.map_err(raised)?.into_iter();
        Ok(listed.map(|r| (r.path, r.size, r.from.to_string(), r.seconds)).collect())
    }
}

/// (A panic while it was held is over already.)
fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
