//! The receiver: it tracks arrivals and sends one ACK when everything has arrived. Tokens are sent by its host agent.

use super::super::collector::Collector;
use super::super::{Endpoint, Expiry, PhostSpec, ReceivingEnd, Reception, Transmit};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Packet, Side};

/// The destination's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhostReceiver(Collector);

impl PhostReceiver {
    /// Expects `size` bytes.
    pub(super) fn new(spec: &PhostSpec, flow: FlowId, size: u64) -> Self {
        Self(Collector::new(flow, size, spec.payload))
    }
}

impl Endpoint for PhostReceiver {
    type Spec = PhostSpec;

    fn on_packet(&mut self, _: &PhostSpec, _: Time, packet: &Packet, _: Option<&Side>) -> Reception {
        self.0.take(packet);
        Reception::Taken
    }

    fn on_timer(&mut self, _: &PhostSpec, _: Time) -> Expiry {
        Expiry::Other
    }

    fn poll_transmit(&mut self, spec: &PhostSpec, _: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        let Some(ack) = self.0.ack(spec.control) else { return Transmit::Idle };
        *packet = ack;
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        None
    }

    fn is_done(&self) -> bool {
        self.0.has_all()
    }
}

impl ReceivingEnd for PhostReceiver {
    fn resize(&mut self, size: u64) {
        self.0.resize(size);
    }
    fn received(&self) -> u64 {
        self.0.in_order()
    }
    fn unique_bytes(&self) -> u64 {
        self.0.bytes()
    }
}
