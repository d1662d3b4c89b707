//! ABC's router: it tells every packet's sender to accelerate or to brake, so that what arrives one round trip later is what the
//! link will carry. Goyal, "Congestion Control in Highly Variable Networks" (MIT, 2022), §2.3.1.2, equations 2.1 and 2.2 and
//! Algorithm 1; Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan, NSDI 2020, §3.
//!
//! The encoding is that of the authors' experiments (§2.4.2, proxies): a packet that is ECN-capable accelerates, one that is marked (CE) brakes. So no
//! queue on the way may mark for another reason. Left out: the encoding that uses both ECN codepoints beside routers that mark;
//! a second queue for other traffic (§2.4.3).
//!
//! CHOICE ABC §2.3.1.2: the rates are those of a sliding window, `window`, which the dissertation leaves open; packets that are
//! not ECN-capable take their part of capacity and departures, and earn no credit. Other reading: as if they were not there.

use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::packet::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Rate, Span, Stream, Time};

/// What a router takes for the link's capacity μ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capacity {
    /// The link's rate: where it is fixed.
    #[default]
    Rate,
    /// What has left and what could have left meanwhile: traced and cellular links.
    Opportunities,
}

/// Which rate the target is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// That of departures, cr: what sets the pace of the ACKs.
    #[default]
    Departures,
    /// That of arrivals, as explicit schemes before it did: about twice the delay (§2.2, Figure 2-2).
    Arrivals,
}

/// ABC's router: marks to brake, as many packets as keep the queue short and the link busy (Goyal et al., NSDI 2020).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// η: the utilisation aimed at.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub utilisation: f64,
    /// δ: excess queueing delay drains in this time.
    pub drain: Span,
    /// d_t: queueing delay that may stand. Should be longer than the gaps between a link's opportunities.
    pub threshold: Span,
    /// T: the sliding window of rates.
    pub window: Span,
    /// tokenLimit, packets: so many may accelerate in a row beyond their share; the credit at first.
    #[schemars(extend("exclusiveMinimum" = 1.0, "maximum" = 1_000_000.0))]
    pub tokens: f64,
    /// Every packet accelerates by chance, with the share as its probability, instead of by credit.
    pub random: bool,
    /// What μ is.
    pub capacity: Capacity,
    /// What the target rate is compared with.
    pub compared: Compared,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            utilisation: 0.98,            // §2.7.2
            drain: Span::from_ms(133),    // §2.7.2
            threshold: Span::from_ms(50), // the authors' published scripts
            window: Span::from_ms(20),    // the authors' published queue
            tokens: 5.0,                  // the authors' published queue
            random: false,
            capacity: Capacity::default(),
            compared: Compared::default(),
        }
    }
}

impl Parameters for Params {
    type Machine = Abc;

    fn acts(&self) -> Acts {
        Acts::Marks
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        problems.share("utilisation", self.utilisation);
        problems.positive("drain", self.drain, "133ms");
        problems.positive("window", self.window, "20ms");
        if !(self.tokens > 1.0 && self.tokens <= 1e6) {
            let reason = format!("{} is out of range: one token is never enough", self.tokens);
            problems.wrong("tokens", reason, "allowed: above 1, at most 1000000");
        }
    }

    fn make(&self, stream: Stream, _: Rate) -> Result<Abc, String> {
        Ok(Abc {
            p: *self,
            token: self.tokens,
            offered: Sliding::default(),
            departed: Sliding::default(),
            arrived: Sliding::default(),
            stream,
        })
    }

    /// Windows of microseconds, as the stories of the laws.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self {
            drain: Span::from_us(5),
            threshold: Span::from_us(1),
            window: Span::from_us(20),
            ..Self::default()
        };
        let other =
            Self { random: true, capacity: Capacity::Opportunities, compared: Compared::Arrivals, ..short };
        vec![short, other]
    }
}

/// Bytes of a sliding window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sliding {
    seen: VecDeque<(Time, u32)>,
    sum: u64,
}

impl Sliding {
    fn push(&mut self, at: Time, bytes: u32) {
        self.seen.push_back((at, bytes));
        self.sum += u64::from(bytes);
    }

    /// Bytes in (now − window, now].
    fn within(&mut self, now: Time, window: Span) -> u64 {
        while let Some((at, bytes)) = self.seen.front().copied()
            && at.saturating_add(window) <= now
        {
            self.sum -= u64::from(bytes);
            self.seen.pop_front();
        }
        self.sum
    }
}

/// A router's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abc {
    p: Params,
    /// token, packets.
    token: f64,
    /// Opportunities, used or not; departures; arrivals.
    offered: Sliding,
    departed: Sliding,
    arrived: Sliding,
    stream: Stream,
}

impl Abc {
    /// f for a packet of `wire` bytes that leaves `behind` bytes in the queue of a link of `rate` (equations 2.1 and 2.2).
    fn share(&mut self, now: Time, behind: u64, wire: u32, rate: Rate) -> f64 {
        let Params { utilisation: eta, drain, threshold, window, capacity, compared, .. } = self.p;
        let per_second = |bytes: u64| bytes as f64 / window.secs();
        let offered = self.offered.within(now, window);
        let mu = match capacity {
            Capacity::Rate => rate.bps() as f64 / 8.0,
            Capacity::Opportunities => per_second(offered),
        };
        let cr = match compared {
            Compared::Departures => self.departed.within(now, window),
            // At least a packet: it has arrived some time.
            Compared::Arrivals => self.arrived.within(now, window).max(u64::from(wire)),
        };
        // x(t), with the packet itself.
        let x = (behind + u64::from(wire)) as f64 / mu;
        let tr = eta * mu - mu / drain.secs() * (x - threshold.secs()).max(0.0);
        (0.5 * tr / per_second(cr)).clamp(0.0, 1.0)
    }

    /// Algorithm 1: does a packet go on accelerating, at a share of f? What brakes already earns credit, too.
    fn accelerates(&mut self, f: f64, brakes: bool) -> bool {
        self.token = (self.token + f).min(self.p.tokens);
        if brakes {
            return false;
        }
        if self.p.random {
            return self.stream.unit() < f;
        }
        let enough = self.token > 1.0;
        if enough {
            self.token -= 1.0;
        }
        enough
    }
}

impl HeaderStage for Abc {
    fn needs(&self) -> Needs {
        Needs { departures: true, ..Needs::default() }
    }

    fn on_arrival(&mut self, now: Time, view: &View, _packet: &Packet) -> Arrival {
        if self.p.compared == Compared::Arrivals {
            self.arrived.push(now, view.wire);
        }
        Arrival::Admit
    }

    fn on_departure(&mut self, now: Time, view: &View, packet: Leaving) -> Leave {
        if self.p.capacity == Capacity::Opportunities {
            self.offered.push(now, view.wire);
        }
        if self.p.compared == Compared::Departures {
            self.departed.push(now, view.wire);
        }
        let f = self.share(now, view.bytes, view.wire, view.rate);
        if !packet.ecn_capable || packet.marked || self.accelerates(f, false) {
            if packet.marked {
                self.accelerates(f, true);
            }
            return Leave::Pass;
        }
        Leave::Mark
    }

    fn on_opportunity(&mut self, at: Time, bytes: u32) {
        if self.p.capacity == Capacity::Opportunities {
            self.offered.push(at, bytes);
            self.offered.within(at, self.p.window);
        }
    }

    fn quiet_below(&self) -> u32 {
        if self.p.compared == Compared::Arrivals { 0 } else { u32::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{behind, finds};
    use super::*;
    use proptest::prelude::*;

    fn abc(p: Params) -> Abc {
        p.make(Stream::new(1, "abc", 0), Rate::ZERO).unwrap()
    }
    /// A router without credit.
    fn spent() -> Abc {
        Abc { token: 0.0, ..abc(Params::default()) }
    }
    const CAPABLE: Leaving = Leaving { ecn_capable: true, marked: false };

    #[test]
    fn half_of_the_packets_accelerate_in_turn_and_all_but_the_first_at_a_share_of_one() {
        let mut half = spent();
        let seen: Vec<bool> = (0..8).map(|_| half.accelerates(0.5, false)).collect();
        assert_eq!(seen, [false, false, true, false, true, false, true, false], "1.0 is not above 1");
        let mut all = spent();
        let seen: Vec<bool> = (0..4).map(|_| all.accelerates(1.0, false)).collect();
        assert_eq!(seen, [false, true, true, true]);
    }

    proptest! {
        /// Never more than the share and the credit; at a constant share, that share.
        #[test]
        fn of_n_packets_the_sum_of_shares_accelerates_give_or_take_the_credit(
            shares in prop::collection::vec(0.0f64..1.0, 1..300), constant in 0.05f64..1.0
        ) {
            let mut m = abc(Params::default());
            let kept = shares.iter().filter(|f| m.accelerates(**f, false)).count() as f64;
            prop_assert!(kept <= shares.iter().sum::<f64>() + 5.0);
            let mut m = spent();
            for n in 1..500 {
                let before = m.clone();
                let kept = f64::from(u8::from(m.accelerates(constant, false)));
                prop_assert!((before.token + constant - kept - m.token).abs() < 1e-9, "{n}");
                prop_assert!((0.0..=2.0).contains(&m.token));
            }
        }
    }

    /// The dissertation, §2.3.1.2: a chain of routers leaves the smallest share.
    #[test]
    fn through_several_routers_the_smallest_share_is_left() {
        for shares in [vec![0.6, 0.5], vec![0.49, 0.5, 0.51], vec![0.9, 0.5, 0.7]] {
            let mut routers: Vec<Abc> = shares.iter().map(|_| spent()).collect();
            let mut kept = 0;
            for _ in 0..20_000 {
                let mut accelerates = true;
                for (router, f) in routers.iter_mut().zip(&shares) {
                    accelerates = router.accelerates(*f, !accelerates);
                }
                kept += u32::from(accelerates);
            }
            let least = shares.iter().copied().fold(1.0, f64::min);
            assert!((f64::from(kept) / 20_000.0 - least).abs() < 1e-3, "{shares:?}: {kept}");
        }
    }

    /// 1500 B per ms (12 Mb/s) have left for long; the packet leaves `packets` behind.
    fn share(p: Params, packets: u64) -> f64 {
        let mut m = abc(p);
        let mut f = 0.0;
        for ms in 0..100 {
            m.offered.push(Time::from_ms(ms), 1500);
            m.departed.push(Time::from_ms(ms), 1500);
            f = m.share(Time::from_ms(ms), packets * 1500, 1500, Rate::from_mbps(12));
        }
        f
    }

    #[test]
    fn the_share_is_half_the_target_over_what_leaves_and_falls_by_the_excess_delay() {
        for capacity in [Capacity::Rate, Capacity::Opportunities] {
            let p = Params { capacity, ..Params::default() };
            assert!((share(p, 0) - 0.49).abs() < 1e-9);
            assert!((share(p, 49) - 0.49).abs() < 1e-9, "50 ms may stand");
            // 20 ms more: (0.98 − 20/133) / 2.
            assert!((share(p, 69) - 0.5 * (0.98 - 20.0 / 133.0)).abs() < 1e-9);
            assert_eq!(share(p, 300), 0.0, "a negative target is none");
        }
    }

    #[test]
    fn opportunities_that_nobody_used_are_capacity() {
        let mut m = abc(Params { capacity: Capacity::Opportunities, ..Params::default() });
        // One in two is used: the share is twice as large, at most 1.
        for ms in 0..100 {
            m.on_opportunity(Time::from_ms(ms), 1500);
            assert_eq!(m.on_departure(Time::from_ms(ms), &behind(0, 0, 1500), CAPABLE), Leave::Pass);
        }
        assert_eq!((m.offered.sum, m.departed.sum), (60_000, 30_000));
        assert!((m.share(Time::from_ms(99), 0, 1500, Rate::ZERO) - 0.98).abs() < 1e-9);
    }

    #[test]
    fn compared_with_arrivals_a_burst_brakes_before_it_leaves() {
        let mut m = abc(Params { compared: Compared::Arrivals, ..Params::default() });
        for ms in 0..40 {
            for _ in 0..2 {
                m.on_arrival(Time::from_ms(ms), &finds(9, 13_500, 1500), &Packet::default());
            }
        }
        // 3000 B arrive per ms where 1500 B can leave.
        assert!((m.share(Time::from_ms(39), 0, 1500, Rate::from_mbps(12)) - 0.245).abs() < 1e-9);
    }

    #[test]
    fn what_brakes_stays_so_and_what_cannot_is_let_alone() {
        let mut m = Abc { token: 0.0, ..abc(Params { threshold: Span::ZERO, ..Params::default() }) };
        let long = View { rate: Rate::from_mbps(12), ..behind(1000, 1_500_000, 1500) };
        assert_eq!(m.on_departure(Time::from_ms(1), &long, CAPABLE), Leave::Mark);
        let marked = Leaving { marked: true, ..CAPABLE };
        assert_eq!(m.on_departure(Time::from_ms(1), &long, marked), Leave::Pass);
        let other = Leaving { ecn_capable: false, marked: false };
        assert_eq!(m.on_departure(Time::from_ms(1), &long, other), Leave::Pass);
        assert_eq!(m.token, 0.0);
    }

    #[test]
    fn by_chance_as_many_accelerate() {
        let mut m = abc(Params { random: true, ..Params::default() });
        let kept = (0..100_000).filter(|_| m.accelerates(0.3, false)).count();
        assert!((29_000..31_000).contains(&kept), "{kept}");
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |p: Params| {
            super::super::StageSpec::from(p).make(Stream::new(1, "abc", 0), Rate::ZERO).unwrap_err()
        };
        assert!(refuse(Params { tokens: 1.0, ..Params::default() }).contains("never enough"));
        assert!(refuse(Params { utilisation: 1.2, ..Params::default() }).contains("1.2"));
        assert!(refuse(Params { drain: Span::ZERO, ..Params::default() }).contains("never passes"));
    }
}
