//! Congestion controllers written in Python, behind the same contract as every other.
//!
//! After each call the class's answer is read once (attributes `window`, `pace`, `wake_ps`, or a method
//! `permit()`), so that asking for the permit before each transmission costs nothing. The object's
//! state is saved as plain values (`thalweg.controllers`). Whatever goes wrong in it ends the run with an
//! error that names controller, flow and instant; Python is not called again before that is reported.

use crate::native;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::sync::Mutex;

use thalweg_machines::Invalid;
use thalweg_machines::congestion::custom::{
    self, ControllerFactory, Declared, Earliest, Impermissible, PluggedController, Stated,
};
use thalweg_machines::congestion::{
    self, AckSample, CongestionControl, Delivery, Feedback, Permit, Report, Restart, Start,
};
use thalweg_machines::plugin::{self, Failed, Made, has_failed};
use thalweg_units::{Bytes, FlowId, Rate, Span, Time};
use thalweg_wire::{IntHop, IntStack};

/// The Python classes by name, and what their calls have cost.
static CLASSES: Mutex<BTreeMap<String, Class>> = Mutex::new(BTreeMap::new());

struct Class {
    class: Py<PyAny>,
    acks: u64,
    nanoseconds: u64,
}

fn keep(now: Option<Time>, e: PyErr) {
    plugin::fail(Failed { at: now, what: Box::new(e) });
}

/// Raises what a controller has raised since the last call on this thread.
pub fn raise(_py: Python<'_>) -> PyResult<()> {
    raised().map_or(Ok(()), Err)
}

/// What a controller, or one in a library, has raised since the last call on this thread.
pub fn raised() -> Option<PyErr> {
    let what = plugin::take_failure()?.what;
    let what = match what.downcast::<PyErr>() {
        Ok(error) => return Some(*error),
        Err(other) => other,
    };
    Some(what.downcast().map_or_else(
        |_| PyRuntimeError::new_err("a controller has failed"),
        |failure| native::error_of(*failure),
    ))
}

fn classes() -> std::sync::MutexGuard<'static, BTreeMap<String, Class>> {
    CLASSES.lock().unwrap_or_else(|e| e.into_inner())
}

/// What a controller is given when its flow starts.
#[pyclass(frozen, get_all, module = "thalweg._core")]
pub struct Flow {
    /// The flow's number; of the first of several on one connection.
    number: u32,
    /// Payload bytes of a full segment.
    mss: u32,
    /// Initial window, payload bytes.
    initial_window: u64,
    /// Largest window, payload bytes.
    max_window: u64,
    /// The sender's line rate, bit/s.
    line_rate: u64,
    /// Round-trip time of the empty path, ps.
    base_rtt_ps: u64,
    /// The declared parameters, with what the scenario wrote under `params`.
    params: Py<PyAny>,
    /// Initial slow-start threshold, payload bytes; `None`: there is none.
    initial_threshold: Option<u64>,
}

#[pymethods]
impl Flow {
    #[new]
    #[pyo3(signature = (number, mss, initial_window, max_window, line_rate, base_rtt_ps, params, initial_threshold=None))]
    #[expect(clippy::too_many_arguments, reason = "what a flow begins with, as a saved state has it")]
    fn new(
        number: u32,
        mss: u32,
        initial_window: u64,
        max_window: u64,
        line_rate: u64,
        base_rtt_ps: u64,
        params: Py<PyAny>,
        initial_threshold: Option<u64>,
    ) -> Self {
        Self { number, mss, initial_window, max_window, line_rate, base_rtt_ps, params, initial_threshold }
    }

    /// A controller that keeps it is copied with it.
    fn __deepcopy__(&self, py: Python<'_>, memo: Bound<'_, PyAny>) -> PyResult<Self> {
        let params = py.import("copy")?.call_method1("deepcopy", (&self.params, memo))?.unbind();
        Ok(Self { params, ..*self })
    }
}

/// Data was acknowledged. Bytes are payload; times are picoseconds.
#[pyclass(frozen, get_all, module = "thalweg._core")]
pub struct Ack {
    now_ps: u64,
    rtt_ps: Option<u64>,
    acked: u64,
    sacked: u64,
    in_flight: u64,
    acked_to: u64,
    sent_to: u64,
    marked: u64,
    in_recovery: bool,
    app_limited: bool,
    /// The window was used up while what is acknowledged here was in flight.
    cwnd_limited: bool,
    /// Payload bytes that arrived since the newest segment acknowledged here was sent; `None` without a sample.
    delivered: Option<u64>,
    /// The time in which they arrived, or were sent if that took longer.
    interval_ps: Option<u64>,
    /// Payload bytes found lost and sent again meanwhile.
    lost: Option<u64>,
    /// What each switch wrote as the packet that this answers left it, in the order of the hops; `None` if none did.
    telemetry: Option<Vec<Hop>>,
    /// Which path the packet took, with `telemetry`: hops of two ACKs are of the same ports if this is the same.
    path: Option<u32>,
}

/// What a port of a switch said of itself as a packet left it.
#[pyclass(frozen, get_all, skip_from_py_object, module = "thalweg._core")]
#[derive(Clone)]
pub struct Hop {
    /// When, ps.
    at_ps: u64,
    /// Bytes sent by the port so far.
    tx_bytes: u64,
    /// Bytes waiting there.
    queue: u64,
    /// Rate of its link, bit/s.
    rate: u64,
}

impl From<&IntHop> for Hop {
    fn from(hop: &IntHop) -> Self {
        Self { at_ps: hop.at.ps(), tx_bytes: hop.tx_bytes, queue: hop.queue, rate: hop.rate.bps() }
    }
}

/// Packets were declared lost. Bytes are payload; times are picoseconds.
#[pyclass(frozen, get_all, module = "thalweg._core")]
pub struct Loss {
    now_ps: u64,
    in_flight: u64,
    acked_to: u64,
    sent_to: u64,
}

/// One flow's controller.
struct PythonController {
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

/// A limit in bytes, if there is one.
fn limit(bytes: Bytes) -> Option<u64> {
    Some(bytes.get()).filter(|_| bytes != Bytes::MAX)
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
fn failure(
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
    fn of(py: Python<'_>, name: &str, flow: FlowId, object: Py<PyAny>, earliest: Earliest) -> PyResult<Self> {
        let it = object.bind(py);
        let answers = if it.hasattr("permit")? { Answers::Method } else { Answers::Attributes };
        let (name, permit, threshold, wants) =
            (name.to_owned(), Permit::default(), Bytes::MAX, Wants::of(it)?);
        let mut made = Self { name, flow, object, answers, permit, threshold, wants };
        made.read(py, earliest)?;
        Ok(made)
    }

    /// Stands in for one that could not be made, until the run ends of it.
    fn still(py: Python<'_>, name: &str, flow: FlowId) -> Self {
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

    /// Calls a method, then takes the permit; an exception is kept for [`raise`] and ends the run.
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
            keep(Some(now), failure(py, &self.name, Some(self.flow), Some(now), method, e));
        }
    }

    fn loss(&mut self, method: &str, loss: &congestion::Loss) {
        let reported = Loss {
            now_ps: loss.now.ps(),
            in_flight: loss.in_flight.get(),
            acked_to: loss.acked_to,
            sent_to: loss.sent_to,
        };
        Python::attach(|py| self.call(py, method, loss.now, |py| Ok(Bound::new(py, reported)?.into_any())));
    }
}

impl CongestionControl for PythonController {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        if !self.wants.sent {
            return;
        }
        Python::attach(|py| {
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
        let reported = Ack {
            now_ps: ack.now.ps(),
            rtt_ps: ack.rtt.map(Span::ps),
            acked: ack.acked.get(),
            sacked: ack.sacked.get(),
            in_flight: ack.in_flight.get(),
            acked_to: ack.acked_to,
            sent_to: ack.sent_to,
            marked: ack.marked.get(),
            in_recovery: ack.in_recovery,
            app_limited: ack.app_limited,
            cwnd_limited: ack.cwnd_limited,
            delivered: ack.delivery.map(|d| d.delivered.get()),
            interval_ps: ack.delivery.map(|d| d.interval().ps()),
            lost: ack.delivery.map(|d| d.lost.get()),
            telemetry: match ack.feedback {
                Feedback::Int(stack) => Some(stack.as_slice().iter().map(Hop::from).collect()),
                _ => None,
            },
            path: match ack.feedback {
                Feedback::Int(stack) => Some(stack.path()),
                _ => None,
            },
        };
        Python::attach(|py| self.call(py, "on_ack", ack.now, |py| Ok(Bound::new(py, reported)?.into_any())));
        let nanoseconds = begun.elapsed().as_nanos() as u64;
        if let Some(class) = classes().get_mut(&self.name) {
            class.acks += 1;
            class.nanoseconds += nanoseconds;
        }
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
        Python::attach(|py| {
            let restart = (now.ps(), idle.ps());
            self.call(py, "on_restart", now, |py| Ok(restart.into_pyobject(py)?.into_any()));
        });
    }

    fn restart_from(&mut self, now: Time, left: Restart) {
        if !self.wants.restart_from {
            return;
        }
        Python::attach(|py| {
            let left = (now.ps(), left.window.get(), left.keeps_threshold);
            self.call(py, "restart_from", now, |py| Ok(left.into_pyobject(py)?.into_any()));
        });
    }

    fn threshold(&self) -> Bytes {
        self.threshold
    }

    fn on_tick(&mut self, now: Time) {
        Python::attach(|py| self.call(py, "on_tick", now, |py| Ok(now.ps().into_pyobject(py)?.into_any())));
    }

    fn permit(&self) -> Permit {
        self.permit
    }

    fn report(&self, report: &mut Report) {
        if has_failed() {
            return;
        }
        Python::attach(|py| {
            let object = self.object.bind(py);
            let Ok(listed) = object.getattr("columns") else { return };
            if let Err(e) = report_of(object, &listed, report) {
                keep(None, failure(py, &self.name, Some(self.flow), None, "reading its columns", e));
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
        Python::attach(|py| {
            let copied = py.import("copy").and_then(|c| c.call_method1("deepcopy", (&self.object,)));
            let object = copied.map(Bound::unbind).unwrap_or_else(|e| {
                keep(None, failure(py, &self.name, Some(self.flow), None, "copying its state", e));
                self.object.clone_ref(py)
            });
            let Self { flow, answers, permit, threshold, wants, .. } = *self;
            Box::new(Self { name: self.name.clone(), flow, object, answers, permit, threshold, wants })
        })
    }

    fn save(&self) -> Vec<u8> {
        Python::attach(|py| {
            let saved = py
                .import("thalweg.controllers")
                .and_then(|m| m.call_method1("save_state", (&self.object, self.flow.0)))
                .and_then(|b| b.extract::<Vec<u8>>());
            saved.unwrap_or_else(|e| {
                keep(None, failure(py, &self.name, Some(self.flow), None, "saving its state", e));
                Vec::new()
            })
        })
    }
}

/// Runs `f` with the class registered as `name`. If it fails, the error is kept for [`raise`] and a
/// controller that does nothing stands in: the engine has no way to refuse a flow in the middle of a run.
fn with_class(
    name: &str,
    flow: Option<FlowId>,
    doing: &str,
    f: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<PythonController>,
) -> Made<dyn PluggedController> {
    Python::attach(|py| {
        let class = classes().get(name).map(|c| c.class.clone_ref(py));
        let class =
            class.ok_or_else(|| Invalid::from(format!("no Python controller is registered as `{name}`")))?;
        let still = || PythonController::still(py, name, flow.unwrap_or(FlowId(0)));
        if has_failed() {
            return Ok(Box::new(still()) as Box<dyn PluggedController>);
        }
        let made = f(py, class.bind(py)).unwrap_or_else(|e| {
            keep(None, failure(py, name, flow, None, doing, e));
            still()
        });
        Ok(Box::new(made) as Box<dyn PluggedController>)
    })
}

fn make(name: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController> {
    with_class(name, Some(start.flow), "__init__", |py, class| {
        let module = py.import("thalweg.controllers")?;
        let params = module.call_method1("parameters", (class, PyBytes::new(py, params)))?;
        let flow = Flow {
            number: start.flow.0,
            mss: start.mss,
            initial_window: start.initial_window.get(),
            max_window: start.max_window.get(),
            line_rate: start.line_rate.bps(),
            base_rtt_ps: start.base_rtt.ps(),
            params: params.unbind(),
            initial_threshold: limit(start.initial_threshold),
        };
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
    classes().insert(name, Class { class, acks: 0, nanoseconds: 0 });
}

/// `(name, ACKs so far, nanoseconds spent in them)` of every Python controller of this process.
#[pyfunction]
pub fn controller_costs() -> Vec<(String, u64, u64)> {
    classes().iter().map(|(name, c)| (name.clone(), c.acks, c.nanoseconds)).collect()
}

/// Feeds a registered controller `acks` ACKs of one segment (the simulated RTT is 16 µs), with a delivery rate sample
/// and, if it has declared that, a hop's telemetry; for measuring its cost.
#[pyfunction]
pub fn exercise_controller(py: Python<'_>, name: &str, acks: u64) -> PyResult<()> {
    let start = Start {
        mss: 1460,
        initial_window: Bytes::new(14_600),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        line_rate: Rate::from_gbps(10),
        base_rtt: Span::from_us(16),
        ..Start::default()
    };
    let made = py.detach(|| custom::CustomController::make(name, &start, b""));
    raise(py)?;
    let mut controller = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let telemetry = custom::declared(name).telemetry;
    py.detach(|| {
        for n in 0..acks {
            let (at, tx_bytes, rate) = (Time::from_us(8 + n), n * 1500, Rate::from_gbps(10));
            let stack = IntStack::of(1, &[IntHop { at, tx_bytes, queue: 0, rate }]);
            let delivery = Delivery {
                delivered: Bytes::new(14_600),
                departures: Span::from_us(16),
                arrivals: Span::from_us(16),
                sent: Time::from_us(n),
                total: Bytes::new((n + 1) * 1460),
                ..Delivery::default()
            };
            controller.on_ack(&AckSample {
                now: Time::from_us(16 + n),
                rtt: Some(Span::from_us(16)),
                acked: Bytes::new(1460),
                sacked: Bytes::new(0),
                in_flight: Bytes::new(13_140),
                acked_to: (n + 1) * 1460,
                sent_to: (n + 10) * 1460,
                marked: Bytes::new(0),
                braked: Bytes::ZERO,
                in_recovery: false,
                app_limited: false,
                cwnd_limited: true,
                delivery: Some(delivery),
                feedback: if telemetry { Feedback::Int(&stack) } else { Feedback::None },
            });
        }
    });
    raise(py)
}
