//! The packet as machines see it: one cache line of headers, cold headers beside it.

use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, HostId, Time};

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a flow (or a header-only probe: `payload == 0`).
    #[default]
    Data,
    /// An acknowledgement; travels from the flow's receiver to its sender.
    Ack,
    /// Connection set-up, from the sender.
    Syn,
    /// The answer to a [`Kind::Syn`].
    SynAck,
    /// Hop-by-hop or network-made control (pause frames, congestion notifications).
    Control,
}

/// The two ECN bits (RFC 3168). ABC reads `Ect1` as accelerate and `Ect0` as brake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Ecn {
    /// 00: the transport does not understand ECN; congestion drops the packet.
    #[default]
    NotEct,
    /// 01.
    Ect1,
    /// 10.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

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
    /// Data: the last byte of the flow is in here.
    pub const LAST: Flags = Flags(1 << 3);
    /// ACK: negative acknowledgement (a gap was seen).
    pub const NACK: Flags = Flags(1 << 4);

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
    /// Both sets of bits.
    #[inline(always)]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Where a packet is kept by whoever runs the machines; opaque to them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Handle(pub u32);

/// [`Packet::side`] of a packet without cold headers.
pub const NO_SIDE: u32 = u32::MAX;

/// The headers that every hop may touch: exactly one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Packet {
    /// Data: when the sender's machine handed it out. ACK: the stamp of the data that triggered it.
    pub stamp: Time,
    /// Data: offset of the first payload byte in the flow. ACK: the next byte expected (cumulative).
    pub seq: u64,
    /// ACK: `seq` of the data packet that triggered it. Data: the slack that its NIC gave it (as `i64`), for the
    /// receiving edge; 0 without slack.
    pub echo: u64,
    /// What ranked schedulers sort by, lower first: remaining bytes, flow size, slack, a priority.
    pub rank: i64,
    /// The flow it belongs to, in both directions.
    pub flow: FlowId,
    /// Bytes on the wire, headers included.
    pub wire: u32,
    /// Data: payload bytes. ACK: payload bytes of the data packet that triggered it.
    pub payload: u32,
    /// The host it goes to.
    pub dst: HostId,
    /// The network's own: position of the next hop in the path table, or the entropy of a sprayed packet.
    pub route: u32,
    /// Cold headers ([`Side`]) in the host's side table, or [`NO_SIDE`].
    pub side: u32,
    /// What it is.
    pub kind: Kind,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// Traffic class: 0 is served first where classes are strict priorities.
    pub class: u8,
    /// Hop-local field: number of the input of this switch by which it came; 0 at hosts.
    pub input: u8,
    /// One-bit fields.
    pub flags: Flags,
    /// Hop-local field: the queue it came from at the hop before (BFC's `upstreamQ`).
    pub tag: u16,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Default for Packet {
    fn default() -> Self {
        Self {
            stamp: Time::ZERO,
            seq: 0,
            echo: 0,
            rank: 0,
            flow: FlowId(0),
            wire: 0,
            payload: 0,
            dst: HostId(0),
            route: 0,
            side: NO_SIDE,
            kind: Kind::Data,
            ecn: Ecn::NotEct,
            class: 0,
            input: 0,
            flags: Flags(0),
            tag: 0,
        }
    }
}

impl Packet {
    /// True for everything that is not a flow's payload: ACKs, set-up, control.
    #[inline(always)]
    pub fn is_control(&self) -> bool {
        self.kind != Kind::Data
    }
}

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

/// Cold headers: what few packets carry, kept out of the hot cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Side {
    /// Selective acknowledgements.
    pub sack: SackBlocks,
}
