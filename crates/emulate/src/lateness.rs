//! How late packets are handed to the far end, relative to the decided times, and whether this is too late.

use crate::histogram::Histogram;
use crate::way::Way;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Divisor of the round trip that gives the allowed lateness.
const OF_ROUND_TRIP: u64 = 100;

/// The lateness of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Time from the decided arrival at the far end to the call that sent the packet.
    pub histogram: Histogram,
    /// Largest allowed 99th percentile, ns.
    pub allowed_ns: u64,
    /// True if the 99th percentile is larger: then measurements include delays of the emulator.
    pub late: bool,
}

/// The allowed 99th percentile of lateness: the transmission time of 1500 bytes at the slowest port, or a hundredth of
/// the round trip, whichever is longer. Less than that affects applications less than another packet in the queue, or
/// than noise of the round trip that no transport can resolve.
pub fn allowed(way: &Way, round_trip: Span) -> Span {
    way.packet_time().max(Span::from_ps(round_trip.ps() / OF_ROUND_TRIP))
}

impl Lateness {
    /// Compares a histogram with the allowed lateness.
    pub fn new(histogram: Histogram, allowed: Span) -> Self {
        let allowed_ns = allowed.ps() / 1000;
        let late = histogram.quantile(0.99) > allowed_ns;
        Self { histogram, allowed_ns, late }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_of_a_hundred_may_be_later_than_allowed_and_two_may_not() {
        let late = |above: u64| {
            let mut histogram = Histogram::default();
            (0..100).for_each(|n| histogram.add(if n < above { 300_000 } else { 5_000 }));
            Lateness::new(histogram, Span::from_us(200)).late
        };
        assert_eq!([0, 1, 2].map(late), [false, false, true]);
    }
}
