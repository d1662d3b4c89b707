//! Every input has memory of its own (an input-queued switch).

use super::account::Account;
use super::spec::Input;
use serde::{Deserialize, Serialize};

/// Bytes of each input's own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Own {
    most: u64,
    /// Of these, up to XOFF, or all.
    xoff: u64,
}

impl Own {
    pub(super) fn new(most: u64, xoff: u64) -> Self {
        Self { most, xoff: xoff.min(most) }
    }
}

impl Account for Own {
    #[inline]
    fn is_quiet(&self, at: &Input, wire: u64) -> bool {
        at.bytes + wire <= self.xoff
    }
    #[inline]
    fn take(&mut self, at: &mut Input, wire: u64) -> bool {
        at.bytes + wire <= self.most
    }
    #[inline]
    fn release(&mut self, _: &mut Input, _: u64) {}
}
