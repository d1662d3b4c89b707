//! Distributions of the times between arrivals.

use super::declare::default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Stream, Time};

/// The distribution of the times between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// Exponential gaps: a Poisson process.
    #[default]
    Poisson,
    /// Log-normal gaps of the same mean, which are bursty.
    LogNormal {
        /// Shape parameter σ.
        #[serde(default = "default::sigma")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
        sigma: f64,
        /// Begin in the stationary state, so that every window gets the target load on average. Otherwise each sequence
        /// begins with a gap, as if a flow had just arrived, and a short window gets more flows: at σ = 2 up to 26 more
        /// per sequence.
        #[serde(default)]
        stationary: bool,
    },
}

/// One gap of the given mean, in seconds. At least 1 ps, so that time advances.
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
        // In the stationary state an instant falls into a gap with a probability in proportion to its length, anywhere
        // within it. The gaps so found are log-normal, too, with μ + σ² instead of μ.
        Arrivals::LogNormal { sigma, stationary: true } => {
            let around = gap(arrivals, mean * libm::exp(sigma * sigma), stream);
            Span::from_secs_f64(around.secs() * stream.unit())
        }
        _ => gap(arrivals, mean, stream),
    }
}

/// The start of a flow, rounded down to whole nanoseconds.
// CHOICE: starts are whole nanoseconds, so that exported lists are exact for other simulators.
pub(super) fn whole(at: Time) -> Time {
    Time::from_ps(at.ps() / 1000 * 1000)
}

/// A random start within `jitter` after `start`, in whole nanoseconds after it.
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
