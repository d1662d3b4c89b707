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

use crate::errands::in_python;
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
    doing: &'static str,
    f: impl FnOnce(Python<'_>, &str, &Bound<'_, PyAny>) -> PyResult<PythonController> + Send + 'static,
) -> Made<dyn PluggedController> {
    let (name, failed) = (name.to_owned(), has_failed());
    let made = in_python(move |py| {
        let Some(class) = classes::of(py, &name) else {
            let unknown = format!("no Python controller is registered as `{name}`");
            return (Err(Invalid::from(unknown)), None);
        };
        let still = || PythonController::still(py, &name, flow.unwrap_or(FlowId(0)));
        if failed {
            return (Ok(still()), None);
        }
        match f(py, &name, class.bind(py)) {
            Ok(made) => (Ok(made), None),
            Err(e) => (Ok(still()), Some(failure(py, &name, flow, None, doing, e))),
        }
    });
    let (made, raised) = made.ok_or_else(|| Invalid::from("interrupted".to_owned()))?;
    if let Some(e) = raised {
        failures::keep(None, e);
    }
    Ok(Box::new(made?))
}

fn make(name: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController> {
    let (start, params) = (*start, params.to_vec());
    with_class(name, Some(start.flow), "__init__", move |py, name, class| {
        let module = py.import("thalweg.controllers")?;
        let params = module.call_method1("parameters", (class, PyBytes::new(py, &params)))?;
        let flow = Flow::of(&start, params.unbind());
        let object = module.call_method1("make", (class, flow))?;
        PythonController::of(py, name, start.flow, object.unbind(), Earliest::Unknown)
    })
}

fn load(name: &str, saved: &[u8]) -> Made<dyn PluggedController> {
    let saved = saved.to_vec();
    with_class(name, None, "reading its state", move |py, name, class| {
        let module = py.import("thalweg.controllers")?;
        let loaded = module.call_method1("load_state", (class, PyBytes::new(py, &saved)))?;
        let (object, flow) = loaded.extract::<(Py<PyAny>, u32)>()?;
        PythonController::of(py, name, FlowId(flow), object, Earliest::Any)
    })
}

/// Makes a class available to scenarios as the controller `name`, with the names of its parameters.
#[pyfunction]
pub fn register_controller(
    name: String,
    class: Bound<'_, PyAny>,
    ecn: bool,
    telemetry: bool,
    params: Vec<String>,
) {
    custom::register_controller(&name, ControllerFactory { make, load });
    let has = |method| class.hasattr(method).unwrap_or(true);
    let (ignores_restarts, params) = (!has("restart_from"), Some(params));
    custom::declare_controller(&name, Declared { ecn, telemetry, serial: true, ignores_restarts, params });
    classes::insert(name, class.unbind());
}
