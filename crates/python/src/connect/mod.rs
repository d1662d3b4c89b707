//! Real connections, in builds that have them: which datapaths these are, says `CONNECTS`.

#[cfg(feature = "kernel")]
mod kernel;
#[cfg(feature = "quic")]
mod quic;

use pyo3::prelude::*;

/// Adds what this build has.
pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let connects: &[&str] = &[
        #[cfg(feature = "quic")]
        "quic",
        #[cfg(feature = "kernel")]
        "kernel",
    ];
    m.add("CONNECTS", connects.to_vec())?;
    #[cfg(feature = "quic")]
    quic::add(m)?;
    #[cfg(feature = "kernel")]
    kernel::add(m)?;
    Ok(())
}

#[cfg(any(feature = "quic", feature = "kernel"))]
mod shared {
    use crate::scenario::{Scenario, scenario_error};
    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;
    use thalweg_connect::Datapath;
    use thalweg_machines::congestion::ControllerSpec;
    use thalweg_machines::transport::TransportSpec;

    /// The controller of a scenario's first transport: its table was checked as those of simulations are.
    pub fn controller(py: Python<'_>, scenario: &Scenario) -> PyResult<ControllerSpec> {
        let network = scenario.inner.network().map_err(|d| scenario_error(py, &[d]))?;
        match network.transports.into_iter().next() {
            Some(TransportSpec::Tcp(tcp)) => Ok(tcp.controller),
            _ => Err(PyValueError::new_err("the scenario's transport is not TCP")),
        }
    }

    /// Refuses a built-in controller that the datapath cannot run, whatever its parameters.
    pub fn check(kind: &str, datapath: Datapath) -> PyResult<()> {
        let specs = ControllerSpec::all();
        let Some(spec) = specs.iter().find(|spec| spec.key() == kind) else { return Ok(()) };
        datapath.check(kind, &spec.needs()).map_err(|refusal| PyValueError::new_err(refusal.to_string()))
    }
}
