//! Flows: source, destination, size and start.

use serde::{Deserialize, Serialize};
use thalweg_units::{HostId, Time};

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSpec {
    /// The NIC that sends.
    pub src: HostId,
    /// The NIC that receives; differs from `src`.
    pub dst: HostId,
    /// Payload bytes, at least 1; `u64::MAX` for a flow without end (backlogged).
    pub size: u64,
    /// When it starts; for flows that follow others ([`precedence`](super::NetworkSpec::precedence)), the pause after
    /// the last byte of the last of them arrived.
    pub start: Time,
    /// The time at which a flow without end stops sending; it is complete once that is delivered. [`Time::MAX`]: never.
    pub until: Time,
    /// The connection that carries it, with all other flows of the same number (same ends, same transport):
    /// one after the other in the order of their starts, and the controller goes on where the one before left
    /// it (RDMA only). `u32::MAX`: a fresh connection of its own.
    pub connection: u32,
    /// Not one after the other but back to back, as messages of one stream: a flow's first packet follows the
    /// last of the flow before at once.
    pub back_to_back: bool,
    /// Index into `transports`.
    pub transport: u16,
    /// Written into [`thalweg_wire::Packet::class`] of its data.
    pub class: u8,
    /// Counts towards the statistics and towards `StopSpec::when_measured_done`.
    pub measured: bool,
    /// Which traffic section made it.
    pub group: u16,
}
