//! The laboratory for Python. Translates and forwards; no protocol decision lives here.
//!
//! Python owns the loop: it requests a bounded number of events, with the interpreter released, and in
//! between draws progress, obeys Ctrl-C and saves. Wrapped by the package `thalweg`; the names here are private.

mod buffer;
mod capture;
mod connect;
mod controller;
mod decisions;
mod emulate;
mod errands;
mod exam;
mod failures;
mod native;
mod patience;
mod policy;
mod ports;
mod replay;
mod scenario;
mod sessions;
mod simulation;
mod theory;
mod verbs;

use crate::patience::interruptible;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;
use thalweg_allocator as _;

/// Where and why the engine panicked: a bug of ours, reported to the user as one line.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Takes the description of the first panic since the last call.
#[pyfunction]
fn take_panic() -> Option<String> {
    PANIC.lock().unwrap_or_else(|e| e.into_inner()).take()
}

/// Panics: shows how an internal error is reported.
#[pyfunction]
fn panic_on_purpose() {
    panic!("on purpose");
}

/// The fixed workloads of the benchmark.
#[pyfunction]
fn bench_workloads() -> Vec<&'static str> {
    thalweg_bench::WORKLOADS.to_vec()
}

/// Measures one workload: the fastest of `repeat` runs, each on so many threads where it can be divided. `w0` is W0's
/// time per packet-hop in nanoseconds, if known.
#[pyfunction]
fn bench_run<'py>(
    py: Python<'py>,
    workload: String,
    quick: bool,
    repeat: u32,
    w0: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let effort = thalweg_bench::Effort { quick, repeat, threads };
    let row = interruptible(py, move |_| thalweg_bench::run(&workload, effort, w0))?;
    let row = row.map_err(PyValueError::new_err)?;
    let dict = PyDict::new(py);
    dict.set_item("workload", row.workload)?;
    dict.set_item("packet_hops", row.packet_hops)?;
    dict.set_item("seconds", row.seconds)?;
    dict.set_item("hops_per_second", row.hops_per_second)?;
    dict.set_item("ratio_to_w0", row.ratio_to_w0)?;
    dict.set_item("peak_bytes", row.peak_bytes)?;
    dict.set_item("events", row.events)?;
    dict.set_item("setup_seconds", row.setup_seconds)?;
    dict.set_item("hosts", row.hosts)?;
    Ok(dict)
}

/// thalweg's engine, for the package `thalweg`.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let what = payload.downcast_ref::<&str>().copied();
        let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        // The first one is the cause; a second may follow while the run is being looked at.
        PANIC.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert_with(|| format!("{place}: {what}"));
    }));
    m.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    m.add("SOURCES", env!("THALWEG_SOURCES"))?;
    m.add("DEBUG_BUILD", cfg!(debug_assertions))?;
    connect::add(m)?;
    m.add_class::<buffer::Buffer>()?;
    m.add_class::<scenario::Scenario>()?;
    m.add_class::<simulation::Simulation>()?;
    m.add_class::<sessions::Start>()?;
    m.add_class::<sessions::Sessions>()?;
    m.add_class::<replay::Replay>()?;
    m.add_class::<capture::PcapWriter>()?;
    m.add_class::<controller::Flow>()?;
    m.add_class::<controller::Ack>()?;
    m.add_class::<controller::Hop>()?;
    m.add_class::<controller::Loss>()?;
    m.add_function(wrap_pyfunction!(scenario::schema, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::kinds, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::catalogue, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::explain, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::choices, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::choice_names, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::kinds_of_tables, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::explain_scheme, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::diff, m)?)?;
    m.add_function(wrap_pyfunction!(capture::qlog, m)?)?;
    m.add_function(wrap_pyfunction!(decisions::decisions_table, m)?)?;
    m.add_function(wrap_pyfunction!(decisions::decisions_replay, m)?)?;
    m.add_function(wrap_pyfunction!(decisions::decisions_compare, m)?)?;
    m.add_function(wrap_pyfunction!(sessions::session_columns, m)?)?;
    m.add_function(wrap_pyfunction!(simulation::table_layouts, m)?)?;
    m.add_function(wrap_pyfunction!(replay::candidates, m)?)?;
    m.add_function(wrap_pyfunction!(replay::packet_time_ps, m)?)?;
    m.add_function(wrap_pyfunction!(replay::span_ps, m)?)?;
    m.add_function(wrap_pyfunction!(controller::register_controller, m)?)?;
    m.add_function(wrap_pyfunction!(controller::controller_costs, m)?)?;
    m.add_function(wrap_pyfunction!(native::open_library, m)?)?;
    m.add_function(wrap_pyfunction!(controller::exercise_controller, m)?)?;
    m.add_function(wrap_pyfunction!(theory::theory_checks, m)?)?;
    m.add_function(wrap_pyfunction!(theory::theory_run, m)?)?;
    m.add_function(wrap_pyfunction!(emulate::emulate_refusal, m)?)?;
    m.add_function(wrap_pyfunction!(emulate::emulate_ports, m)?)?;
    m.add_function(wrap_pyfunction!(emulate::emulate_shell, m)?)?;
    m.add_function(wrap_pyfunction!(exam::exam_situations, m)?)?;
    m.add_function(wrap_pyfunction!(exam::exam_marks, m)?)?;
    m.add_function(wrap_pyfunction!(ports::replay_port, m)?)?;
    m.add_class::<verbs::VerbsPair>()?;
    m.add_function(wrap_pyfunction!(verbs::verbs_settings, m)?)?;
    m.add_function(wrap_pyfunction!(verbs::verbs_headers, m)?)?;
    m.add_function(wrap_pyfunction!(verbs::verbs_state, m)?)?;
    m.add_function(wrap_pyfunction!(verbs::irn_answers, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_check, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_show, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_code, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_parts, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_targets, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_refusals, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_traffic, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_run, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_bench, m)?)?;
    m.add_function(wrap_pyfunction!(policy::policy_counts, m)?)?;
    m.add_function(wrap_pyfunction!(bench_workloads, m)?)?;
    m.add_function(wrap_pyfunction!(bench_run, m)?)?;
    m.add_function(wrap_pyfunction!(take_panic, m)?)?;
    m.add_function(wrap_pyfunction!(panic_on_purpose, m)?)?;
    Ok(())
}
