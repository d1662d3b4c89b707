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
    },
}

/// One gap of the given mean, seconds. At least 1 ps, so that time passes.
pub(super) fn gap(arrivals: Arrivals, mean: f64, stream: &mut Stream) -> Span {
    let seconds = match arrivals {
        Arrivals::Poisson => stream.exponential(mean),
        // E exp(μ + σZ) = exp(μ + σ²/2)
        Arrivals::LogNormal { sigma } => {
            let mu = libm::log(mean) - sigma * sigma / 2.0;
            libm::exp(mu + sigma * stream.normal())
        }
    };
    Span::from_secs_f64(seconds).max(Span::from_ps(1))
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
