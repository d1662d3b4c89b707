//! Packets as bytes: everything from the base transport header to the padding (InfiniBand's layouts,
//! big-endian) with IRN's additions (§4.4): RETH in every Write packet, recv_WQE_SN and offset in Sends,
//! read_WQE_SN in Reads and Atomics, the SACK PSN in NACKs. What surrounds it (Ethernet, IP, UDP, ICRC:
//! [`SURROUNDINGS`]) is the network's affair.
//!
//! Decoding is strict: what this encoder would not have written is an error, never a panic.

mod decode;
mod encode;
mod opcode;
mod syndrome;

pub use decode::WireError;
pub use encode::EncodeError;
pub use opcode::{Dialect, Layout, Opcode, Place};
pub use syndrome::{Credits, Refusal, RnrTimer, Syndrome};

use thalweg_machines::transport::rdma::Psn;

/// A serial number of messages or WQEs: 24 bits with PSN's arithmetic.
pub type Serial = Psn;

/// Base transport header, bytes.
pub const BTH: usize = 12;
/// RDMA extended transport header: address 8, key 4, length 4.
pub const RETH: usize = 16;
/// Acknowledgement header: syndrome 1, MSN 3.
pub const AETH: usize = 4;
/// Key to invalidate.
pub const IETH: usize = 4;
/// Atomic header: address 8, key 4, swap or add 8, compare 8.
pub const ATOMIC: usize = 28;
/// IRN: recv_WQE_SN, or the offset of a packet in its Send, in packets.
pub const NUMBER: usize = 3;
/// IRN: read_WQE_SN and one byte of padding.
pub const READ_WQE: usize = 4;
/// IRN: SACK PSN and one byte of padding.
pub const SACK: usize = 4;
/// Around it on Ethernet: MAC 14, VLAN tag 4, FCS 4, IPv4 20, UDP 8, ICRC 4.
pub const SURROUNDINGS: usize = 14 + 4 + 4 + 20 + 8 + 4;
/// The largest payload that a path of this transport carries.
pub const MAX_PAYLOAD: usize = 4096;

/// RDMA extended header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reth {
    /// Where the payload goes (IRN: of this packet; RoCE: of the message), or comes from.
    pub address: u64,
    /// The region's key.
    pub key: u32,
    /// Bytes of the whole message.
    pub length: u32,
}

/// Acknowledgement header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aeth {
    /// Its content.
    pub syndrome: Syndrome,
    /// Messages that have arrived completely, and all before them.
    pub msn: Serial,
}

/// Atomic header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicEth {
    /// Of 8 bytes, a multiple of 8.
    pub address: u64,
    /// The region's key.
    pub key: u32,
    /// What to write, or to add.
    pub operand: u64,
    /// What must be there (compare and swap), or 0.
    pub compare: u64,
}

/// A packet, taken apart. Which headers must be there follows from opcode and dialect ([`Opcode::layout`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// What it is for.
    pub opcode: Opcode,
    /// The receiving queue pair, 24 bits.
    pub qp: u32,
    /// Its number, or in acknowledgements the next one expected.
    pub psn: Psn,
    /// See [`Layout::reth`].
    pub reth: Option<Reth>,
    /// See [`Layout::immediate`].
    pub immediate: Option<u32>,
    /// See [`Layout::invalidate`].
    pub invalidate: Option<u32>,
    /// See [`Layout::aeth`].
    pub aeth: Option<Aeth>,
    /// See [`Layout::atomic`].
    pub atomic: Option<AtomicEth>,
    /// See [`Layout::original`].
    pub original: Option<u64>,
    /// See [`Layout::recv_wqe`].
    pub recv_wqe: Option<Serial>,
    /// See [`Layout::offset`]: in packets.
    pub offset: Option<u32>,
    /// See [`Layout::read_wqe`].
    pub read_wqe: Option<Serial>,
    /// See [`Layout::sack`].
    pub sack: Option<Psn>,
    /// Without padding.
    pub payload: &'a [u8],
}

impl Packet<'_> {
    /// A packet without headers or payload.
    pub fn new(opcode: Opcode, qp: u32, psn: Psn) -> Self {
        Self {
            opcode,
            qp,
            psn,
            reth: None,
            immediate: None,
            invalidate: None,
            aeth: None,
            atomic: None,
            original: None,
            recv_wqe: None,
            offset: None,
            read_wqe: None,
            sack: None,
            payload: &[],
        }
    }
}

impl Packet<'static> {
    /// A packet with exactly the headers of its opcode, zeros in them, and no payload. Acknowledgements say
    /// "all is well".
    pub fn bare(opcode: Opcode, dialect: Dialect) -> Self {
        let layout = opcode.layout(dialect);
        let zero = Psn::new(0);
        let mut packet = Self::new(opcode, 0, zero);
        packet.reth = layout.reth.then_some(Reth { address: 0, key: 0, length: 0 });
        packet.immediate = layout.immediate.then_some(0);
        packet.invalidate = layout.invalidate.then_some(0);
        packet.aeth = layout.aeth.then_some(Aeth { syndrome: Syndrome::Ack(None), msn: zero });
        packet.atomic = layout.atomic.then_some(AtomicEth { address: 0, key: 0, operand: 0, compare: 0 });
        packet.original = layout.original.then_some(0);
        packet.recv_wqe = layout.recv_wqe.then_some(zero);
        packet.offset = layout.offset.then_some(0);
        packet.read_wqe = layout.read_wqe.then_some(zero);
        packet
    }
}

/// Whether an acknowledgement with this syndrome names the packet that came out of order.
fn names_a_packet(layout: Layout, syndrome: Syndrome) -> bool {
    layout.sack && syndrome == Syndrome::Nak(Refusal::Sequence)
}

#[cfg(test)]
mod tests;
