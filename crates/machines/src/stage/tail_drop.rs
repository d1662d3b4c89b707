//! No active management: a packet is refused only when the buffer is full.

use super::HeaderStage;
use serde::{Deserialize, Serialize};

/// Admits everything; the queue's limit does the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TailDrop;

impl HeaderStage for TailDrop {
    fn quiet_below(&self) -> u32 {
        u32::MAX
    }
    fn bypass_limit(&self) -> u64 {
        u64::MAX
    }
}
