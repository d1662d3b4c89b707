//! What a controller written in Python is given: its flow, and what the transport observes.

use pyo3::prelude::*;
use thalweg_machines::congestion::{self, AckSample, Feedback, Start};
use thalweg_units::{Bytes, Span};
use thalweg_wire::{IntHop, IntStack};

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

impl Flow {
    /// Of a flow that starts, with the parameters of its class.
    pub(super) fn of(start: &Start, params: Py<PyAny>) -> Self {
        Self {
            number: start.flow.0,
            mss: start.mss,
            initial_window: start.initial_window.get(),
            max_window: start.max_window.get(),
            line_rate: start.line_rate.bps(),
            base_rtt_ps: start.base_rtt.ps(),
            params,
            initial_threshold: Some(start.initial_threshold.get())
                .filter(|_| start.initial_threshold != Bytes::MAX),
        }
    }
}

impl From<&AckSample<'_>> for Ack {
    fn from(ack: &AckSample<'_>) -> Self {
        let stack = if let Feedback::Int(stack) = ack.feedback { Some(stack) } else { None };
        Self {
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
            telemetry: stack.map(|stack| stack.as_slice().iter().map(Hop::from).collect()),
            path: stack.map(IntStack::path),
        }
    }
}

impl From<&congestion::Loss> for Loss {
    fn from(loss: &congestion::Loss) -> Self {
        Self {
            now_ps: loss.now.ps(),
            in_flight: loss.in_flight.get(),
            acked_to: loss.acked_to,
            sent_to: loss.sent_to,
        }
    }
}
