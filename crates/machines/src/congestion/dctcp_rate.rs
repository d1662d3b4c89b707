//! DCTCP on rates instead of windows, as the RDMA hosts of the HPCC authors' simulator run it (Li et al.,
//! "HPCC", SIGCOMM 2019, §5.1, their baseline "DCTCP"). Starts at line rate; the window only follows the
//! rate. Needs: an ACK and an echo per packet (`EcnSpec::Accurate`), a network without losses.

use super::{AckSample, CongestionControl, Gives, Loss, Marks, Needs, Parameters, Permit, Problems, Start};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate};

/// DCTCP on rates, as in the HPCC authors' simulator (SIGCOMM 2019): it starts at line rate and paces. The transport's
/// `initial_window` (over RDMA: the cap) is its window at line rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// g: weight of the newest round trip in α, the moving average of the marked fraction.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub gain: f64,
    /// α before the first round trip has ended.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub initial_alpha: f64,
    /// Additive increase per round trip.
    pub step: Rate,
    /// Minimum rate.
    pub min_rate: Rate,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            gain: 0.0625,                 // 1/16, DCTCP §3.4
            initial_alpha: 1.0,           // RFC 8257 §3.3
            step: Rate::from_mbps(615),   // the HPCC repository's run.py at 100 Gb/s
            min_rate: Rate::from_gbps(1), // the HPCC repository's run.py at 100 Gb/s
        }
    }
}

impl Parameters for Params {
    type Machine = DctcpRate;

    fn needs(&self) -> Needs {
        Needs { marks: Marks::Echoes, gives: Gives::PaceAndWindow, ..Needs::WINDOW }
    }
    fn check(&self, line: Rate, problems: &mut Problems) {
        problems.share("gain", self.gain);
        problems.fraction("initial_alpha", self.initial_alpha);
        problems.rate("min_rate", self.min_rate, line);
    }
    fn make(&self, start: &Start) -> Result<DctcpRate, Invalid> {
        Ok(DctcpRate::new(start, self))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { step: Rate::from_mbps(61), min_rate: Rate::from_mbps(100), ..Self::default() }]
    }
}

/// DCTCP's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DctcpRate {
    rate: Rate,
    /// g.
    gain: f64,
    /// α, the estimated fraction of marked packets.
    alpha: f64,
    /// Additive increase per round trip outside CWR.
    step: Rate,
    floor: Rate,
    line_rate: Rate,
    /// Window at line rate, bytes: one bandwidth-delay product.
    full_window: u64,
    /// Marked ACKs of this round trip.
    marked: u32,
    /// Packets that were in flight when it began.
    batch: u32,
    /// It ends with an ACK beyond this byte; zero: the first one has not begun.
    round_end: u64,
    /// CWR lasts until an ACK beyond this byte; `u64::MAX`: not in CWR.
    cwr_end: u64,
    mss: u32,
}

impl DctcpRate {
    /// The rate of a flow that starts; `start.initial_window` is the window at line rate.
    fn new(start: &Start, params: &Params) -> Self {
        let Params { gain, initial_alpha, step, min_rate: floor } = *params;
        Self {
            rate: start.line_rate,
            gain,
            alpha: initial_alpha,
            step,
            floor,
            line_rate: start.line_rate,
            full_window: start.initial_window.min(start.max_window).get(),
            marked: 0,
            batch: 0,
            round_end: 0,
            cwr_end: u64::MAX,
            mss: start.mss,
        }
    }
}

impl CongestionControl for DctcpRate {
    fn on_ack(&mut self, ack: &AckSample) {
        let echo = ack.marked > Bytes::ZERO;
        self.marked += u32::from(echo);
        let new_round = ack.acked_to > self.round_end;
        if new_round {
            let in_flight = |from: u64| ((ack.sent_to - from) / u64::from(self.mss) + 1) as u32;
            if self.round_end == 0 {
                self.batch = in_flight(0); // the first ACK only opens the first round
            } else {
                let f = (f64::from(self.marked) / f64::from(self.batch)).min(1.0);
                self.alpha = (1.0 - self.gain) * self.alpha + self.gain * f;
                self.marked = 0;
                self.batch = in_flight(ack.acked_to);
            }
            self.round_end = ack.sent_to;
        }
        if self.cwr_end != u64::MAX && ack.acked_to > self.cwr_end {
            self.cwr_end = u64::MAX;
        }
        if echo && self.cwr_end == u64::MAX {
            let cut = Rate::from_bps((self.rate.bps() as f64 * (1.0 - self.alpha / 2.0)) as u64);
            self.rate = cut.max(self.floor);
            self.cwr_end = ack.sent_to;
        }
        if new_round && self.cwr_end == u64::MAX {
            self.rate = (self.rate + self.step).min(self.line_rate);
        }
    }

    // CHOICE: that simulator repairs losses (go-back-N) without touching the rate.
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}

    fn permit(&self) -> Permit {
        let share =
            u128::from(self.full_window) * u128::from(self.rate.bps()) / u128::from(self.line_rate.bps());
        // Those hosts send while less than the window is out, so up to a packet more than it.
        let window = Bytes::new((share as u64).max(1).saturating_add(u64::from(self.mss) - 1));
        Permit { pace: Some(self.rate), ..Permit::window(window) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::conformance::{ack, start};
    use super::*;

    /// 52 packets of 1000 B at 10 Gb/s, α = 1.
    fn hundredth() -> DctcpRate {
        let slow = Rate::from_mbps(100);
        let params = Params { gain: 1.0 / 16.0, initial_alpha: 1.0, step: slow, min_rate: slow };
        DctcpRate::new(&start(1000, 52), &params)
    }
    fn reported(c: &mut DctcpRate, acked_to: u64, marked: u64) {
        c.on_ack(&AckSample { acked_to, sent_to: acked_to + 50_000, ..ack(1000, marked) });
    }

    #[test]
    fn starts_at_line_rate_with_one_packet_more_than_the_window() {
        let permit = hundredth().permit();
        assert_eq!(permit.pace, Some(Rate::from_gbps(10)));
        assert_eq!(permit.window, Bytes::new(52_999));
    }

    #[test]
    fn cuts_rate_and_window_by_half_of_alpha_once_per_round_trip_then_climbs() {
        let mut c = hundredth();
        reported(&mut c, 1000, 1000);
        reported(&mut c, 2000, 1000); // in CWR until byte 51 000
        assert_eq!((c.rate, c.permit().window), (Rate::from_gbps(5), Bytes::new(26_999)));
        reported(&mut c, 51_000, 0);
        assert_eq!(c.rate, Rate::from_gbps(5));
        reported(&mut c, 52_000, 0); // beyond: out of CWR, and a new round trip
        assert_eq!(c.rate, Rate::from_mbps(5100));
        // Two marked ACKs of a batch of 51 + 1 packets
        assert!((c.alpha - (15.0 / 16.0 + 2.0 / 52.0 / 16.0)).abs() < 1e-12, "{}", c.alpha);
        reported(&mut c, 53_000, 0); // within the round trip
        assert_eq!(c.rate, Rate::from_mbps(5100));
    }

    #[test]
    fn never_below_the_floor_nor_above_the_line() {
        let mut c = hundredth();
        (0..200).for_each(|n| reported(&mut c, 1000 + n * 51_000, 1000));
        assert_eq!(c.rate, Rate::from_mbps(100));
        (200..400).for_each(|n| reported(&mut c, 1000 + n * 51_000, 0));
        assert_eq!(c.rate, Rate::from_gbps(10));
    }
}
