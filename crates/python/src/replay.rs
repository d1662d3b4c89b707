//! A replay that Python drives: it reads the recording and feeds columns, the engine does everything per packet.

use crate::patience::interruptible;
use crate::scenario::{Scenario, scenario_error};
use crate::simulation::{PyTable, to_python};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard};
use thalweg_lab as lab;
use thalweg_units::Span;

/// A replay under way.
#[pyclass(frozen, module = "thalweg._core")]
pub struct Replay {
    replay: Mutex<lab::Replay>,
}

impl Replay {
    /// Take the lock only while detached.
    fn lock(&self) -> MutexGuard<'_, lab::Replay> {
        self.replay.lock().unwrap_or_else(|e| e.into_inner())
    }
}

pub(crate) fn values<T: Element>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let column = columns.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    PyBuffer::<T>::get(&column)?.to_vec(columns.py())
}

#[pymethods]
impl Replay {
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        scheduler: &str,
        preemptive: bool,
        bucket_ps: u64,
        threshold_ps: u64,
    ) -> PyResult<Self> {
        let candidate = lab::Candidate::named(scheduler)
            .ok_or_else(|| PyValueError::new_err(format!("no candidate is called {scheduler}")))?;
        let [bucket, threshold] = [bucket_ps, threshold_ps].map(Span::from_ps);
        let scenario = scenario.inner.clone();
        interruptible(py, move |_| lab::Replay::new(&scenario, candidate, preemptive, bucket, threshold))?
            .map(|replay| Self { replay: Mutex::new(replay) })
            .map_err(|d| scenario_error(py, &[d]))
    }

    /// Feeds the rows that follow: contiguous columns by name. `ValueError` if a row is impossible.
    fn feed(&self, py: Python<'_>, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        let [forward, queues, hops] = [
            values::<u8>(columns, "forward")?,
            values::<u8>(columns, "queues")?,
            values::<u8>(columns, "hops")?,
        ];
        let [flow, wire] = [values::<u32>(columns, "flow")?, values::<u32>(columns, "wire")?];
        let [handed, ingress, exit, waited, starts] = [
            values::<i64>(columns, "handed")?,
            values::<i64>(columns, "ingress")?,
            values::<i64>(columns, "exit")?,
            values::<i64>(columns, "waited")?,
            values::<i64>(columns, "starts")?,
        ];
        let rows = lab::Rows {
            flow: &flow,
            forward: &forward,
            wire: &wire,
            handed: &handed,
            ingress: &ingress,
            exit: &exit,
            waited: &waited,
            queues: &queues,
            hops: &hops,
            starts: &starts,
        };
        let lengths = [wire.len(), forward.len(), handed.len(), ingress.len(), exit.len(), waited.len()];
        if lengths.iter().chain(&[queues.len(), hops.len()]).any(|n| *n != flow.len()) {
            return Err(PyValueError::new_err("columns of different lengths"));
        }
        py.detach(|| self.lock().feed(&rows)).map_err(PyValueError::new_err)
    }

    /// Nothing more comes.
    fn feed_end(&self, py: Python<'_>) {
        py.detach(|| self.lock().feed_end());
    }

    /// Whether it needs more rows, or notice that there are none.
    fn needs_input(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().needs_input())
    }

    /// Processes at most `max_events` more events; false if it needs input or has ended.
    fn step(&self, py: Python<'_>, max_events: u64) -> bool {
        py.detach(|| self.lock().step(max_events))
    }

    /// Rows fed, packets compared, events, simulated ps.
    fn progress(&self, py: Python<'_>) -> (u64, u64, u64, u64) {
        py.detach(|| self.lock().progress())
    }

    /// Headline numbers, as JSON text.
    fn summary(&self, py: Python<'_>) -> String {
        py.detach(|| self.lock().summary().to_string())
    }

    /// The distributions.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<PyTable>> {
        let tables = py.detach(|| self.lock().tables());
        to_python(py, tables)
    }
}

/// The schedulers that can replay.
#[pyfunction]
pub fn candidates() -> Vec<&'static str> {
    lab::Candidate::NAMES.to_vec()
}

/// The longest time that `wire` bytes take on the links of these ports, ps.
#[pyfunction]
pub fn packet_time_ps(scenario: &Scenario, wire: u32, ports: Vec<u32>) -> u64 {
    lab::Replay::packet_time(&scenario.inner, wire, &ports).ps()
}

/// A time written with its unit ("11.68us"), ps. `ValueError` if it is none.
#[pyfunction]
pub fn span_ps(text: &str) -> PyResult<u64> {
    text.parse::<Span>().map(Span::ps).map_err(|e| PyValueError::new_err(e.to_string()))
}
