//! All inputs share one memory, and what one of them may hold is fixed.

use super::account::Account;
use super::spec::Input;
use serde::{Deserialize, Serialize};

/// One memory, and its inputs' shares in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fixed {
    total: u64,
    used: u64,
    /// What one input may hold, its headroom included.
    most: u64,
    /// Of that, up to XOFF.
    xoff: u64,
}

impl Fixed {
    pub(super) fn new(total: u64, xoff: u64, most: u64) -> Self {
        Self { total, used: 0, most, xoff }
    }
}

impl Account for Fixed {
    #[inline]
    fn is_quiet(&self, at: &Input, wire: u64) -> bool {
        at.bytes + wire <= self.xoff && self.used + wire <= self.total
    }
    #[inline]
    fn take(&mut self, at: &mut Input, wire: u64) -> bool {
        let fits = self.used + wire <= self.total && at.bytes + wire <= self.most;
        if fits {
            self.used += wire;
        }
        fits
    }
    #[inline]
    fn release(&mut self, _: &mut Input, wire: u64) {
        self.used -= wire;
    }
    #[inline]
    fn used(&self) -> u64 {
        self.used
    }
    fn pool(&self) -> u64 {
        self.total
    }
}
