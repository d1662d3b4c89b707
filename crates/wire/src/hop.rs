//! What a node states to the next one of a packet that it sends there.

use serde::{Deserialize, Serialize};

/// Hop-local field of 16 bits, which two mechanisms use, never for the same packet: the queue that the packet comes
/// from (BFC's `upstreamQ`), or how far it goes through lanes that no pause holds (Escape).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HopTag(u16);

impl HopTag {
    /// Set: the rest counts hops.
    const ESCAPES: u16 = 1 << 15;

    /// It comes from this queue of the node before, whose number is below 32 768.
    #[inline]
    pub const fn from_queue(queue: u16) -> Self {
        debug_assert!(queue & Self::ESCAPES == 0, "a queue's number has 15 bits");
        Self(queue & !Self::ESCAPES)
    }
    /// It escapes for so many hops, this one included, 32 767 at most.
    #[inline]
    pub const fn escaping(hops: u16) -> Self {
        Self(if hops < Self::ESCAPES { hops } else { Self::ESCAPES - 1 } | Self::ESCAPES)
    }
    /// The queue of the node before that it comes from; 0 if it escapes.
    #[inline]
    pub const fn queue(self) -> u16 {
        if self.0 & Self::ESCAPES == 0 { self.0 } else { 0 }
    }
    /// Hops for which it still escapes; 0 if it does not.
    #[inline]
    pub const fn escape_hops(self) -> u16 {
        if self.0 & Self::ESCAPES == 0 { 0 } else { self.0 & !Self::ESCAPES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_not_taken_for_hops_nor_hops_for_a_queue() {
        let (queue, escapes) = (HopTag::from_queue(200), HopTag::escaping(3));
        assert_eq!((queue.queue(), queue.escape_hops()), (200, 0));
        assert_eq!((escapes.queue(), escapes.escape_hops()), (0, 3));
        assert_eq!((HopTag::default().queue(), HopTag::escaping(0).escape_hops()), (0, 0));
        assert_eq!(HopTag::escaping(u16::MAX).escape_hops(), 32_767);
    }
}
