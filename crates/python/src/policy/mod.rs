//! Policies in OpenQueue for Python: checked, shown, compiled, run in the datapath, measured. Wrapped by
//! `thalweg.policies`.

mod columns;
mod measuring;
mod running;

pub use measuring::{policy_bench, policy_counts};
pub use running::{policy_run, policy_traffic};

use crate::patience::interruptible;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_policy::normal::Policy;
use thalweg_policy::target::{Target, compile, refusals};
use thalweg_policy::{Engine, datapath, show};

/// A mistake: line, column, class, reason, way out.
type Mistake = (usize, usize, &'static str, String, String);

/// The policy of a text that was checked before.
fn policy(text: &str, name: &str) -> PyResult<Policy> {
    thalweg_policy::check(text, name).map_err(|wrong| PyValueError::new_err(wrong.to_string()))
}

/// What is wrong, one by one, and all of it with the lines that it is about.
#[pyfunction]
pub fn policy_check(py: Python<'_>, text: String, name: String) -> PyResult<(Vec<Mistake>, String)> {
    let checked = interruptible(py, move |_| thalweg_policy::check(&text, &name))?;
    let Err(wrong) = checked else { return Ok((Vec::new(), String::new())) };
    let mistake = |one: &thalweg_policy::Diagnostic| {
        let (line, column) = wrong.place(one);
        (line, column, one.class().code(), one.reason().to_owned(), one.way_out().to_owned())
    };
    Ok((wrong.iter().map(mistake).collect(), wrong.render()))
}

/// Its normal form.
#[pyfunction]
pub fn policy_show(text: &str, name: &str) -> PyResult<String> {
    Ok(show(&policy(text, name)?))
}

/// Its code for a target that keeps it.
#[pyfunction]
pub fn policy_code(text: &str, name: &str, target: &str) -> PyResult<String> {
    let target = Target::ALL.into_iter().find(|one| one.name() == target);
    let target = target.ok_or_else(|| PyValueError::new_err("no such target"))?;
    let code = compile(&policy(text, name)?, target);
    code.map_err(|_| PyValueError::new_err(format!("no code for {} can be generated of it", target.name())))
}

/// Its queues (name, size, whether that is in packets, port, whether packets enter it from outside) and ports (name,
/// its rate as a share of the link or else in kbit/s, whether packets leave it for good).
#[pyfunction]
pub fn policy_parts<'py>(py: Python<'py>, text: &str, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let policy = policy(text, name)?;
    let entered = datapath::entrances(&policy);
    let queues: Vec<_> = policy
        .queues()
        .iter()
        .enumerate()
        .map(|(nth, one)| {
            let in_packets = one.unit == thalweg_policy::syntax::tree::SizeUnit::Packets;
            (one.name.clone(), one.size, in_packets, one.port, entered.contains(&nth))
        })
        .collect();
    let port = |one: &thalweg_policy::normal::Port| {
        let kbps = one.rate.kbps();
        let percent = one.rate.amount.digits as f64 / 10f64.powi(one.rate.amount.decimals as i32);
        (one.name.clone(), kbps.is_none().then_some(percent / 100.0), kbps, one.wire.is_none())
    };
    let ports: Vec<_> = policy.ports().iter().map(port).collect();
    let dict = PyDict::new(py);
    dict.set_item("queues", queues)?;
    dict.set_item("ports", ports)?;
    dict.set_item("compiled", thalweg_policy_compiled::machine_of(&policy, 0).is_some())?;
    Ok(dict)
}

/// What a policy can be compiled for: name, what it is, whether code is generated.
#[pyfunction]
pub fn policy_targets() -> Vec<(&'static str, &'static str, bool)> {
    Target::ALL.iter().map(|one| (one.name(), one.about(), one.is_generated())).collect()
}

/// What a target cannot keep of it: part, reason, way out.
#[pyfunction]
pub fn policy_refusals(text: &str, name: &str, target: &str) -> PyResult<Vec<(String, String, String)>> {
    let target = Target::ALL.into_iter().find(|one| one.name() == target);
    let target = target.ok_or_else(|| PyValueError::new_err("no such target"))?;
    let found = refusals(&policy(text, name)?, target);
    Ok(found.into_iter().map(|one| (one.part, one.reason, one.way_out)).collect())
}

/// How engines are made.
type Make = fn(&Policy, u64) -> Box<dyn Engine>;

/// The engine of this name; `None`: none is built in for this policy.
fn engine(name: &str, policy: &Policy) -> PyResult<Option<Make>> {
    match name {
        "interpreter" => Ok(Some(datapath::interpreter)),
        "bytecode" => Ok(Some(datapath::bytecode)),
        "generated" => {
            let make: Make = |policy, seed| {
                thalweg_policy_compiled::machine_of(policy, seed)
                    .unwrap_or_else(|| datapath::bytecode(policy, seed))
            };
            Ok(thalweg_policy_compiled::machine_of(policy, 0).map(|_| make))
        }
        _ => Err(PyValueError::new_err(format!("no engine is called {name}"))),
    }
}
