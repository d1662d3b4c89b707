//! Selective acknowledgements.

use serde::{Deserialize, Serialize};

/// Selectively acknowledged byte ranges `[start, end)`, the one that triggered the ACK first (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u64, u64); SackBlocks::CAPACITY],
}

impl SackBlocks {
    /// More than a TCP option holds (3 or 4): schemes of simulators without a header limit need it.
    pub const CAPACITY: usize = 16;

    /// Appends a block; false (and nothing done) if full.
    pub fn push(&mut self, start: u64, end: u64) -> bool {
        let room = usize::from(self.count) < Self::CAPACITY;
        if room {
            self.blocks[usize::from(self.count)] = (start, end);
            self.count += 1;
        }
        room
    }
    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.count = 0;
    }
    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seventeenth_range_does_not_fit() {
        let mut blocks = SackBlocks::default();
        assert!((0..16).all(|n| blocks.push(2 * n, 2 * n + 1)) && !blocks.push(99, 100));
        assert_eq!((blocks.as_slice().len(), blocks.as_slice()[15]), (16, (30, 31)));
        blocks.clear();
        assert!(blocks.as_slice().is_empty());
    }
}
