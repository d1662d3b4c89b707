//! CoDel: controlled delay. Nichols & Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012, and the pseudo-code
//! of RFC 8289, §5, in the form in which Mittal et al. ran it (NSDI 2016, §4.1).
//!
//! [`Codel`] is the control law alone: when has delay been above target for an interval, and when is the next drop
//! due. Who feeds it decides what a delay is: [`Codel::serve`] takes packets from a queue as they leave it, dropping
//! in a loop (one queue, or each bin of FQ-CoDel); [`super::EdgeCodel`] sees a path's packets one at a time.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodelSpec {
    /// TARGET: the delay that may stand.
    pub target: Span,
    /// INTERVAL: how long it must stand before the first drop.
    pub interval: Span,
    /// MTU, bytes: with no more than this left behind, the link could run dry, and delay does not count.
    pub mtu: u32,
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
        spec: &CodelSpec,
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
    fn look<P>(&mut self, spec: &CodelSpec, now: Time, next: Option<(P, Departure)>) -> (Option<P>, bool) {
        let below = next.as_ref().is_none_or(|(_, d)| d.waited < spec.target || d.nearly_empty);
        let may_drop = self.above(now, below, spec.interval);
        (next.map(|(packet, _)| packet), may_drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;
    const SPEC: CodelSpec = CodelSpec { target: Span::from_ms(5), interval: Span::from_ms(100), mtu: 1500 };

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
