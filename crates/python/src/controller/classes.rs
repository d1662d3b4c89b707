//! The Python classes by name, and what their calls cost.

use crate::failures;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use thalweg_machines::congestion::{AckSample, CongestionControl, Delivery, Feedback, Start, custom};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::{IntHop, IntStack};

static CLASSES: Mutex<BTreeMap<String, Class>> = Mutex::new(BTreeMap::new());

struct Class {
    class: Py<PyAny>,
    acks: u64,
    nanoseconds: u64,
}

fn all() -> MutexGuard<'static, BTreeMap<String, Class>> {
    CLASSES.lock().unwrap_or_else(|e| e.into_inner())
}

/// The class of this name.
pub(super) fn of(py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
    all().get(name).map(|c| c.class.clone_ref(py))
}

/// A class by its name; a second one replaces the first.
pub(super) fn insert(name: String, class: Py<PyAny>) {
    all().insert(name, Class { class, acks: 0, nanoseconds: 0 });
}

/// An ACK has cost so much.
pub(super) fn charge(name: &str, nanoseconds: u64) {
    if let Some(class) = all().get_mut(name) {
        class.acks += 1;
        class.nanoseconds += nanoseconds;
    }
}

/// `(name, ACKs so far, nanoseconds spent in them)` of every Python controller of this process.
#[pyfunction]
pub fn controller_costs() -> Vec<(String, u64, u64)> {
    all().iter().map(|(name, c)| (name.clone(), c.acks, c.nanoseconds)).collect()
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
    failures::raise(py)?;
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
    failures::raise(py)
}
