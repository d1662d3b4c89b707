//! The end at the destination of a transport whose receivers answer once: which packets have come, and one ACK of all.

use super::arrivals::Arrivals;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Kind, Packet};

/// The packets of a flow that have arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Collector {
    flow: FlowId,
    size: u64,
    payload: u32,
    arrived: Arrivals,
    /// Distinct bytes.
    bytes: u64,
    /// When the packet was sent that the ACK of the whole flow answers; `None`: no ACK is due.
    answers: Option<Time>,
}

impl Collector {
    /// Expects `size` bytes in packets of `payload`; of endless flows, which no sender can announce, nothing.
    pub fn new(flow: FlowId, size: u64, payload: u32) -> Self {
        let packets = if size == u64::MAX { 0 } else { size.div_ceil(u64::from(payload.max(1))) };
        Self { flow, size, payload, arrived: Arrivals::new(packets), bytes: 0, answers: None }
    }

    /// A packet has arrived. If everything had arrived before, this shows that the ACK was lost, so it is sent again.
    pub fn take(&mut self, packet: &Packet) {
        if packet.kind == Kind::Data && self.arrived.insert(packet.seq / u64::from(self.payload)) {
            self.bytes += u64::from(packet.payload);
        }
        self.answers = self.has_all().then_some(packet.stamp);
    }

    /// The ACK of the whole flow if it is due; `wire`: its bytes on the wire.
    pub fn ack(&mut self, wire: u32) -> Option<Packet> {
        let stamp = self.answers.take()?;
        Some(Packet { stamp, seq: self.size, flow: self.flow, wire, kind: Kind::Ack, ..Packet::default() })
    }

    pub fn has_all(&self) -> bool {
        self.bytes >= self.size
    }
    /// Changes the flow's size.
    pub fn resize(&mut self, size: u64) {
        self.size = size;
    }
    /// All bytes below this one have arrived.
    pub fn in_order(&self) -> u64 {
        (self.arrived.lowest() * u64::from(self.payload)).min(self.size)
    }
    /// The first packet that is missing from the one of this byte on, else from the beginning: its first byte.
    pub fn missing(&self, from: u64) -> Option<u64> {
        let payload = u64::from(self.payload);
        self.arrived.missing(from / payload).map(|index| index * payload)
    }
    /// The packet that has this byte has come.
    pub fn has(&self, seq: u64) -> bool {
        self.arrived.has(seq / u64::from(self.payload))
    }
    /// Distinct bytes that have come.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// The flow's size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}
