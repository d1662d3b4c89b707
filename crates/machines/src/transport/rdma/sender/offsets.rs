//! How far a flow has come, in payload bytes from its first.

use crate::congestion::Loss;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offsets {
    /// The lowest byte not acknowledged, the next to send, and the first never sent.
    pub(super) acked_to: u64,
    pub(super) next_to: u64,
    pub(super) sent_to: u64,
    /// Bytes selectively acknowledged.
    pub(super) sacked: u64,
    /// Bytes that earlier flows of the connection have sent: the controller's count goes on.
    pub(super) origin: u64,
    /// The receiver acknowledges; otherwise the flow is done when all is sent.
    pub(super) acknowledged: bool,
}

impl Offsets {
    pub(super) fn new(acknowledged: bool) -> Self {
        Self { acked_to: 0, next_to: 0, sent_to: 0, sacked: 0, origin: 0, acknowledged }
    }

    /// A packet leaves that ends here.
    #[inline]
    pub(super) fn on_sent(&mut self, end: u64) {
        self.next_to = self.next_to.max(end);
        self.sent_to = self.sent_to.max(end);
    }

    /// Everything below is acknowledged: how many bytes more than before.
    #[inline]
    pub(super) fn advance(&mut self, to: u64) -> u64 {
        let advanced = to - self.acked_to;
        self.acked_to = to;
        self.next_to = self.next_to.max(to);
        advanced
    }

    /// Believed to be in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        if self.acknowledged { self.next_to - self.acked_to - self.sacked } else { 0 }
    }

    /// As far as nothing more is to be done.
    #[inline]
    pub(super) fn done_to(&self) -> u64 {
        if self.acknowledged { self.acked_to } else { self.next_to }
    }

    /// What was acknowledged and sent by all flows of the connection.
    #[inline]
    pub(super) fn in_all(&self) -> (u64, u64) {
        (self.origin + self.acked_to, self.origin + self.sent_to)
    }

    /// A loss that is found now.
    #[inline]
    pub(super) fn loss(&self, now: Time) -> Loss {
        let (acked_to, sent_to) = self.in_all();
        Loss { now, in_flight: Bytes::new(self.sent_to - self.acked_to), acked_to, sent_to }
    }
}
