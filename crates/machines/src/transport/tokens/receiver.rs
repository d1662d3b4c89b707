//! The destination's end: what has arrived, and an ACK for each packet. Tokens are its host agent's.

use super::super::{Endpoint, Expiry, Heard, ReceivingEnd, TokenSpec, Transmit};
use super::arrivals::Arrivals;
use crate::packet::{Kind, Packet, Side};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};

/// What an ACK answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Trigger {
    seq: u64,
    payload: u32,
    stamp: Time,
}

/// The destination's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenReceiver {
    flow: FlowId,
    size: u64,
    payload: u32,
    arrived: Arrivals,
    /// Distinct bytes.
    bytes: u64,
    answers: VecDeque<Trigger>,
}

impl TokenReceiver {
    /// Expects `size` bytes; of endless flows, which no sender can announce, nothing.
    pub(super) fn new(spec: &TokenSpec, flow: FlowId, size: u64) -> Self {
        let packets = if size == u64::MAX { 0 } else { size.div_ceil(u64::from(spec.payload.max(1))) };
        let arrived = Arrivals::new(packets);
        Self { flow, size, payload: spec.payload, arrived, bytes: 0, answers: VecDeque::new() }
    }
}

impl Endpoint for TokenReceiver {
    type Spec = TokenSpec;

    fn on_packet(&mut self, _: &TokenSpec, _: Time, packet: &Packet, _: Option<&Side>) -> Heard {
        let Packet { seq, payload, stamp, .. } = *packet;
        // A request that is repeated after the last byte came: the last ACK was lost.
        let late = packet.kind == Kind::Syn && self.is_done();
        if packet.kind == Kind::Data {
            if self.arrived.insert(seq / u64::from(self.payload)) {
                self.bytes += u64::from(payload);
            }
            self.answers.push_back(Trigger { seq, payload, stamp });
        } else if late {
            self.answers.push_back(Trigger { seq: 0, payload: 0, stamp });
        }
        Heard::default()
    }

    fn on_timer(&mut self, _: &TokenSpec, _: Time) -> Expiry {
        Expiry::Other
    }

    fn poll_transmit(&mut self, spec: &TokenSpec, _: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        let Some(Trigger { seq, payload, stamp }) = self.answers.pop_front() else { return Transmit::Idle };
        *packet = Packet {
            stamp,
            seq: self.received(),
            echo: seq,
            flow: self.flow,
            wire: spec.control,
            payload,
            kind: Kind::Ack,
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        None
    }

    fn is_done(&self) -> bool {
        self.bytes >= self.size
    }
}

impl ReceivingEnd for TokenReceiver {
    fn stop(&mut self, size: u64) {
        self.size = size;
    }
    fn received(&self) -> u64 {
        (self.arrived.lowest() * u64::from(self.payload)).min(self.size)
    }
    fn unique_bytes(&self) -> u64 {
        self.bytes
    }
}
