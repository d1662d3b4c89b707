//! The destination's end: what has arrived, and one ACK of all. Tokens are its host agent's.

use super::super::{Endpoint, Expiry, Heard, PhostSpec, ReceivingEnd, Transmit};
use super::Arrivals;
use crate::packet::{Kind, Packet, Side};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};

/// The destination's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhostReceiver {
    flow: FlowId,
    size: u64,
    payload: u32,
    arrived: Arrivals,
    /// Distinct bytes.
    bytes: u64,
    /// When the packet was sent that the ACK of all answers; `None`: no ACK is due.
    answers: Option<Time>,
}

impl PhostReceiver {
    /// Expects `size` bytes; of endless flows, which no sender can announce, nothing.
    pub(super) fn new(spec: &PhostSpec, flow: FlowId, size: u64) -> Self {
        let packets = if size == u64::MAX { 0 } else { spec.packets(size) };
        let arrived = Arrivals::new(packets);
        Self { flow, size, payload: spec.payload, arrived, bytes: 0, answers: None }
    }
}

impl Endpoint for PhostReceiver {
    type Spec = PhostSpec;

    fn on_packet(&mut self, _: &PhostSpec, _: Time, packet: &Packet, _: Option<&Side>) -> Heard {
        if packet.kind == Kind::Data && self.arrived.insert(packet.seq / u64::from(self.payload)) {
            self.bytes += u64::from(packet.payload);
        }
        // What comes after the last byte did: the ACK was lost.
        self.answers = self.is_done().then_some(packet.stamp);
        Heard::default()
    }

    fn on_timer(&mut self, _: &PhostSpec, _: Time) -> Expiry {
        Expiry::Other
    }

    fn poll_transmit(&mut self, spec: &PhostSpec, _: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        let Some(stamp) = self.answers.take() else { return Transmit::Idle };
        let (seq, flow, wire) = (self.size, self.flow, spec.control);
        *packet = Packet { stamp, seq, flow, wire, kind: Kind::Ack, ..Packet::default() };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        None
    }

    fn is_done(&self) -> bool {
        self.bytes >= self.size
    }
}

impl ReceivingEnd for PhostReceiver {
    fn resize(&mut self, size: u64) {
        self.size = size;
    }
    fn received(&self) -> u64 {
        (self.arrived.lowest() * u64::from(self.payload)).min(self.size)
    }
    fn unique_bytes(&self) -> u64 {
        self.bytes
    }
}
