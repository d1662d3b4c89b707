//! A synthetic cellular link, for use without a trace: a rate that follows a random walk, with outages, as the delivery
//! opportunities of a [`Traced`](super::Traced) link.
//!
//! In every step the logarithm of the rate moves by a normal amount, between two bounds at which it stops;
//! outages come at random and last any time between two, equally likely. It has the burstiness of the LTE
//! traces that are used for controllers (rates that change by a factor of two within a second, silences of up
//! to seconds), not any network's statistics: results that are to be published want a recorded trace.

use super::declare::{Making, Parameters};
use super::trace::Trace;
use super::traced::{TracedSpec, check_opportunity, opportunity};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use thalweg_units::{Bytes, Rate, Span, Stream};

/// The longest that is made.
const LONGEST: Span = Span::from_secs(10_000);
/// The most opportunities that are made.
const MOST: u128 = 20_000_000;

/// A synthetic cellular link: the rate follows a random walk between two bounds, with outages. Every seed and every
/// direction has its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Smallest rate outside outages.
    pub min: Rate,
    /// Largest rate.
    pub max: Rate,
    /// Interval between changes of the rate.
    pub step: Span,
    /// σ: standard deviation of a step of the rate's natural logarithm.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
    pub volatility: f64,
    /// Rate of outages, per second of time outside outages; 0: none.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub outages: f64,
    /// The shortest outage.
    pub outage_min: Span,
    /// The longest outage.
    pub outage_max: Span,
    /// Period after which the link repeats.
    pub length: Span,
    /// Bytes per delivery opportunity.
    pub opportunity: Bytes,
}

impl Default for Params {
    // CHOICE ABC §2.5: what replaces recorded traces where there are none.
    fn default() -> Self {
        Self {
            min: Rate::from_bps(200_000),
            max: Rate::from_mbps(30),
            step: Span::from_ms(20),
            volatility: 0.15,
            outages: 0.15,
            outage_min: Span::from_ms(100),
            outage_max: Span::from_secs(2),
            length: Span::from_secs(60),
            opportunity: opportunity(),
        }
    }
}

impl Params {
    fn ms(span: Span) -> u64 {
        span.ps() / Span::from_ms(1).ps()
    }

    /// Its opportunities.
    fn trace(&self, mut chance: Stream) -> Result<Trace, Invalid> {
        let (length, step) = (Self::ms(self.length), Self::ms(self.step).max(1));
        let (low, high) = (libm::log(self.min.bps() as f64), libm::log(self.max.bps() as f64));
        let per_step = self.outages * step as f64 * 1e-3;
        let whole = u128::from(self.opportunity.get()) * 8_000;
        let mut level = low + (high - low) * chance.unit();
        // Thousandths of bits that could have left; until when there is an outage, ms.
        let (mut credit, mut silent) = (0u128, 0);
        let mut ms: Vec<u32> = Vec::new();
        for begin in (0..length).step_by(step as usize) {
            let draws = [chance.normal(), chance.unit(), chance.unit()];
            level = (level + self.volatility * draws[0]).clamp(low, high);
            if draws[1] < per_step && begin > silent {
                let beyond = (self.outage_max - self.outage_min).ps() as f64 * draws[2];
                silent = begin + Self::ms(self.outage_min + Span::from_ps(beyond as u64));
            }
            let rate = libm::exp(level) as u128;
            for at in (begin + 1..=(begin + step).min(length)).filter(|at| *at > silent) {
                credit += rate;
                while credit >= whole {
                    credit -= whole;
                    ms.push(at as u32);
                }
            }
        }
        // The last opportunity is the period.
        if ms.last().is_none_or(|last| u64::from(*last) < length) {
            ms.push(length as u32);
        }
        Trace::from_ms(ms)
    }
}

impl Parameters for Params {
    type Spec = TracedSpec;

    fn check(&self, _: Span, _: Option<&Trace>, problems: &mut Problems) {
        check_opportunity(self.opportunity, problems);
        if self.min == Rate::ZERO {
            problems.wrong("min", "a rate of 0bps never rises", "for example \"200Kbps\"; outages are apart");
        }
        if self.min >= self.max {
            let hint = format!("above `min`, \"{}\"", self.min);
            problems.wrong("max", format!("{} is no more than the smallest rate", self.max), hint);
        }
        if !(self.volatility > 0.0 && self.volatility <= 10.0) {
            let reason = format!("{} is out of range", self.volatility);
            problems.wrong("volatility", reason, "allowed: above 0, at most 10");
        }
        let ms = Span::from_ms(1);
        let times = [
            ("step", self.step),
            ("length", self.length),
            ("outage_min", self.outage_min),
            ("outage_max", self.outage_max),
        ];
        for (key, span) in times {
            if span != Span::from_ms(Self::ms(span)) {
                problems.wrong(
                    key,
                    format!("{span} is no whole number of milliseconds"),
                    "traces count in these",
                );
            }
        }
        if self.length < ms || self.length > LONGEST {
            let hint = format!("from 1ms to {LONGEST}");
            problems.wrong("length", format!("it cannot be made {} long", self.length), hint);
        } else if self.step < ms || self.step >= self.length {
            let hint = format!("from 1ms to less than `length`, \"{}\"", self.length);
            problems.wrong("step", format!("the rate cannot change every {}", self.step), hint);
        }
        let bits = u128::from(self.max.bps()) * u128::from(self.length.ps()) / 1_000_000_000_000;
        if bits / (8 * u128::from(self.opportunity.get().max(1))) > MOST {
            let reason = format!("{} for {} may have more than {MOST} opportunities", self.max, self.length);
            problems.wrong(
                "length",
                reason,
                "write a shorter `length`, a lower `max` or larger opportunities",
            );
        }
        if !(0.0..=1000.0).contains(&self.outages) {
            problems.wrong("outages", format!("{} is out of range", self.outages), "allowed: 0 to 1000");
        }
        if self.outage_min > self.outage_max {
            let hint = format!("at most `outage_max`, \"{}\"", self.outage_max);
            problems.wrong("outage_min", format!("{} is more than the longest", self.outage_min), hint);
        }
        let usual = Self::default();
        if self.outages == 0.0 {
            for (key, given, usual) in [
                ("outage_min", self.outage_min, usual.outage_min),
                ("outage_max", self.outage_max, usual.outage_max),
            ] {
                if given != usual {
                    problems.useless(key, "there are no outages", "remove the key, or raise `outages`");
                }
            }
        } else if self.outage_max.is_zero() {
            problems.useless("outage_max", "no outage lasts any time", "write `outages = 0`");
        }
    }

    fn spec(&self, making: Making) -> Result<TracedSpec, Invalid> {
        let trace = Arc::new(self.trace(making.stream)?);
        let too_large = |_| Invalid::new("the opportunities are too large").at("opportunity");
        let bytes = u32::try_from(self.opportunity.get()).map_err(too_large)?;
        Ok(TracedSpec { trace, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(params: Params, entity: u64) -> Trace {
        let mut problems = Problems::default();
        params.check(Span::from_secs(1), None, &mut problems);
        assert_eq!(problems.0, vec![]);
        params.trace(Stream::new(1, "traces", entity)).unwrap()
    }

    #[test]
    fn it_has_its_period_repeats_exactly_and_directions_differ() {
        let one = made(Params::default(), 0);
        assert_eq!(one.period(), Span::from_secs(60));
        assert_eq!(one, made(Params::default(), 0));
        assert_ne!(one, made(Params::default(), 1));
    }

    /// At 24 Mb/s and more there is an opportunity in every millisecond that is no outage.
    #[test]
    fn no_silence_is_longer_than_the_longest_outage() {
        let often = Params { outages: 1.0, length: Span::from_secs(600), ..Params::default() };
        let often = Params { min: Rate::from_mbps(24), max: Rate::from_mbps(60), ..often };
        for entity in 0..4 {
            let trace = made(often, entity);
            let longest = trace.ms().windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(longest.is_some_and(|ms| (1900..=2001).contains(&ms)), "{longest:?} ms");
        }
    }

    #[test]
    fn rates_stay_between_the_bounds_and_silences_are_outages() {
        let (low, high) = (Rate::from_mbps(6), Rate::from_mbps(24));
        let calm = Params { min: low, max: high, outages: 0.0, ..Params::default() };
        let per_second = |trace: &Trace| {
            let mut counts = vec![0u64; 60];
            trace.ms().iter().for_each(|t| counts[(*t as usize - 1) / 1000] += 1);
            counts
        };
        // 6 and 24 Mb/s are 499 and 1995 opportunities of 1504 B a second.
        let counts = per_second(&made(calm, 0));
        assert!(counts.iter().all(|n| (497..=1996).contains(n)), "{counts:?}");
        assert!(
            counts.iter().max() > counts.iter().min().map(|n| n * 3 / 2).as_ref(),
            "it moves: {counts:?}"
        );
        let (most, least) = (Span::from_ms(900), Span::from_ms(300));
        let silent = Params { outages: 0.5, outage_min: least, outage_max: most, ..calm };
        let trace = made(silent, 0);
        let gaps: Vec<u32> = trace.ms().windows(2).map(|p| p[1] - p[0]).filter(|gap| *gap > 10).collect();
        assert!((15..=45).contains(&gaps.len()), "30 are expected: {gaps:?}");
        assert!(gaps.iter().all(|gap| *gap >= 300), "{gaps:?}");
    }

    #[test]
    fn what_has_no_opportunity_has_one_at_its_end() {
        let slow = Params {
            min: Rate::from_bps(1),
            max: Rate::from_bps(2),
            length: Span::from_ms(50),
            ..Params::default()
        };
        assert_eq!(made(slow, 0).ms(), [50]);
    }
}
