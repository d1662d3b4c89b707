//! Packets that a queue has cut to their headers: what their port and the run count. (Memory that outputs share learns
//! of it with the rest of what an arrival has changed.)

use super::memory::Memory;
use crate::instruments::Tally;
use thalweg_units::PortId;

/// A packet has been cut at the port `id`, by so many bytes.
#[cold]
pub(super) fn note(memory: &mut Memory, tally: &mut Tally, id: PortId, cut: u32) {
    memory.trimmed[id.at()] += 1;
    tally.trimmed += 1;
    tally.payload.cut += u64::from(cut);
}
