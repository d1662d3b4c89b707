//! The cores on their own, then whole queue pairs packet by packet.

mod calls;
mod irn_golden;
mod irn_oracle;
mod irn_properties;
mod laws;
mod link;
mod paths;
mod rates;
mod roce;
mod selective;
mod stream;

use super::super::*;
use crate::congestion::{CongestionControl, ControllerSpec, Permit};
use crate::transport::recorder;
use thalweg_units::Bytes;

/// IRN without congestion control; packets of 1000 B, so that offsets read as numbers, and 1250 B on the wire: 1 us at
/// 10 Gb/s.
pub(super) fn spec() -> RdmaSpec {
    RdmaSpec {
        controller: ControllerSpec::Fixed(Default::default()),
        payload: 1000,
        header: 250,
        extra_header: 0,
        answers: AnswerSpec { ack: 70, nack: 74 },
        recovery: Recovery::Irn { sack: true, nack_threshold: 1, enter_on_advance: false },
        cap: Some(110),
        acks: RdmaAcks::PerPacket,
        timer: RdmaTimer::Pair {
            low: Span::from_us(100),
            high: Span::from_us(320),
            max_in_flight: 3,
            max_rate_factor: 4,
        },
        timer_restart: TimerRestart::Progress,
        fetch_delay: Span::ZERO,
        rank: Rank::None,
        notification: Notification::Off,
        rtt: RoundTrips {
            segment: 1,
            less_serialization: false,
            nacks: false,
            resent: false,
            noise: Span::ZERO,
        },
        segments: None,
        path_values: None,
    }
}
