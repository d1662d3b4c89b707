//! A wire whose rate changes at known instants: square waves, ramps in steps, outages.
//!
//! A transmission during which the rate changes continues at the new rate: what counts is the integral of the rate, and
//! it is exact (bits times 10¹² against bits per second times picoseconds), rounded up to 1 ps at the very end.

use super::declare::{Making, Parameters};
use super::trace::Trace;
use super::{Load, Transmission, Transmitter};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// A rate that changes at known instants: ramps, outages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteppedSpec {
    /// The rates and when they begin, in ascending order of time, the first at `0s`. A rate of `0bps` is an outage.
    #[schemars(extend("examples" = [[{ "at": "0s", "rate": "24Mbps" }, { "at": "5s", "rate": "12Mbps" }]]))]
    pub steps: Vec<Step>,
    /// After this time the steps begin again. If not given, the last rate stays.
    pub period: Option<Span>,
}

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Time from the beginning of the run, or of the period.
    pub at: Span,
    /// Bits per second from then on.
    pub rate: Rate,
}

impl Parameters for SteppedSpec {
    type Spec = SteppedSpec;

    fn check(&self, run: Span, _: Option<&Trace>, problems: &mut Problems) {
        if let Err(reason) = Stepped::new(self.clone()) {
            return problems.wrong(
                "steps",
                reason,
                "for example [{ at = \"0s\", rate = \"24Mbps\" }, { at = \"5s\", rate = \"12Mbps\" }]",
            );
        }
        if let [only] = &self.steps[..] {
            let hint = format!("write {{ kind = \"fixed\", rate = \"{}\" }}", only.rate);
            return problems.useless("steps", "a single step is a fixed rate", hint);
        }
        self.vain(run, 0, problems);
    }
    fn spec(&self, _: Making) -> Result<SteppedSpec, Invalid> {
        Ok(self.clone())
    }
}

/// Open whenever the rate is above zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepped {
    spec: SteppedSpec,
    /// Rate × time of one period, bit/s · ps.
    per_period: u128,
}

impl Stepped {
    /// A transmitter that has sent nothing.
    ///
    /// # Errors
    /// If there is no step, the first is not at zero, they do not rise, the period ends before the last, or
    /// what was begun could never end because the rate stays zero.
    pub fn new(spec: SteppedSpec) -> Result<Self, Invalid> {
        let refuse = |why: String| Invalid::new(why).at("steps");
        let steps = &spec.steps;
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return Err(refuse("a stepped link needs at least one step".into()));
        };
        if !first.at.is_zero() {
            return Err(refuse(format!("the first step of a link is at 0, not at {}", first.at)));
        }
        if let Some(pair) = steps.windows(2).find(|pair| pair[0].at >= pair[1].at) {
            let (one, next) = (pair[0].at, pair[1].at);
            return Err(refuse(format!("steps of a link come in rising order, not {next} after {one}")));
        }
        match spec.period {
            Some(period) if period <= last.at => {
                let why = format!("the period of a link ({period}) must exceed its last step ({})", last.at);
                return Err(Invalid::new(why).at("period"));
            }
            Some(_) if steps.iter().all(|s| s.rate == Rate::ZERO) => {
                return Err(refuse("a link whose rate is always zero never sends".into()));
            }
            None if last.rate == Rate::ZERO => {
                let why = "a link whose last rate is zero, without a period, never sends again";
                return Err(refuse(why.into()));
            }
            _ => {}
        }
        let ends = steps.iter().skip(1).map(|s| s.at).chain(spec.period);
        let per_period = steps.iter().zip(ends).map(|(s, end)| work(s.rate, end - s.at)).sum();
        Ok(Self { spec, per_period })
    }

    /// The rate at an instant, and until when it holds.
    fn segment(&self, at: Time) -> (Rate, Time) {
        let (begun, offset) = match self.spec.period {
            Some(period) => {
                let offset = at.ps() % period.ps();
                (at.ps() - offset, Span::from_ps(offset))
            }
            None => (0, Span::from_ps(at.ps())),
        };
        let after = self.spec.steps.partition_point(|s| s.at <= offset);
        let end = self.spec.steps.get(after).map(|s| s.at).or(self.spec.period);
        let until = end.map_or(Time::MAX, |end| Time::from_ps(begun).saturating_add(end));
        (self.spec.steps[after - 1].rate, until)
    }
}

impl SteppedSpec {
    /// Steps that change nothing in a run that ends at `run`; the first `hidden` are no keys of the table.
    pub(super) fn vain(&self, run: Span, hidden: usize, problems: &mut Problems) {
        for (i, pair) in self.steps.windows(2).enumerate().map(|(i, pair)| (i + 1, pair)) {
            if pair[1].at >= run {
                let hint = "write an earlier time or raise `run.until`";
                problems.useless(
                    &format!("steps.{}.at", i - hidden),
                    &format!("the run ends at {run}"),
                    hint,
                );
            }
            if pair[0].rate == pair[1].rate {
                let why = format!("the rate is {} already", pair[0].rate);
                problems.useless(
                    &format!("steps.{}.rate", i - hidden),
                    &why,
                    "write another rate, or remove the step",
                );
            }
        }
        if let Some(period) = self.period.filter(|period| *period >= run) {
            let why = format!("the run ends at {run}, before the steps begin again at {period}");
            problems.useless("period", &why, "remove the key or raise `run.until`");
        }
    }
    /// What could have left by an instant: the integral of the rate.
    pub fn offered(&self, until: Time) -> Bytes {
        let until = Span::from_ps(until.ps());
        let ends = || self.steps.iter().skip(1).map(|s| s.at).chain([self.period.unwrap_or(Span::MAX)]);
        let within = |end: Span| -> u128 {
            self.steps.iter().zip(ends()).map(|(s, e)| work(s.rate, e.min(end).saturating_sub(s.at))).sum()
        };
        let all = match self.period.filter(|period| !period.is_zero()) {
            None => within(until),
            Some(period) => {
                let rounds = u128::from(until.ps() / period.ps());
                within(period) * rounds + within(Span::from_ps(until.ps() % period.ps()))
            }
        };
        Bytes::new(u64::try_from(all / 8_000_000_000_000).unwrap_or(u64::MAX))
    }

    /// The largest of its rates.
    pub fn peak_rate(&self) -> Rate {
        self.steps.iter().map(|step| step.rate).max().unwrap_or(Rate::ZERO)
    }

    /// The mean over a period; without one the last rate, which stays.
    pub fn mean_rate(&self) -> Rate {
        let Some(last) = self.steps.last() else { return Rate::ZERO };
        let Some(period) = self.period else { return last.rate };
        if self.steps.iter().any(|s| s.rate == Rate::INFINITE) {
            return Rate::INFINITE;
        }
        let ends = self.steps.iter().skip(1).map(|s| s.at).chain([period]);
        let work: u128 =
            self.steps.iter().zip(ends).map(|(s, end)| work(s.rate, end.saturating_sub(s.at))).sum();
        Rate::from_bps(u64::try_from(work / u128::from(period.ps().max(1))).unwrap_or(u64::MAX))
    }
}

/// What can be sent in a span, bit/s · ps.
fn work(rate: Rate, span: Span) -> u128 {
    u128::from(rate.bps()) * u128::from(span.ps())
}

impl Transmitter for Stepped {
    fn remaining(&self, now: Time, last: &Transmission) -> u64 {
        self.spec.offered(last.until).get() - self.spec.offered(now.min(last.until)).get()
    }
    fn opens(&self, now: Time) -> Time {
        let mut at = now;
        // A period has a rate above zero, and so has the end without one.
        for _ in 0..=self.spec.steps.len() {
            let (rate, until) = self.segment(at);
            if rate > Rate::ZERO {
                return at;
            }
            at = until;
        }
        at
    }

    fn send(&mut self, now: Time, load: Load) -> Time {
        let mut left = u128::from(load.bytes) * 8_000_000_000_000;
        let mut at = now;
        while left > 0 && at < Time::MAX {
            let (rate, until) = self.segment(at);
            if rate == Rate::INFINITE {
                break;
            }
            let here = work(rate, until - at);
            if here >= left {
                let span = left.div_ceil(u128::from(rate.bps()));
                return at.saturating_add(Span::from_ps(u64::try_from(span).unwrap_or(u64::MAX)));
            }
            left -= here;
            at = until;
            if let Some(period) = self.spec.period
                && at.ps().is_multiple_of(period.ps())
            {
                // Whole periods at once; the last bit leaves inside one.
                let periods = u64::try_from((left - 1) / self.per_period).unwrap_or(u64::MAX);
                left -= self.per_period * u128::from(periods);
                at = at.saturating_add(period.saturating_mul(periods));
            }
        }
        at
    }

    fn rate(&self, now: Time) -> Rate {
        self.segment(now).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stepped(steps: &[(u64, u64)], period: Option<u64>) -> Result<Stepped, Invalid> {
        let steps = steps.iter().map(|&(ps, bps)| Step { at: Span::from_ps(ps), rate: Rate::from_bps(bps) });
        Stepped::new(SteppedSpec { steps: steps.collect(), period: period.map(Span::from_ps) })
    }
    const MS: u64 = 1_000_000_000;

    /// 24 Mb/s for 500 ms, then 12 Mb/s for 500 ms, again and again.
    fn square() -> Stepped {
        stepped(&[(0, 24_000_000), (500 * MS, 12_000_000)], Some(1000 * MS)).unwrap()
    }

    #[test]
    fn a_packet_across_a_change_leaves_with_half_its_bits_at_either_rate() {
        let mut m = square();
        assert_eq!(m.send(Time::ZERO, Load::one(1500)), Time::from_us(500));
        // Begun 250 us before the change: 6000 bits at 24 Mb/s, 6000 at 12 Mb/s.
        assert_eq!(m.send(Time::from_us(499_750), Load::one(1500)), Time::from_us(500_500));
        assert_eq!(m.send(Time::from_us(999_500), Load::one(1500)), Time::from_us(1_000_250));
        assert_eq!(m.rate(Time::from_ms(1499)), Rate::from_mbps(24));
        assert_eq!(m.rate(Time::from_ms(1500)), Rate::from_mbps(12));
    }

    #[test]
    fn nothing_begins_in_an_outage_and_what_has_begun_waits_for_its_end() {
        let mut m = stepped(&[(0, 12_000_000), (MS, 0), (3 * MS, 12_000_000)], None).unwrap();
        assert_eq!(m.opens(Time::from_us(900)), Time::from_us(900));
        assert_eq!(m.opens(Time::from_ms(1)), Time::from_ms(3));
        assert_eq!(m.rate(Time::from_ms(2)), Rate::ZERO);
        // 1500 B are 1 ms: half before the outage, half after it.
        assert_eq!(m.send(Time::from_us(500), Load::one(1500)), Time::from_us(3500));
        // Ends with the last bit before the outage, not after it.
        assert_eq!(m.send(Time::ZERO, Load::one(1500)), Time::from_ms(1));
        let last = stepped(&[(0, 0), (MS, 8_000)], Some(2 * MS)).unwrap();
        assert_eq!(last.opens(Time::from_ms(2)), Time::from_ms(3));
    }

    #[test]
    fn a_packet_of_many_periods_is_one_division() {
        // 8 bits per period of 2 ms: 1 GB takes 10^9 periods and ends at the end of the sending half of the last.
        let mut m = stepped(&[(0, 8_000), (MS, 0)], Some(2 * MS)).unwrap();
        let sent = m.send(Time::ZERO, Load { packets: 1, bytes: 9_000_000 });
        assert_eq!(sent, Time::from_ms(2 * 8_999_999 + 1));
    }

    #[test]
    fn the_long_run_is_a_period_or_else_the_last_rate() {
        assert_eq!(square().spec.mean_rate(), Rate::from_mbps(18));
        let once = stepped(&[(0, 24_000_000), (500 * MS, 12_000_000)], None).unwrap();
        assert_eq!(once.spec.mean_rate(), Rate::from_mbps(12));
    }

    #[test]
    fn what_could_have_left_is_the_integral_of_the_rate() {
        // 24 Mb/s is 3000 bytes a millisecond; 12 Mb/s half of that.
        let offered = |spec: &SteppedSpec, ms| spec.offered(Time::from_ms(ms)).get();
        let wave = square().spec;
        assert_eq!(
            [0, 1, 500, 501, 1000, 1001].map(|ms| offered(&wave, ms)),
            [0, 3000, 1_500_000, 1_501_500, 2_250_000, 2_253_000]
        );
        let once = SteppedSpec { period: None, ..wave };
        assert_eq!([500, 2000].map(|ms| offered(&once, ms)), [1_500_000, 3_750_000]);
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        let refuse = |steps, period| stepped(steps, period).unwrap_err().to_string();
        assert!(refuse(&[], None).contains("at least one"));
        assert!(refuse(&[(5, 1)], None).contains("first step"));
        assert!(refuse(&[(0, 1), (7, 2), (7, 3)], None).contains("rising"));
        assert!(refuse(&[(0, 1), (7, 2)], Some(7)).contains("period"));
        assert!(refuse(&[(0, 0)], Some(7)).contains("never"));
        assert!(refuse(&[(0, 1), (9, 0)], None).contains("never sends again"));
    }

    proptest! {
        /// The rate summed up picosecond by picosecond.
        #[test]
        fn the_integral_of_the_rate_is_a_sum_over_picoseconds(
            gaps in prop::collection::vec((1u64..40, 0u64..3), 1..6),
            tail in 1u64..40,
            repeats in any::<bool>(),
            now in 0u64..300,
            bytes in 1u64..30,
        ) {
            // Rates of 0, 0.5 and 1.3 bits per picosecond.
            let bps = [0, 500_000_000_000, 1_300_000_000_001];
            let mut at = 0;
            let mut steps = vec![];
            for (gap, rate) in &gaps {
                steps.push((at, bps[*rate as usize]));
                at += gap;
            }
            let period = at + tail;
            let made = stepped(&steps, repeats.then_some(period));
            prop_assume!(made.is_ok());
            let mut m = made.unwrap();
            let rate = |t: u64| {
                let t = if repeats { t % period } else { t };
                steps.iter().rev().find(|s| s.0 <= t).unwrap().1
            };
            let opens = (now..).find(|t| rate(*t) > 0).unwrap();
            prop_assert_eq!(m.opens(Time::from_ps(now)).ps(), opens);
            let (mut t, mut done) = (opens, 0u128);
            while done < u128::from(bytes) * 8_000_000_000_000 {
                done += u128::from(rate(t));
                t += 1;
            }
            prop_assert_eq!(m.send(Time::from_ps(opens), Load { packets: 1, bytes }).ps(), t);
            prop_assert_eq!(m.rate(Time::from_ps(now)).bps(), rate(now));
        }
    }
}
