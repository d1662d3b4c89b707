//! CoDel: controlled delay. RFC 8289, §5, and as it was first published (Nichols & Jacobson, "Controlling Queue Delay",
//! ACM Queue 10(5), 2012): see [`Law`].
//!
//! [`Codel`] is the control law alone: when has delay been above target for an interval, and when is the next drop due.
//! Its caller defines the delay: [`CodelStage`] sees the packets that leave a port; [`Codel::serve`] takes them from a
//! queue in a loop (each bin of FQ-CoDel); [`super::EdgeCodel`] sees a path's packets one at a time.
//!
//! ```text
//! CHOICE RFC 8289 §5.3: MAXPACKET is a full Ethernet payload, 1500 B. Other reading: 512 B, as the pseudo-code has it.
//! ```

use super::{Acts, Around, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// CoDel, controlled delay (RFC 8289): drops packets at departure when the queueing delay has been above a target for
/// an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Target: acceptable standing queueing delay.
    pub target: Span,
    /// Interval: how long the delay must stay above the target before the first drop.
    pub interval: Span,
    /// No drops while no more than this many bytes are in the queue.
    // The link could run dry.
    pub mtu: Bytes,
    /// The control law: how drops are counted, and how the drop rate starts when delay returns.
    pub law: Law,
    /// Marks ECN-capable packets instead of dropping them. If not given, it does so if a transport is ECN-capable.
    pub ecn: Option<bool>,
}

/// The control law: how drops are counted, and how the drop rate starts when delay returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// RFC 8289 §5.5: every drop counts. If delay returns within 16 intervals, the count starts from the drops of the
    /// last cycle.
    #[default]
    Rfc8289,
    /// The same in fixed point, as Linux and ns-3 run it (`include/net/codel_impl.h`): 1/√count has 16 bits and is
    /// improved by one Newton step whenever the count changes.
    Linux,
    /// ACM Queue 10(5), 2012: a drop counts if delay stays above the target. If delay returns within 8 intervals, the
    /// count starts from the last one less two.
    Acm2012,
}

impl Law {
    /// Number of intervals after the next drop was due within which returning delay resumes the previous drop rate.
    fn memory(self) -> u64 {
        match self {
            Self::Rfc8289 | Self::Linux => 16,
            Self::Acm2012 => 8,
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_ms(5),     // RFC 8289 §4.3
            interval: Span::from_ms(100), // RFC 8289 §4.2
            mtu: Bytes::new(1500),        // one full Ethernet payload
            law: Law::Rfc8289,
            ecn: None,
        }
    }
}

impl Parameters for Params {
    type Machine = CodelStage;

    fn acts(&self) -> Acts {
        if self.ecn == Some(false) { Acts::Drops } else { Acts::MarksOrDrops }
    }

    fn resolve(&mut self, ecn_capable: bool) {
        self.ecn.get_or_insert(ecn_capable);
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        self.check_times(problems);
        if self.ecn == Some(true) && !at.ecn_capable {
            let why = "no transport is ECN-capable, packets are dropped";
            problems.useless("ecn", why, "write false, or `transport.ecn = \"classic\"`");
        }
    }

    fn make(&self, _: Stream, _: Rate) -> Result<CodelStage, Invalid> {
        Ok(CodelStage::new(*self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { ecn: Some(false), ..Self::SHORT }, Self { ecn: Some(true), ..Self::SHORT }]
    }
}

impl Params {
    /// Times are so short that a queue of ten packets makes it drop.
    #[cfg(test)]
    pub(crate) const SHORT: Self = Self {
        target: Span::from_us(2),
        interval: Span::from_us(6),
        mtu: Bytes::new(600),
        law: Law::Rfc8289,
        ecn: None,
    };

    /// What is wrong with CoDel's times, wherever it stands.
    pub fn check_times(&self, problems: &mut Problems) {
        let Self { target, interval, mtu, .. } = *self;
        if interval.is_zero() {
            problems.wrong("interval", "an interval of 0 drops everything", "for example \"100ms\"");
        } else if target >= interval {
            let reason = format!("the target, {target}, is not below the interval, {interval}");
            problems.wrong("target", reason, "for example a twentieth of it");
        }
        if mtu.get() > 1 << 30 {
            problems.wrong("mtu", format!("a packet of {mtu} is impossible"), "for example \"1500B\"");
        }
    }
}

/// The control law's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codel {
    /// first_above_time: when delay will have been above target for an interval; `None`: it is below.
    pub(super) first_above: Option<Time>,
    /// In the dropping state.
    pub(super) dropping: bool,
    /// When the next drop is due; outside the dropping state, when it would have been.
    pub(super) drop_next: Time,
    /// Drops since the dropping state was entered, those included from which it started.
    pub(super) count: u32,
    /// lastcount: from how many it started.
    pub(super) started_from: u32,
    /// rec_inv_sqrt: 1/√count in 1/65536, as it has been approximated ([`Law::Linux`] only).
    inverse: u16,
}

/// A packet that leaves a queue: its delay, and whether the queue is nearly empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Its sojourn time.
    pub waited: Span,
    /// Too little is left behind for delay to count: at most an MTU, or nothing in its bin.
    pub nearly_empty: bool,
}

impl Codel {
    /// May a packet be dropped now: has delay been at `target` or above for `interval`? `below`: it is not now.
    #[inline]
    pub(super) fn above(&mut self, now: Time, below: bool, interval: Span) -> bool {
        if below {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(at) => now >= at,
            None => {
                self.first_above = Some(now.saturating_add(interval));
                false
            }
        }
    }

    /// Enters the dropping state at the rate that controlled the queue the last time, if that was not long ago.
    pub(super) fn enter(&mut self, now: Time, interval: Span, law: Law) {
        self.dropping = true;
        self.count = self.resumes_from(now, interval, law);
        self.started_from = self.count;
        self.inverse = if self.count > 1 { self.newton_step() } else { u16::MAX };
        self.drop_next = now.saturating_add(self.gap(interval, law));
    }

    /// The count with which the dropping state would be entered.
    fn resumes_from(&self, now: Time, interval: Span, law: Law) -> u32 {
        let before = match law {
            Law::Rfc8289 | Law::Linux => self.count - self.started_from,
            Law::Acm2012 => self.count.saturating_sub(2),
        };
        let recent = now < self.drop_next.saturating_add(interval.saturating_mul(law.memory()));
        if recent { before.max(1) } else { 1 }
    }

    /// A packet was dropped in the dropping state; `above`: delay still is, so that the next is due an
    /// interval/√count later.
    pub(super) fn dropped(&mut self, above: bool, interval: Span, law: Law) {
        if above || law != Law::Acm2012 {
            self.count = self.count.saturating_add(1);
            self.inverse = self.newton_step();
        }
        self.dropping = above;
        if above {
            self.drop_next = self.drop_next.saturating_add(self.gap(interval, law));
        }
    }

    /// x · (3 − count · x²)/2, which comes nearer to 1/√count.
    fn newton_step(&self) -> u16 {
        let x = u64::from(self.inverse) << 16;
        let squared = (x * x) >> 32;
        let step = (3u64 << 32).saturating_sub(u64::from(self.count) * squared) >> 2;
        (((step * x) >> 31) >> 16) as u16
    }

    /// interval/√count, rounded down to 1 ps. IEEE 754 division and square root: the same on every machine.
    fn gap(&self, interval: Span, law: Law) -> Span {
        Span::from_ps(match law {
            Law::Linux => ((u128::from(interval.ps()) * u128::from(self.inverse)) >> 16) as u64,
            Law::Rfc8289 | Law::Acm2012 => (interval.ps() as f64 / libm::sqrt(f64::from(self.count))) as u64,
        })
    }

    /// Whether the state is equivalent to a fresh one for the next packet.
    pub(crate) fn is_forgettable(&self, now: Time, interval: Span, law: Law) -> bool {
        self.first_above.is_none() && !self.dropping && self.resumes_from(now, interval, law) == 1
    }

    /// The next packet to send. `take` takes the next one off the queue and reports how it fared; one that would
    /// be dropped is shown to `mark`, and sent if that has marked it; `drop` gets those that are given up
    /// before it.
    // CHOICE RFC 8289 §5.5: a mark is counted as a drop, and its packet is sent: no further one is looked at,
    // as in Linux. (The RFC's pseudo-code knows no ECN.)
    pub fn serve<P>(
        &mut self,
        spec: &Params,
        now: Time,
        mut take: impl FnMut() -> Option<(P, Departure)>,
        mut mark: impl FnMut(&mut P) -> bool,
        mut drop: impl FnMut(P),
    ) -> Option<P> {
        let mut next = self.look(spec, now, take());
        if self.dropping {
            self.dropping = next.1;
            while self.dropping && now >= self.drop_next {
                if next.0.as_mut().is_some_and(&mut mark) {
                    self.dropped(true, spec.interval, spec.law);
                    break;
                }
                next.0.into_iter().for_each(&mut drop);
                next = self.look(spec, now, take());
                self.dropped(next.1, spec.interval, spec.law);
            }
        } else if next.1 {
            if !next.0.as_mut().is_some_and(mark) {
                next.0.into_iter().for_each(&mut drop);
                // The packet behind it is sent whatever it waited, but if that was little, delay is below target again.
                next = self.look(spec, now, take());
            }
            self.enter(now, spec.interval, spec.law);
        }
        next.0
    }

    /// The packet, and whether it may be dropped. An empty queue has no delay.
    fn look<P>(&mut self, spec: &Params, now: Time, next: Option<(P, Departure)>) -> (Option<P>, bool) {
        let below = next.as_ref().is_none_or(|(_, d)| d.waited < spec.target || d.nearly_empty);
        let may_drop = self.above(now, below, spec.interval);
        (next.map(|(packet, _)| packet), may_drop)
    }
}

/// CoDel as a stage: the same law, one packet at a time. The loop of [`Codel::serve`] is the port's, which
/// calls the stage for the next packet at the same instant if one was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodelStage {
    spec: Params,
    codel: Codel,
    before: Before,
}

/// What happened to the packet before, at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Before {
    /// It was sent.
    Sent,
    /// It was dropped, and that began the dropping state: the one behind it is sent whatever it waited.
    First,
    /// It was dropped in the dropping state.
    Due,
}

impl CodelStage {
    /// A port at which delay has never been above target.
    pub fn new(spec: Params) -> Self {
        Self { spec, codel: Codel::default(), before: Before::Sent }
    }

    fn drop(&mut self, kind: Before) -> Leave {
        self.before = kind;
        Leave::Drop
    }

    fn marks(&self, packet: Leaving) -> bool {
        self.spec.ecn == Some(true) && packet.ecn_capable()
    }
}

impl HeaderStage for CodelStage {
    fn needs(&self) -> Needs {
        Needs { departures: true, wait: true, ..Needs::default() }
    }

    fn on_departure(&mut self, now: Time, view: &View, packet: Leaving) -> Leave {
        let Params { target, interval, mtu, law, .. } = self.spec;
        let below = view.waited < target || view.bytes <= mtu.get();
        let may_drop = self.codel.above(now, below, interval);
        match std::mem::replace(&mut self.before, Before::Sent) {
            Before::First => {
                self.codel.enter(now, interval, law);
                return Leave::Pass;
            }
            Before::Due => self.codel.dropped(may_drop, interval, law),
            Before::Sent if self.codel.dropping => self.codel.dropping = may_drop,
            Before::Sent if may_drop && self.marks(packet) => {
                self.codel.enter(now, interval, law);
                return Leave::Mark;
            }
            Before::Sent if may_drop => return self.drop(Before::First),
            Before::Sent => {}
        }
        if !self.codel.dropping || now < self.codel.drop_next {
            return Leave::Pass;
        }
        if self.marks(packet) {
            self.codel.dropped(true, interval, law);
            return Leave::Mark;
        }
        self.drop(Before::Due)
    }

    /// An empty queue has no delay.
    fn on_unused(&mut self, now: Time) {
        let Params { interval, law, .. } = self.spec;
        self.codel.above(now, true, interval);
        match std::mem::replace(&mut self.before, Before::Sent) {
            Before::First => self.codel.enter(now, interval, law),
            Before::Due => self.codel.dropped(false, interval, law),
            Before::Sent => self.codel.dropping = false,
        }
    }

    fn quiet_below(&self) -> u32 {
        u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The law, applied packet by packet, is the published loop over the queue.
        #[test]
        fn the_stage_drops_what_the_loop_drops(
            steps in prop::collection::vec((0u64..9, 0u32..4, 0u32..3), 1..300),
            capable in prop::collection::vec(prop::bool::ANY, 1..20),
            ecn in prop::bool::ANY,
            target in 0u64..12,
            mtu in 0u32..1200,
            law in prop::sample::select(&[Law::Rfc8289, Law::Linux, Law::Acm2012][..]),
        ) {
            let (target, interval) = (Span::from_us(target), Span::from_us(20));
            let mtu = Bytes::new(u64::from(mtu));
            let spec = Params { target, interval, mtu, law, ecn: Some(ecn) };
            let (mut codel, mut stage) = (Codel::default(), CodelStage::new(spec));
            // When each came, and whether it may be marked.
            let mut queue: Vec<(Time, bool)> = vec![];
            let mut now = Time::ZERO;
            let mut arrivals = 0;
            for (gap, join, leave) in steps {
                now += Span::from_us(gap);
                for _ in 0..join {
                    queue.push((now, capable[arrivals % capable.len()]));
                    arrivals += 1;
                }
                for _ in 0..leave {
                    let (mut left, mut dropped) = (queue.clone().into_iter(), vec![]);
                    let take = || {
                        let came = left.next()?;
                        let nearly_empty = left.len() as u64 * 500 <= mtu.get();
                        Some(((came, false), Departure { waited: now - came.0, nearly_empty }))
                    };
                    let mark = |packet: &mut ((Time, bool), bool)| {
                        packet.1 = ecn && packet.0.1;
                        packet.1
                    };
                    let sent = codel.serve(&spec, now, take, mark, |came| dropped.push(came));
                    let mut drops = 0;
                    let sent_by_stage = loop {
                        if queue.is_empty() {
                            stage.on_unused(now);
                            break None;
                        }
                        let came = queue.remove(0);
                        let bytes = queue.len() as u64 * 500;
                        let view = View { waited: now - came.0, ..super::super::tests::behind(queue.len() as u32, bytes, 500) };
                        let ecn = if came.1 { thalweg_wire::Ecn::Ect0 } else { thalweg_wire::Ecn::NotEct };
                        match stage.on_departure(now, &view, Leaving { ecn }) {
                            Leave::Drop => drops += 1,
                            leave => break Some((came, leave == Leave::Mark)),
                        }
                    };
                    prop_assert_eq!((sent, dropped.len()), (sent_by_stage, drops));
                    prop_assert_eq!(codel, stage.codel);
                }
            }
        }
    }

    const MS: fn(u64) -> Time = Time::from_ms;
    const SPEC: Params = Params {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        mtu: Bytes::new(1500),
        law: Law::Rfc8289,
        ecn: None,
    };
    const ACM: Params = Params { law: Law::Acm2012, ..SPEC };

    /// What is dropped at `at` from a queue without end whose packets have all waited `ms`.
    fn drops(codel: &mut Codel, at: Time, ms: u64) -> u32 {
        drops_by(&SPEC, codel, at, ms)
    }

    fn drops_by(spec: &Params, codel: &mut Codel, at: Time, ms: u64) -> u32 {
        let (mut number, mut dropped) = (0, 0);
        let take = || {
            number += 1;
            Some((number, Departure { waited: Span::from_ms(ms), nearly_empty: false }))
        };
        let sent = codel.serve(spec, at, take, |_| false, |_| dropped += 1);
        assert_eq!(sent, Some(dropped + 1), "the first that is not dropped is sent");
        dropped
    }

    /// When packets are dropped that have waited `ms` and leave every 10 ms from `from` to before `to`.
    fn dropped_at(spec: &Params, codel: &mut Codel, from: u64, to: u64, ms: u64) -> Vec<u64> {
        let times = (from / 10..to / 10).map(|t| t * 10);
        times.filter(|&t| drops_by(spec, codel, MS(t), ms) == 1).collect()
    }

    #[test]
    fn the_defaults_are_the_rfcs() {
        let Params { target, interval, law, .. } = Params::default();
        assert_eq!((target, interval, law), (Span::from_ms(5), Span::from_ms(100), Law::Rfc8289));
    }

    #[test]
    fn one_sojourn_below_the_target_starts_the_interval_anew() {
        let mut codel = Codel::default();
        assert_eq!(dropped_at(&SPEC, &mut codel, 0, 90, 9), [0; 0]);
        assert_eq!(drops(&mut codel, MS(91), 4), 0);
        assert_eq!(dropped_at(&SPEC, &mut codel, 100, 210, 9), [200], "above again from 100 ms on");
    }

    #[test]
    fn drops_come_an_interval_over_the_square_root_of_their_count_apart() {
        for spec in [&SPEC, &ACM] {
            let mut codel = Codel::default();
            // Above since 0: the first at 100; then due at 200, 270.7, 328.4, 378.4, 423.2: run every 10 ms.
            assert_eq!(dropped_at(spec, &mut codel, 0, 440, 10), [100, 200, 280, 330, 380, 430]);
            assert_eq!(codel.count, 6);
            assert_eq!(dropped_at(spec, &mut codel, 440, 450, 4), [0; 0]);
            let again = dropped_at(spec, &mut codel, 450, 710, 10);
            if spec.law == Law::Rfc8289 {
                // Back 120 ms later: the rate of the fifth drop, then the sixth's, ..: due 44.7, 40.8, 37.8 ms later.
                assert_eq!((again, codel.count), (vec![550, 600, 640, 680], 8));
            } else {
                // The rate of the fourth. Due 50 ms later, then 44.7, 40.8.
                assert_eq!((again, codel.count), (vec![550, 600, 650, 690], 7));
            }
            assert_eq!(dropped_at(spec, &mut codel, 710, 720, 4), [0; 0]);
        }
    }

    #[test]
    fn the_rate_of_the_last_cycle_is_forgotten_after_sixteen_intervals_or_eight() {
        let made =
            |count, started_from| Codel { count, started_from, drop_next: MS(1000), ..Codel::default() };
        let from = |mut codel: Codel, at, law| {
            codel.enter(MS(at), SPEC.interval, law);
            codel.count
        };
        assert_eq!((from(made(9, 4), 2599, Law::Rfc8289), from(made(9, 4), 2600, Law::Rfc8289)), (5, 1));
        assert_eq!((from(made(9, 4), 1799, Law::Acm2012), from(made(9, 4), 1800, Law::Acm2012)), (7, 1));
        // A single drop in the last cycle is not a rate.
        assert_eq!((from(made(9, 8), 1100, Law::Rfc8289), from(made(9, 7), 1100, Law::Rfc8289)), (1, 2));
        assert_eq!((from(made(2, 1), 1100, Law::Acm2012), from(made(3, 1), 1100, Law::Acm2012)), (1, 1));
    }

    #[test]
    fn in_fixed_point_the_root_is_followed_step_by_step() {
        let mut codel = Codel::default();
        codel.enter(MS(0), SPEC.interval, Law::Linux);
        let mut due = vec![];
        for _ in 0..40 {
            codel.dropped(true, SPEC.interval, Law::Linux);
            due.push(codel.gap(SPEC.interval, Law::Linux).ps() as f64 / 1e9);
        }
        // One step from 1 for two drops: (3 − 2)/2 instead of 1/√2; then (3 − 3/4)/4 for three.
        assert!((due[0] - 50.0).abs() < 0.01 && (due[1] - 56.25).abs() < 0.01, "{due:?}");
        assert!((due[39] - 100.0 / 41f64.sqrt()).abs() < 0.2, "{due:?}");
        // From the 30 drops of the last cycle back to 30: one step from 1/√60 is short of 1/√30.
        codel = Codel { count: 60, started_from: 30, inverse: (65536.0 / 60f64.sqrt()) as u16, ..codel };
        codel.enter(codel.drop_next, SPEC.interval, Law::Linux);
        assert_eq!(codel.count, 30);
        assert!(
            (codel.gap(SPEC.interval, Law::Linux).ps() as f64 / 1e9 - 1.25 * 100.0 / 60f64.sqrt()).abs()
                < 0.01
        );
    }

    #[test]
    fn exactly_the_target_is_above_it_and_a_nearly_empty_queue_is_below() {
        let mut codel = Codel::default();
        assert_eq!(drops(&mut codel, MS(0), 5), 0);
        assert_eq!(drops(&mut codel, MS(99), 5), 0);
        assert_eq!(drops(&mut codel, MS(100), 5), 1);
        let last = Departure { waited: Span::from_secs(9), nearly_empty: true };
        let mut codel = Codel::default();
        for t in 0..1000 {
            assert_eq!(codel.serve(&SPEC, MS(t), || Some((7, last)), |_| panic!(), |_| panic!()), Some(7));
        }
    }

    #[test]
    fn after_a_pause_in_the_dropping_state_several_drops_are_due_at_once() {
        let mut codel = Codel::default();
        assert_eq!((drops(&mut codel, MS(0), 10), drops(&mut codel, MS(100), 10)), (0, 1));
        // Due at 200, 270.7, 328.4, 378.4.
        assert_eq!(drops(&mut codel, MS(330), 10), 3);
        assert_eq!(codel.count, 4);
        // 200 + 100/√2 + 100/√3 + 100/√4 ms, each rounded down.
        assert_eq!(codel.drop_next, Time::from_ps(378_445_705_036));
        // A packet below target ends it; the drop before counts, or it does not.
        for (spec, count) in [(&SPEC, 5), (&ACM, 4)] {
            let mut codel = codel;
            let mut waited = [Span::from_ms(9), Span::from_ms(1)].into_iter();
            let mut gone = vec![];
            let take = || waited.next().map(|waited| (waited, Departure { waited, nearly_empty: false }));
            assert_eq!(codel.serve(spec, MS(400), take, |_| false, |w| gone.push(w)), Some(Span::from_ms(1)));
            assert_eq!((gone.len(), codel.count, codel.dropping), (1, count, false));
        }
    }

    #[test]
    fn an_empty_queue_sends_nothing_and_is_forgotten_when_its_rate_no_longer_matters() {
        let mut codel = Codel::default();
        assert_eq!(codel.serve(&SPEC, MS(0), || None::<(u8, Departure)>, |_| panic!(), |_| panic!()), None);
        assert!(codel.is_forgettable(MS(0), SPEC.interval, Law::Rfc8289));
        codel = Codel { count: 4, started_from: 1, drop_next: MS(100), ..codel };
        assert!(!codel.is_forgettable(MS(899), SPEC.interval, Law::Acm2012));
        assert!(codel.is_forgettable(MS(900), SPEC.interval, Law::Acm2012));
        assert!(!codel.is_forgettable(MS(1699), SPEC.interval, Law::Rfc8289));
        assert!(codel.is_forgettable(MS(1700), SPEC.interval, Law::Rfc8289));
    }
}
