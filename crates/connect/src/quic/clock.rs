//! The only place that looks at a clock.

use std::time::{Duration, Instant};
use thalweg_units::{Span, Time};

/// Now.
#[allow(clippy::disallowed_methods, reason = "real connections run in real time; machines are given it")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Has this thread woken in time: by default Linux collects timers within 50 µs. Where it has none, nothing is lost.
pub(super) fn wake_in_time() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
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
