//! How much later than decided packets were handed to the far end, and whether that is too late.

use crate::histogram::Histogram;
use crate::way::Way;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// A share of the round trip that lateness may take.
const OF_ROUND_TRIP: u64 = 100;

/// Of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// From the instant of arrival that was decided to the call that handed the packet over.
    pub histogram: Histogram,
    /// What its p99 may be, ns.
    pub allowed_ns: u64,
    /// Its p99 is more: what was measured is not only the path that was described.
    pub late: bool,
}

/// What the p99 of lateness may be: the time of a packet of 1500 bytes (at the slowest port), or a hundredth of the
/// round trip, whichever is more. Below that the emulator disturbs the applications less than another packet in the
/// queue, or noise of the round trip that no transport resolves.
pub fn allowed(way: &Way, round_trip: Span) -> Span {
    way.packet_time().max(Span::from_ps(round_trip.ps() / OF_ROUND_TRIP))
}

impl Lateness {
    /// The verdict.
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
