//! The pace of windows without one ([`pace`]): after slow start 1.2 windows per round trip, as in Linux.

use super::super::super::TcpSpec;
use crate::congestion::pace;
use thalweg_units::{Bytes, Rate, Span};

/// tcp_pacing_ca_ratio.
const AVOIDANCE: f64 = 1.2;

/// Bits per second on the wire; `None`: no round trip was measured yet.
pub(super) fn pace(spec: &TcpSpec, window: Bytes, threshold: Bytes, srtt: Span) -> Option<Rate> {
    pace::of_window(window, threshold, srtt, (spec.mss, spec.header), AVOIDANCE)
}

#[cfg(test)]
mod tests {
    use super::super::super::super::testing::tcp;
    use super::*;

    #[test]
    fn twice_the_window_per_round_trip_in_slow_start_and_a_fifth_more_afterwards() {
        let spec = TcpSpec { mss: 1000, header: 50, ..tcp() };
        let pace = |window, threshold| {
            let made = pace(&spec, Bytes::new(window), Bytes::new(threshold), Span::from_ms(10));
            made.map(|rate| rate.bps())
        };
        // 10 000 B and their headers, 84 000 bits, in 10 ms.
        assert_eq!(pace(10_000, u64::MAX), Some(16_800_000));
        assert_eq!(pace(10_000, 20_000), Some(10_080_000), "the last doubling");
        assert_eq!(pace(10_000, 10_000), Some(10_080_000));
        assert_eq!(super::pace(&spec, Bytes::new(1), Bytes::MAX, Span::ZERO), None);
    }
}
