//! What a source counts.

use super::SenderStats;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Packets, expiries and round trips of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Data packets.
    pub sent: u64,
    /// Of these, sent before.
    pub resent: u64,
    /// Expiries of its timer.
    pub timeouts: u64,
    rtt_sum: Span,
    rtt_samples: u32,
}

impl Counts {
    /// A packet and its ACK took so long.
    pub fn round_trip(&mut self, rtt: Span) {
        self.rtt_sum = Span::from_ps(self.rtt_sum.ps().saturating_add(rtt.ps()));
        self.rtt_samples = self.rtt_samples.saturating_add(1);
    }

    /// How many.
    pub fn round_trips(&self) -> u32 {
        self.rtt_samples
    }

    /// With so many payload bytes acknowledged and believed to be in the network. No window holds it back, if nothing else is said.
    pub fn stats(&self, acked_bytes: u64, in_flight: u64) -> SenderStats {
        SenderStats {
            acked_bytes,
            sent_packets: self.sent,
            retransmitted_packets: self.resent,
            timeouts: self.timeouts,
            window: Bytes::MAX,
            threshold: Bytes::MAX,
            other_window: Bytes::MAX,
            in_flight: Bytes::new(in_flight),
            rtt_sum: self.rtt_sum,
            rtt_samples: self.rtt_samples,
            ..SenderStats::default()
        }
    }
}
