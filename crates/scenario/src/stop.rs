//! Loading can be given up: the caller raises a flag, every long loop looks at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Raised from any thread when what is being loaded is no longer needed; clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Gives up whatever looks at this flag.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }
    /// Whether it has been raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}
