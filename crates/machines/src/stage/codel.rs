//! CoDel: controlled delay. Nichols & Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012, and the pseudo-code
//! of RFC 8289, §5, in the form in which Mittal et al. ran it (NSDI 2016, §4.1).
//!
//! [`Codel`] is the control law alone: when has delay been above target for an interval, and when is the next drop
//! due. Who feeds it decides what a delay is: [`CodelStage`] sees the packets that leave a port; [`Codel::serve`] takes them
//! from a queue in a loop (each bin of FQ-CoDel); [`super::EdgeCodel`] sees a path's packets one at a time.

use super::{Acts, Around, HeaderStage, Leave, Leaving, Needs, Parameters, Problems, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// Controlled delay (RFC 8289): drops as packets leave when they have waited too long for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Queueing delay that may stand.
    pub target: Span,
    /// How long it must stand before the first drop.
    pub interval: Span,
    /// With no more than this in the queue delay does not count.
    // The link could run dry.
    pub mtu: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_ms(5),     // RFC 8289 §4.4
            interval: Span::from_ms(100), // RFC 8289 §4.3
            mtu: Bytes::new(1500),        // one full Ethernet payload
        }
    }
}

impl Parameters for Params {
    type Machine = CodelStage;

    fn acts(&self) -> Acts {
        Acts::Drops
    }

    fn check(&self, _: &Around, problems: &mut Problems) {
        self.check_times(problems);
    }

    fn make(&self, _: Stream, _: Rate) -> Result<CodelStage, String> {
        Ok(CodelStage::new(*self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::SHORT]
    }
}

impl Params {
    /// So short that a queue of ten packets makes it drop.
    #[cfg(test)]
    pub(crate) const SHORT: Self =
        Self { target: Span::from_us(2), interval: Span::from_us(6), mtu: Bytes::new(600) };

    /// What is wrong with CoDel's times, wherever it stands.
    pub fn check_times(&self, problems: &mut Problems) {
        let Self { target, interval, mtu } = *self;
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
    /// Drops since the dropping state was entered.
    pub(super) count: u32,
}

/// What a packet that leaves a queue had to wait, and what it leaves behind.
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
    pub(super) fn enter(&mut self, now: Time, interval: Span) {
        let recent = now < self.drop_next.saturating_add(interval.saturating_mul(8));
        self.dropping = true;
        self.count = if self.count > 2 && recent { self.count - 2 } else { 1 };
        self.drop_next = now.saturating_add(self.gap(interval));
    }

    /// One more drop: the next is due an interval/√count later.
    pub(super) fn advance(&mut self, interval: Span) {
        self.count = self.count.saturating_add(1);
        self.drop_next = self.drop_next.saturating_add(self.gap(interval));
    }

    /// interval/√count, rounded down to 1 ps. IEEE 754 division and square root: the same on every machine.
    fn gap(&self, interval: Span) -> Span {
        Span::from_ps((interval.ps() as f64 / libm::sqrt(f64::from(self.count))) as u64)
    }

    /// Whoever comes next meets the same future as under a fresh state.
    pub(crate) fn is_forgettable(&self, now: Time, interval: Span) -> bool {
        let recent = now < self.drop_next.saturating_add(interval.saturating_mul(8));
        self.first_above.is_none() && !self.dropping && !(self.count > 2 && recent)
    }

    /// The next packet to send. `take` takes the next one off the queue and says how it fared; `drop` gets those
    /// that are given up before it.
    pub fn serve<P>(
        &mut self,
        spec: &Params,
        now: Time,
        mut take: impl FnMut() -> Option<(P, Departure)>,
        mut drop: impl FnMut(P),
    ) -> Option<P> {
        let mut next = self.look(spec, now, take());
        if self.dropping {
            self.dropping = next.1;
            while self.dropping && now >= self.drop_next {
                next.0.into_iter().for_each(&mut drop);
                next = self.look(spec, now, take());
                if next.1 {
                    self.advance(spec.interval);
                } else {
                    self.dropping = false;
                }
            }
        } else if next.1 {
            next.0.into_iter().for_each(&mut drop);
            // The packet behind it is sent whatever it waited, but if that was little, delay is below target again.
            next = self.look(spec, now, take());
            self.enter(now, spec.interval);
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

/// CoDel as a stage: the same law, one packet at a time. The loop of [`Codel::serve`] is the port's, which asks about the next
/// packet at the same instant if one was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodelStage {
    spec: Params,
    codel: Codel,
    before: Before,
}

/// What became of the packet before, at the same instant.
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
}

impl HeaderStage for CodelStage {
    fn needs(&self) -> Needs {
        Needs { departures: true, wait: true, ..Needs::default() }
    }

    fn on_departure(&mut self, now: Time, view: &View, _packet: Leaving) -> Leave {
        let Params { target, interval, mtu } = self.spec;
        let below = view.waited < target || view.bytes <= mtu.get();
        let may_drop = self.codel.above(now, below, interval);
        match std::mem::replace(&mut self.before, Before::Sent) {
            Before::First => {
                self.codel.enter(now, interval);
                return Leave::Pass;
            }
            Before::Due if may_drop => self.codel.advance(interval),
            Before::Due => self.codel.dropping = false,
            Before::Sent if self.codel.dropping => self.codel.dropping = may_drop,
            Before::Sent if may_drop => return self.drop(Before::First),
            Before::Sent => {}
        }
        if self.codel.dropping && now >= self.codel.drop_next { self.drop(Before::Due) } else { Leave::Pass }
    }

    /// An empty queue has no delay.
    fn on_unused(&mut self, now: Time) {
        self.codel.above(now, true, self.spec.interval);
        match std::mem::replace(&mut self.before, Before::Sent) {
            Before::First => self.codel.enter(now, self.spec.interval),
            Before::Due | Before::Sent => self.codel.dropping = false,
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
        /// The law asked packet by packet is the published loop over the queue.
        #[test]
        fn the_stage_drops_what_the_loop_drops(
            steps in prop::collection::vec((0u64..9, 0u32..4, 0u32..3), 1..300),
            target in 0u64..12,
            mtu in 0u32..1200,
        ) {
            let (target, interval) = (Span::from_us(target), Span::from_us(20));
            let mtu = Bytes::new(u64::from(mtu));
            let spec = Params { target, interval, mtu };
            let (mut codel, mut stage) = (Codel::default(), CodelStage::new(spec));
            let mut queue: Vec<Time> = vec![];
            let mut now = Time::ZERO;
            for (gap, join, leave) in steps {
                now += Span::from_us(gap);
                queue.extend((0..join).map(|_| now));
                for _ in 0..leave {
                    let (mut left, mut dropped) = (queue.clone().into_iter(), vec![]);
                    let take = || {
                        let came = left.next()?;
                        let nearly_empty = left.len() as u64 * 500 <= mtu.get();
                        Some((came, Departure { waited: now - came, nearly_empty }))
                    };
                    let sent = codel.serve(&spec, now, take, |came| dropped.push(came));
                    let mut drops = 0;
                    let sent_by_stage = loop {
                        if queue.is_empty() {
                            stage.on_unused(now);
                            break None;
                        }
                        let came = queue.remove(0);
                        let bytes = queue.len() as u64 * 500;
                        let view = View { waited: now - came, ..super::super::tests::behind(queue.len() as u32, bytes, 500) };
                        match stage.on_departure(now, &view, Leaving { ecn_capable: true, marked: false }) {
                            Leave::Drop => drops += 1,
                            _ => break Some(came),
                        }
                    };
                    prop_assert_eq!((sent, dropped.len()), (sent_by_stage, drops));
                    prop_assert_eq!(codel, stage.codel);
                }
            }
        }
    }

    const MS: fn(u64) -> Time = Time::from_ms;
    const SPEC: Params =
        Params { target: Span::from_ms(5), interval: Span::from_ms(100), mtu: Bytes::new(1500) };

    /// What is dropped at `at` from a queue without end whose packets have all waited `ms`.
    fn drops(codel: &mut Codel, at: Time, ms: u64) -> u32 {
        let (mut number, mut dropped) = (0, 0);
        let take = || {
            number += 1;
            Some((number, Departure { waited: Span::from_ms(ms), nearly_empty: false }))
        };
        let sent = codel.serve(&SPEC, at, take, |_| dropped += 1);
        assert_eq!(sent, Some(dropped + 1), "the first that is not dropped is sent");
        dropped
    }

    #[test]
    fn drops_come_an_interval_over_the_square_root_of_their_count_apart() {
        let mut codel = Codel::default();
        let mut at_10 = |from: u64, to: u64, waited| -> Vec<u64> {
            (from / 10..to / 10).map(|t| t * 10).filter(|&t| drops(&mut codel, MS(t), waited) == 1).collect()
        };
        // Above since 0: the first at 100; then due at 200, 270.7, 328.4, 378.4, 423.2: asked every 10 ms.
        assert_eq!(at_10(0, 440, 10), [100, 200, 280, 330, 380, 430]);
        assert_eq!(at_10(440, 450, 4), [0; 0]);
        // Back 120 ms later, after six drops: the rate of the fourth. Due 50 ms later, then 44.7, 40.8.
        assert_eq!(at_10(450, 710, 10), [550, 600, 650, 690]);
        assert_eq!(at_10(710, 720, 4), [0; 0]);
        // Back more than eight intervals later: from the beginning.
        assert_eq!(at_10(1700, 2010, 10), [1800, 1900, 1980]);
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
            assert_eq!(codel.serve(&SPEC, MS(t), || Some((7, last)), |_| panic!()), Some(7));
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
        // A packet below target ends it, without being counted.
        let mut waited = [Span::from_ms(9), Span::from_ms(1)].into_iter();
        let mut gone = vec![];
        let take = || waited.next().map(|waited| (waited, Departure { waited, nearly_empty: false }));
        assert_eq!(codel.serve(&SPEC, MS(400), take, |w| gone.push(w)), Some(Span::from_ms(1)));
        assert_eq!((gone.len(), codel.count, codel.dropping), (1, 4, false));
    }

    #[test]
    fn an_empty_queue_sends_nothing_and_is_forgotten_when_its_rate_no_longer_matters() {
        let mut codel = Codel::default();
        assert_eq!(codel.serve(&SPEC, MS(0), || None::<(u8, Departure)>, |_| panic!()), None);
        assert!(codel.is_forgettable(MS(0), SPEC.interval));
        codel = Codel { count: 3, drop_next: MS(100), ..codel };
        assert!(!codel.is_forgettable(MS(899), SPEC.interval));
        assert!(codel.is_forgettable(MS(900), SPEC.interval));
    }
}
