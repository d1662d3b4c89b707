//! IRN's receiver (module receiveData, §4.5.2).

use super::super::{Bitmap, Psn};
use serde::{Deserialize, Serialize};

/// What the receiver answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplyKind {
    /// An ACK: the packet was the next one.
    Ack,
    /// A NACK: a packet before it is missing.
    Nack,
    /// A plain ACK: the packet had arrived before, in order.
    Duplicate,
}

/// The receiver's answer to one data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The next PSN expected.
    pub cum: Psn,
    /// The packet answered.
    pub sack: Psn,
    /// Which kind of answer.
    pub kind: ReplyKind,
    /// By how much `cum` rose.
    pub advanced: u32,
    /// The packet had not arrived before.
    pub new: bool,
}

/// The receiving side (module receiveData). Keeps what arrives out of order, as bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IrnReceiver {
    e: Psn,
    /// Bit d: PSN e + d has arrived.
    bitmap: Bitmap,
}

impl IrnReceiver {
    /// A receiver that expects number `first`.
    pub fn new(first: Psn) -> Self {
        Self { e: first, bitmap: Bitmap::new() }
    }

    /// A data packet arrives. Each gets an answer, also the second copy of one.
    pub fn on_data(&mut self, psn: Psn) -> Reply {
        let d = psn.minus(self.e);
        let (mut advanced, mut new) = (0, false);
        let kind = match d {
            0 => {
                // The next one, and all that were waiting for it.
                advanced = if self.bitmap.ones() == 0 { 1 } else { self.bitmap.lowest_zero(1) };
                self.bitmap.shift(advanced);
                self.e = self.e.plus(advanced);
                new = true;
                ReplyKind::Ack
            }
            1.. => {
                new = self.bitmap.set(d as u32);
                ReplyKind::Nack
            }
            _ => ReplyKind::Duplicate,
        };
        Reply { cum: self.e, sack: psn, kind, advanced, new }
    }

    /// The next PSN expected.
    #[inline]
    pub fn expected(&self) -> Psn {
        self.e
    }

    /// Packets that arrived above a gap.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.bitmap.ones()
    }

    /// Whether `psn` has arrived.
    pub fn holds(&self, psn: Psn) -> bool {
        let d = psn.minus(self.e);
        d < 0 || self.bitmap.get(d as u32)
    }
}
