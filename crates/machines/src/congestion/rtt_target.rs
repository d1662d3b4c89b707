//! A window that holds the round trip at a target: an end-to-end control to combine with backpressure flow
//! control. Goyal, "Congestion Control in Highly Variable Networks", MIT 2022, §3.6.4, Algorithm 2.
//! Needs: an ACK and a round trip per packet (`transport.rtt = { segment = 1, less_serialization = false }`).
//!
//! Per ACK w falls by (RTT − target)/RTT packets, or rises by (target − RTT)/RTT: in a round trip w becomes w
//! · target/RTT.

use super::{
    AckSample, CongestionControl, Gives, Loss, Needs, Parameters, Paths, Permit, Problems, Rule, Rules, Start,
};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// A window that holds the round trip at a target, with backpressure (Goyal, MIT 2022, Algorithm 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// RTT_target. If not given, 2.5 times the round trip of the longest path without queues.
    #[schemars(extend("examples" = ["20us"]))]
    pub target: Option<Span>,
    /// Largest window in bandwidth-delay products. The window starts at one.
    #[schemars(extend("minimum" = 1.0, "maximum" = 1_000_000.0))]
    pub most: f64,
}

impl Default for Params {
    fn default() -> Self {
        // CHOICE BFC §3.6.4: no largest window is given. Here it is the one with which a flow that is alone reaches the
        // target.
        Self { target: None, most: 2.5 }
    }
}

impl Parameters for Params {
    type Machine = RttTarget;

    fn needs(&self) -> Needs {
        Needs { round_trips: true, gives: Gives::PaceAndOwnWindow, ..Needs::WINDOW }
    }
    fn resolve(&mut self, paths: &mut dyn Paths) {
        self.target.get_or_insert_with(|| {
            let base = paths.base_rtt();
            base.saturating_mul(5) / 2 // §3.6.4
        });
    }
    fn check(&self, _: Rate, problems: &mut Problems) {
        if let Some(target) = self.target {
            problems.positive("target", target, "20us");
        }
        if !(1.0..=1e6).contains(&self.most) {
            problems.wrong("most", format!("{} is out of range", self.most), "allowed: 1 to 1000000");
        }
    }
    fn rules(&self) -> Rules {
        let most = Rule::Differs(
            "BFC §3.6.4: it begins at a bandwidth-delay product and is bounded by `most` of them",
        );
        let grows = self.most > 1.0;
        Rules { grows_when_used: if grows { most } else { Rule::Foreign }, ..Rules::FOREIGN }
    }
    fn make(&self, start: &Start) -> Result<RttTarget, Invalid> {
        Ok(RttTarget::new(start, self))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { target: Some(Span::from_us(30)), most: 1.0 }]
    }
}

/// w, in packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttTarget {
    window: f64,
    most: f64,
    target: Span,
    mss: u32,
}

impl RttTarget {
    fn new(start: &Start, p: &Params) -> Self {
        let wire = start.mss.saturating_add(start.header).max(1);
        let product = start.line_rate.over(start.base_rtt).get() as f64 / f64::from(wire);
        // Rounded up, so that a flow that is alone fills its link.
        let product = libm::ceil(product).max(1.0);
        let target = p.target.unwrap_or(start.base_rtt.saturating_mul(5) / 2);
        Self { window: product, most: p.most * product, target, mss: start.mss }
    }
}

impl CongestionControl for RttTarget {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) else { return };
        let (rtt, target) = (rtt.ps() as f64, self.target.ps() as f64);
        self.window = (self.window + (target - rtt) / rtt).clamp(1.0, self.most.max(1.0));
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    #[inline]
    fn permit(&self) -> Permit {
        Permit::window(Bytes::new(self.window as u64 * u64::from(self.mss)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, start};
    use super::*;

    /// At 10 Gb/s and 16 us 20 packets of 1000 B are on their way; the target is 40 us.
    fn flow() -> RttTarget {
        RttTarget::new(&start(1000, 1), &Params::default())
    }

    /// P14: of w packets per round trip each adds (target − RTT)/RTT.
    #[test]
    fn in_a_round_trip_the_window_becomes_target_over_round_trip_times_as_large() {
        let mut slow = flow();
        assert_eq!(slow.permit().window, Bytes::new(20_000));
        (0..20).for_each(|_| slow.on_ack(&AckSample { rtt: Some(Span::from_us(80)), ..ack(1000, 0) }));
        assert_eq!(slow.permit().window, Bytes::new(10_000));
        let mut fast = flow();
        (0..20).for_each(|_| fast.on_ack(&AckSample { rtt: Some(Span::from_us(20)), ..ack(1000, 0) }));
        assert_eq!(fast.permit().window, Bytes::new(40_000));
    }

    #[test]
    fn it_stays_between_one_packet_and_the_most() {
        let mut c = flow();
        (0..100).for_each(|_| c.on_ack(&AckSample { rtt: Some(Span::from_us(16)), ..ack(1000, 0) }));
        assert_eq!(c.permit().window, Bytes::new(50_000));
        (0..1000).for_each(|_| c.on_ack(&AckSample { rtt: Some(Span::from_ms(1)), ..ack(1000, 0) }));
        assert_eq!(c.permit().window, Bytes::new(1000));
    }
}
