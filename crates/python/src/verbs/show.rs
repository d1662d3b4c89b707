//! Packets and completions as Python sees them.

use super::settings::DIALECTS;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::{IrnReceiver, ReplyKind};
use thalweg_verbs::pair::Way;
use thalweg_verbs::state;
use thalweg_verbs::wire::{Dialect, Opcode, Packet, Refusal, Syndrome};
use thalweg_verbs::{Arrived, Counters, Status};

/// The end that a packet goes to.
pub fn end(way: Way) -> &'static str {
    match way {
        Way::ToResponder => "responder",
        Way::ToRequester => "requester",
    }
}

pub fn status(status: Status) -> &'static str {
    match status {
        Status::Success => "success",
        Status::RemoteAccess => "remote-access",
        Status::RemoteInvalidRequest => "remote-invalid-request",
        Status::RemoteOperational => "remote-operational",
        Status::RnrRetryExceeded => "rnr-retry-exceeded",
        Status::LocalAccess => "local-access",
        Status::Flushed => "flushed",
    }
}

/// What a message brought, and the immediate data or the key.
pub fn arrived(what: Arrived) -> (&'static str, Option<u32>) {
    match what {
        Arrived::Send => ("send", None),
        Arrived::SendImmediate(data) => ("send-immediate", Some(data)),
        Arrived::SendInvalidate(key) => ("send-invalidate", Some(key)),
        Arrived::WriteImmediate(data) => ("write-immediate", Some(data)),
    }
}

/// The pause that a "not ready" NAK requires, ps.
fn pause(syndrome: Syndrome) -> Option<u64> {
    match syndrome {
        Syndrome::NotReady(timer) => Some(timer.delay().ps()),
        _ => None,
    }
}

fn syndrome(syndrome: Syndrome) -> &'static str {
    match syndrome {
        Syndrome::Ack(_) => "ack",
        Syndrome::NotReady(_) => "not-ready",
        Syndrome::Nak(Refusal::Sequence) => "nack",
        Syndrome::Nak(Refusal::InvalidRequest) => "invalid-request",
        Syndrome::Nak(Refusal::RemoteAccess) => "remote-access",
        Syndrome::Nak(Refusal::RemoteOperational) => "remote-operational",
    }
}

/// A packet's fields; those that it does not have are `None`.
pub fn packet<'py>(
    py: Python<'py>,
    dialect: Dialect,
    way: Way,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("to", end(way))?;
    found.set_item("size", bytes.len())?;
    // The engine sent it, so it is one.
    let Ok(packet) = Packet::decode(dialect, bytes) else { return Ok(found) };
    let serial = |n: Option<thalweg_verbs::wire::Serial>| n.map(|n| n.value());
    found.set_item("opcode", packet.opcode.name())?;
    found.set_item("psn", packet.psn.value())?;
    found.set_item("payload", packet.payload.len())?;
    found.set_item("syndrome", packet.aeth.map(|aeth| syndrome(aeth.syndrome)))?;
    found.set_item("rnr_ps", packet.aeth.and_then(|aeth| pause(aeth.syndrome)))?;
    found.set_item("msn", packet.aeth.map(|aeth| aeth.msn.value()))?;
    found.set_item("sack", serial(packet.sack))?;
    found.set_item("recv_wqe", serial(packet.recv_wqe))?;
    found.set_item("read_wqe", serial(packet.read_wqe))?;
    Ok(found)
}

pub fn counters<'py>(py: Python<'py>, counters: Counters) -> PyResult<Bound<'py, PyDict>> {
    let Counters { sent, retransmitted, timeouts, nacks, refusals, most_in_flight, most_ahead } = counters;
    let found = PyDict::new(py);
    found.set_item("sent", sent)?;
    found.set_item("retransmitted", retransmitted)?;
    found.set_item("timeouts", timeouts)?;
    found.set_item("nacks", nacks)?;
    found.set_item("refusals", refusals)?;
    found.set_item("most_in_flight", most_in_flight)?;
    found.set_item("most_ahead", most_ahead)?;
    Ok(found)
}

/// Bytes of header that the encoder writes before the payload, by opcode and dialect.
#[pyfunction]
pub fn verbs_headers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    let mut bytes = Vec::new();
    for (name, dialect) in DIALECTS {
        let sizes = PyDict::new(py);
        for opcode in Opcode::all(dialect) {
            Packet::bare(opcode, dialect)
                .encode(dialect, &mut bytes)
                .map_err(|e| pyo3::exceptions::PyRuntimeError::new_err(e.to_string()))?;
            sizes.set_item(opcode.name(), bytes.len())?;
        }
        all.set_item(name, sizes)?;
    }
    Ok(all)
}

/// What IRN adds to a NIC with bitmaps for `cap` packets (§4.5.1), and the words that its modules touch (§4.5.2).
#[pyfunction]
pub fn verbs_state(py: Python<'_>, cap: u32, queue_pairs: u64, wqes: u64) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("end_bits", state::bits(&state::TRANSPORT))?;
    all.set_item("transport_bits", state::transport_bits())?;
    all.set_item("bitmap_bits", state::bits(&state::BITMAPS) * state::bitmap_bits(cap))?;
    all.set_item("wqe_bytes", state::WQE_BYTES)?;
    all.set_item("shared_bytes", size_of::<state::Shared>())?;
    all.set_item("nic_bytes", state::nic_bytes(cap, queue_pairs, wqes))?;
    all.set_item("words", state::words(cap).into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
    Ok(all)
}

/// What IRN's receivers answer to packets in their order of arrival, of many flows: whether with a NACK, and
/// the number expected next.
#[pyfunction]
pub fn irn_answers(flows: Vec<u32>, numbers: Vec<u32>) -> (Vec<bool>, Vec<u32>) {
    let mut receivers = std::collections::BTreeMap::new();
    let answers = flows.into_iter().zip(numbers).map(|(flow, number)| {
        let receiver = receivers.entry(flow).or_insert_with(|| IrnReceiver::new(Psn::new(0)));
        let reply = receiver.on_data(Psn::new(number));
        (reply.kind == ReplyKind::Nack, reply.cum.value())
    });
    answers.unzip()
}
