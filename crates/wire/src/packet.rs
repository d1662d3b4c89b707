//! The headers that every hop may touch, in one cache line.

use crate::ecn::Ecn;
use crate::flags::Flags;
use crate::hop::HopTag;
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
    /// Connection set-up from the sender, or a [message](crate::Message) of its own to the receiver.
    Syn,
    /// The answer to a [`Kind::Syn`].
    SynAck,
    /// A packet that carries nothing but a [message](crate::Message) to the flow's sender.
    Control,
}

/// Where a packet is kept by the driver of the machines; opaque to them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Handle(pub u32);

impl Handle {
    /// No packet has it.
    pub const NONE: Self = Self(u32::MAX);
}

/// [`Packet::side`] of a packet without cold headers.
pub const NO_SIDE: u32 = u32::MAX;

/// The headers that every hop may touch: exactly one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Packet {
    /// Data: when the sender's machine handed it out. ACK: the stamp of the data that triggered it.
    pub stamp: Time,
    /// Data: offset of the first payload byte in the flow. ACK: the next byte expected (cumulative). A message in a
    /// packet of its own: [`Message::number`](crate::Message::number), for traces and digests; machines read the
    /// message.
    pub seq: u64,
    /// ACK: `seq` of the data packet that triggered it. Data of transports that number their packets (Ultra Ethernet):
    /// its number. 0 in everything else.
    pub trigger: u64,
    /// What ranked schedulers sort by, lower first: remaining bytes, flow size, a priority, or the key that a
    /// stage has made of what the packet carries ([`Packet::carried`]).
    pub rank: i64,
    /// The flow it belongs to, in both directions.
    pub flow: FlowId,
    /// Bytes on the wire, headers included.
    pub wire: u32,
    /// Data: payload bytes. ACK: payload bytes of the data packet that triggered it.
    pub payload: u32,
    /// The host it goes to.
    pub dst: HostId,
    /// The network's own: position of the next hop in the path table; where rules choose hop by hop, the value that
    /// they go by, written by the transport (and brought back by its ACKs) or at the first switch.
    pub route: u32,
    /// Cold headers ([`Side`](crate::Side)) in the host's side table, or [`NO_SIDE`].
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
    /// Hop-local field: what the node before states of it.
    pub hop: HopTag,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Default for Packet {
    fn default() -> Self {
        Self {
            stamp: Time::ZERO,
            seq: 0,
            trigger: 0,
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
            hop: HopTag::default(),
        }
    }
}

impl Packet {
    /// True for everything that is not a flow's payload: ACKs, set-up, messages.
    #[inline(always)]
    pub fn is_control(&self) -> bool {
        self.kind != Kind::Data
    }
    /// It is data of which nothing is left but the header.
    #[inline(always)]
    pub fn is_trimmed(&self) -> bool {
        self.flags.has(Flags::TRIMMED)
    }
    /// Payload of data; control packets have none.
    #[inline]
    pub fn data_bytes(&self) -> u64 {
        if self.is_control() { 0 } else { u64::from(self.payload) }
    }
    /// Bytes on the wire without the payload; only data has one.
    #[inline]
    pub fn bare(&self) -> u32 {
        if self.is_control() { self.wire } else { self.wire - self.payload }
    }
    /// Cuts the payload off, and flags that in the header. How many bytes that were.
    pub fn trim(&mut self) -> u32 {
        let cut = self.wire - self.bare();
        (self.wire, self.payload) = (self.wire - cut, self.payload - cut);
        self.flags.set(Flags::TRIMMED);
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trimmed_packet_is_its_header_with_a_flag_and_control_packets_have_no_more() {
        let mut data = Packet { wire: 4150, payload: 4086, seq: 8172, ..Packet::default() };
        assert_eq!((data.bare(), data.trim()), (64, 4086));
        assert_eq!((data.wire, data.payload, data.seq, data.is_trimmed()), (64, 0, 8172, true));
        let ack = Packet { kind: Kind::Ack, wire: 64, payload: 4086, ..Packet::default() };
        assert_eq!(ack.bare(), 64, "what an ACK calls its payload is that of the data");
    }
}
