//! One-bit header fields.

use serde::{Deserialize, Serialize};

/// One-bit header fields of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(pub u16);

impl Flags {
    /// ACK: the packet that triggered it (or any since the last ACK) carried CE.
    pub const ECE: Flags = Flags(1);
    /// Data: the sender has reduced its window because of an echo (RFC 3168 §6.1.2).
    pub const CWR: Flags = Flags(1 << 1);
    /// Data: these bytes were sent before.
    pub const RETRANSMISSION: Flags = Flags(1 << 2);
    /// Data: the last byte of the flow is in here, or of what the far end waits for before it asks for more.
    pub const LAST: Flags = Flags(1 << 3);
    /// ACK: negative acknowledgement (a gap was seen).
    pub const NACK: Flags = Flags(1 << 4);
    /// ACK: the packets that it covers came with ECT(1), and ABC accelerates (the former nonce sum).
    pub const NS: Flags = Flags(1 << 6);
    /// Hop-local: it found its queue here too long, and the queue it came from is paused until it leaves
    /// (BFC's `counterIncr`).
    pub const HELD_BACK: Flags = Flags(1 << 5);
    /// Data: a switch has cut the payload off, and what is left is the header ([`Packet::trim`](crate::Packet::trim)).
    pub const TRIMMED: Flags = Flags(1 << 7);
    /// Control: it calls for a packet the other way, and may be held back for that (ExpressPass).
    pub const CREDIT: Flags = Flags(1 << 8);
    /// Data: the sender waits for the ACK of this packet, which is due at once (Ultra Ethernet's AR).
    pub const ACK_REQUEST: Flags = Flags(1 << 9);
    /// Data that was trimmed at the port to its destination, and the NACK of it: another path would not have helped
    /// (Ultra Ethernet's DSCP_TRIMMED_LASTHOP).
    pub const LAST_HOP: Flags = Flags(1 << 10);

    /// True if every bit of `other` is set.
    #[inline(always)]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Sets the bits of `other`.
    #[inline(always)]
    pub const fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }
    /// Clears the bits of `other`.
    #[inline(always)]
    pub const fn clear(&mut self, other: Flags) {
        self.0 &= !other.0;
    }
    /// Both sets of bits.
    #[inline(always)]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
