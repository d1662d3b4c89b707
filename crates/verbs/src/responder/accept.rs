//! Checks that both dialects make before a packet changes anything, and the placing of data.

use super::{Context, Host};
use crate::memory::{Access, AccessError, Buffer, Memory, Remote};
use crate::queues::{Arrived, Premature, ReceiveRequest};
use crate::wire::{AtomicEth, Opcode, Packet, Place, Refusal, Reth, Serial, Syndrome};

/// The request makes no sense.
pub const INVALID: Syndrome = Syndrome::Nak(Refusal::InvalidRequest);
/// It may not touch this memory.
pub const FORBIDDEN: Syndrome = Syndrome::Nak(Refusal::RemoteAccess);

/// A packet's payload is as long as its place requires: full, but for the last.
pub fn check_length(place: Place, payload: usize, mtu: u32) -> Result<(), Syndrome> {
    let mtu = mtu as usize;
    let fits = match place {
        Place::First | Place::Middle => payload == mtu,
        Place::Last => (1..=mtu).contains(&payload),
        Place::Only => payload <= mtu,
    };
    if fits { Ok(()) } else { Err(INVALID) }
}

/// Places part of a Write at `reth.address`. Its first packet stands for the whole message.
pub fn write(memory: &mut Memory, place: Place, reth: Reth, payload: &[u8]) -> Result<(), Syndrome> {
    if place.begins() {
        let whole = Buffer { key: reth.key, address: reth.address, length: reth.length };
        memory.check(whole, Access::RemoteWrite).map_err(|_| FORBIDDEN)?;
    }
    memory.place(reth.key, reth.address, payload, Access::RemoteWrite).map_err(|_| FORBIDDEN)
}

/// The Receive WQE that a Send's packet needs.
pub fn receive(context: &mut Context<'_>, host: &mut Host, sn: Serial) -> Result<ReceiveRequest, Syndrome> {
    context.ledger.receives.find(sn, &mut host.shared).ok_or(context.not_ready())
}

/// Places part of a Send, `before` bytes into the sink.
pub fn send(memory: &mut Memory, wqe: ReceiveRequest, before: u64, payload: &[u8]) -> Result<(), Syndrome> {
    if before + payload.len() as u64 > u64::from(wqe.sink.length) {
        return Err(INVALID);
    }
    let address = wqe.sink.address.wrapping_add(before);
    let refused = Syndrome::Nak(Refusal::RemoteOperational);
    memory.place(wqe.sink.key, address, payload, Access::Local).map_err(|_| refused)
}

/// The CQE of the message that the packet ends, if it expires a Receive WQE.
pub fn completion(packet: &Packet<'_>, bytes: u32) -> Option<Premature> {
    let what = match packet.opcode {
        Opcode::Send(place) if place.ends() => Arrived::Send,
        Opcode::SendImmediate(_) => Arrived::SendImmediate(packet.immediate?),
        Opcode::SendInvalidate(_) => Arrived::SendInvalidate(packet.invalidate?),
        Opcode::WriteImmediate(_) => Arrived::WriteImmediate(packet.immediate?),
        _ => return None,
    };
    Some(Premature { what, bytes })
}

/// What a Read or an Atomic wants: waits in the Read WQE buffer until everything before it has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// These bytes.
    Data(Buffer),
    /// Compare and swap (true) or fetch and add.
    Word(AtomicEth, bool),
}

/// What it gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Bytes, fetched from memory when they are sent.
    Data(Buffer),
    /// The original value: kept, because the Atomic is executed once.
    Original(u64),
}

/// What the packet requests, if it may.
pub fn wanted(memory: &Memory, packet: &Packet<'_>) -> Result<Wanted, Syndrome> {
    let wanted = match (packet.reth, packet.atomic) {
        (Some(Reth { address, key, length }), _) => Wanted::Data(Buffer { key, address, length }),
        (_, Some(atomic)) => Wanted::Word(atomic, packet.opcode == Opcode::CompareSwap),
        _ => return Err(INVALID),
    };
    check_wanted(memory, wanted)?;
    Ok(wanted)
}

/// Whether it may still be had: its key may have been invalidated while it waited.
pub fn check_wanted(memory: &Memory, wanted: Wanted) -> Result<(), Syndrome> {
    let allowed: Result<(), AccessError> = match wanted {
        Wanted::Data(buffer) => memory.check(buffer, Access::RemoteRead),
        Wanted::Word(atomic, _) => {
            if !atomic.address.is_multiple_of(8) {
                return Err(INVALID);
            }
            let word = Buffer { key: atomic.key, address: atomic.address, length: 8 };
            memory.check(word, Access::RemoteAtomic)
        }
    };
    allowed.map_err(|_| FORBIDDEN)
}

/// Executes it.
pub fn execute(memory: &mut Memory, wanted: Wanted) -> Result<Answer, Syndrome> {
    check_wanted(memory, wanted)?;
    match wanted {
        Wanted::Data(buffer) => Ok(Answer::Data(buffer)),
        Wanted::Word(AtomicEth { address, key, operand, compare }, swap) => {
            let change = |word: u64| match swap {
                true if word == compare => operand,
                true => word,
                false => word.wrapping_add(operand),
            };
            memory.atomic(Remote { key, address }, change).map(Answer::Original).map_err(|_| FORBIDDEN)
        }
    }
}

impl Answer {
    /// Packets that it takes.
    pub fn packets(self, mtu: u32) -> u32 {
        match self {
            Self::Data(buffer) => buffer.length.div_ceil(mtu).max(1),
            Self::Original(_) => 1,
        }
    }
}
