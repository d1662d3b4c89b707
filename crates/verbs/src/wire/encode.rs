//! From [`Packet`] to bytes.

use super::{Dialect, MAX_PAYLOAD, Packet, names_a_packet};

/// The partition key of all; there is only this one here.
pub(super) const DEFAULT_PARTITION: u16 = 0xffff;
/// The bit that requests an acknowledgement, next to the PSN: on every request (IRN acknowledges each
/// packet).
pub(super) const ACK_REQUEST: u8 = 0x80;
/// Bits 4 and 5 of the second byte count the bytes of padding.
pub(super) const PAD_SHIFT: u32 = 4;

/// A packet that cannot be written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// Its opcode requires this header and it is not there.
    Missing(&'static str),
    /// It has this header and its opcode has no place for it.
    Superfluous(&'static str),
    /// The payload is longer than 4096 bytes.
    TooLong(usize),
    /// A queue pair's number or an offset needs more than 24 bits.
    TooLarge(u32),
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(what) => write!(f, "the opcode needs {what}"),
            Self::Superfluous(what) => write!(f, "the opcode has no place for {what}"),
            Self::TooLong(n) => write!(f, "{n} bytes of payload are more than {MAX_PAYLOAD}"),
            Self::TooLarge(n) => write!(f, "{n} does not fit into 24 bits"),
        }
    }
}
impl std::error::Error for EncodeError {}

fn present<T>(wanted: bool, value: Option<T>, what: &'static str) -> Result<Option<T>, EncodeError> {
    match (wanted, value) {
        (true, None) => Err(EncodeError::Missing(what)),
        (false, Some(_)) => Err(EncodeError::Superfluous(what)),
        (_, value) => Ok(value),
    }
}

fn put24(out: &mut Vec<u8>, n: u32) -> Result<(), EncodeError> {
    if n >> 24 != 0 {
        return Err(EncodeError::TooLarge(n));
    }
    out.extend_from_slice(&n.to_be_bytes()[1..]);
    Ok(())
}

impl Packet<'_> {
    /// [`Packet::encode`] for the ends: their packets have the headers of their opcodes, and sizes are checked when a
    /// request is posted.
    pub(crate) fn put(&self, dialect: Dialect, out: &mut Vec<u8>) {
        let written = self.encode(dialect, out);
        debug_assert_eq!(written, Ok(()));
    }

    /// Writes the packet down after clearing `out`.
    ///
    /// # Errors
    /// If its headers are not those that opcode and dialect require, or something does not fit. `out` is then
    /// not a packet.
    pub fn encode(&self, dialect: Dialect, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.clear();
        let layout = self.opcode.layout(dialect);
        let pad = self.payload.len().wrapping_neg() & 3;
        out.push(self.opcode.code());
        out.push((pad as u8) << PAD_SHIFT);
        out.extend_from_slice(&DEFAULT_PARTITION.to_be_bytes());
        out.push(0);
        put24(out, self.qp)?;
        out.push(if self.opcode.is_request() { ACK_REQUEST } else { 0 });
        put24(out, self.psn.value())?;

        if let Some(reth) = present(layout.reth, self.reth, "RETH")? {
            out.extend_from_slice(&reth.address.to_be_bytes());
            out.extend_from_slice(&reth.key.to_be_bytes());
            out.extend_from_slice(&reth.length.to_be_bytes());
        }
        if let Some(immediate) = present(layout.immediate, self.immediate, "immediate data")? {
            out.extend_from_slice(&immediate.to_be_bytes());
        }
        if let Some(key) = present(layout.invalidate, self.invalidate, "a key to invalidate")? {
            out.extend_from_slice(&key.to_be_bytes());
        }
        let mut names = false;
        if let Some(aeth) = present(layout.aeth, self.aeth, "AETH")? {
            out.push(aeth.syndrome.byte());
            put24(out, aeth.msn.value())?;
            names = names_a_packet(layout, aeth.syndrome);
        }
        if let Some(atomic) = present(layout.atomic, self.atomic, "AtomicETH")? {
            out.extend_from_slice(&atomic.address.to_be_bytes());
            out.extend_from_slice(&atomic.key.to_be_bytes());
            out.extend_from_slice(&atomic.operand.to_be_bytes());
            out.extend_from_slice(&atomic.compare.to_be_bytes());
        }
        if let Some(original) = present(layout.original, self.original, "AtomicAckETH")? {
            out.extend_from_slice(&original.to_be_bytes());
        }
        if let Some(sn) = present(layout.recv_wqe, self.recv_wqe, "recv_WQE_SN")? {
            put24(out, sn.value())?;
        }
        if let Some(offset) = present(layout.offset, self.offset, "offset")? {
            put24(out, offset)?;
        }
        if let Some(sn) = present(layout.read_wqe, self.read_wqe, "read_WQE_SN")? {
            put24(out, sn.value())?;
            out.push(0);
        }
        if let Some(psn) = present(names, self.sack, "SACK PSN")? {
            put24(out, psn.value())?;
            out.push(0);
        }
        if !layout.payload && !self.payload.is_empty() {
            return Err(EncodeError::Superfluous("payload"));
        }
        if self.payload.len() > MAX_PAYLOAD {
            return Err(EncodeError::TooLong(self.payload.len()));
        }
        out.extend_from_slice(self.payload);
        out.resize(out.len() + pad, 0);
        Ok(())
    }
}
