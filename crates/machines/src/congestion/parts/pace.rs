//! A pace for windows that come without one: what they permit, spread over a round trip, as Linux has it
//! (net/ipv4/tcp_input.c, tcp_update_pacing_rate): twice as fast in slow start, so that the window can double, and
//! somewhat faster than the window afterwards, so that pacing does not hold it back.

use thalweg_units::{Bytes, Rate, Span};

/// tcp_pacing_ss_ratio.
const SLOW_START: f64 = 2.0;

/// Bits per second on the wire for a window of payload, `gain` times as fast as a round trip needs; twice as fast in
/// slow start. `segment` and `header`: payload and header bytes of a packet. `None` before a round trip is measured.
pub fn of_window(
    window: Bytes,
    threshold: Bytes,
    srtt: Span,
    (segment, header): (u32, u32),
    gain: f64,
) -> Option<Rate> {
    if srtt.is_zero() {
        return None;
    }
    // As in Linux, the last doubling of slow start is already paced as congestion avoidance is.
    let gain = if window.get() < threshold.get() / 2 { SLOW_START } else { gain };
    let wire = f64::from(segment.saturating_add(header)) / f64::from(segment.max(1));
    Some(Rate::from_bps(((window.get() as f64 * 8.0 * wire * gain / srtt.secs()) as u64).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_window_per_round_trip_in_slow_start_and_a_little_more_than_it_afterwards() {
        let pace = |window, threshold| {
            let (window, threshold) = (Bytes::new(window), Bytes::new(threshold));
            of_window(window, threshold, Span::from_ms(10), (1000, 50), 1.25).map(Rate::bps)
        };
        // 10 000 B and their headers, 84 000 bits, in 10 ms.
        assert_eq!(pace(10_000, u64::MAX), Some(16_800_000));
        assert_eq!(pace(10_000, 20_000), Some(10_500_000), "the last doubling");
        assert_eq!(pace(10_000, 10_000), Some(10_500_000));
        assert_eq!(of_window(Bytes::new(1), Bytes::MAX, Span::ZERO, (1, 0), 1.25), None);
    }

    #[test]
    fn a_pace_is_above_zero_whatever_packets_hold() {
        let slow =
            |packet| of_window(Bytes::ZERO, Bytes::ZERO, Span::from_ms(10), packet, 1.2).map(Rate::bps);
        assert_eq!([(1000, 50), (0, 0), (u32::MAX, 50)].map(slow), [Some(1); 3]);
    }
}
