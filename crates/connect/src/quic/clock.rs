//! The only place that reads a clock.

use std::time::{Duration, Instant};
use thalweg_units::{Span, Time};

/// The current time.
#[allow(clippy::disallowed_methods, reason = "real connections run in real time; machines are given it")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Makes timers of this thread precise: by default Linux combines timers within 50 µs. A failure is harmless.
pub(super) fn wake_in_time() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// An instant of a connection as the controller's time.
pub(super) fn time(epoch: Instant, at: Instant) -> Time {
    Time::from_ns(u64::try_from(at.saturating_duration_since(epoch).as_nanos()).unwrap_or(u64::MAX / 1000))
}

/// A time of the controller as an instant.
pub(super) fn instant(epoch: Instant, at: Time) -> Option<Instant> {
    epoch.checked_add(Duration::from_nanos(at.ps().div_ceil(1000)))
}

/// A duration as the controller's.
pub(super) fn span(duration: Duration) -> Span {
    Span::from_ns(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 1000))
}
