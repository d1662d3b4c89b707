//! What has passed in a sliding window.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// Bytes of a sliding window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sliding {
    seen: VecDeque<(Time, u32)>,
    sum: u64,
}

impl Sliding {
    pub(crate) fn push(&mut self, at: Time, bytes: u32) {
        self.seen.push_back((at, bytes));
        self.sum += u64::from(bytes);
    }

    /// Bytes in (now − window, now].
    pub(crate) fn within(&mut self, now: Time, window: Span) -> u64 {
        while let Some((at, bytes)) = self.seen.front().copied()
            && at.saturating_add(window) <= now
        {
            self.sum -= u64::from(bytes);
            self.seen.pop_front();
        }
        self.sum
    }

    /// Entries, as of the last question.
    pub(crate) fn len(&self) -> usize {
        self.seen.len()
    }
    /// As of the last question.
    #[cfg(test)]
    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }
}
