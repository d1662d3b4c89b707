//! RCP's router: one rate for all flows, such that the link is busy and its queue empty. Dukkipati, McKeown, "Why Flow-Completion Time
//! is the Right Metric for Congestion Control", CCR 2006; Dukkipati, Kobayashi, Zhang-Shen, McKeown, "Processor Sharing Flows in the
//! Internet", IWQoS 2005, equation (2):
//!
//! R ← R [1 + (T/d) (α (γ C − y) − β q/d) / (γ C)]
//!
//! ```text
//! CHOICE RCP §III: R is at most C where C is fixed; where links offer what they please, ten times their mean.
//! CHOICE RCP §III: R begins with a twentieth of the link's mean rate, as in the authors' simulations.
//! ```

use super::explicit::{Meter, check_gains};
use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::link::TransmitterSpec;
use crate::packet::{Explicit, ExplicitKind, Packet, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};

/// RCP's router: tells every flow the same rate (Dukkipati, McKeown, CCR 2006).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// α: how much of the spare rate is given per round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
    pub alpha: f64,
    /// β: how much of the queue is to drain per round trip.
    #[schemars(extend("minimum" = 0.0, "maximum" = 10.0))]
    pub beta: f64,
    /// γ: the utilisation aimed at.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub utilisation: f64,
    /// T: how often the rate is computed.
    pub period: Span,
    /// The round trip of packets whose senders know none yet.
    pub rtt: Span,
    /// The least rate.
    pub least: Rate,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 0.5,        // Goyal, "Congestion Control in Highly Variable Networks", appendix B.4
            beta: 0.25,        // likewise
            utilisation: 0.95, // the published queue of its authors
            period: Span::from_ms(100),
            rtt: Span::from_ms(100),
            least: Rate::from_bps(600_000),
        }
    }
}

impl Parameters for Params {
    type Machine = Rcp;

    fn acts(&self) -> Acts {
        Acts::Tells(ExplicitKind::Rate)
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        check_gains(self.alpha, self.beta, problems);
        problems.share("utilisation", self.utilisation);
        problems.positive("period", self.period, "100ms");
        problems.positive("rtt", self.rtt, "100ms");
        if self.least == Rate::ZERO {
            problems.wrong(
                "least",
                "at a rate of 0 nobody would ever hear of another",
                "for example \"600kbps\"",
            );
        }
    }

    fn make(&self, _: Stream, rate: Rate) -> Result<Rcp, String> {
        let mean = rate.bps() as f64;
        Ok(Rcp {
            p: *self,
            meter: Meter::default(),
            d: self.rtt,
            mean,
            rate: (mean / 20.0).max(self.least.bps() as f64),
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { period: Span::from_us(20), rtt: Span::from_us(20), ..Self::default() }]
    }
}

/// A router's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rcp {
    p: Params,
    meter: Meter,
    /// d: the mean round trip.
    d: Span,
    /// Of the link, b/s.
    mean: f64,
    /// R, b/s.
    rate: f64,
}

impl Rcp {
    /// All periods that have ended, with `q` bytes waiting.
    fn catch_up(&mut self, now: Time, view: &View) {
        let Params { alpha, beta, utilisation, period, .. } = self.p;
        while let Some(seen) = self.meter.period(now, period, view.rate) {
            let (t, d) = (period.secs(), self.d.secs());
            let capacity = utilisation * seen.offered / t; // γ C, B/s
            let y = seen.arrived as f64 / t;
            let spare = alpha * (capacity - y) - beta * view.bytes as f64 / d;
            // Nothing could leave: as if a packet could.
            let factor = 1.0 + t / d * spare / capacity.max(1500.0 / t);
            let most = if self.meter.opportunities { 10.0 * self.mean } else { view.rate.bps() as f64 };
            let before = self.rate;
            self.rate = (self.rate * factor).min(most).max(self.p.least.bps() as f64);
            self.d = seen.rtt.unwrap_or(self.d);
            if seen.packets == 0 && seen.arrived == 0 && self.rate == before {
                self.meter.skip(now, period);
            }
        }
    }
}

impl HeaderStage for Rcp {
    fn needs(&self) -> Needs {
        Needs { departures: true, headers: true, ..Needs::default() }
    }
    fn stands_before(&mut self, link: &TransmitterSpec) {
        self.meter.opportunities = link.has_opportunities();
    }
    fn on_arrival(&mut self, now: Time, view: &View, _: &Packet) -> Arrival {
        self.catch_up(now, view);
        self.meter.arrived(view.wire);
        Arrival::Admit
    }
    fn on_departure(&mut self, now: Time, view: &View, _: Leaving) -> Leave {
        self.catch_up(now, view);
        self.meter.offered(view.wire);
        Leave::Pass
    }
    fn write(&mut self, _: Time, _: &View, packet: &mut Packet, side: &mut Side) {
        let header = if packet.is_control() { None } else { side.explicit_mut() };
        let Some(header) = header else { return };
        self.meter.left(if header.rtt.is_zero() { self.p.rtt } else { header.rtt });
        if let Explicit::Rate(least) = &mut header.what {
            let mine = Rate::from_bps(self.rate as u64);
            *least = Some(least.map_or(mine, |least| least.min(mine)));
        }
    }
    fn on_opportunity(&mut self, _: Time, bytes: u32) {
        self.meter.offered(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::explicit::tests::Router;
    use super::*;

    const MS_100: Span = Span::from_ms(100);

    fn rcp(rate: f64) -> Router<Rcp> {
        let mut made = Params::default().make(Stream::default(), Rate::from_mbps(12)).unwrap();
        assert_eq!(made.rate, 600e3, "a twentieth of 12 Mb/s, and the least");
        made.rate = rate;
        Router(made, ExplicitKind::Rate)
    }

    fn told(what: Option<Explicit>) -> u64 {
        let Some(Explicit::Rate(Some(rate))) = what else { panic!("{what:?}") };
        rate.bps()
    }

    /// γ C is 11.4 Mb/s. One packet per 2 ms: 6 Mb/s come, and R grows by 0.5 · 5.4 / 11.4 in each period of one round trip.
    #[test]
    fn spare_rate_raises_the_rate_of_all_and_a_queue_lowers_it() {
        let mut router = rcp(4e6);
        let told_at: Vec<u64> =
            (0..=200).step_by(2).map(|ms| told(router.passes(ms, 1500, 0, MS_100))).collect();
        assert_eq!((told_at[0], told_at[49]), (4_000_000, 4_000_000));
        assert_eq!(told_at[50], (4e6 * (1.0 + 0.5 * 5.4 / 11.4)) as u64);
        // 11.4 Mb/s come; 14 250 B wait: 0.25 · 14 250 · 8 / 0.1 b/s are to drain.
        let mut router = rcp(4e6);
        let last = (0..95).map(|n| told(router.passes(n, 1500, 14_250, MS_100))).last();
        assert_eq!(last, Some(4_000_000));
        assert_eq!(told(router.passes(100, 1500, 14_250, MS_100)), (4e6 * (1.0 - 0.25 * 1.14 / 11.4)) as u64);
    }

    #[test]
    fn the_rate_is_at_most_the_link_and_at_least_the_least_after_however_long() {
        let mut router = rcp(4e6);
        router.passes(0, 1500, 0, MS_100);
        assert_eq!(told(router.passes(1 << 30, 1500, 0, MS_100)), 12_000_000);
        let mut router = rcp(4e6);
        let full = (0..3000).map(|ms| told(router.passes(ms, 3000, 300_000, MS_100))).last();
        assert_eq!(full, Some(600_000));
        assert_eq!(
            router.finds(3000, Explicit::Rate(Some(Rate::from_bps(5000)))),
            Some(Explicit::Rate(Some(Rate::from_bps(5000))))
        );
    }
}
