//! The model of the path: what is in flight, rounds, a full pipe, the least round trip.
//! draft-cardwell-iccrg-bbr-congestion-control-00, §4.1.1 to §4.1.2, §4.3.2, §4.3.5, with its names in
//! backquotes.

use super::super::AckSample;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// The pipe is full after this many rounds in which the bandwidth grew by less than the factor below.
const FULL_ROUNDS: u8 = 3;
const FULL_GROWTH: f64 = 1.25;

/// Payload bytes in flight, and delivered and lost so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Flight {
    pub(super) in_flight: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// The smallest round trip so far; a delivery rate sample over a shorter interval is discarded.
    pub(super) least: Option<Span>,
    /// C.delivered when the first and the last segment of PROBE_RTT were sent. Rate samples of segments in between are
    /// treated as application-limited: they do not show the path's limit.
    pub(super) limited: (u64, u64),
}

impl Flight {
    pub(super) fn new() -> Self {
        Self { in_flight: 0, delivered: 0, lost: 0, least: None, limited: (1, 0) }
    }

    /// Takes in an ACK: the bytes that it delivers, and those it shows to be lost, namely those that are neither
    /// delivered nor in flight any more.
    pub(super) fn observe(&mut self, ack: &AckSample<'_>) -> (u64, u64) {
        let acked = (ack.acked + ack.sacked).get();
        let lost = self.in_flight.saturating_sub(acked + ack.in_flight.get());
        self.in_flight = ack.in_flight.get();
        (self.delivered, self.lost) = (self.delivered + acked, self.lost + lost);
        if let Some(rtt) = ack.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        (acked, lost)
    }

    /// Everything in flight is lost.
    pub(super) fn all_lost(&mut self) {
        self.lost += std::mem::take(&mut self.in_flight);
    }

    /// Whether a segment that was sent when C.delivered was `delivered` was sent in PROBE_RTT.
    pub(super) fn is_limited(&self, delivered: u64) -> bool {
        (self.limited.0..=self.limited.1).contains(&delivered)
    }
}

/// Round trips, counted: a segment sent in one is acknowledged in the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// `round_count`, `round_start`, `next_round_delivered`.
    pub(super) count: u64,
    pub(super) begins: bool,
    pub(super) next: u64,
}

impl Rounds {
    /// BBRUpdateRound: a segment is acknowledged that was sent when C.delivered was `sent_at`; now it is `delivered`.
    pub(super) fn update(&mut self, sent_at: u64, delivered: u64) {
        self.begins = sent_at >= self.next;
        if self.begins {
            self.next = delivered;
            self.count += 1;
        }
    }
}

/// Whether STARTUP has filled the pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FullPipe {
    /// `filled_pipe`, `full_bw`, `full_bw_count`.
    pub(super) filled: bool,
    bw: u64,
    count: u8,
}

impl FullPipe {
    /// BBRCheckFullPipe, at the beginning of a round.
    pub(super) fn check(&mut self, bandwidth: u64) {
        if self.filled {
            return;
        }
        if bandwidth as f64 >= self.bw as f64 * FULL_GROWTH {
            (self.bw, self.count) = (bandwidth, 0);
            return;
        }
        self.count += 1;
        self.filled = self.count >= FULL_ROUNDS;
    }

    /// After a timeout the search for growth begins anew, as in Linux.
    pub(super) fn forget(&mut self) {
        self.bw = 0;
    }
}

/// The least round trip, and PROBE_RTT, which measures it anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoundTrips {
    /// `RTprop` and `rtprop_stamp`.
    pub(super) rtprop: Option<Span>,
    pub(super) at: Time,
    /// `probe_rtt_done_stamp`, `probe_rtt_round_done`.
    pub(super) done_at: Option<Time>,
    pub(super) round_done: bool,
    /// The flow has been idle: it needs no PROBE_RTT before the next ACK.
    pub(super) idle_restart: bool,
}

impl RoundTrips {
    /// BBRUpdateRTprop. Returns true if the estimate is older than `window`.
    pub(super) fn update(&mut self, now: Time, rtt: Option<Span>, window: Span) -> bool {
        let expired = self.rtprop.is_some() && now.since(self.at) > window;
        if let Some(rtt) = rtt
            && (expired || self.rtprop.is_none_or(|rtprop| rtt <= rtprop))
        {
            (self.rtprop, self.at) = (Some(rtt), now);
        }
        expired
    }

    /// PROBE_RTT has lasted for its minimum time and one round.
    pub(super) fn is_done(&self, now: Time) -> bool {
        self.round_done && self.done_at.is_some_and(|done| now > done)
    }
}
