//! A cellular link as it was recorded: packets leave at delivery opportunities, and only then.
//!
//! Netravali, Sivaraman, Das, Goyal, Winstein, Mickens, Balakrishnan, "Mahimahi: Accurate Record-and-Replay
//! for HTTP", USENIX ATC 2015; the traces are those of Winstein, Sivaraman, Balakrishnan, "Stochastic
//! Forecasts Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013. At each instant of a
//! trace so many bytes may leave. What the packet in transmission leaves over goes to the next one; a packet
//! that needs more has left with the opportunity that carries its last byte. With nothing to send, the rest
//! of an opportunity is lost. The trace begins again at its last instant.

use super::declare::{Making, Parameters};
use super::trace::{self, Place, Trace, rate};
use super::{Load, Transmission, Transmitter, Unused};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use thalweg_units::{Bytes, Rate, Span, Time};

/// Bytes of an opportunity in Mahimahi's traces: a packet of 1500 B and the emulator's 4 B of tunnel header.
pub const OPPORTUNITY: u32 = 1504;

/// [`Transmitter::rate`] of a traced link counts opportunities this far back.
const WINDOW: Span = Span::from_ms(100);

/// Delivery opportunities of a recorded cellular link (Mahimahi, Netravali et al., USENIX ATC 2015).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// File of the trace, relative to the scenario: each line holds a time in whole milliseconds, never descending, as
    /// Mahimahi writes them. Links with the same trace have their opportunities at the same instants.
    #[schemars(extend("examples" = ["Verizon-LTE-short.down"]))]
    pub file: String,
    /// Bytes per delivery opportunity. (The default is 1500 B and the 4 B of the emulator's tunnel header.)
    #[serde(default = "opportunity")]
    pub opportunity: Bytes,
    /// The trace repeats after its last line. Otherwise nothing leaves after it.
    #[serde(default = "repeat")]
    pub repeat: bool,
}

/// Of [`Params::opportunity`] and its like.
pub(super) fn opportunity() -> Bytes {
    Bytes::new(u64::from(OPPORTUNITY))
}
fn repeat() -> bool {
    true
}

/// Refuses opportunities of nothing and those that no packet can have.
pub(super) fn check_opportunity(bytes: Bytes, problems: &mut Problems) {
    if bytes == Bytes::ZERO || bytes.get() > u64::from(u32::MAX) {
        let hint = "for example \"1504B\", Mahimahi's";
        problems.wrong("opportunity", format!("{bytes} cannot leave at an opportunity"), hint);
    }
}

impl Parameters for Params {
    type Spec = TracedSpec;

    fn file(&self) -> Option<&str> {
        Some(&self.file)
    }
    fn check(&self, run: Span, trace: Option<&Trace>, problems: &mut Problems) {
        check_opportunity(self.opportunity, problems);
        if let Some(trace) = trace.filter(|trace| !self.repeat && trace.period() >= run) {
            let why = format!("the run ends at {run}, the trace at {}", trace.period());
            problems.useless("repeat", &why, "remove the key or raise `run.until`");
        }
    }
    fn spec(&self, making: Making) -> Result<TracedSpec, Invalid> {
        let trace = making.trace.ok_or(Invalid::new("a traced link needs its trace").at("file"))?;
        let trace = if self.repeat { trace } else { Arc::new(Trace::clone(&trace).once()) };
        let too_large = |_| Invalid::new("the opportunities are too large").at("opportunity");
        let bytes = u32::try_from(self.opportunity.get()).map_err(too_large)?;
        Ok(TracedSpec { trace, bytes })
    }
}

/// Parameters of [`Traced`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedSpec {
    /// When there are opportunities.
    #[serde(serialize_with = "trace::save", deserialize_with = "trace::load")]
    pub trace: Arc<Trace>,
    /// Bytes of each, above zero; default [`OPPORTUNITY`].
    pub bytes: u32,
}

impl TracedSpec {
    /// Of its busiest millisecond.
    pub fn peak_rate(&self) -> Rate {
        self.trace.peak_rate(self.bytes)
    }
    /// The mean of a round.
    pub fn mean_rate(&self) -> Rate {
        self.trace.mean_rate(self.bytes)
    }
}

/// Open at the instants of its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    spec: TracedSpec,
    /// The opportunity in use, or the next one: those before it are used up, or reported.
    next: Place,
    /// What is left of it.
    left: u32,
}

impl Traced {
    /// A transmitter that has sent nothing.
    ///
    /// # Errors
    /// If opportunities carry nothing.
    pub fn new(spec: TracedSpec) -> Result<Self, Invalid> {
        if spec.bytes == 0 {
            let why = "an opportunity of a traced link needs at least 1 byte";
            return Err(Invalid::new(why).at("opportunity"));
        }
        let (left, next) = (spec.bytes, spec.trace.place(0));
        Ok(Self { spec, next, left })
    }

    #[inline]
    fn advance(&mut self) {
        self.next = self.spec.trace.after(self.next, 1);
        self.left = self.spec.bytes;
    }

    /// The first opportunity from `now` on with something left.
    #[inline]
    fn upcoming(&self, now: Time) -> Place {
        let trace = &self.spec.trace;
        let next = if self.left == 0 { trace.after(self.next, 1) } else { self.next };
        if next.at >= now { next } else { trace.place(trace.before(now)) }
    }
}

impl Transmitter for Traced {
    #[inline]
    fn opens(&self, now: Time) -> Time {
        self.upcoming(now).at
    }

    fn send(&mut self, now: Time, load: Load) -> Time {
        let upcoming = self.upcoming(now);
        if upcoming != self.next {
            self.next = upcoming;
            self.left = self.spec.bytes;
        }
        debug_assert_eq!(self.next.at, now, "handed over at an opportunity");
        if load.bytes <= u64::from(self.left) {
            self.left -= load.bytes as u32;
            return now;
        }
        // Whole opportunities at once: a packet may need thousands of small ones.
        let beyond = load.bytes - u64::from(self.left);
        let whole = u64::from(self.spec.bytes);
        let (more, over) = if beyond <= whole {
            (1, whole - beyond)
        } else {
            (beyond.div_ceil(whole), (whole - beyond % whole) % whole)
        };
        self.next = self.spec.trace.after(self.next, more);
        self.left = over as u32;
        self.next.at
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

    /// By what was used up to its end, less what had been on offer before.
    fn remaining(&self, now: Time, last: &Transmission) -> u64 {
        let TracedSpec { trace, bytes } = &self.spec;
        let each = u64::from(*bytes);
        let used = (trace.number(self.next) + 1).saturating_mul(each) - u64::from(self.left);
        used.saturating_sub(self.spec.offered(now).get()).min(last.bytes)
    }

    fn take_unused(&mut self, before: Time) -> Option<Unused> {
        if self.left == 0 {
            self.advance();
        }
        let at = self.next.at;
        if at >= before {
            return None;
        }
        let bytes = self.left;
        self.advance();
        Some(Unused { at, bytes })
    }
}

impl TracedSpec {
    /// All that could have left by an instant, that instant included.
    pub fn offered(&self, until: Time) -> Bytes {
        let opportunities = self.trace.before(until.saturating_add(Span::from_ps(1)));
        Bytes::new(opportunities.saturating_mul(u64::from(self.bytes)))
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

    /// Opportunities of 20 000 B at 10, 20, … ms; fourteen packets of 1500 B from 10 ms on: of the last one 500 B leave
    /// with the first opportunity.
    #[test]
    fn what_remains_of_a_packet_is_what_its_last_opportunities_carry() {
        let trace = Arc::new(Trace::from_ms(vec![10]).unwrap());
        let mut m = Traced::new(TracedSpec { trace, bytes: 20_000 }).unwrap();
        let mut sent = |bytes| {
            let begun = m.opens(MS(10));
            let until = m.send(begun, Load::one(bytes));
            Transmission { begun, until, bytes: u64::from(bytes) }
        };
        (0..13).for_each(|_| assert_eq!(sent(1500).until, MS(10)));
        let last = sent(1500);
        assert_eq!((last.begun, last.until), (MS(10), MS(20)));
        assert_eq!([12, 19].map(|ms| m.remaining(MS(ms), &last)), [1000, 1000]);
        // A packet of 50 000 B needs three, and the rest of one.
        let begun = m.opens(MS(20));
        let last = Transmission { begun, until: m.send(begun, Load::one(50_000)), bytes: 50_000 };
        assert_eq!(last.until, MS(40));
        assert_eq!([20, 30, 39].map(|ms| m.remaining(MS(ms), &last)), [31_000, 11_000, 11_000]);
    }

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
    fn unused_opportunities_are_reported_once_with_their_capacity() {
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
    }

    #[test]
    fn a_trace_that_does_not_repeat_ends() {
        let trace = Arc::new(Trace::from_ms(vec![1, 2, 5]).unwrap().once());
        let spec = TracedSpec { trace, bytes: OPPORTUNITY };
        let mut m = Traced::new(spec.clone()).unwrap();
        for leaves in [1, 2, 5] {
            let at = m.opens(MS(leaves - 1));
            assert_eq!((at, m.send(at, Load::one(1504))), (MS(leaves), MS(leaves)));
        }
        assert_eq!((m.opens(MS(5)), m.take_unused(Time::MAX)), (Time::MAX, None));
        let offered = |ms| spec.offered(MS(ms)).get() / 1504;
        assert_eq!([0, 1, 4, 5, 1000].map(offered), [0, 1, 2, 3, 3]);
        let mut m = Traced::new(spec).unwrap();
        assert_eq!(m.send(MS(1), Load::one(9000)), Time::MAX, "there is not so much");
        let saved = postcard::to_allocvec(&m).unwrap();
        assert_eq!(postcard::from_bytes::<Traced>(&saved).unwrap(), m);
    }

    #[test]
    fn what_could_have_left_counts_all_rounds() {
        let m = traced(&[1, 1, 4]);
        // 1 1 4 5 5 8 9 9 12 ms
        assert_eq!(
            [0, 1, 3, 4, 5, 8, 12].map(|ms| m.spec.offered(MS(ms)).get() / 1504),
            [0, 2, 2, 3, 5, 6, 9]
        );
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |ms: &[u32]| Trace::from_ms(ms.to_vec()).unwrap_err().to_string();
        assert!(refuse(&[]).contains("at least one"));
        assert!(refuse(&[0, 0]).contains("0 ms"));
        assert!(refuse(&[3, 9, 8]).contains("opportunity 3 falls from 9 to 8"));
        let trace = Arc::new(Trace::from_ms(vec![1]).unwrap());
        assert!(Traced::new(TracedSpec { trace, bytes: 0 }).is_err());
    }

    /// Mahimahi's loop, written down byte by byte: departures of packets that are there from the start of a
    /// busy period, and what passes unused.
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
            let (mut free, mut reported) = (Time::ZERO, vec![]);
            for ((came, wire), left) in packets.iter().zip(&left) {
                let ready = free.max(MS(*came));
                let at = m.opens(ready);
                while let Some(u) = m.take_unused(at) {
                    reported.push((u.at.ps() / 1_000_000_000, u.bytes));
                }
                prop_assert_eq!(m.opens(ready), at);
                free = m.send(at, Load::one(*wire));
                prop_assert_eq!(free, MS(*left));
            }
            for _ in 0..20 {
                let Some(u) = m.take_unused(MS(until)) else { break };
                reported.push((u.at.ps() / 1_000_000_000, u.bytes));
            }
            prop_assert_eq!(&reported[..], &unused[..reported.len()]);
        }

        /// Skipped opportunities count the same whether they are reported one by one or passed in one step.
        #[test]
        fn opportunities_before_an_instant_are_counted_as_one_by_one(
            mut ms in prop::collection::vec(0u32..30, 1..12),
            at in 0u64..500_000_000_000,
        ) {
            ms.sort_unstable();
            prop_assume!(*ms.last().unwrap() > 0);
            let trace = Trace::from_ms(ms).unwrap();
            let counted = (0..).take_while(|k| trace.place(*k).at < Time::from_ps(at)).count() as u64;
            prop_assert_eq!(trace.before(Time::from_ps(at)), counted);
        }

        /// From one opportunity to the next is the same as counting from the start, through the ends of rounds.
        #[test]
        fn the_next_opportunity_is_found_from_the_last_as_from_the_start(
            mut ms in prop::collection::vec(0u32..30, 1..12), once: bool,
            steps in prop::collection::vec(0u64..30, 1..20),
        ) {
            ms.sort_unstable();
            prop_assume!(*ms.last().unwrap() > 0);
            let trace = Trace::from_ms(ms).unwrap();
            let trace = if once { trace.once() } else { trace };
            let (mut place, mut k) = (trace.place(0), 0);
            for step in steps {
                k += step;
                place = trace.after(place, step);
                prop_assert_eq!(place.at, trace.place(k).at);
            }
        }
    }
}
