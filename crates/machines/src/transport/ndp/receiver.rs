//! The receiver: an ACK for every packet, a NACK for every trimmed header (§3.2). Pulls are sent by its host agent.

use super::super::collector::Collector;
use super::super::{Endpoint, Expiry, NdpSpec, ReceivingEnd, Reception, Transmit};
use super::PathCycle;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Stream, Time};
use thalweg_wire::{Flags, Kind, Packet, Side};

/// The destination's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NdpReceiver {
    all: Collector,
    paths: PathCycle,
    /// The packet that arrived last, until it is answered.
    answers: Option<Packet>,
}

impl NdpReceiver {
    /// Expects `size` bytes.
    pub(super) fn new(spec: &NdpSpec, flow: FlowId, size: u64, stream: Stream) -> Self {
        let paths = PathCycle::new(spec.paths, stream);
        Self { all: Collector::new(flow, size, spec.payload), paths, answers: None }
    }
}

impl Endpoint for NdpReceiver {
    type Spec = NdpSpec;

    fn on_packet(&mut self, _: &NdpSpec, _: Time, packet: &Packet, _: Option<&Side>) -> Reception {
        if packet.kind != Kind::Data {
            return Reception::Ignored;
        }
        if !packet.is_trimmed() {
            self.all.take(packet);
        }
        self.answers = Some(*packet);
        Reception::Taken
    }

    fn on_timer(&mut self, _: &NdpSpec, _: Time) -> Expiry {
        Expiry::Other
    }

    fn poll_transmit(&mut self, spec: &NdpSpec, _: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        let Some(came) = self.answers.take() else { return Transmit::Idle };
        *packet = Packet {
            stamp: came.stamp,
            seq: self.all.in_order(),
            trigger: came.seq,
            flow: came.flow,
            wire: spec.control,
            payload: came.payload,
            kind: Kind::Ack,
            route: self.paths.next(),
            flags: if came.is_trimmed() { Flags::NACK } else { Flags::default() },
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        None
    }

    fn is_done(&self) -> bool {
        self.all.has_all()
    }
}

impl ReceivingEnd for NdpReceiver {
    fn resize(&mut self, size: u64) {
        self.all.resize(size);
    }
    fn received(&self) -> u64 {
        self.all.in_order()
    }
    fn unique_bytes(&self) -> u64 {
        self.all.bytes()
    }
}
