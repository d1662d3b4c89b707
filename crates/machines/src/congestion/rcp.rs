//! RCP's sender: it sends at the rate that the routers name. Dukkipati, McKeown, "Why Flow-Completion Time is
//! the Right Metric for Congestion Control", CCR 2006. Needs: RCP's routers on the way
//! (`marking = { kind = "rcp" }`). Where connections are set up, SYN and its answer bring the first rate
//! (§II); the first data leave at it.
//!
//! ```text
//! CHOICE RCP §II: without a handshake `probe` segments leave at once; losses and timeouts change nothing.
//! CHOICE RC3 §2.4.1: `in_flight` counts whole segments, rounded down, of a round trip smoothed as RFC 6298 does.
//! ```

use super::{
    AckSample, CongestionControl, Explicit, ExplicitKind, Feedback, FeedbackKind, Gives, Loss, Needs,
    Parameters, Permit, Problems, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// RCP's sender: it sends at the rate that routers assign (Dukkipati, McKeown, CCR 2006).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Segments sent before the first rate is known. Not used with a handshake, which brings the rate before the first
    /// data.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub probe: u32,
    /// Limit of the data in flight once the rate is known.
    pub in_flight: InFlight,
    /// A new rate also reschedules the next packet, as in the RCP that RC3 is compared with. Otherwise it applies from
    /// the packet after that on. Over `tcp` only.
    pub at_once: bool,
}

/// Limit of the data in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InFlight {
    /// The transport's largest window.
    #[default]
    Unlimited,
    /// The rate times the round trip, at least a segment (the RCP that RC3 is compared with, UCB/EECS-2018-103,
    /// §2.4.1).
    RoundTrip,
}

impl Default for Params {
    fn default() -> Self {
        Self { probe: 10, in_flight: InFlight::Unlimited, at_once: false }
    }
}

impl Parameters for Params {
    type Machine = Rcp;

    fn needs(&self) -> Needs {
        Needs {
            feedback: FeedbackKind::Explicit(ExplicitKind::Rate),
            gives: Gives::Pace,
            round_trips: self.in_flight == InFlight::RoundTrip,
            moves_departures: self.at_once,
            ..Needs::WINDOW
        }
    }

    fn check(&self, _: Rate, problems: &mut Problems) {
        if self.probe == 0 || self.probe > 1_000_000 {
            problems.wrong("probe", format!("{} is out of range", self.probe), "allowed: 1 to 1000000");
        }
    }

    fn make(&self, start: &Start) -> Result<Rcp, Invalid> {
        let probe = Bytes::new(u64::from(start.mss) * u64::from(self.probe));
        Ok(Rcp {
            line: start.line_rate,
            probe: probe.min(start.max_window),
            most: start.max_window,
            in_flight: self.in_flight,
            mss: start.mss.max(1),
            wire: start.mss.saturating_add(start.header).max(1),
            srtt: None,
            window: start.max_window,
            pace: None,
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { in_flight: InFlight::RoundTrip, at_once: true, ..Self::default() }]
    }
}

/// RCP's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rcp {
    line: Rate,
    probe: Bytes,
    /// The transport's largest window.
    most: Bytes,
    in_flight: InFlight,
    mss: u32,
    /// A full segment on the wire.
    wire: u32,
    /// Smoothed round trip, if the window depends on it.
    srtt: Option<Span>,
    /// Once the rate is known.
    window: Bytes,
    /// R; `None`: not received yet.
    pace: Option<Rate>,
}

impl Rcp {
    fn observe(&mut self, rtt: Option<Span>, feedback: Feedback<'_>) {
        if let Feedback::Explicit(Explicit::Rate(Some(rate))) = feedback {
            self.pace = Some(rate.min(self.line).max(Rate::from_bps(1)));
        }
        if self.in_flight == InFlight::Unlimited {
            return;
        }
        if let Some(rtt) = rtt {
            // RFC 6298 (2.3): an eighth.
            let smooth = |srtt: Span| Span::from_ps(srtt.ps() - srtt.ps() / 8 + rtt.ps() / 8);
            self.srtt = Some(self.srtt.map_or(rtt, smooth));
        }
        if let (Some(rate), Some(srtt)) = (self.pace, self.srtt) {
            // max(1, R·rtt / (MSS + 40)) segments.
            let bits = u128::from(rate.bps()) * u128::from(srtt.ps()) / 1_000_000_000_000;
            let segments = (bits / 8 / u128::from(self.wire)).clamp(1, 1 << 31) as u64;
            self.window = Bytes::new(segments * u64::from(self.mss)).min(self.most);
        }
    }
}

impl CongestionControl for Rcp {
    fn on_open(&mut self, _: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        self.observe(rtt, feedback);
    }
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.observe(ack.rtt, ack.feedback);
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    #[inline]
    fn permit(&self) -> Permit {
        let window = if self.pace.is_some() { self.window } else { self.probe };
        Permit { window, pace: self.pace, wake: None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, start};
    use super::*;

    #[test]
    fn a_probe_leaves_first_and_then_the_pace_is_what_was_named_last() {
        let mut c = Params::default().make(&start(1000, 3)).unwrap();
        assert_eq!(c.permit(), Permit::window(Bytes::new(10_000)));
        let mut reported = |rate| {
            c.on_ack(&AckSample { feedback: Feedback::Explicit(Explicit::Rate(rate)), ..ack(1000, 0) });
            (c.permit().window, c.permit().pace)
        };
        assert_eq!(reported(None), (Bytes::new(10_000), None));
        let slow = Some(Rate::from_mbps(3));
        assert_eq!(reported(slow), (Bytes::MAX, slow));
        assert_eq!(reported(None), (Bytes::MAX, slow));
        assert_eq!(reported(Some(Rate::from_gbps(99))).1, Some(Rate::from_gbps(10)), "the line");
    }

    /// 12 Mb/s and 10 ms: 15 000 B, ten segments of 1460 B with their headers.
    #[test]
    fn the_answer_to_the_syn_brings_the_first_rate_and_what_it_brings_in_a_round_trip_may_be_out() {
        let p = Params { in_flight: InFlight::RoundTrip, ..Params::default() };
        let mut c = p.make(&Start { header: 40, ..start(1460, 4) }).unwrap();
        let rate = |mbps| Feedback::Explicit(Explicit::Rate(Some(Rate::from_mbps(mbps))));
        c.on_open(Time::ZERO, Some(Span::from_ms(10)), rate(12));
        let permit = |window| Permit { window: Bytes::new(window), ..c_pace(12) };
        fn c_pace(mbps: u64) -> Permit {
            Permit { pace: Some(Rate::from_mbps(mbps)), ..Permit::default() }
        }
        assert_eq!(c.permit(), permit(14_600));
        // 11 ms: the smoothed round trip is 10.125 ms, 15 187 B.
        let mut reported = |rtt, mbps| {
            c.on_ack(&AckSample { rtt, feedback: rate(mbps), ..ack(1460, 0) });
            c.permit().window.get() / 1460
        };
        assert_eq!(reported(Some(Span::from_ms(11)), 12), 10);
        assert_eq!(reported(None, 24), 20);
        assert_eq!(reported(None, 1), 1, "0.8 segments: at least one");
        let mut c = Params::default().make(&start(1460, 4)).unwrap();
        c.on_open(Time::ZERO, Some(Span::from_ms(10)), rate(12));
        assert_eq!(c.permit().window, Bytes::MAX);
    }
}
