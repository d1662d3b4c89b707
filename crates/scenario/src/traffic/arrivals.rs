//! Times between arrivals.

use super::declare::default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Stream, Time};

/// Times between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// Exponential gaps.
    #[default]
    Poisson,
    /// Log-normal gaps of the same mean: bursty.
    LogNormal {
        /// Shape σ.
        #[serde(default = "default::sigma")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
        sigma: f64,
        /// The sequence has been going on before its first instant, so that any window gets the load that it is to
        /// get. Else it begins with a gap, as if one had just come: in a window of few gaps more come, at σ = 2 up to
        /// 26 per sequence.
        #[serde(default)]
        stationary: bool,
    },
}

/// One gap of the given mean, seconds. At least 1 ps, so that time passes.
pub(super) fn gap(arrivals: Arrivals, mean: f64, stream: &mut Stream) -> Span {
    let seconds = match arrivals {
        Arrivals::Poisson => stream.exponential(mean),
        // E exp(μ + σZ) = exp(μ + σ²/2)
        Arrivals::LogNormal { sigma, .. } => {
            let mu = libm::log(mean) - sigma * sigma / 2.0;
            libm::exp(mu + sigma * stream.normal())
        }
    };
    Span::from_secs_f64(seconds).max(Span::from_ps(1))
}

/// The time until the first arrival.
pub(super) fn first(arrivals: Arrivals, mean: f64, stream: &mut Stream) -> Span {
    match arrivals {
        // An instant falls into a gap with a chance in proportion to its length, anywhere in it. Such gaps are
        // log-normal, too, with μ + σ² for μ.
        Arrivals::LogNormal { sigma, stationary: true } => {
            let around = gap(arrivals, mean * libm::exp(sigma * sigma), stream);
            Span::from_secs_f64(around.secs() * stream.unit())
        }
        _ => gap(arrivals, mean, stream),
    }
}

/// A start as lists hold it.
// CHOICE: starts are whole nanoseconds, so that exported lists are exact for other simulators.
pub(super) fn whole(at: Time) -> Time {
    Time::from_ps(at.ps() / 1000 * 1000)
}

/// A start within `jitter` after `start`, whole nanoseconds after it.
pub(super) fn jittered(start: Time, jitter: Span, stream: &mut Stream) -> Time {
    let extra = if jitter.is_zero() { 0 } else { stream.below(jitter.ps().saturating_add(1)) };
    start.saturating_add(Span::from_ps(extra / 1000 * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals in a window of `gaps` mean gaps, on average over many sequences.
    fn count(arrivals: Arrivals, gaps: f64) -> f64 {
        let sequences = 20_000;
        let of = |sequence: u64| {
            let mut stream = Stream::new(1, "test", sequence);
            let mut at = first(arrivals, 1e-3, &mut stream).secs();
            let mut n = 0.0;
            while at < gaps * 1e-3 {
                n += 1.0;
                at += gap(arrivals, 1e-3, &mut stream).secs();
            }
            n
        };
        (0..sequences).map(of).sum::<f64>() / sequences as f64
    }

    #[test]
    fn a_stationary_sequence_has_as_many_arrivals_in_a_window_as_it_is_long() {
        for gaps in [1.0, 5.0, 20.0] {
            let seen = count(Arrivals::LogNormal { sigma: 1.0, stationary: true }, gaps);
            assert!((seen / gaps - 1.0).abs() < 0.03, "{seen} of {gaps}");
        }
        // Else the renewal function: m + (c² − 1) / 2 in the limit, c² = e^σ² − 1.
        let seen = count(Arrivals::LogNormal { sigma: 1.0, stationary: false }, 50.0);
        let expected = 50.0 + (libm::exp(1.0) - 2.0) / 2.0;
        assert!((seen - expected).abs() < 0.3, "{seen} instead of {expected}");
    }
}
