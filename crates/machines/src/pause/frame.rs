//! What neighbours tell each other about when to send.

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// A hop-by-hop control frame, from the node that receives a link's packets to the port that sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Send nothing of this class after the packet in transmission (IEEE 802.1Qbb).
    Xoff {
        /// Traffic class.
        class: u8,
        /// Until so long after the frame's arrival, unless it is refreshed; `None`: until [`Frame::Xon`].
        hold: Option<Span>,
    },
    /// The class may be sent again.
    Xon {
        /// Traffic class.
        class: u8,
    },
    /// Send nothing of this queue (per-hop, per-flow flow control).
    PauseQueue {
        /// Its number at the port.
        queue: u16,
    },
    /// The queue may be sent again.
    ResumeQueue {
        /// Its number at the port.
        queue: u16,
    },
    /// These queues are paused, and no others: the whole state, so that a lost frame is made good by the next one.
    Bitmap(QueueSet),
}

/// Queues of a port, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSet([u64; 4]);

impl QueueSet {
    /// Numbers are below this.
    pub const CAPACITY: u16 = 256;

    /// Adds or removes a queue; numbers from [`QueueSet::CAPACITY`] on are nobody's.
    pub fn set(&mut self, queue: u16, member: bool) {
        if let Some(word) = self.0.get_mut(usize::from(queue >> 6)) {
            *word = *word & !(1 << (queue & 63)) | u64::from(member) << (queue & 63);
        }
    }
    /// True if it is in the set.
    #[inline]
    pub fn has(&self, queue: u16) -> bool {
        self.0.get(usize::from(queue >> 6)).is_some_and(|word| word >> (queue & 63) & 1 == 1)
    }
    /// True if nothing is.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
    /// 64 queues of it, from number 64 × `word` on.
    #[inline]
    pub(crate) fn word(&self, word: usize) -> u64 {
        self.0[word]
    }
    /// Its members, rising.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..Self::CAPACITY).filter(|q| self.has(*q))
    }
}

impl FromIterator<u16> for QueueSet {
    fn from_iter<I: IntoIterator<Item = u16>>(queues: I) -> Self {
        let mut set = Self::default();
        queues.into_iter().for_each(|q| set.set(q, true));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_queues_holds_256_of_them() {
        let mut set: QueueSet = [0, 63, 64, 255, 256, 9999].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
        set.set(63, false);
        set.set(63, false);
        assert!(!set.has(63) && set.has(64) && !set.has(9999) && !set.is_empty());
        assert_eq!(set.word(3), 1 << 63);
    }
}
