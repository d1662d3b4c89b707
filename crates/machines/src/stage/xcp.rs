//! XCP's router: it computes by how much the windows of passing flows should change in sum, and gives each packet its
//! share. Katabi, Handley, Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002, §3.5,
//! and, recomputed at every packet over a sliding window, XCPw of Goyal, "Congestion Control in Highly Variable
//! Networks" (MIT, 2022), §2.7.3 and appendix B.4.
//!
//! ```text
//! CHOICE XCP §3.5.2: what packets state is summed up as they leave, not as they arrive. One whose sender knows no
//! round trip yet states none, and is given and taken nothing (rtt² s / cwnd and rtt s are 0).
//! CHOICE XCP §3.5.1: the persistent queue is the shortest of the last `queue_window`.
//! ```

mod shares;

pub use shares::Sharing;

use self::shares::{Share, Stated, Sums};
use super::explicit::{Meter, check_gains};
use super::shortest::Shortest;
use super::sliding::Sliding;
use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::link::TransmitterSpec;
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};
use thalweg_wire::{Explicit, ExplicitKind, Packet, Side};

/// How often the feedback is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Computed {
    /// Once per mean round trip (XCP).
    #[default]
    Intervals,
    /// At every packet that leaves, over the last mean round trip (XCPw).
    Sliding,
}

/// Which round trips are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundTrips {
    /// What senders write into the header, smoothed: as published.
    #[default]
    Senders,
    /// `rtt` and what each packet has waited here: the queue of ABC's authors. What senders know of a queue
    /// lags a round trip and more behind it, and XCP's own queue is then twice as long where links vary.
    Waits,
}

/// XCP's router: signals how windows are to change (Katabi et al., SIGCOMM 2002).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// α: fraction of the spare capacity that is distributed per round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
    pub alpha: f64,
    /// β: fraction of the persistent queue that is taken back per round trip.
    #[schemars(extend("minimum" = 0.0, "maximum" = 10.0))]
    pub beta: f64,
    /// How often the feedback is computed.
    pub computed: Computed,
    /// How the feedback is divided among packets.
    pub sharing: Sharing,
    /// Which round trips are averaged.
    pub round_trips: RoundTrips,
    /// Initial mean round trip. With `round_trips = "waits"`, also the round trip of packets without the waiting time;
    /// with equal shares, that of packets whose senders know none yet.
    pub rtt: Span,
    /// Window over which the shortest queue counts as the persistent one.
    pub queue_window: Span,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 0.4,  // §3.5.1; Goyal, §2.7.3, has 0.55
            beta: 0.226, // likewise; 0.4
            computed: Computed::default(),
            sharing: Sharing::default(),
            round_trips: RoundTrips::default(),
            rtt: Span::from_ms(100),
            queue_window: Span::from_ms(100), // the authors' published queue
        }
    }
}

impl Parameters for Params {
    type Machine = Xcp;

    fn acts(&self) -> Acts {
        Acts::Signals(ExplicitKind::Change)
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        check_gains(self.alpha, self.beta, problems);
        problems.positive("rtt", self.rtt, "100ms");
        problems.positive("queue_window", self.queue_window, "100ms");
    }

    fn make(&self, _: Stream, _: Rate) -> Result<Xcp, Invalid> {
        Ok(Xcp {
            p: *self,
            meter: Meter::default(),
            d: self.rtt,
            share: None,
            sums: Sums::default(),
            shortest: Shortest::default(),
            arrived: Sliding::default(),
            offered: Sliding::default(),
            rtts: Sliding::default(),
            weights: Sliding::default(),
        })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let short = Self { rtt: Span::from_us(20), queue_window: Span::from_us(20), ..Self::default() };
        let sliding = Self { computed: Computed::Sliding, ..short };
        let equal = |p| Self { sharing: Sharing::Equal, ..p };
        vec![short, sliding, equal(short), equal(sliding), Self { round_trips: RoundTrips::Waits, ..short }]
    }
}

/// A router's state at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Xcp {
    p: Params,
    meter: Meter,
    /// d: the mean round trip.
    d: Span,
    /// `None`: nothing is known yet.
    share: Option<Share>,
    /// Over the present interval.
    sums: Sums,
    shortest: Shortest,
    // Over the last d, for XCPw.
    arrived: Sliding,
    offered: Sliding,
    /// Round trips in microseconds.
    rtts: Sliding,
    /// Weights of packets in nanoseconds.
    weights: Sliding,
}

impl Xcp {
    /// φ = α d (C − y) − β Q, equation (1), shared out: `offered` and `arrived` are d C and d y, `packets` and `weight`
    /// of what has left in d.
    fn feedback(&self, offered: f64, arrived: f64, packets: u64, weight: f64) -> Share {
        let phi = self.p.alpha * (offered - arrived) - self.p.beta * self.shortest.get() as f64;
        match self.p.sharing {
            Sharing::Published => Share::scaled(phi, self.d, arrived, weight),
            Sharing::Equal => Share::equal(phi, packets),
        }
    }

    /// The mean round trip of an interval: of its flows, or of its packets.
    fn mean(&self, of_packets: Option<Span>) -> Span {
        let mean = match self.p.sharing {
            Sharing::Published => self.sums.mean(),
            Sharing::Equal => of_packets,
        };
        mean.unwrap_or(self.d)
    }

    /// All intervals that have ended.
    fn catch_up(&mut self, now: Time, view: &View) {
        if self.p.computed == Computed::Sliding {
            return;
        }
        while let Some(seen) = self.meter.period(now, self.d, view.rate) {
            let weight = self.sums.weight;
            self.share = Some(self.feedback(seen.offered, seen.arrived as f64, seen.packets, weight));
            self.d = self.mean(seen.rtt);
            self.sums = Sums::default();
            if seen.packets == 0 && seen.arrived == 0 {
                self.meter.skip(now, self.d);
            }
        }
    }

    fn slide(&mut self, now: Time, rate: Rate) {
        let d = self.d;
        let offered = match self.meter.opportunities {
            true => self.offered.within(now, d) as f64,
            false => rate.bps() as f64 / 8.0 * d.secs(),
        };
        let arrived = self.arrived.within(now, d) as f64;
        let sum = self.rtts.within(now, d);
        let packets = self.rtts.len() as u64;
        // A flow that has sent for a whole d weighs d. What begins in the middle of it is not given more than its part.
        let weight = (self.weights.within(now, d) as f64 / 1e9).max(d.secs());
        self.share = Some(self.feedback(offered, arrived, packets, weight));
        if let Some(mean) = sum.checked_div(packets) {
            self.d = Span::from_us(mean.max(1));
        }
    }
}

impl HeaderStage for Xcp {
    fn needs(&self) -> Needs {
        let wait = self.p.round_trips == RoundTrips::Waits;
        Needs { departures: true, headers: true, wait, ..Needs::default() }
    }
    fn stands_before(&mut self, link: &TransmitterSpec) {
        self.meter.opportunities = link.has_opportunities();
    }
    fn on_arrival(&mut self, now: Time, view: &View, _: &Packet) -> Arrival {
        self.catch_up(now, view);
        self.shortest.update(now, self.p.queue_window, view.bytes);
        match self.p.computed {
            Computed::Intervals => self.meter.arrived(view.wire),
            Computed::Sliding => self.arrived.push(now, view.wire),
        }
        Arrival::Admit
    }
    fn on_departure(&mut self, now: Time, view: &View, _: Leaving) -> Leave {
        self.catch_up(now, view);
        self.shortest.update(now, self.p.queue_window, view.bytes);
        self.meter.offered(view.wire);
        if self.p.computed == Computed::Sliding && self.meter.opportunities {
            self.offered.push(now, view.wire);
        }
        Leave::Pass
    }
    fn write(&mut self, now: Time, view: &View, packet: &mut Packet, side: &mut Side) {
        // What answers carry was written on the forward path: they ask for nothing, and are no part of N or d.
        if packet.is_control() {
            return;
        }
        let header = side.explicit_mut();
        let known = match (self.p.round_trips, &header) {
            (RoundTrips::Waits, _) => Some(self.p.rtt + view.waited),
            (RoundTrips::Senders, Some(header)) if !header.rtt.is_zero() => Some(header.rtt),
            (RoundTrips::Senders, _) => None,
        };
        let rtt = known.unwrap_or(match self.p.sharing {
            Sharing::Published => Span::ZERO,
            Sharing::Equal => self.p.rtt,
        });
        let stated = Stated::new(rtt, packet, header.as_deref());
        self.meter.left(rtt);
        match self.p.computed {
            Computed::Intervals => self.sums.add(&stated),
            Computed::Sliding => {
                if !rtt.is_zero() {
                    self.rtts.push(now, (rtt.ps() / 1_000_000).min(u64::from(u32::MAX)) as u32);
                }
                self.weights.push(now, stated.weight_ns());
                self.slide(now, view.rate);
            }
        }
        if let (Some(header), Some(share)) = (header, self.share)
            && let Explicit::Change(least) = &mut header.what
        {
            let mine = share.of(&stated);
            *least = Some(least.map_or(mine, |least| least.min(mine)));
        }
    }
    fn on_opportunity(&mut self, at: Time, bytes: u32) {
        // The rate is not used: such links have none.
        self.shortest.update(at, self.p.queue_window, 0);
        self.meter.offered(bytes);
        if self.p.computed == Computed::Sliding && self.meter.opportunities {
            self.offered.push(at, bytes);
            self.offered.within(at, self.d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::explicit::tests::Router;
    use super::super::tests::finds;
    use super::*;
    use thalweg_units::Bytes;
    use thalweg_wire::Kind;

    fn xcp(computed: Computed, sharing: Sharing) -> Router<Xcp> {
        let p = Params { computed, sharing, alpha: 0.55, beta: 0.4, ..Params::default() };
        Router(p.make(Stream::default(), Rate::ZERO).unwrap(), ExplicitKind::Change, Bytes::new(75_000))
    }

    /// 12 Mb/s and d = 100 ms: 150 000 B can leave, half of them come.
    #[test]
    fn what_is_spare_is_given_to_the_packets_of_an_interval_in_equal_parts() {
        for computed in [Computed::Intervals, Computed::Sliding] {
            let mut router = xcp(computed, Sharing::Equal);
            let mut last = None;
            for ms in 0..301 {
                if ms % 2 == 0 {
                    last = router.passes(ms, 1500, 0, Span::from_ms(100));
                }
            }
            // 0.55 · 75 000 B for 50 packets.
            assert_eq!(last, Some(Explicit::Change(Some(825_000))), "{computed:?}");
        }
    }

    /// The same of one flow with a window of 50 packets: all of it, and what is shuffled is taken from whom it is
    /// given.
    #[test]
    fn what_is_spare_is_given_to_the_only_flow_and_half_as_much_to_each_packet_of_twice_the_window() {
        for computed in [Computed::Intervals, Computed::Sliding] {
            let mut router = xcp(computed, Sharing::Published);
            for ms in (0..301).step_by(2) {
                if ms == 300 {
                    router.2 = Bytes::new(150_000);
                }
                let last = router.passes(ms, 1500, 0, Span::from_ms(100));
                let given = match ms {
                    ..200 => continue,
                    300 => 412_500.0,
                    _ => 825_000.0,
                };
                let Some(Explicit::Change(Some(last))) = last else { panic!("{last:?}") };
                // In the sliding window the packet itself weighs half as much: a hundredth of the sum.
                assert!(
                    (last as f64 / given - 1.0).abs() < 0.011,
                    "{computed:?} at {ms} ms: {last} of {given}"
                );
            }
        }
    }

    /// Packets state 500 ms and have waited 20: the interval after the first has 120.
    #[test]
    fn round_trips_may_be_those_of_the_way_and_what_packets_waited_here() {
        for (round_trips, ms) in [(RoundTrips::Senders, 500), (RoundTrips::Waits, 120)] {
            let p = Params { round_trips, ..Params::default() };
            let mut m = p.make(Stream::default(), Rate::ZERO).unwrap();
            let view = View { rate: Rate::from_mbps(12), waited: Span::from_ms(20), ..finds(0, 0, 1500) };
            let (mut packet, mut side) = (Packet { wire: 1500, ..Packet::default() }, Side::Empty);
            side.request_explicit(
                Explicit::unwritten(ExplicitKind::Change),
                Span::from_ms(500),
                Bytes::new(9000),
            );
            for at in [0, 50, 100] {
                m.on_arrival(Time::from_ms(at), &view, &packet);
                m.write(Time::from_ms(at), &view, &mut packet, &mut side);
            }
            assert_eq!((m.d, m.needs().wait), (Span::from_ms(ms), round_trips == RoundTrips::Waits));
        }
    }

    /// Answers ask for nothing: φ is shared out among the packets that can carry a share, and d is their mean.
    #[test]
    fn answers_that_pass_are_no_part_of_n_or_of_d() {
        let given = |answers: bool| {
            let mut m = Params::default().make(Stream::default(), Rate::ZERO).unwrap();
            let view = View { rate: Rate::from_mbps(12), ..finds(0, 0, 1500) };
            let (mut least, mut ack) = (None, Packet { kind: Kind::Ack, wire: 0, ..Packet::default() });
            for ms in 0..101 {
                let (mut packet, mut side) = (Packet { wire: 1500, ..Packet::default() }, Side::Empty);
                side.request_explicit(
                    Explicit::unwritten(ExplicitKind::Change),
                    Span::from_ms(20),
                    Bytes::new(9000),
                );
                m.on_arrival(Time::from_ms(ms), &view, &packet);
                m.write(Time::from_ms(ms), &view, &mut packet, &mut side);
                least = side.explicit().map(|header| header.what);
                if answers {
                    m.write(Time::from_ms(ms), &view, &mut ack, &mut Side::Empty);
                }
            }
            (least, m.d)
        };
        assert_eq!(given(true), given(false));
        assert_eq!(given(true).1, Span::from_ms(20));
    }

    #[test]
    fn a_queue_that_persists_is_taken_back() {
        let mut router = xcp(Computed::Intervals, Sharing::Equal);
        let mut last = None;
        for ms in 0..301 {
            last = router.passes(ms, 1500, 15_000, Span::from_ms(100));
        }
        // As much comes as leaves: −0.4 · 15 000 B for 100 packets.
        assert_eq!(last, Some(Explicit::Change(Some(-60_000))));
    }

    #[test]
    fn the_least_of_the_path_stays_and_other_packets_are_left_alone() {
        let mut router = xcp(Computed::Intervals, Sharing::Equal);
        for ms in 0..201 {
            router.passes(ms, 1500, 15_000, Span::from_ms(100));
        }
        let lower = Explicit::Change(Some(-99_000));
        assert_eq!(router.finds(201, lower), Some(lower));
        assert_eq!(router.finds(202, Explicit::Change(Some(5))), Some(Explicit::Change(Some(-60_000))));
        let (mut packet, mut side) = (Packet { wire: 1500, ..Packet::default() }, Side::Empty);
        router.0.write(Time::from_ms(203), &super::super::tests::behind(0, 0, 1500), &mut packet, &mut side);
        assert_eq!(side, Side::Empty);
    }
}
