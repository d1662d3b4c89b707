//! Loading can be interrupted: the caller raises a flag, which every long loop checks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A flag that any thread raises to interrupt loading; clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Raises the flag.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }
    /// True if the flag has been raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}
