//! The only place that looks at a clock.

use std::time::{Duration, Instant};
use thalweg_units::{Span, Time};

/// Now.
#[allow(clippy::disallowed_methods, reason = "real connections run in real time; machines are given it")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// An instant of a connection, as controllers count.
pub(super) fn time(epoch: Instant, at: Instant) -> Time {
    Time::from_ns(u64::try_from(at.saturating_duration_since(epoch).as_nanos()).unwrap_or(u64::MAX / 1000))
}

/// An instant that a controller names.
pub(super) fn instant(epoch: Instant, at: Time) -> Option<Instant> {
    epoch.checked_add(Duration::from_nanos(at.ps().div_ceil(1000)))
}

/// A duration, as controllers count.
pub(super) fn span(duration: Duration) -> Span {
    Span::from_ns(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 1000))
}
