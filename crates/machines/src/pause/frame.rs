//! What neighbours tell each other about when to send.

use crate::relief::Signal;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span};

/// A hop-by-hop control frame, from the node that receives a link's packets to the port that sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Send nothing of these classes after the packet in transmission (IEEE 802.1Qbb; of all classes: IEEE
    /// 802.3 Annex 31B).
    Xoff {
        /// Traffic classes.
        classes: Classes,
        /// Until so long after the frame's arrival, unless it is refreshed; `None`: until [`Frame::Xon`].
        hold: Option<Span>,
    },
    /// The classes may be sent again.
    Xon {
        /// Traffic classes.
        classes: Classes,
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
    /// Send nothing of the queue that this flow waits in, as long as it does (backpressure that names flows, an ideal).
    PauseFlow {
        /// The flow.
        flow: FlowId,
    },
    /// The flow holds nothing back any more.
    ResumeFlow {
        /// The flow.
        flow: FlowId,
    },
    /// These queues are paused, and no others: the whole state, so that a lost frame is made good by the next one.
    Bitmap(QueueSet),
    /// Send at the link's rate divided by 2 to the power of this (gentle flow control).
    Slow {
        /// 0: at full rate.
        halvings: u8,
    },
    /// For the relief of the node; the port takes no notice.
    Signal(Signal),
}

impl Frame {
    /// One that waits and was not sent yet, `earlier`, need not be sent before this: it would change nothing
    /// that this does not say anew.
    pub fn supersedes(&self, earlier: &Frame) -> bool {
        let classes = |frame: &Frame| match frame {
            Frame::Xoff { classes, .. } | Frame::Xon { classes } => Some(*classes),
            _ => None,
        };
        let queue = |frame: &Frame| match frame {
            Frame::PauseQueue { queue } | Frame::ResumeQueue { queue } => Some(*queue),
            _ => None,
        };
        match (self, earlier) {
            (Frame::Signal(_), _) | (_, Frame::Signal(_)) => return false,
            (Frame::Slow { .. }, _) | (_, Frame::Slow { .. }) => {
                return matches!((self, earlier), (Frame::Slow { .. }, Frame::Slow { .. }));
            }
            _ => {}
        }
        let flow = |frame: &Frame| match frame {
            Frame::PauseFlow { flow } | Frame::ResumeFlow { flow } => Some(*flow),
            _ => None,
        };
        if flow(self).or(flow(earlier)).is_some() {
            return flow(self) == flow(earlier);
        }
        match (classes(self), classes(earlier)) {
            (Some(new), Some(old)) => new.covers(old),
            (Some(_), None) | (None, Some(_)) => false,
            (None, None) => matches!(self, Frame::Bitmap(_)) || queue(self) == queue(earlier),
        }
    }
}

/// Classes of IEEE 802.1Q, as a set: what a frame has a bit for each of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes(u8);

impl Classes {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// Every class.
    pub const ALL: Self = Self(u8::MAX);

    /// One class; those above 7 share its bit.
    pub fn one(class: u8) -> Self {
        Self(1 << class.min(7))
    }
    /// True if it is in the set.
    #[inline]
    pub fn has(self, class: u8) -> bool {
        self.0 >> class.min(7) & 1 == 1
    }
    /// True if nothing is.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// All of `other` are in it.
    pub fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Those that are not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// A bit for each.
    pub fn bits(self) -> u8 {
        self.0
    }
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
    /// How many are in it.
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    /// Those that are not in `other`.
    #[inline]
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self([0, 1, 2, 3].map(|word| self.0[word] & !other.0[word]))
    }
    /// Those that are in either.
    #[inline]
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self([0, 1, 2, 3].map(|word| self.0[word] | other.0[word]))
    }
    /// Those that are in `other`, too.
    #[inline]
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        Self([0, 1, 2, 3].map(|word| self.0[word] & other.0[word]))
    }
    /// The first member from `queue` on.
    #[inline]
    pub fn next(&self, queue: u16) -> Option<u16> {
        let first = usize::from(queue >> 6);
        let beyond =
            |word: usize| self.0[word] & if word == first { u64::MAX << (queue & 63) } else { u64::MAX };
        let word = (first..4).find(|word| beyond(*word) != 0)?;
        Some(64 * word as u16 + beyond(word).trailing_zeros() as u16)
    }
    /// The member before which there are `n`.
    #[inline]
    pub fn nth(&self, n: u32) -> Option<u16> {
        let mut before = n;
        for (word, mut bits) in (0u16..).zip(self.0) {
            if before < bits.count_ones() {
                (0..before).for_each(|_| bits &= bits - 1);
                return Some(64 * word + bits.trailing_zeros() as u16);
            }
            before -= bits.count_ones();
        }
        None
    }
    /// Its members, rising.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        std::iter::successors(self.next(0), |queue| self.next(queue + 1))
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
    fn what_was_not_sent_yet_is_replaced_by_what_says_it_anew() {
        let xoff = |classes| Frame::Xoff { classes, hold: None };
        let (one, two) = (Classes::one(1), Classes::one(2));
        assert!(
            Frame::Xon { classes: one }.supersedes(&xoff(one)) && xoff(Classes::ALL).supersedes(&xoff(two))
        );
        assert!(!xoff(one).supersedes(&xoff(two)) && !xoff(one).supersedes(&xoff(Classes::ALL)));
        let (pause, resume) = (Frame::PauseQueue { queue: 3 }, Frame::ResumeQueue { queue: 3 });
        assert!(resume.supersedes(&pause) && !resume.supersedes(&Frame::PauseQueue { queue: 4 }));
        let bitmap = Frame::Bitmap(QueueSet::default());
        assert!(bitmap.supersedes(&pause) && bitmap.supersedes(&bitmap) && !pause.supersedes(&bitmap));
        let (slow, slower) = (Frame::Slow { halvings: 1 }, Frame::Slow { halvings: 2 });
        assert!(slow.supersedes(&slower) && !slow.supersedes(&pause) && !bitmap.supersedes(&slow));
        let token = Frame::Signal(Signal::Token { flow: 1, hops: 1 });
        assert!(!token.supersedes(&token) && !bitmap.supersedes(&token) && !token.supersedes(&pause));
        assert!(!bitmap.supersedes(&xoff(one)) && !xoff(one).supersedes(&pause));
        let (stop, go) = (Frame::PauseFlow { flow: FlowId(3) }, Frame::ResumeFlow { flow: FlowId(3) });
        assert!(go.supersedes(&stop) && !go.supersedes(&Frame::PauseFlow { flow: FlowId(4) }));
        assert!(!go.supersedes(&pause) && !bitmap.supersedes(&stop));
    }

    #[test]
    fn a_set_of_queues_holds_256_of_them() {
        let mut set: QueueSet = [0, 63, 64, 255, 256, 9999].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
        set.set(63, false);
        set.set(63, false);
        assert!(!set.has(63) && set.has(64) && !set.has(9999) && !set.is_empty());
        assert_eq!(set.word(3), 1 << 63);
        assert_eq!((set.len(), set.next(1), set.next(65), set.next(256)), (3, Some(64), Some(255), None));
        assert_eq!([set.nth(0), set.nth(1), set.nth(2), set.nth(3)], [Some(0), Some(64), Some(255), None]);
        let low: QueueSet = (0..100).collect();
        assert!(set.within(&low).iter().eq([0, 64]) && set.without(&low).iter().eq([255]));
    }
}
