//! Times between arrivals.

use crate::schema::Arrivals;
use thalweg_units::{Span, Stream};

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
