//! A request packet, made from its Request WQE every time it is sent: nothing is kept but the application's memory.

use crate::memory::{AccessError, Memory};
use crate::queues::send::Entry;
use crate::queues::{Operation, SendWith};
use crate::setup::Setup;
use crate::wire::{AtomicEth, Dialect, Opcode, Packet, Place, Reth};
use thalweg_machines::transport::rdma::Psn;

/// Writes down packet `psn` of a request.
///
/// # Errors
/// If the own memory is no longer there.
pub fn encode(
    setup: &Setup,
    entry: &Entry,
    psn: Psn,
    memory: &Memory,
    out: &mut Vec<u8>,
) -> Result<(), AccessError> {
    let irn = setup.dialect == Dialect::Irn;
    let index = psn.minus(entry.first) as u32;
    let mut packet = Packet::new(Opcode::ReadRequest, setup.responder_qp, psn);
    let place = Place::of(index, entry.packets);
    let only = place == Place::Only;
    let read_wqe = irn.then_some(entry.read_sn);
    match entry.request.operation {
        Operation::Write { from, to, immediate } => {
            let own = from.part(index, setup.mtu);
            packet.payload = memory.fetch(own)?;
            // CHOICE IRN §4.4: the address is the packet's own, so that it can be placed by itself; the
            // length the message's.
            let address = to.address.wrapping_add(own.address.wrapping_sub(from.address));
            packet.reth =
                (irn || place.begins()).then_some(Reth { address, key: to.key, length: from.length });
            packet.opcode = Opcode::Write(place);
            if immediate.is_some() && place.ends() {
                packet.opcode = Opcode::WriteImmediate(only);
                packet.immediate = immediate;
                packet.recv_wqe = irn.then_some(entry.recv_sn);
            }
        }
        Operation::Send { from, with } => {
            packet.payload = memory.fetch(from.part(index, setup.mtu))?;
            packet.recv_wqe = irn.then_some(entry.recv_sn);
            packet.offset = irn.then_some(index);
            packet.opcode = match with {
                SendWith::Immediate(_) if place.ends() => Opcode::SendImmediate(only),
                SendWith::Invalidate(_) if place.ends() => Opcode::SendInvalidate(only),
                _ => Opcode::Send(place),
            };
            match with {
                SendWith::Immediate(data) if place.ends() => packet.immediate = Some(data),
                SendWith::Invalidate(key) if place.ends() => packet.invalidate = Some(key),
                _ => {}
            }
        }
        Operation::Read { into, from } => {
            // RoCE requests again what is missing of an answer; IRN's request is one packet and its answer is
            // repaired.
            let before = index * setup.mtu;
            packet.reth = Some(Reth {
                address: from.address.wrapping_add(u64::from(before)),
                key: from.key,
                length: into.length - before.min(into.length),
            });
            packet.read_wqe = read_wqe;
        }
        Operation::CompareSwap { at, compare, swap, .. } => {
            packet.opcode = Opcode::CompareSwap;
            packet.atomic = Some(AtomicEth { address: at.address, key: at.key, operand: swap, compare });
            packet.read_wqe = read_wqe;
        }
        Operation::FetchAdd { at, add, .. } => {
            packet.opcode = Opcode::FetchAdd;
            packet.atomic = Some(AtomicEth { address: at.address, key: at.key, operand: add, compare: 0 });
            packet.read_wqe = read_wqe;
        }
    }
    packet.put(setup.dialect, out);
    Ok(())
}

/// Takes a response packet: `None` if it is not packet `psn` of the answer to `entry`, otherwise whether it
/// could be placed.
pub fn place(
    setup: &Setup,
    entry: &Entry,
    packet: &Packet<'_>,
    memory: &mut Memory,
) -> Option<Result<(), AccessError>> {
    use crate::memory::Access::Local;
    let index = packet.psn.minus(entry.first_response) as u32;
    let buffer = entry.request.operation.buffer();
    match (packet.opcode, entry.request.operation) {
        (Opcode::ReadResponse(place), Operation::Read { .. }) => {
            let part = buffer.part(index, setup.mtu);
            // RoCE: the answer to a repeated request begins anew, so only the end is certain.
            let fits = match setup.dialect {
                Dialect::Irn => place == Place::of(index, entry.responses),
                Dialect::Roce => place.ends() == (index + 1 == entry.responses),
            };
            let whole = fits && packet.payload.len() == part.length as usize;
            whole.then(|| memory.place(part.key, part.address, packet.payload, Local))
        }
        (Opcode::AtomicAcknowledge, Operation::CompareSwap { .. } | Operation::FetchAdd { .. }) => {
            let original = packet.original?.to_le_bytes();
            Some(memory.place(buffer.key, buffer.address, &original, Local))
        }
        _ => None,
    }
}
