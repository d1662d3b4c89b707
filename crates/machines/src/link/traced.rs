//! A cellular link as it was recorded: packets leave at delivery opportunities, and only then.
//!
//! Netravali, Sivaraman, Das, Goyal, Winstein, Mickens, Balakrishnan, "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX
//! ATC 2015; the traces are those of Winstein, Sivaraman, Balakrishnan, "Stochastic Forecasts Achieve High Throughput and
//! Low Delay over Cellular Networks", NSDI 2013. At each instant of a trace so many bytes may leave. What the packet in
//! transmission leaves over goes to the next one; a packet that needs more has left with the opportunity that carries its
//! last byte. With nothing to send, the rest of an opportunity is lost. The trace begins again at its last instant.

use super::{Load, Transmitter, Unused};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use thalweg_units::{Bytes, Rate, Span, Time};

/// Bytes of an opportunity in Mahimahi's traces: a packet of 1500 B and the emulator's 4 B of tunnel header.
pub const OPPORTUNITY: u32 = 1504;

/// [`Transmitter::rate`] of a traced link counts opportunities this far back.
const WINDOW: Span = Span::from_ms(100);

/// Parameters of [`Traced`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedSpec {
    /// When there are opportunities.
    #[serde(serialize_with = "save", deserialize_with = "load")]
    pub trace: Arc<Trace>,
    /// Bytes of each, above zero; default [`OPPORTUNITY`].
    pub bytes: u32,
}

/// Opportunities to send, and when they begin again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct Trace {
    ms: Vec<u32>,
}

impl Trace {
    /// Opportunities at these milliseconds, one for each entry; the last is the period.
    ///
    /// # Errors
    /// If there are none, they fall, or the last is at 0 (then time would stand still).
    pub fn from_ms(ms: Vec<u32>) -> Result<Self, String> {
        if let Some(at) = ms.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(format!("opportunity {} falls from {} to {} ms", at + 2, ms[at], ms[at + 1]));
        }
        match ms.last() {
            None => Err("a trace needs at least one opportunity".into()),
            Some(0) => {
                Err("the last opportunity is at 0 ms: repeated, the trace would never pass its start".into())
            }
            Some(_) => Ok(Self { ms }),
        }
    }

    /// When they come, in milliseconds: never falling.
    pub fn ms(&self) -> &[u32] {
        &self.ms
    }

    /// Opportunities of one round.
    pub fn opportunities(&self) -> usize {
        self.ms.len()
    }

    /// After what time it begins again.
    pub fn period(&self) -> Span {
        Span::from_ms(self.ms.last().copied().map_or(1, u64::from))
    }

    /// When opportunity `k` comes, counted from 0 through all rounds.
    fn at(&self, k: u64) -> Time {
        let n = self.ms.len() as u64;
        let offset = u64::from(self.ms[(k % n) as usize]);
        let ms = Span::from_ms(1).saturating_mul(offset);
        Time::ZERO.saturating_add(self.period().saturating_mul(k / n)).saturating_add(ms)
    }

    /// How many opportunities come before `at`.
    fn before(&self, at: Time) -> u64 {
        let n = self.ms.len() as u64;
        let ms = at.ps().div_ceil(Span::from_ms(1).ps()); // an opportunity at t ms is before `at` if t < ms
        let period = u64::from(*self.ms.last().expect("a trace has an opportunity"));
        // The last of a round come with the first of the next, at a whole number of periods.
        let round = ms.saturating_sub(1) / period;
        n * round + self.ms.partition_point(|t| u64::from(*t) < ms - round * period) as u64
    }

    /// Its mean rate if each opportunity carries `bytes`.
    pub fn mean_rate(&self, bytes: u32) -> Rate {
        rate(self.ms.len() as u64, bytes, self.period())
    }
}

impl TryFrom<Vec<u32>> for Trace {
    type Error = String;
    fn try_from(ms: Vec<u32>) -> Result<Self, String> {
        Self::from_ms(ms)
    }
}
impl From<Trace> for Vec<u32> {
    fn from(trace: Trace) -> Self {
        trace.ms
    }
}

fn save<S: Serializer>(trace: &Arc<Trace>, serializer: S) -> Result<S::Ok, S::Error> {
    trace.ms.serialize(serializer)
}
fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Trace>, D::Error> {
    Trace::deserialize(deserializer).map(Arc::new)
}

fn rate(opportunities: u64, bytes: u32, span: Span) -> Rate {
    let bits = u128::from(opportunities) * u128::from(bytes) * 8;
    let bps = bits * 1_000_000_000_000 / u128::from(span.ps().max(1));
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

impl TracedSpec {
    /// The mean of a round.
    pub fn mean_rate(&self) -> Rate {
        self.trace.mean_rate(self.bytes)
    }
}

/// Open at the instants of its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    spec: TracedSpec,
    /// The opportunity in use, or the next one, counted through all rounds: those before it are used up, or told.
    next: u64,
    /// What is left of it.
    left: u32,
}

impl Traced {
    /// A transmitter that has sent nothing.
    ///
    /// # Errors
    /// If opportunities carry nothing.
    pub fn new(spec: TracedSpec) -> Result<Self, String> {
        if spec.bytes == 0 {
            return Err("an opportunity of a traced link needs at least 1 byte".into());
        }
        let left = spec.bytes;
        Ok(Self { spec, next: 0, left })
    }

    fn advance(&mut self) {
        self.next += 1;
        self.left = self.spec.bytes;
    }

    /// The first opportunity from `now` on with something left.
    fn upcoming(&self, now: Time) -> u64 {
        let next = self.next + u64::from(self.left == 0);
        if self.spec.trace.at(next) >= now { next } else { self.spec.trace.before(now) }
    }
}

impl Transmitter for Traced {
    #[inline]
    fn opens(&self, now: Time) -> Time {
        self.spec.trace.at(self.upcoming(now))
    }

    fn send(&mut self, now: Time, load: Load) -> Time {
        let upcoming = self.upcoming(now);
        if upcoming != self.next {
            self.next = upcoming;
            self.left = self.spec.bytes;
        }
        debug_assert_eq!(self.spec.trace.at(self.next), now, "handed over at an opportunity");
        if load.bytes <= u64::from(self.left) {
            self.left -= load.bytes as u32;
            return now;
        }
        // Whole opportunities at once: a packet may need thousands of small ones.
        let beyond = load.bytes - u64::from(self.left);
        let whole = u64::from(self.spec.bytes);
        self.next += beyond.div_ceil(whole);
        self.left = ((whole - beyond % whole) % whole) as u32;
        self.spec.trace.at(self.next)
    }

    /// Over the last 100 ms; before that much has passed, the trace's mean.
    fn rate(&self, now: Time) -> Rate {
        let TracedSpec { trace, bytes } = &self.spec;
        if now < Time::ZERO + WINDOW {
            return trace.mean_rate(*bytes);
        }
        let after = |at: Time| trace.before(at.saturating_add(Span::from_ps(1)));
        rate(after(now) - after(Time::from_ps(now.ps() - WINDOW.ps())), *bytes, WINDOW)
    }

    fn take_unused(&mut self, before: Time) -> Option<Unused> {
        if self.left == 0 {
            self.advance();
        }
        let at = self.spec.trace.at(self.next);
        if at >= before {
            return None;
        }
        let bytes = self.left;
        self.advance();
        Some(Unused { at, bytes })
    }
}

/// Bytes that a trace offers in one round, for reports.
impl TracedSpec {
    /// All that could leave in one round of the trace.
    pub fn bytes_per_round(&self) -> Bytes {
        Bytes::new(self.trace.opportunities() as u64 * u64::from(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn traced(ms: &[u32]) -> Traced {
        let trace = Arc::new(Trace::from_ms(ms.to_vec()).unwrap());
        Traced::new(TracedSpec { trace, bytes: OPPORTUNITY }).unwrap()
    }
    const MS: fn(u64) -> Time = Time::from_ms;

    #[test]
    fn a_full_packet_leaves_at_its_opportunity_and_the_trace_begins_again_at_its_last_instant() {
        let mut m = traced(&[1, 1, 4]);
        for leaves in [1, 1, 4, 5, 5, 8, 9] {
            let at = m.opens(Time::ZERO.max(MS(leaves)));
            assert_eq!((at, m.send(at, Load::one(1504))), (MS(leaves), MS(leaves)));
        }
        assert_eq!(m.opens(MS(9)), MS(9), "the second opportunity of that millisecond");
    }

    #[test]
    fn the_last_line_of_a_round_and_the_first_of_the_next_share_a_millisecond() {
        let mut m = traced(&[0, 3]);
        let mut at = Time::ZERO;
        let leaves: Vec<u64> = (0..5)
            .map(|_| {
                at = m.opens(at);
                m.send(at, Load::one(1504)).ps() / 1_000_000_000
            })
            .collect();
        assert_eq!(leaves, [0, 3, 3, 6, 6]);
    }

    #[test]
    fn what_a_small_packet_leaves_over_goes_to_the_next_one() {
        let mut m = traced(&[1, 2, 5]);
        // 1000 B at 1 ms; of the next 1504 B, 504 leave with it and 1000 at 2 ms, where 504 are left for a small one.
        assert_eq!(m.send(MS(1), Load::one(1000)), MS(1));
        assert_eq!(m.opens(MS(1)), MS(1));
        assert_eq!(m.send(MS(1), Load::one(1504)), MS(2));
        assert_eq!(m.send(MS(2), Load::one(504)), MS(2));
        assert_eq!(m.opens(MS(2)), MS(5));
        // 9000 B: 1504 at 5, 6, 7, 10, 11 and 1480 at 12 ms.
        assert_eq!(m.send(MS(5), Load::one(9000)), MS(12));
        assert_eq!(m.opens(MS(12)), MS(12), "24 bytes are left");
    }

    #[test]
    fn opportunities_with_nothing_to_send_are_told_once_with_what_they_could_have_carried() {
        let mut m = traced(&[1, 2, 5]);
        assert_eq!(m.send(MS(1), Load::one(1000)), MS(1));
        assert_eq!(m.take_unused(MS(1)), None, "more may come at the same instant");
        let rest = Unused { at: MS(1), bytes: 504 };
        let whole = Unused { at: MS(2), bytes: 1504 };
        assert_eq!(
            [m.take_unused(MS(5)), m.take_unused(MS(5)), m.take_unused(MS(5))],
            [Some(rest), Some(whole), None]
        );
        assert_eq!(m.opens(MS(5)), MS(5));
    }

    #[test]
    fn its_rate_is_what_the_last_hundred_milliseconds_offered() {
        // One per ms for 100 ms, then nothing for 100 ms.
        let mut ms: Vec<u32> = (1..=100).collect();
        ms.push(200);
        let m = traced(&ms);
        assert_eq!(m.rate(Time::ZERO), m.spec.trace.mean_rate(1504));
        assert_eq!(m.rate(MS(100)), Rate::from_bps(1504 * 8 * 1000));
        assert_eq!(m.rate(MS(150)), Rate::from_bps(1504 * 8 * 500));
        assert_eq!(m.rate(MS(199)), Rate::from_bps(1504 * 8 * 10));
        assert_eq!(m.spec.bytes_per_round(), Bytes::new(101 * 1504));
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |ms: &[u32]| Trace::from_ms(ms.to_vec()).unwrap_err();
        assert!(refuse(&[]).contains("at least one"));
        assert!(refuse(&[0, 0]).contains("0 ms"));
        assert!(refuse(&[3, 9, 8]).contains("opportunity 3 falls from 9 to 8"));
        let trace = Arc::new(Trace::from_ms(vec![1]).unwrap());
        assert!(Traced::new(TracedSpec { trace, bytes: 0 }).is_err());
    }

    /// Mahimahi's loop, written down byte by byte: departures of packets that are there from the start of a busy period,
    /// and what passes unused.
    struct Oracle {
        ms: Vec<u32>,
        bytes: u32,
    }
    impl Oracle {
        fn opportunities(&self) -> impl Iterator<Item = u64> {
            let period = u64::from(*self.ms.last().unwrap());
            (0..).flat_map(move |round| self.ms.iter().map(move |t| round * period + u64::from(*t)))
        }
        /// Packets `(came, wire)`, first come, first served: when each leaves, and the opportunities not used up.
        fn run(&self, packets: &[(u64, u32)], until: u64) -> (Vec<u64>, Vec<(u64, u32)>) {
            let (mut left, mut unused) = (vec![], vec![]);
            let (mut next, mut transit) = (0, 0);
            for t in self.opportunities().take_while(|t| *t < until) {
                let mut budget = self.bytes;
                while budget > 0 {
                    if transit == 0 {
                        match packets.get(next) {
                            Some((came, wire)) if *came <= t => transit = *wire,
                            _ => {
                                unused.push((t, budget));
                                break;
                            }
                        }
                    }
                    let n = budget.min(transit);
                    budget -= n;
                    transit -= n;
                    if transit == 0 {
                        left.push(t);
                        next += 1;
                    }
                }
            }
            (left, unused)
        }
    }

    proptest! {
        #[test]
        fn departures_and_unused_opportunities_are_those_of_the_emulators_loop(
            mut ms in prop::collection::vec(0u32..30, 1..12),
            bytes in 1u32..2000,
            mut packets in prop::collection::vec((0u64..200, 1u32..4000), 0..40),
        ) {
            ms.sort_unstable();
            prop_assume!(*ms.last().unwrap() > 0);
            packets.sort_unstable();
            let oracle = Oracle { ms: ms.clone(), bytes };
            let until = 100_000;
            let (left, unused) = oracle.run(&packets, until);
            prop_assume!(left.len() == packets.len());
            let trace = Arc::new(Trace::from_ms(ms).unwrap());
            let mut m = Traced::new(TracedSpec { trace, bytes }).unwrap();
            let (mut free, mut told) = (Time::ZERO, vec![]);
            for ((came, wire), left) in packets.iter().zip(&left) {
                let ready = free.max(MS(*came));
                let at = m.opens(ready);
                while let Some(u) = m.take_unused(at) {
                    told.push((u.at.ps() / 1_000_000_000, u.bytes));
                }
                prop_assert_eq!(m.opens(ready), at);
                free = m.send(at, Load::one(*wire));
                prop_assert_eq!(free, MS(*left));
            }
            for _ in 0..20 {
                let Some(u) = m.take_unused(MS(until)) else { break };
                told.push((u.at.ps() / 1_000_000_000, u.bytes));
            }
            prop_assert_eq!(&told[..], &unused[..told.len()]);
        }

        /// Skipped opportunities count the same whether they are told one by one or passed in one step.
        #[test]
        fn opportunities_before_an_instant_are_counted_as_one_by_one(
            mut ms in prop::collection::vec(0u32..30, 1..12),
            at in 0u64..500_000_000_000,
        ) {
            ms.sort_unstable();
            prop_assume!(*ms.last().unwrap() > 0);
            let trace = Trace::from_ms(ms).unwrap();
            let counted = (0..).take_while(|k| trace.at(*k) < Time::from_ps(at)).count() as u64;
            prop_assert_eq!(trace.before(Time::from_ps(at)), counted);
        }
    }
}
