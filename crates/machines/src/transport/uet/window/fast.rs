//! Fast increase: a window that was acknowledged without any delay may grow by a share of what is acknowledged.

use serde::{Deserialize, Serialize};

/// Bytes that were acknowledged without delay, and whether the window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Fast {
    count: u64,
    on: bool,
}

impl Fast {
    /// So many bytes came back without delay; what the window of `size` is now, if it grows.
    #[inline]
    pub fn grow(&mut self, size: u64, new: u64, share: f64) -> Option<u64> {
        self.count += new;
        self.on |= self.count > size;
        self.on.then_some((size as f64 + new as f64 * share) as u64)
    }

    /// There was a delay.
    #[inline]
    pub fn stop(&mut self) {
        *self = Self::default();
    }
}
