//! Congestion controllers written in Python, behind the same contract as every other.
//!
//! After each call the class's answer is read once (attributes `window`, `pace`, `wake_ps`, or a method
//! `permit()`), so that asking for the permit before each transmission costs nothing. The object
//! saves itself by pickling its state (`thalweg.controllers`).

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use thalweg_machines::congestion::{self, AckSample, CongestionControl, Permit, Start};
use thalweg_machines::custom::{self, ControllerFactory, PluggedController};
use thalweg_units::{Bytes, Rate, Span, Time};

/// The Python classes by name, and what their calls have cost.
static CLASSES: Mutex<BTreeMap<String, Class>> = Mutex::new(BTreeMap::new());

struct Class {
    class: Py<PyAny>,
    acks: u64,
    nanoseconds: u64,
}

thread_local! {
    /// The first exception that a controller raised while the simulation ran on this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Raises what a controller has raised since the last call on this thread.
pub fn raise(_py: Python<'_>) -> PyResult<()> {
    RAISED.with_borrow_mut(Option::take).map_or(Ok(()), Err)
}

fn classes() -> std::sync::MutexGuard<'static, BTreeMap<String, Class>> {
    CLASSES.lock().unwrap_or_else(|e| e.into_inner())
}

/// What a controller is told when its flow starts.
#[pyclass(frozen, get_all, module = "thalweg._core")]
pub struct Flow {
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
    /// What the scenario wrote under `params`; an empty dictionary if nothing.
    params: Py<PyAny>,
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
    object: Py<PyAny>,
    answers: Answers,
    permit: Permit,
    wants_sent: bool,
}

/// How the class states its permit; looked up once per flow.
#[derive(Clone, Copy)]
enum Answers {
    Attributes { pace: bool, wake: bool },
    Method,
}

fn text(py: Python<'_>, e: &PyErr) -> String {
    e.value(py).to_string()
}

impl PythonController {
    fn of(py: Python<'_>, name: &str, object: Py<PyAny>) -> PyResult<Self> {
        let it = object.bind(py);
        let answers = if it.hasattr("permit")? {
            Answers::Method
        } else {
            Answers::Attributes { pace: it.hasattr("pace")?, wake: it.hasattr("wake_ps")? }
        };
        let wants_sent = it.hasattr("on_sent")?;
        let mut made = Self { name: name.to_owned(), object, answers, permit: Permit::default(), wants_sent };
        made.read(py)?;
        Ok(made)
    }

    /// Takes the permit from the object.
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let it = self.object.bind(py);
        let (window, pace, wake) = match self.answers {
            Answers::Method => {
                let answer = it.call_method0("permit")?;
                match answer.extract::<(f64, Option<f64>, Option<u64>)>() {
                    Ok(all) => all,
                    Err(_) => (answer.extract::<f64>()?, None, None),
                }
            }
            Answers::Attributes { pace, wake } => (
                it.getattr("window").and_then(|w| w.extract::<f64>()).map_err(|e| {
                    PyTypeError::new_err(format!("controller `{}`: `window`: {}", self.name, text(py, &e)))
                })?,
                if pace { it.getattr("pace")?.extract::<Option<f64>>()? } else { None },
                if wake { it.getattr("wake_ps")?.extract::<Option<u64>>()? } else { None },
            ),
        };
        // A window of NaN or below zero would stop the flow in silence.
        if window.is_nan() || window < 0.0 || pace.is_some_and(|p| p.is_nan() || p <= 0.0) {
            let what = format!(
                "controller `{}` permits a window of {window} bytes, a pace of {pace:?} bit/s",
                self.name
            );
            return Err(PyValueError::new_err(what));
        }
        self.permit = Permit {
            window: Bytes::new(window as u64),
            pace: pace.map(|p| Rate::from_bps(p as u64)),
            wake: wake.map(Time::from_ps),
        };
        Ok(())
    }

    /// Calls a method, then takes the permit; an exception is kept for [`raise`] and ends the run.
    fn call<'py, A: FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>>(
        &mut self,
        py: Python<'py>,
        method: &str,
        arg: A,
    ) {
        let done = arg(py).and_then(|a| self.object.bind(py).call_method1(method, (a,))).map(drop);
        if let Err(e) = done.and_then(|()| self.read(py)) {
            RAISED.with_borrow_mut(|r| {
                r.get_or_insert(e);
            });
        }
    }

    fn loss(&mut self, method: &str, loss: &congestion::Loss) {
        let told = Loss {
            now_ps: loss.now.ps(),
            in_flight: loss.in_flight.get(),
            acked_to: loss.acked_to,
            sent_to: loss.sent_to,
        };
        Python::attach(|py| self.call(py, method, |py| Ok(Bound::new(py, told)?.into_any())));
    }
}

impl CongestionControl for PythonController {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        if !self.wants_sent {
            return;
        }
        Python::attach(|py| {
            let sent = (now.ps(), bytes.get(), in_flight.get());
            self.call(py, "on_sent", |py| Ok(sent.into_pyobject(py)?.into_any()));
        });
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "the cost of a Python controller is reported; the run never sees it"
    )]
    fn on_ack(&mut self, ack: &AckSample) {
        let begun = std::time::Instant::now();
        let told = Ack {
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
        };
        Python::attach(|py| self.call(py, "on_ack", |py| Ok(Bound::new(py, told)?.into_any())));
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

    fn on_tick(&mut self, now: Time) {
        Python::attach(|py| self.call(py, "on_tick", |py| Ok(now.ps().into_pyobject(py)?.into_any())));
    }

    fn permit(&self) -> Permit {
        self.permit
    }
}

impl PluggedController for PythonController {
    fn name(&self) -> &str {
        &self.name
    }

    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Python::attach(|py| {
            let copied = py.import("copy").and_then(|c| c.call_method1("deepcopy", (&self.object,)));
            let object = copied.map(Bound::unbind).unwrap_or_else(|e| {
                RAISED.with_borrow_mut(|r| {
                    r.get_or_insert(e);
                });
                self.object.clone_ref(py)
            });
            let Self { name, answers, permit, wants_sent, .. } = self;
            Box::new(Self {
                name: name.clone(),
                object,
                answers: *answers,
                permit: *permit,
                wants_sent: *wants_sent,
            })
        })
    }

    fn save(&self) -> Vec<u8> {
        Python::attach(|py| {
            let saved = py
                .import("thalweg.controllers")
                .and_then(|m| m.call_method1("save_state", (&self.object,)))
                .and_then(|b| b.extract::<Vec<u8>>());
            saved.unwrap_or_else(|e| {
                RAISED.with_borrow_mut(|r| {
                    r.get_or_insert(e);
                });
                Vec::new()
            })
        })
    }
}

/// Runs `f` with the class registered as `name`; an exception is kept for [`raise`] and summarised.
fn with_class(
    name: &str,
    f: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<PythonController>,
) -> Result<Box<dyn PluggedController>, String> {
    Python::attach(|py| {
        let class = classes().get(name).map(|c| c.class.clone_ref(py));
        let class = class.ok_or_else(|| format!("no Python controller is registered as `{name}`"))?;
        match f(py, class.bind(py)) {
            Ok(made) => Ok(Box::new(made) as Box<dyn PluggedController>),
            Err(e) => {
                let why = format!("the Python controller `{name}` failed: {e}");
                RAISED.with_borrow_mut(|r| {
                    r.get_or_insert(e);
                });
                Err(why)
            }
        }
    })
}

fn make(name: &str, start: &Start, params: &[u8]) -> Result<Box<dyn PluggedController>, String> {
    with_class(name, |py, class| {
        let text = if params.is_empty() { b"{}" } else { params };
        let mut params = py.import("json")?.call_method1("loads", (PyBytes::new(py, text),))?;
        if params.is_none() {
            params = PyDict::new(py).into_any();
        }
        let flow = Flow {
            mss: start.mss,
            initial_window: start.initial_window.get(),
            max_window: start.max_window.get(),
            line_rate: start.line_rate.bps(),
            base_rtt_ps: start.base_rtt.ps(),
            params: params.unbind(),
        };
        let object = py.import("thalweg.controllers")?.call_method1("make", (class, flow))?;
        PythonController::of(py, name, object.unbind())
    })
}

fn load(name: &str, saved: &[u8]) -> Result<Box<dyn PluggedController>, String> {
    with_class(name, |py, class| {
        let object =
            py.import("thalweg.controllers")?.call_method1("load_state", (class, PyBytes::new(py, saved)))?;
        PythonController::of(py, name, object.unbind())
    })
}

/// Makes a class available to scenarios as the controller `name`.
#[pyfunction]
pub fn register_controller(name: String, class: Py<PyAny>) {
    custom::register_controller(&name, ControllerFactory { make, load });
    classes().insert(name, Class { class, acks: 0, nanoseconds: 0 });
}

/// `(name, ACKs so far, nanoseconds spent in them)` of every Python controller of this process.
#[pyfunction]
pub fn controller_costs() -> Vec<(String, u64, u64)> {
    classes().iter().map(|(name, c)| (name.clone(), c.acks, c.nanoseconds)).collect()
}

/// Feeds a registered controller `acks` ACKs of one segment (the simulated RTT is 16 µs); for measuring its cost.
#[pyfunction]
pub fn exercise_controller(py: Python<'_>, name: &str, acks: u64) -> PyResult<()> {
    let start = Start {
        mss: 1460,
        initial_window: Bytes::new(14_600),
        max_window: Bytes::MAX,
        initial_threshold: Bytes::MAX,
        line_rate: Rate::from_gbps(10),
        base_rtt: Span::from_us(16),
        time_quantum: Span::ZERO,
    };
    let made = py.detach(|| custom::CustomController::make(name, &start, b""));
    raise(py)?;
    let mut controller = made.map_err(PyValueError::new_err)?;
    py.detach(|| {
        for n in 0..acks {
            controller.on_ack(&AckSample {
                now: Time::from_us(16 + n),
                rtt: Some(Span::from_us(16)),
                acked: Bytes::new(1460),
                sacked: Bytes::new(0),
                in_flight: Bytes::new(13_140),
                acked_to: (n + 1) * 1460,
                sent_to: (n + 10) * 1460,
                marked: Bytes::new(0),
                in_recovery: false,
                app_limited: false,
            });
        }
    });
    raise(py)
}
