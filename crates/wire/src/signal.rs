//! Signals of reliefs: what neighbouring switches report to each other about packets that wait behind a
//! pause. They travel as frames ([`Frame::Signal`](crate::Frame::Signal)): ahead of everything, never paused.

use serde::{Deserialize, Serialize};

/// A relief's message to the next switch, or the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// Escape's token, against the flow's direction: a packet of it may come, through lanes with a place
    /// reserved at every hop.
    Token {
        /// Whose packet.
        flow: u32,
        /// How many hops it has gone.
        hops: u16,
    },
    /// Escape, along the flow's direction: the token ended, and what it had reserved is free.
    Release {
        /// Whose packet it was for.
        flow: u32,
        /// Hops that it has still to go.
        hops: u16,
    },
    /// Along a chain of ports that have not sent for long: if it comes back, they wait for each other.
    Detect {
        /// The port that sent it first.
        id: u32,
        /// Hops that it may still go.
        hops: u16,
    },
    /// Along the cycle that was found: every port on it sends one packet.
    Advance {
        /// The port that found the cycle.
        id: u32,
        /// Hops that it may still go.
        hops: u16,
    },
}

impl Signal {
    /// A release that goes no further: it only increments a counter where it arrives.
    #[inline]
    pub fn only_counts(self) -> bool {
        matches!(self, Self::Release { hops: 1, .. })
    }

    /// A number for digests.
    pub fn word(self) -> u32 {
        let (kind, a, b) = match self {
            Self::Token { flow, hops } => (0u32, flow, hops),
            Self::Release { flow, hops } => (1, flow, hops),
            Self::Detect { id, hops } => (2, id, hops),
            Self::Advance { id, hops } => (3, id, hops),
        };
        3 << 30 | kind << 28 | (a.wrapping_mul(0x9e37_79b1) ^ u32::from(b)) & 0x0fff_ffff
    }
}
