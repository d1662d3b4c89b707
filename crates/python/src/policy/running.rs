//! The datapath in virtual time.

use super::columns::{arrivals, bytes, to_columns};
use super::{engine, policy};
use crate::patience::interruptible;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_policy::datapath::{Core, Datapath, Fate, Mix, Record, Traffic, Work, line_rates};
use thalweg_policy::normal::Policy;
use thalweg_units::{Rate, Span, Time};

/// The texts of a policy, and those that it changes to: when (ps), text, name.
type Change = (u64, String, String);
/// ps per arrival and departure, inputs, packets of a ring.
type Costs = (u64, u64, u32, u32);

/// Random traffic for a policy: `packets`, `gap_ps` in the mean, `sizes`, `tos`, `values`, `processing`, `slack_ps`,
/// `flows`.
#[pyfunction]
pub fn policy_traffic<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
    given: &Bound<'py, PyDict>,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    fn of<T: for<'a> FromPyObject<'a, 'a, Error = PyErr>>(
        given: &Bound<'_, PyDict>,
        name: &str,
    ) -> PyResult<T> {
        given.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("no `{name}`")))?.extract()
    }
    let policy = policy(text, name)?;
    let traffic = Traffic {
        packets: of(given, "packets")?,
        gap: Span::from_ps(of(given, "gap_ps")?),
        mix: Mix {
            sizes: of(given, "sizes")?,
            tos: of(given, "tos")?,
            values: of(given, "values")?,
            processing: of(given, "processing")?,
            slack: of(given, "slack_ps")?,
            flows: of(given, "flows")?,
        },
    };
    to_columns(py, &traffic.arrivals(&policy, seed))
}

/// Runs packets through a policy. `work`: `link_bps` where ports send, else `cycle_ps`; `core`: what one core's work
/// costs. `ValueError` for what cannot go on.
#[pyfunction]
#[pyo3(signature = (text, name, columns, engine_name, work, core, changes, seed, until_ps))]
#[allow(clippy::too_many_arguments, reason = "the face of a whole run")]
pub fn policy_run<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
    columns: &Bound<'py, PyDict>,
    engine_name: &str,
    work: (&str, u64),
    core: Option<Costs>,
    changes: Vec<Change>,
    seed: u64,
    until_ps: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let first = policy(text, name)?;
    let later = changes.iter().map(|(at, text, name)| Ok((Time::from_ps(*at), policy(text, name)?)));
    let later: Vec<(Time, Policy)> = later.collect::<PyResult<_>>()?;
    let arrivals = arrivals(columns)?;
    let make = engine(engine_name, &first)?
        .ok_or_else(|| PyValueError::new_err("no generated engine of this policy is built in"))?;
    let work = match work {
        ("cycles", ps) => Work::Cycles(Span::from_ps(ps)),
        (_, bps) => {
            let rates = line_rates(&first, Rate::from_bps(bps))
                .map_err(|too_fast| PyValueError::new_err(too_fast.to_string()))?;
            match core {
                None => Work::Sending(rates),
                Some((arrival, departure, inputs, ring)) => {
                    let [arrival, departure] = [arrival, departure].map(Span::from_ps);
                    Work::OneCore(rates, Core { arrival, departure, inputs, ring })
                }
            }
        }
    };
    let record = interruptible(py, move |_| {
        let mut datapath = Datapath::new(&first, seed, make);
        later.iter().for_each(|(at, policy)| datapath.change(*at, policy));
        datapath.run(&work, &arrivals, until_ps.map(Time::from_ps))
    })?;
    to_python(py, &record.map_err(|stop| PyValueError::new_err(stop.to_string()))?)
}

fn to_python<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let of = || record.outcomes.iter();
    let fate = |fate| match fate {
        Fate::Waiting => 0u8,
        Fate::Sent => 1,
        Fate::Dropped => 2,
        Fate::Overrun => 3,
    };
    dict.set_item("queue", bytes(py, of().map(|one| one.queue.to_ne_bytes())))?;
    dict.set_item("fate", bytes(py, of().map(|one| [fate(one.fate)])))?;
    dict.set_item("at_ps", bytes(py, of().map(|one| one.at.ps().to_ne_bytes())))?;
    dict.set_item("marked", bytes(py, of().map(|one| [u8::from(one.marked)])))?;
    dict.set_item("notices", bytes(py, of().map(|one| one.notices.to_ne_bytes())))?;
    dict.set_item("version", bytes(py, of().map(|one| one.version.to_ne_bytes())))?;
    dict.set_item("departures", bytes(py, record.departures.iter().map(|nth| nth.to_ne_bytes())))?;
    let counters = record.counters.iter().map(|one| {
        let row = PyDict::new(py);
        row.set_item("queue", &one.name)?;
        row.set_item("max", one.max)?;
        row.set_item("in_packets", one.in_packets)?;
        row.set_item("current", one.current)?;
        row.set_item("dropped", one.dropped)?;
        row.set_item("total", one.total)?;
        row.set_item("sent", one.sent)?;
        row.set_item("peak", one.peak)?;
        row.set_item("area", one.area)?;
        Ok(row)
    });
    dict.set_item("counters", counters.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("lasted_ps", record.lasted.ps())?;
    dict.set_item("busy_ps", record.busy.ps())?;
    Ok(dict)
}
