//! RCP's router: one rate for all flows, such that the link is busy and its queue empty. Dukkipati, McKeown,
//! "Why Flow-Completion Time is the Right Metric for Congestion Control", CCR 2006; Dukkipati, Kobayashi,
//! Zhang-Shen, McKeown, "Processor Sharing Flows in the Internet", IWQoS 2005, equation (2):
//!
//! R ← R [1 + (T/d) (α (γ C − y) − β q/d) / (γ C)]
//!
//! ```text
//! CHOICE RCP §III: R is at most C where C is fixed; where links offer what they please, ten times their mean.
//! CHOICE RCP §III: R begins with a twentieth of the link's mean rate, as in the authors' simulations.
//! CHOICE RCP §II: SYNs are given the rate, but their senders know no round trip and are not counted in d.
//! CHOICE RC3 §2.4.1: a packet counts in the period in which it arrives whole; its authors split it where a
//! period ends.
//! ```

use super::explicit::{Meter, check_gains};
use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::link::TransmitterSpec;
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};
use thalweg_wire::{Explicit, ExplicitKind, Kind, Packet, Side};

/// How d, the mean round trip, follows the packets' round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// It is the mean of the last period's packets.
    #[default]
    Period,
    /// It moves towards the mean m of the last period's bytes: d ← g m + (1 − g) d with g = T/d where m ≥ d,
    /// else (R/C)(m/d)(T/d). So in the RCP that RC3 is compared with (UCB/EECS-2018-103, §2.4.1; the authors'
    /// simulator).
    Moving,
}

/// RCP's router: gives every flow the same rate (Dukkipati, McKeown, CCR 2006).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// α: fraction of the spare rate that is distributed per round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
    pub alpha: f64,
    /// β: fraction of the queue that is to drain per round trip.
    #[schemars(extend("minimum" = 0.0, "maximum" = 10.0))]
    pub beta: f64,
    /// γ: target utilisation.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub utilisation: f64,
    /// T: interval between computations of the rate, unless the mean round trip is shorter.
    pub period: Span,
    /// Round trip assumed for packets whose senders know none yet, and initial value of d.
    pub rtt: Span,
    /// How the mean round trip d follows those of packets.
    pub average: Average,
    /// Minimum rate.
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
            average: Average::Period,
            least: Rate::from_bps(600_000),
        }
    }
}

impl Parameters for Params {
    type Machine = Rcp;

    fn acts(&self) -> Acts {
        Acts::Signals(ExplicitKind::Rate)
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        check_gains(self.alpha, self.beta, problems);
        problems.share("utilisation", self.utilisation);
        problems.positive("period", self.period, "100ms");
        problems.positive("rtt", self.rtt, "100ms");
        if self.least == Rate::ZERO {
            problems.wrong(
                "least",
                "at a rate of 0 no flow would ever be given another",
                "for example \"600kbps\"",
            );
        }
    }

    fn make(&self, _: Stream, rate: Rate) -> Result<Rcp, Invalid> {
        let mean = rate.bps() as f64;
        Ok(Rcp {
            p: *self,
            meter: Meter::default(),
            d: self.rtt,
            round_trips: (0, 0),
            mean,
            rate: (mean / 20.0).max(self.least.bps() as f64),
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self { period: Span::from_us(20), rtt: Span::from_us(20), ..Self::default() };
        vec![short, Self { average: Average::Moving, ..short }]
    }
}

/// A router's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rcp {
    p: Params,
    meter: Meter,
    /// d: the mean round trip.
    d: Span,
    /// [`Average::Moving`]: bytes of the period whose senders know a round trip, and their sum of byte · µs.
    round_trips: (u64, u64),
    /// Of the link, b/s.
    mean: f64,
    /// R, b/s.
    rate: f64,
}

impl Rcp {
    /// All periods that have ended, with `q` bytes waiting.
    fn catch_up(&mut self, now: Time, view: &View) {
        let Params { alpha, beta, utilisation, average, .. } = self.p;
        loop {
            let period = self.period();
            let Some(seen) = self.meter.period(now, period, view.rate) else { return };
            if average == Average::Moving {
                self.move_d(period, view.rate);
            }
            let (t, d) = (period.secs(), self.d.secs());
            let capacity = utilisation * seen.offered / t; // γ C, B/s
            let y = seen.arrived as f64 / t;
            let spare = alpha * (capacity - y) - beta * view.bytes as f64 / d;
            // Nothing could leave: as if a packet could.
            let factor = 1.0 + t / d * spare / capacity.max(1500.0 / t);
            let most = if self.meter.opportunities { 10.0 * self.mean } else { view.rate.bps() as f64 };
            let before = self.rate;
            self.rate = (self.rate * factor).min(most).max(self.p.least.bps() as f64);
            if average == Average::Period {
                self.d = seen.rtt.unwrap_or(self.d);
            }
            if seen.packets == 0 && seen.arrived == 0 && self.rate == before {
                self.meter.skip(now, period);
            }
        }
    }

    /// T: at most d, or the gain of the equation, α T/d, would make R swing (so in its authors' ns-2 and NetFPGA
    /// programs); a d below a microsecond counts as one, as in [`Rcp::move_d`].
    fn period(&self) -> Span {
        self.p.period.min(self.d.max(Span::from_us(1)))
    }

    /// d moves towards what the packets of a period have stated.
    fn move_d(&mut self, period: Span, capacity: Rate) {
        let (bytes, sum) = std::mem::take(&mut self.round_trips);
        if bytes == 0 {
            return;
        }
        let (t, d, m) = (period.secs(), self.d.secs(), sum as f64 / bytes as f64 / 1e6);
        let share = if m >= d { 1.0 } else { self.rate / capacity.bps().max(1) as f64 * m / d };
        let gain = (share * t / d).min(1.0);
        let d = gain * m + (1.0 - gain) * d;
        self.d = Span::from_ps((d * 1e12) as u64).max(Span::from_us(1));
    }

    /// A packet leaves whose sender has this round trip.
    fn note_round_trip(&mut self, rtt: Span, packet: &Packet) {
        match self.p.average {
            Average::Period if packet.kind == Kind::Syn => {}
            Average::Period => self.meter.left(if rtt.is_zero() { self.p.rtt } else { rtt }),
            Average::Moving if rtt.is_zero() => {}
            Average::Moving => {
                let wire = u64::from(packet.wire);
                let (bytes, sum) = &mut self.round_trips;
                *bytes += wire;
                *sum = sum.saturating_add(wire.saturating_mul(rtt.ps() / 1_000_000));
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
        // What answers carry was written on the forward path.
        let reported = !packet.is_control() || packet.kind == Kind::Syn;
        let header = if reported { side.explicit_mut() } else { None };
        let Some(header) = header else { return };
        self.note_round_trip(header.rtt, packet);
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
    use thalweg_units::Bytes;

    const MS_100: Span = Span::from_ms(100);

    fn rcp(rate: f64) -> Router<Rcp> {
        let mut made = Params::default().make(Stream::default(), Rate::from_mbps(12)).unwrap();
        assert_eq!(made.rate, 600e3, "a twentieth of 12 Mb/s, and the least");
        made.rate = rate;
        Router(made, ExplicitKind::Rate, Bytes::ZERO)
    }

    fn reported(what: Option<Explicit>) -> u64 {
        let Some(Explicit::Rate(Some(rate))) = what else { panic!("{what:?}") };
        rate.bps()
    }

    #[test]
    fn the_rate_is_computed_every_round_trip_if_that_is_shorter_than_the_period() {
        let mut router = rcp(4e6);
        let rtt = Span::from_ms(20);
        let rates: Vec<u64> =
            (0..=140).step_by(2).map(|ms| reported(router.passes(ms, 1500, 0, rtt))).collect();
        // The first period has d as configured, 100 ms; 6 of 11.4 Mb/s are spare in all of them.
        let after = |periods: i32| (4e6 * (1.0 + 0.5 * 5.4 / 11.4f64).powi(periods)) as u64;
        assert_eq!([49, 50, 59, 60, 70].map(|n| rates[n]), [0, 1, 1, 2, 3].map(after));
    }

    /// γ C is 11.4 Mb/s. One packet per 2 ms: 6 Mb/s come, and R grows by 0.5 · 5.4 / 11.4 in each period of
    /// one round trip.
    #[test]
    fn spare_rate_raises_the_rate_of_all_and_a_queue_lowers_it() {
        let mut router = rcp(4e6);
        let rates: Vec<u64> =
            (0..=200).step_by(2).map(|ms| reported(router.passes(ms, 1500, 0, MS_100))).collect();
        assert_eq!((rates[0], rates[49]), (4_000_000, 4_000_000));
        assert_eq!(rates[50], (4e6 * (1.0 + 0.5 * 5.4 / 11.4)) as u64);
        // 11.4 Mb/s come; 14 250 B wait: 0.25 · 14 250 · 8 / 0.1 b/s are to drain.
        let mut router = rcp(4e6);
        let last = (0..95).map(|n| reported(router.passes(n, 1500, 14_250, MS_100))).last();
        assert_eq!(last, Some(4_000_000));
        assert_eq!(
            reported(router.passes(100, 1500, 14_250, MS_100)),
            (4e6 * (1.0 - 0.25 * 1.14 / 11.4)) as u64
        );
    }

    #[test]
    fn the_rate_is_at_most_the_link_and_at_least_the_least_after_however_long() {
        let mut router = rcp(4e6);
        router.passes(0, 1500, 0, MS_100);
        assert_eq!(reported(router.passes(1 << 30, 1500, 0, MS_100)), 12_000_000);
        let mut router = rcp(4e6);
        let full = (0..3000).map(|ms| reported(router.passes(ms, 3000, 300_000, MS_100))).last();
        assert_eq!(full, Some(600_000));
        assert_eq!(
            router.finds(3000, Explicit::Rate(Some(Rate::from_bps(5000)))),
            Some(Explicit::Rate(Some(Rate::from_bps(5000))))
        );
    }

    /// A SYN is given the rate and counts in no mean; its answer brings back what it was given.
    #[test]
    fn a_syn_gets_the_rate_and_its_answer_keeps_it() {
        let mut router = rcp(4e6).0;
        let view = super::super::tests::behind(0, 0, 40);
        let mut reported = |kind, rate| {
            let mut side = Side::Empty;
            side.new_explicit(Explicit::Rate(rate));
            let mut packet = Packet { kind, wire: 40, ..Packet::default() };
            router.write(Time::ZERO, &view, &mut packet, &mut side);
            side.explicit().map(|header| header.what)
        };
        let mbps = |rate| Some(Explicit::Rate(Some(Rate::from_mbps(rate))));
        assert_eq!(reported(Kind::Syn, None), mbps(4));
        assert_eq!(reported(Kind::Syn, Some(Rate::from_mbps(3))), mbps(3));
        assert_eq!(reported(Kind::SynAck, Some(Rate::from_mbps(9))), mbps(9));
        assert_eq!(router.meter, Meter::default());
    }

    /// d = 200 ms, T = 10 ms, R = 4 of 12 Mb/s, packets of 40 ms: g = 4/12 · 40/200 · 10/200 = 1/300.
    #[test]
    fn a_moving_mean_falls_slowly_where_little_is_given_and_rises_at_once() {
        let p = Params {
            average: Average::Moving,
            period: Span::from_ms(10),
            rtt: Span::from_ms(200),
            ..Params::default()
        };
        let mut router = p.make(Stream::default(), Rate::from_mbps(12)).unwrap();
        router.rate = 4e6;
        let mut ends = |rtt: u64, rate: f64| {
            router.rate = rate;
            router.note_round_trip(Span::from_ms(rtt), &Packet { wire: 1500, ..Packet::default() });
            router.note_round_trip(Span::ZERO, &Packet { wire: 1500, ..Packet::default() });
            router.move_d(router.period(), Rate::from_mbps(12));
            router.d.secs() * 1e3
        };
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        let first = 200.0 - 160.0 / 300.0;
        close(ends(40, 4e6), first);
        // Above d: T/d.
        close(ends(400, 4e6), first + 10.0 / first * (400.0 - first));
        // T is at most d.
        router.d = Span::from_ms(5);
        assert_eq!(router.period(), Span::from_ms(5));
    }
}
