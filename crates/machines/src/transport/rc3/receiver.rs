//! RC3's receiving end: TCP's, one sequence space for both loops. ACKs are of the class of what they answer,
//! one for each packet, most recent block first, so that the primary loop's report nothing of the other's
//! arrivals but by their blocks.

use super::super::tcp::TcpReceiver;
use super::super::{Endpoint, Expiry, Rc3Spec, ReceivingEnd, Reception, Transmit};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Packet, Side};

/// RC3's receiving end.
// CHOICE RC3 §2.3.1: one RCV.NXT over all data, whichever loop sent it, as the unmodified out-of-order queue
// has it; the ACK bump depends on it. Other reading: low-priority ACKs carry the cumulative ACK "as per the
// high priority traffic".
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rc3Receiver(TcpReceiver);

impl Rc3Receiver {
    /// Expects `size` bytes.
    pub fn new(_: &Rc3Spec, flow: FlowId, size: u64) -> Self {
        Self(TcpReceiver::new(flow, size))
    }
}

impl Endpoint for Rc3Receiver {
    type Spec = Rc3Spec;

    #[inline]
    fn on_packet(&mut self, spec: &Rc3Spec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        self.0.on_packet(&spec.primary, now, packet, side)
    }
    fn on_timer(&mut self, spec: &Rc3Spec, now: Time) -> Expiry {
        self.0.on_timer(&spec.primary, now)
    }
    #[inline]
    fn poll_transmit(&mut self, spec: &Rc3Spec, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        self.0.poll_transmit(&spec.primary, now, packet, side)
    }
    fn timer(&self) -> Option<Time> {
        self.0.timer()
    }
    fn is_done(&self) -> bool {
        self.0.is_done()
    }
}

impl ReceivingEnd for Rc3Receiver {
    fn resize(&mut self, size: u64) {
        self.0.resize(size);
    }
    fn received(&self) -> u64 {
        self.0.received()
    }
    fn unique_bytes(&self) -> u64 {
        self.0.unique_bytes()
    }
    fn holds(&self, seq: u64, len: u32) -> bool {
        self.0.holds(seq, len)
    }
}
