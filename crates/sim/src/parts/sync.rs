//! The primitives of the barrier: those of the standard library. A test replaces them by models.

pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicUsize, Ordering, fence};
pub(super) use std::sync::{Condvar, Mutex};

/// How often a thread spins before it sleeps: some tens of microseconds, by which windows differ in length.
pub(super) const LOOKS: u32 = 10_000;

/// The present: only the pace of threads is measured by it, and no result depends on that.
#[expect(clippy::disallowed_methods, reason = "the pace of threads, not the time of a simulation")]
pub(super) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
