//! A run that Python drives: a bounded number of events at a time, with the interpreter released.

use crate::buffer::{Buffer, Values};
use crate::failures;
use crate::patience::interruptible;
use crate::scenario::{Scenario, scenario_error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};
use thalweg_lab as lab;

/// A run under way.
#[pyclass(frozen, module = "thalweg._core")]
pub struct Simulation {
    run: Mutex<lab::Run>,
}

impl Simulation {
    /// Take the lock only while detached: the thread that holds it may need the interpreter (Python
    /// controllers).
    fn lock(&self) -> MutexGuard<'_, lab::Run> {
        self.run.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// A table as Python takes it: name, meaning, columns.
pub type PyTable = (String, String, Vec<PyColumn>);
/// Name, unit, meaning, values; texts come with their offsets (Arrow's large-string layout).
pub type PyColumn = (String, String, String, Py<Buffer>, Option<Py<Buffer>>);

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario) -> PyResult<Self> {
        let scenario = scenario.inner.clone();
        let run = interruptible(py, move |stop| lab::Run::new_unless(stop, &scenario))?;
        Ok(Self { run: Mutex::new(run.map_err(|d| scenario_error(py, &[d]))?) })
    }

    /// Continues from the bytes of `save`.
    #[staticmethod]
    fn load(py: Python<'_>, saved: &[u8]) -> PyResult<Self> {
        let run = py.detach(|| lab::Run::load(saved));
        failures::raise(py)?;
        Ok(Self { run: Mutex::new(run.map_err(PyValueError::new_err)?) })
    }

    /// Runs on so many threads; on how many: as many at most as the network has parts. `ValueError`: it stays on one,
    /// and why.
    fn set_threads(&self, py: Python<'_>, threads: usize) -> PyResult<usize> {
        py.detach(|| self.lock().set_threads(threads)).map_err(|why| PyValueError::new_err(why.to_string()))
    }

    /// The same if the scenario does not say otherwise and the network is large enough for it.
    fn offer_threads(&self, py: Python<'_>, threads: usize) -> usize {
        py.detach(|| self.lock().offer_threads(threads))
    }

    /// Why it runs on one thread although its scenario requests more; `None`: it does not.
    fn why_one_thread(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.lock().why_one_thread()).map(|why| why.to_string())
    }

    /// Runs at most `max_events` more events; true while there is more to do.
    fn step(&self, py: Python<'_>, max_events: u64) -> PyResult<bool> {
        let more = py.detach(|| self.lock().step(max_events));
        failures::raise(py)?;
        Ok(more)
    }

    /// How far the run is, as a dictionary of counts.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let p = py.detach(|| self.lock().progress());
        let dict = PyDict::new(py);
        dict.set_item("now_ps", p.now_ps)?;
        dict.set_item("until_ps", p.until_ps)?;
        dict.set_item("events", p.events)?;
        dict.set_item("packet_hops", p.packet_hops)?;
        dict.set_item("flows_started", p.flows_started)?;
        dict.set_item("flows_done", p.flows_done)?;
        dict.set_item("flows_total", p.flows_total)?;
        dict.set_item("measured_done", p.measured_done)?;
        dict.set_item("measured_total", p.measured_total)?;
        Ok(dict)
    }

    /// Hash of the event order and the results so far.
    fn digest(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().digest())
    }

    /// Everything the run knows, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.lock().save());
        failures::raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Turns the invariant checks on or off. `ValueError`: the run is under way in parts.
    fn set_check(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        py.detach(|| self.lock().set_check(on)).map_err(|why| PyValueError::new_err(why.to_string()))
    }

    /// Headline numbers, as JSON text.
    fn summary(&self, py: Python<'_>) -> String {
        py.detach(|| self.lock().summary().to_string())
    }

    /// Every table measured so far.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<PyTable>> {
        let tables = py.detach(|| self.lock().tables());
        to_python(py, tables)
    }

    /// Whether every packet is recorded, and if so whether with its hops.
    fn records(&self, py: Python<'_>) -> Option<bool> {
        py.detach(|| self.lock().spec().probes.record.map(|r| r.hops))
    }

    /// The decisions recorded since the last time, as a file; empty where they are not recorded.
    fn take_decisions<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let file = py.detach(|| self.lock().take_decisions());
        PyBytes::new(py, &file)
    }

    /// The records of ports, whole as of now: names of their files, and what is in them.
    fn port_records<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let records = py.detach(|| self.lock().port_records());
        records.into_iter().map(|(name, record)| (name, PyBytes::new(py, &record))).collect()
    }

    /// Rows of the recording that are ready, as columns by name; at the `end` all.
    fn take_recorded<'py>(&self, py: Python<'py>, end: bool) -> PyResult<Bound<'py, PyDict>> {
        let rows = py.detach(|| self.lock().take_recorded(end));
        let dict = PyDict::new(py);
        let u8s = [
            ("forward", rows.forward),
            ("kind", rows.kind),
            ("lost_on_link", rows.losses.on_link),
            ("queues", rows.queues),
            ("hops", rows.hops),
            ("marked", rows.marked),
        ];
        let u32s = [
            ("flow", rows.flow),
            ("wire", rows.wire),
            ("lost_at", rows.losses.port),
            ("ports", rows.visits.ports),
        ];
        let u64s = [
            ("seq", rows.seq),
            ("handed", rows.handed),
            ("ingress", rows.ingress),
            ("exit", rows.exit),
            ("lost", rows.losses.at),
            ("waited", rows.waited),
            ("arrivals", rows.visits.arrivals),
            ("starts", rows.visits.starts),
        ];
        for (name, values) in u8s {
            dict.set_item(name, Py::new(py, Buffer::new(Values::U8(values), "uint8"))?)?;
        }
        for (name, values) in u32s {
            dict.set_item(name, Py::new(py, Buffer::new(Values::U32(values), "uint32"))?)?;
        }
        for (name, values) in u64s {
            dict.set_item(name, Py::new(py, Buffer::new(Values::U64(values), "uint64"))?)?;
        }
        Ok(dict)
    }
}

/// Name, unit and meaning of a column.
type Described = (&'static str, &'static str, &'static str);

/// What tables runs have: name, meaning, and every column that each may have.
#[pyfunction]
pub fn table_layouts() -> Vec<(&'static str, &'static str, Vec<Described>)> {
    lab::layouts().into_iter().map(|table| (table.name, table.doc, table.columns)).collect()
}

/// Tables as Python takes them.
pub fn to_python(py: Python<'_>, tables: Vec<lab::Table>) -> PyResult<Vec<PyTable>> {
    tables
        .into_iter()
        .map(|t| {
            let columns = t.columns.into_iter().map(|c| column(py, c)).collect::<PyResult<_>>()?;
            Ok((t.name.to_string(), t.doc.to_string(), columns))
        })
        .collect()
}

/// Texts one behind the other, and where each begins and ends.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> (Vec<u8>, Vec<i64>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0i64]);
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        offsets.push(bytes.len() as i64);
    }
    (bytes, offsets)
}

fn column(py: Python<'_>, c: lab::Column) -> PyResult<PyColumn> {
    use lab::ColumnData::{Bool, F64, Maybe, MaybeF64, MaybeText, Text, U32, U64};
    let (values, dtype, offsets) = match c.data {
        U64(v) => (Values::U64(v), "uint64", None),
        // On the way across, what no value is stands for the missing ones: Python makes nulls of it.
        Maybe(v) => {
            let crossing = |value: Option<u64>| value.and_then(|v| i64::try_from(v).ok()).unwrap_or(-1);
            (Values::I64(v.into_iter().map(crossing).collect()), "int64?", None)
        }
        F64(v) => (Values::F64(v), "float64", None),
        MaybeF64(v) => {
            let values = v.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
            (Values::F64(values), "float64?", None)
        }
        U32(v) => (Values::U32(v), "uint32", None),
        Bool(v) => (Values::U8(v), "bool", None),
        Text(v) => {
            let (bytes, offsets) = joined(v.iter().map(String::as_str));
            (Values::U8(bytes), "text", Some(Values::I64(offsets)))
        }
        MaybeText(v) => {
            let (bytes, offsets) = joined(v.iter().map(|text| text.as_deref().unwrap_or_default()));
            (Values::U8(bytes), "text?", Some(Values::I64(offsets)))
        }
    };
    let offsets = offsets.map(|o| Py::new(py, Buffer::new(o, "int64"))).transpose()?;
    let values = Py::new(py, Buffer::new(values, dtype))?;
    Ok((c.name.to_string(), c.unit.to_string(), c.doc.to_string(), values, offsets))
}
