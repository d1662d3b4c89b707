//! Counters of a sender.

use super::SenderStats;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Round trips and their sum, which is exact however many and however long they are: 96 bits of picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RoundTrips {
    samples: u64,
    low: u64,
    high: u32,
}

impl RoundTrips {
    #[inline]
    pub fn add(&mut self, rtt: Span) {
        let (low, carry) = self.low.overflowing_add(rtt.ps());
        (self.low, self.high) = (low, self.high + u32::from(carry));
        self.samples += 1;
    }

    /// How many.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// In picoseconds.
    pub fn sum(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// Packets, expiries and round trips of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Data packets.
    pub sent: u64,
    /// Of these, sent before.
    pub resent: u64,
    /// Expiries of its timer.
    pub timeouts: u64,
    round_trips: RoundTrips,
}

impl Counts {
    /// A packet and its ACK took so long.
    pub fn round_trip(&mut self, rtt: Span) {
        self.round_trips.add(rtt);
    }

    /// The statistics with these payload bytes acknowledged and in flight. The window is unlimited unless the caller
    /// sets it.
    pub fn stats(&self, acked_bytes: u64, in_flight: u64) -> SenderStats {
        SenderStats {
            acked_bytes,
            sent_packets: self.sent,
            retransmitted_packets: self.resent,
            timeouts: self.timeouts,
            window: Bytes::MAX,
            threshold: Bytes::MAX,
            in_flight: Bytes::new(in_flight),
            rtt_sum: self.round_trips.sum(),
            rtt_samples: self.round_trips.samples(),
            ..SenderStats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_round_trip_is_exact_beyond_what_sixty_four_bits_can_sum() {
        let mut counts = Counts::default();
        // 400 days of round trips, in five of 80 days: a u64 of picoseconds ends after 213.
        (0..5).for_each(|_| counts.round_trip(Span::from_secs(80 * 86_400)));
        let stats = counts.stats(0, 0);
        assert_eq!((stats.rtt_samples, stats.mean_rtt()), (5, Some(Span::from_secs(80 * 86_400))));
    }
}
