//! A Python object as a controller: called, then read.

use super::classes;
use super::given::{Ack, Loss};
use crate::errands::attach;
use crate::failures;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use thalweg_machines::congestion::custom::{Earliest, Impermissible, PluggedController, Stated};
use thalweg_machines::congestion::{self, AckSample, CongestionControl, Permit, Report, Restart};
use thalweg_machines::plugin::has_failed;
use thalweg_units::{Bytes, FlowId, Span, Time};

/// One flow's controller.
pub(super) struct PythonController {
    name: String,
    flow: FlowId,
    object: Py<PyAny>,
    answers: Answers,
    permit: Permit,
    threshold: Bytes,
    wants: Wants,
}

/// Which of the callbacks that a class need not have it has.
#[derive(Clone, Copy, Default)]
struct Wants {
    sent: bool,
    restart: bool,
    restart_from: bool,
}

impl Wants {
    fn of(it: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            sent: it.hasattr("on_sent")?,
            restart: it.hasattr("on_restart")?,
            restart_from: it.hasattr("restart_from")?,
        })
    }
}

/// How the class states its permit; looked up once per flow.
#[derive(Clone, Copy)]
enum Answers {
    /// `window`, and `pace` and `wake_ps` once the object has them: it may set them in any call.
    Attributes,
    Method,
}

/// A value that was not what it had to be, cut short.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "a value without repr".into(), |r| r.to_string());
    let short: String = text.chars().take(80).filter(|c| !c.is_control()).collect();
    let kind = value.get_type().name().map_or_else(|_| String::new(), |n| format!(" ({n})"));
    short + &kind
}

/// What went wrong in a controller as the error that ends the run: `doing` is the method that was called.
pub(super) fn failure(
    py: Python<'_>,
    name: &str,
    flow: Option<FlowId>,
    now: Option<Time>,
    doing: &str,
    e: PyErr,
) -> PyErr {
    // With its traceback: it says where.
    let raised = e.clone_ref(py).into_value(py);
    let reported = (name, flow.map(|f| f.0), now.map(Time::ps), doing, raised);
    match py.import("thalweg.controllers").and_then(|m| m.call_method1("failure", reported)) {
        Ok(reported) => PyErr::from_value(reported),
        Err(_) => e,
    }
}

impl PythonController {
    pub(super) fn of(
        py: Python<'_>,
        name: &str,
        flow: FlowId,
        object: Py<PyAny>,
        earliest: Earliest,
    ) -> PyResult<Self> {
        let it = object.bind(py);
        let answers = if it.hasattr("permit")? { Answers::Method } else { Answers::Attributes };
        let (name, permit, threshold, wants) =
            (name.to_owned(), Permit::default(), Bytes::MAX, Wants::of(it)?);
        let mut made = Self { name, flow, object, answers, permit, threshold, wants };
        made.read(py, earliest)?;
        Ok(made)
    }

    /// Stands in for one that could not be made, until the run ends of it.
    pub(super) fn still(py: Python<'_>, name: &str, flow: FlowId) -> Self {
        let (name, object, answers) = (name.to_owned(), py.None(), Answers::Method);
        let (permit, threshold, wants) = (Permit::default(), Bytes::MAX, Wants::default());
        Self { name, flow, object, answers, permit, threshold, wants }
    }

    /// Takes the permit from the object.
    fn read(&mut self, py: Python<'_>, earliest: Earliest) -> PyResult<()> {
        let it = self.object.bind(py);
        let none = || py.None().into_bound(py);
        let (window, pace, wake) = match self.answers {
            Answers::Method => {
                let answer = it.call_method0("permit")?;
                match answer.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
                    Ok(all) => all,
                    Err(_) => (answer, none(), none()),
                }
            }
            Answers::Attributes => (
                it.getattr(intern!(py, "window"))?,
                it.getattr_opt(intern!(py, "pace"))?.unwrap_or_else(none),
                it.getattr_opt(intern!(py, "wake_ps"))?.unwrap_or_else(none),
            ),
        };
        let wrong = |what: &str, value: &Bound<'_, PyAny>, wanted: &str| {
            Err(PyValueError::new_err(format!("`{what}` is {}, not {wanted}", shown(value))))
        };
        // A window of NaN or below zero would stop the flow in silence.
        let bytes = match window.extract::<f64>() {
            Ok(bytes) if bytes >= 0.0 => bytes as u64,
            _ => return wrong("window", &window, "a number of bytes"),
        };
        let rate = match pace.extract::<Option<f64>>() {
            Ok(None) => None,
            Ok(Some(bps)) if bps >= 0.0 && bps.is_finite() => Some(bps as u64),
            _ => return wrong("pace", &pace, "a number of bit/s from 1 on, or None"),
        };
        let whole = "a whole number of picoseconds from 0 on, or None";
        let Ok(wake_ps) = wake.extract::<Option<u64>>() else { return wrong("wake_ps", &wake, whole) };
        let threshold = it.getattr_opt(intern!(py, "threshold"))?.unwrap_or_else(none);
        self.threshold = match threshold.extract::<Option<f64>>() {
            Ok(None) => Bytes::MAX,
            Ok(Some(bytes)) if bytes >= 0.0 => Bytes::new(bytes as u64),
            _ => {
                return wrong(
                    "threshold",
                    &threshold,
                    "a number of bytes (the slow-start threshold), or None",
                );
            }
        };
        let stated = Stated { window: bytes, pace: rate, wake_ps };
        self.permit = match stated.permit(earliest) {
            Ok(permit) => permit,
            Err(Impermissible::Pace) => {
                return wrong("pace", &pace, "a number of bit/s from 1 on, or None");
            }
            Err(Impermissible::NoInstant) => return wrong("wake_ps", &wake, whole),
            Err(Impermissible::TooSoonToSay) => {
                let wanted = "None: `__init__` does not know the time, set it in a callback";
                return wrong("wake_ps", &wake, wanted);
            }
            Err(Impermissible::Before(earliest)) => {
                return wrong("wake_ps", &wake, &format!("at or after {}", earliest.ps()));
            }
        };
        Ok(())
    }

    /// Calls a method, then takes the permit; an exception is kept ([`failures::keep`]) and ends the run.
    fn call<'py, A: FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>>(
        &mut self,
        py: Python<'py>,
        method: &str,
        now: Time,
        arg: A,
    ) {
        if has_failed() {
            return;
        }
        let done = arg(py).and_then(|a| self.object.bind(py).call_method1(method, (a,))).map(drop);
        let earliest = if method == "on_tick" { now + Span::from_ps(1) } else { now };
        if let Err(e) = done.and_then(|()| self.read(py, Earliest::At(earliest))) {
            failures::keep(Some(now), failure(py, &self.name, Some(self.flow), Some(now), method, e));
        }
    }

    fn loss(&mut self, method: &str, loss: &congestion::Loss) {
        let reported = Loss::from(loss);
        attach(|py| self.call(py, method, loss.now, |py| Ok(Bound::new(py, reported)?.into_any())));
    }
}

impl CongestionControl for PythonController {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        if !self.wants.sent {
            return;
        }
        attach(|py| {
            let sent = (now.ps(), bytes.get(), in_flight.get());
            self.call(py, "on_sent", now, |py| Ok(sent.into_pyobject(py)?.into_any()));
        });
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "the cost of a Python controller is reported; the run never sees it"
    )]
    fn on_ack(&mut self, ack: &AckSample) {
        let begun = std::time::Instant::now();
        let reported = Ack::from(ack);
        attach(|py| self.call(py, "on_ack", ack.now, |py| Ok(Bound::new(py, reported)?.into_any())));
        let nanoseconds = begun.elapsed().as_nanos() as u64;
        classes::charge(&self.name, nanoseconds);
    }

    fn on_loss(&mut self, loss: &congestion::Loss) {
        self.loss("on_loss", loss);
    }

    fn on_timeout(&mut self, loss: &congestion::Loss) {
        self.loss("on_timeout", loss);
    }

    fn on_restart(&mut self, now: Time, idle: Span) {
        if !self.wants.restart {
            return;
        }
        attach(|py| {
            let restart = (now.ps(), idle.ps());
            self.call(py, "on_restart", now, |py| Ok(restart.into_pyobject(py)?.into_any()));
        });
    }

    fn restart_from(&mut self, now: Time, left: Restart) {
        if !self.wants.restart_from {
            return;
        }
        attach(|py| {
            let left = (now.ps(), left.window.get(), left.keeps_threshold);
            self.call(py, "restart_from", now, |py| Ok(left.into_pyobject(py)?.into_any()));
        });
    }

    fn threshold(&self) -> Bytes {
        self.threshold
    }

    fn on_tick(&mut self, now: Time) {
        attach(|py| self.call(py, "on_tick", now, |py| Ok(now.ps().into_pyobject(py)?.into_any())));
    }

    fn permit(&self) -> Permit {
        self.permit
    }

    fn report(&self, report: &mut Report) {
        if has_failed() {
            return;
        }
        attach(|py| {
            let object = self.object.bind(py);
            let Ok(listed) = object.getattr("columns") else { return };
            if let Err(e) = report_of(object, &listed, report) {
                failures::keep(
                    None,
                    failure(py, &self.name, Some(self.flow), None, "reading its columns", e),
                );
            }
        });
    }
}

/// `columns` of a class is a dictionary: the attribute's name, and its unit and meaning.
fn report_of(object: &Bound<'_, PyAny>, listed: &Bound<'_, PyAny>, report: &mut Report) -> PyResult<()> {
    for (name, (unit, doc)) in listed.extract::<BTreeMap<String, (String, String)>>()? {
        let held = object.getattr(name.as_str())?;
        let Ok(value) = held.extract::<Option<f64>>() else {
            let reason = format!("column `{name}` is {}, not a number or None", shown(&held));
            return Err(PyValueError::new_err(reason));
        };
        report.add(name, unit, doc, value);
    }
    Ok(())
}

impl PluggedController for PythonController {
    fn name(&self) -> &str {
        &self.name
    }

    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        attach(|py| {
            let copied = py.import("copy").and_then(|c| c.call_method1("deepcopy", (&self.object,)));
            let object = copied.map(Bound::unbind).unwrap_or_else(|e| {
                failures::keep(None, failure(py, &self.name, Some(self.flow), None, "copying its state", e));
                self.object.clone_ref(py)
            });
            let Self { flow, answers, permit, threshold, wants, .. } = *self;
            Box::new(Self { name: self.name.clone(), flow, object, answers, permit, threshold, wants })
        })
    }

    fn save(&self) -> Vec<u8> {
        attach(|py| {
            let saved = py
                .import("thalweg.controllers")
                .and_then(|m| m.call_method1("save_state", (&self.object, self.flow.0)))
                .and_then(|b| b.extract::<Vec<u8>>());
            saved.unwrap_or_else(|e| {
                failures::keep(None, failure(py, &self.name, Some(self.flow), None, "saving its state", e));
                Vec::new()
            })
        })
    }
}
