//! Packets that a queue has cut to their headers: what is written into them, and what is counted. (Memory that
//! outputs share is updated with the other effects of the arrival.)

use super::memory::Memory;
use crate::instruments::Tally;
use crate::port::Port;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Packet};

/// Accounts for a packet that was cut at the port `id`, by `cut` bytes.
#[cold]
pub(super) fn note(
    memory: &mut Memory,
    tally: &mut Tally,
    (id, port): (PortId, &Port),
    packet: &mut Packet,
    cut: u32,
) {
    if port.leads_to_host() {
        packet.flags.set(Flags::LAST_HOP);
    }
    memory.trimmed[id.at()] += 1;
    tally.trimmed += 1;
    tally.payload.cut += u64::from(cut);
}
