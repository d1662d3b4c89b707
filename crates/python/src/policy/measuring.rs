//! What packets cost: in ns on this machine, and in operations that are counted.

use super::columns::arrivals;
use super::{engine, policy};
use crate::patience::interruptible;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;
use thalweg_policy::datapath::{Bench, Lap, Pace};
use thalweg_policy::{Bytecode, Counts, Engine, Fault, Machine, Offered};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// Of a lap: ns, packets that came, left and were given up, and the worth of those that left.
type Row = (u64, u64, u64, u64, u64);

/// Laps of an engine, each of so many rounds of `pace` (arrivals, departures): how many packets waited, then the
/// laps. `None`: the engine is not built in. Before the first lap as many packets wait as can, `resident` at most.
#[pyfunction]
#[pyo3(signature = (text, name, columns, engine_name, resident, pace, rounds, laps))]
#[allow(clippy::too_many_arguments, reason = "the face of a whole measurement")]
pub fn policy_bench(
    py: Python<'_>,
    text: &str,
    name: &str,
    columns: &Bound<'_, PyDict>,
    engine_name: &str,
    resident: u32,
    pace: (u32, u32),
    rounds: u32,
    laps: u32,
) -> PyResult<Option<(u32, Vec<Row>)>> {
    let policy = policy(text, name)?;
    let Some(make) = engine(engine_name, &policy)? else { return Ok(None) };
    let packets: Vec<Offered> = arrivals(columns)?.iter().map(|one| one.offered).collect();
    if packets.is_empty() {
        return Err(PyValueError::new_err("no packets"));
    }
    let measured = interruptible(py, move |stop| {
        let mut engine = make(&policy, 1);
        let mut bench = Bench::new(&mut *engine, &policy, &packets);
        let pace = Pace { arrivals: pace.0, departures: pace.1 };
        #[allow(clippy::disallowed_methods, reason = "what a packet costs here is what a clock says")]
        let start = Instant::now();
        let mut clock = || start.elapsed().as_nanos() as u64;
        let waiting = bench.fill(resident)?;
        // One lap for caches.
        bench.lap(pace, rounds, &mut clock)?;
        let mut measured = Vec::new();
        for _ in 0..laps {
            if stop.is_raised() {
                break;
            }
            measured.push(bench.lap(pace, rounds, &mut clock)?);
        }
        Ok::<(u32, Vec<Lap>), Fault>((waiting, measured))
    })?;
    let (waiting, laps) = measured.map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    let row = |lap: Lap| (lap.ns, lap.arrived, lap.sent, lap.dropped, lap.worth);
    Ok(Some((waiting, laps.into_iter().map(row).collect())))
}

/// Operations that the bytecode's machine counts: the first `resident` packets arrive, then all others (`joined`), then
/// as many leave port 0 (`left`).
#[pyfunction]
pub fn policy_counts<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
    columns: &Bound<'py, PyDict>,
    resident: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let policy = policy(text, name)?;
    let arrivals = arrivals(columns)?;
    let fault = |fault: Fault| PyValueError::new_err(fault.to_string());
    let mut engine = Machine::counting(&policy, Bytecode::of(&policy), 1, Counts::default());
    let (mut effects, mut before) = (Vec::new(), Counts::default());
    for (nth, one) in arrivals.iter().enumerate() {
        if nth == resident {
            before = *engine.tally();
        }
        effects.clear();
        engine
            .arrive(Time::from_ps(nth as u64), &one.offered, Handle(nth as u32), &mut effects)
            .map_err(fault)?;
    }
    let between = *engine.tally();
    let now = Time::from_ps(arrivals.len() as u64);
    for _ in resident..arrivals.len() {
        effects.clear();
        engine.dequeue(0, now, &mut effects).map_err(fault)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("joined", difference(py, between, before)?)?;
    dict.set_item("left", difference(py, *engine.tally(), between)?)?;
    Ok(dict)
}

fn difference<'py>(py: Python<'py>, a: Counts, b: Counts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("inserts", a.inserts - b.inserts)?;
    dict.set_item("deletes", a.deletes - b.deletes)?;
    dict.set_item("victims", a.victims - b.victims)?;
    dict.set_item("lookups", a.lookups - b.lookups)?;
    dict.set_item("comparisons", a.comparisons - b.comparisons)?;
    dict.set_item("rekeys", a.rekeys - b.rekeys)?;
    Ok(dict)
}
