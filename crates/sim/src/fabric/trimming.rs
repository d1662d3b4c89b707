//! Packets that a queue has cut to their headers: what is written into them, and what their port and the run count.
//! (Memory that outputs share learns of it with the rest of what an arrival has changed.)

use super::memory::Memory;
use crate::instruments::Tally;
use crate::port::Port;
use thalweg_units::PortId;
use thalweg_wire::{Flags, Packet};

/// A packet has been cut at the port `id`, by so many bytes.
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
