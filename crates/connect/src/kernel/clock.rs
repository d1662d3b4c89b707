//! The kernel's clock, which gives the timestamps of records.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, as bpf_ktime_get_ns counts.
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
