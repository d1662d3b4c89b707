//! From bytes to [`Packet`], strictly.

use super::encode::{ACK_REQUEST, DEFAULT_PARTITION, PAD_SHIFT};
use super::{
    Aeth, AtomicEth, Dialect, MAX_PAYLOAD, Opcode, Packet, Psn, Reth, Serial, Syndrome, names_a_packet,
};

/// Why bytes are not a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// They end inside this header.
    Short(&'static str),
    /// No such opcode in this dialect.
    Opcode(u8),
    /// The syndrome is reserved.
    Syndrome(u8),
    /// A field that must have one value has another.
    Reserved(&'static str),
    /// Payload where there is none, longer than 4096 bytes, or not padded as stated.
    Payload(usize),
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Short(what) => write!(f, "ends inside {what}"),
            Self::Opcode(code) => write!(f, "opcode {code:#04x} is not known"),
            Self::Syndrome(byte) => write!(f, "syndrome {byte:#04x} is reserved"),
            Self::Reserved(what) => write!(f, "{what} is not as it must be"),
            Self::Payload(n) => write!(f, "{n} bytes after the headers"),
        }
    }
}
impl std::error::Error for WireError {}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(WireError::Short(what))?;
        self.0 = tail;
        Ok(*head)
    }
    fn u24(&mut self, what: &'static str) -> Result<u32, WireError> {
        let [a, b, c] = self.take(what)?;
        Ok(u32::from_be_bytes([0, a, b, c]))
    }
    fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        self.take(what).map(u32::from_be_bytes)
    }
    fn u64(&mut self, what: &'static str) -> Result<u64, WireError> {
        self.take(what).map(u64::from_be_bytes)
    }
    fn must_be(&mut self, byte: u8, what: &'static str) -> Result<(), WireError> {
        let [found] = self.take(what)?;
        if found == byte { Ok(()) } else { Err(WireError::Reserved(what)) }
    }
    /// A serial number and a byte of padding.
    fn padded(&mut self, what: &'static str) -> Result<Serial, WireError> {
        let n = self.u24(what)?;
        self.must_be(0, what)?;
        Ok(Serial::new(n))
    }
}

/// Reads a header if it belongs there.
fn when<T>(there: bool, read: impl FnOnce() -> Result<T, WireError>) -> Result<Option<T>, WireError> {
    there.then(read).transpose()
}

impl<'a> Packet<'a> {
    /// Takes a packet apart.
    ///
    /// # Errors
    /// If [`Packet::encode`] would not have written these bytes.
    pub fn decode(dialect: Dialect, bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut rest = Rest(bytes);
        let [code, flags] = rest.take("BTH")?;
        let opcode = Opcode::from_code(code, dialect).ok_or(WireError::Opcode(code))?;
        // Solicited event, migration and header version are not used here: 0.
        let pad = usize::from(flags >> PAD_SHIFT & 3);
        if flags & !(3 << PAD_SHIFT) != 0 {
            return Err(WireError::Reserved("BTH flags"));
        }
        if u16::from_be_bytes(rest.take("BTH")?) != DEFAULT_PARTITION {
            return Err(WireError::Reserved("partition key"));
        }
        rest.must_be(0, "BTH")?;
        let qp = rest.u24("BTH")?;
        rest.must_be(if opcode.is_request() { ACK_REQUEST } else { 0 }, "BTH")?;
        let psn = Psn::new(rest.u24("BTH")?);

        let layout = opcode.layout(dialect);
        let mut packet = Packet::new(opcode, qp, psn);
        let rest = &mut rest;
        packet.reth = when(layout.reth, || {
            Ok(Reth { address: rest.u64("RETH")?, key: rest.u32("RETH")?, length: rest.u32("RETH")? })
        })?;
        packet.immediate = when(layout.immediate, || rest.u32("immediate data"))?;
        packet.invalidate = when(layout.invalidate, || rest.u32("IETH"))?;
        packet.aeth = when(layout.aeth, || {
            let [byte] = rest.take("AETH")?;
            let syndrome = Syndrome::from_byte(byte).ok_or(WireError::Syndrome(byte))?;
            Ok(Aeth { syndrome, msn: Serial::new(rest.u24("AETH")?) })
        })?;
        packet.atomic = when(layout.atomic, || {
            Ok(AtomicEth {
                address: rest.u64("AtomicETH")?,
                key: rest.u32("AtomicETH")?,
                operand: rest.u64("AtomicETH")?,
                compare: rest.u64("AtomicETH")?,
            })
        })?;
        packet.original = when(layout.original, || rest.u64("AtomicAckETH"))?;
        packet.recv_wqe = when(layout.recv_wqe, || rest.u24("recv_WQE_SN").map(Serial::new))?;
        packet.offset = when(layout.offset, || rest.u24("offset"))?;
        packet.read_wqe = when(layout.read_wqe, || rest.padded("read_WQE_SN"))?;
        let names = packet.aeth.is_some_and(|aeth| names_a_packet(layout, aeth.syndrome));
        packet.sack = when(names, || rest.padded("SACK PSN"))?;

        let after = rest.0.len();
        let Some(length) = after.checked_sub(pad) else { return Err(WireError::Payload(after)) };
        let aligned = after.is_multiple_of(4) && (length > 0 || pad == 0);
        if !aligned || length > MAX_PAYLOAD || (!layout.payload && after > 0) {
            return Err(WireError::Payload(after));
        }
        let (payload, padding) = rest.0.split_at(length);
        if padding.iter().any(|&byte| byte != 0) {
            return Err(WireError::Reserved("padding"));
        }
        packet.payload = payload;
        Ok(packet)
    }
}
