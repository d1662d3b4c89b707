//! The receiver: it tracks arrivals, requests missing data again, and sends one ACK when everything has arrived. Grants
//! are sent by its host agent.

use super::super::collector::Collector;
use super::super::{Endpoint, Expiry, HomaSpec, ReceivingEnd, Reception, Transmit};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Message, Packet, Side};

/// The destination's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomaReceiver {
    flow: FlowId,
    all: Collector,
    /// When missing data is requested again; [`Time::MAX`]: nothing has arrived yet.
    request_at: Time,
    /// The request is due.
    request_due: bool,
}

impl HomaReceiver {
    /// Expects `size` bytes.
    pub(super) fn new(spec: &HomaSpec, flow: FlowId, size: u64) -> Self {
        Self {
            flow,
            all: Collector::new(flow, size, spec.payload),
            request_at: Time::MAX,
            request_due: false,
        }
    }

    /// The first missing range of bytes: from, to.
    fn gap(&self, spec: &HomaSpec) -> Option<(u64, u64)> {
        let from = self.all.missing(0)?;
        let size = self.all.size();
        let mut to = from;
        while to < size && !self.all.has(to) {
            to += u64::from(spec.payload);
        }
        Some((from, to.min(size)))
    }
}

impl Endpoint for HomaReceiver {
    type Spec = HomaSpec;

    fn on_packet(&mut self, spec: &HomaSpec, now: Time, packet: &Packet, _: Option<&Side>) -> Reception {
        let before = self.all.bytes();
        self.all.take(packet);
        // Duplicates are no progress: a sender that repeats its first packet every `resend` would postpone the request
        // for ever.
        if self.all.bytes() > before || self.request_at == Time::MAX {
            self.request_at = now.saturating_add(spec.resend);
        }
        Reception::Taken
    }

    fn on_timer(&mut self, spec: &HomaSpec, now: Time) -> Expiry {
        if self.is_done() || now < self.request_at {
            return Expiry::Other;
        }
        (self.request_due, self.request_at) = (true, now.saturating_add(spec.resend));
        Expiry::Retransmission
    }

    fn poll_transmit(
        &mut self,
        spec: &HomaSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if let Some(ack) = self.all.ack(spec.control) {
            *packet = ack;
            return Transmit::Packet;
        }
        let gap = if std::mem::take(&mut self.request_due) { self.gap(spec) } else { None };
        let Some((from, to)) = gap else { return Transmit::Idle };
        *packet = side.packet_of(Message::Resend { from, to }, now, self.flow, spec.control);
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        (!self.is_done() && self.request_at != Time::MAX).then_some(self.request_at)
    }

    fn is_done(&self) -> bool {
        self.all.has_all()
    }
}

impl ReceivingEnd for HomaReceiver {
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
