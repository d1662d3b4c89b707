//! What arrives at either end of a queue pair.

use crate::setup::Setup;
use crate::wire::{Packet, WireError};

/// A packet that changed nothing, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ignored {
    /// The bytes are no packet.
    Wire(WireError),
    /// It is for another queue pair.
    QueuePair(u32),
    /// It is for the other end.
    Direction,
    /// Its number is not one that the other end can have sent now.
    Number,
    /// It does not fit the message that its number belongs to.
    Mismatch,
}

impl std::fmt::Display for Ignored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wire(why) => write!(f, "not a packet: {why}"),
            Self::QueuePair(qp) => write!(f, "for queue pair {qp}"),
            Self::Direction => f.write_str("for the other end"),
            Self::Number => f.write_str("its number is out of range"),
            Self::Mismatch => f.write_str("does not fit its message"),
        }
    }
}
impl std::error::Error for Ignored {}

/// A packet for queue pair `qp`.
///
/// # Errors
/// If it is none.
pub fn open<'a>(setup: &Setup, qp: u32, bytes: &'a [u8]) -> Result<Packet<'a>, Ignored> {
    let packet = Packet::decode(setup.dialect, bytes).map_err(Ignored::Wire)?;
    if packet.qp == qp { Ok(packet) } else { Err(Ignored::QueuePair(packet.qp)) }
}
