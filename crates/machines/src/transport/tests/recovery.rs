//! Fast retransmit and fast recovery, with SACK and without.

use super::super::testing::*;
use super::super::*;

/// Four segments, slow start: 4, 8, 16.
fn iw(segments: u64, spec: TcpSpec) -> TcpSpec {
    TcpSpec { initial_window: Bytes::new(segments * MSS), ..spec }
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let mut pair = Pair::new(iw(2, tcp()), 14);
    pair.run_losing(&[]);
    assert_eq!(pair.sent(), ["0: 0 1", "100: 2 3 4 5", "200: 6 7 8 9 10 11 12 13"]);
    assert_eq!(pair.stats().retransmitted_packets, 0);
}
