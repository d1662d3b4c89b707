//! What threads wait with: the standard library's, in whose place a test puts a model of memory.

pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicUsize, Ordering, fence};
pub(super) use std::sync::{Condvar, Mutex};

/// How often a thread looks before it sleeps: some tens of microseconds, which is what windows differ by.
pub(super) const LOOKS: u32 = 10_000;
