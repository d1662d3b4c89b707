//! What was observed between two decisions that come from outside.

use crate::congestion::{AckSample, Permit};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};

/// What a controller that is decided from outside ([`external`](super::super::external)) has observed since its last
/// decision.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// When the last decision took effect, or the first observation was made.
    pub since: Time,
    /// It waits for the next decision.
    pub due: bool,
    /// The permit since then; its `wake` is not used.
    pub permit: Permit,
    /// Payload bytes sent, retransmissions included.
    pub sent: Bytes,
    /// Payload bytes acknowledged for the first time.
    pub delivered: Bytes,
    /// Of these, payload bytes that met congestion (CE).
    pub marked: Bytes,
    /// Payload bytes in flight when the interval began.
    pub before: Bytes,
    /// Payload bytes in flight now.
    pub in_flight: Bytes,
    /// Number of round trips measured in the interval.
    pub round_trips: u64,
    /// See `round_trips`.
    pub rtt_sum: Span,
    /// See `round_trips`; `None`: none was measured.
    pub rtt_least: Option<Span>,
    /// The round trip, smoothed as TCP's over the flow's whole life (RFC 6298, gain 1/8); zero: none was measured yet.
    pub srtt: Span,
    /// The least round trip of the flow's life; [`Span::MAX`]: none was measured yet.
    pub rtt_floor: Span,
    /// Recovery episodes: losses inferred from ACKs.
    pub losses: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
}

impl Interval {
    /// The first of a flow.
    pub(in crate::congestion) fn first(now: Time, permit: Permit) -> Self {
        Self { since: now, permit, rtt_floor: Span::MAX, ..Self::default() }
    }

    /// The next one, which begins with a decision.
    pub(in crate::congestion) fn next(&self, now: Time, permit: Permit) -> Self {
        let Self { in_flight, srtt, rtt_floor, .. } = *self;
        Self { since: now, permit, before: in_flight, in_flight, srtt, rtt_floor, ..Self::default() }
    }

    pub(in crate::congestion) fn send(&mut self, bytes: Bytes, in_flight: Bytes) {
        self.sent += bytes;
        self.in_flight = in_flight;
    }

    pub(in crate::congestion) fn acknowledge(&mut self, ack: &AckSample<'_>) {
        self.delivered += ack.acked + ack.sacked;
        self.marked += ack.marked;
        self.in_flight = ack.in_flight;
        if let Some(rtt) = ack.rtt {
            self.round_trips += 1;
            self.rtt_sum += rtt;
            self.rtt_least = Some(self.rtt_least.map_or(rtt, |least| least.min(rtt)));
            self.measure(rtt);
        }
    }

    /// A round trip; the handshake's does not count among those of the interval.
    pub(in crate::congestion) fn measure(&mut self, rtt: Span) {
        let smoothed = (self.srtt.ps() - self.srtt.ps() / 8).saturating_add(rtt.ps() / 8);
        self.srtt = if self.srtt.is_zero() { rtt } else { Span::from_ps(smoothed) };
        self.rtt_floor = self.rtt_floor.min(rtt);
    }

    /// The mean round trip of the interval; `None`: none was measured.
    pub fn rtt_mean(&self) -> Option<Span> {
        self.rtt_sum.ps().checked_div(self.round_trips).map(Span::from_ps)
    }

    /// Payload bytes that were found lost: sent, and neither delivered nor in the network any more.
    pub fn lost(&self) -> Bytes {
        let gone = self.before + self.sent;
        Bytes::new(gone.get().saturating_sub((self.delivered + self.in_flight).get()))
    }
}
