//! Congestion controllers written in Python, behind the same contract as every other.
//!
//! After each call the class's answer is read once (attributes `window`, `pace`, `wake_ps`, or a method
//! `permit()`), so that asking for the permit before each transmission costs nothing. The object's
//! state is saved as plain values (`thalweg.controllers`). Whatever goes wrong in it ends the run with an
//! error that names controller, flow and instant; Python is not called again before that is reported.

mod classes;
mod given;
mod object;

pub use classes::{controller_costs, exercise_controller};
pub use given::{Ack, Flow, Hop, Loss};

use crate::failures;
use object::{PythonController, failure};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use thalweg_machines::Invalid;
use thalweg_machines::congestion::Start;
use thalweg_machines::congestion::custom::{self, ControllerFactory, Declared, Earliest, PluggedController};
use thalweg_machines::plugin::{Made, has_failed};
use thalweg_units::FlowId;

/// Runs `f` with the class registered as `name`. If it fails, the error is kept ([`failures::keep`]) and a
/// controller that does nothing stands in: the engine has no way to refuse a flow in the middle of a run.
fn with_class(
    name: &str,
    flow: Option<FlowId>,
    doing: &str,
    f: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<PythonController>,
) -> Made<dyn PluggedController> {
    Python::attach(|py| {
        let class = classes::of(py, name);
        let class =
            class.ok_or_else(|| Invalid::from(format!("no Python controller is registered as `{name}`")))?;
        let still = || PythonController::still(py, name, flow.unwrap_or(FlowId(0)));
        if has_failed() {
            return Ok(Box::new(still()) as Box<dyn PluggedController>);
        }
        let made = f(py, class.bind(py)).unwrap_or_else(|e| {
            failures::keep(None, failure(py, name, flow, None, doing, e));
            still()
        });
        Ok(Box::new(made) as Box<dyn PluggedController>)
    })
}

fn make(name: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController> {
    with_class(name, Some(start.flow), "__init__", |py, class| {
        let module = py.import("thalweg.controllers")?;
        let params = module.call_method1("parameters", (class, PyBytes::new(py, params)))?;
        let flow = Flow::of(start, params.unbind());
        let object = module.call_method1("make", (class, flow))?;
        PythonController::of(py, name, start.flow, object.unbind(), Earliest::Unknown)
    })
}

fn load(name: &str, saved: &[u8]) -> Made<dyn PluggedController> {
    with_class(name, None, "reading its state", |py, class| {
        let module = py.import("thalweg.controllers")?;
        let loaded = module.call_method1("load_state", (class, PyBytes::new(py, saved)))?;
        let (object, flow) = loaded.extract::<(Py<PyAny>, u32)>()?;
        PythonController::of(py, name, FlowId(flow), object, Earliest::Any)
    })
}

/// Makes a class available to scenarios as the controller `name`, with the names of its parameters.
#[pyfunction]
pub fn register_controller(name: String, class: Py<PyAny>, ecn: bool, telemetry: bool, params: Vec<String>) {
    custom::register_controller(&name, ControllerFactory { make, load });
    let has = |method| Python::attach(|py| class.bind(py).hasattr(method).unwrap_or(true));
    let (ignores_restarts, params) = (!has("restart_from"), Some(params));
    custom::declare_controller(&name, Declared { ecn, telemetry, serial: true, ignores_restarts, params });
    classes::insert(name, class);
}
