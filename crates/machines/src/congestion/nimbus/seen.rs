//! What the delay modes of NimbusCC are given at a tick.

use thalweg_units::Time;

/// What was measured, at a tick. Rates are bytes per second on the wire, times seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) now: Time,
    /// µ̂.
    pub(super) mu: f64,
    /// S.
    pub(super) sent: f64,
    /// ẑ.
    pub(super) cross: f64,
    /// x, the last round trip.
    pub(super) rtt: f64,
    /// The least round trip.
    pub(super) least: f64,
    /// The smoothed round trip.
    pub(super) smoothed: f64,
    /// Bytes on the wire acknowledged since the last tick.
    pub(super) acked: f64,
    /// Bytes on the wire of a full packet.
    pub(super) packet: f64,
}

/// 12 MB/s, a least round trip of 50 ms, packets of 1500 B.
#[cfg(test)]
pub(super) fn seen(rtt: f64) -> Seen {
    Seen {
        now: Time::from_ms(1000),
        mu: 12e6,
        sent: 6e6,
        cross: 6e6,
        rtt,
        least: 0.05,
        smoothed: rtt,
        acked: 60_000.0,
        packet: 1500.0,
    }
}
