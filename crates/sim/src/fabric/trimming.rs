//! Packets that a queue has cut to their headers: what their port, their flow and the run count. (Memory that outputs
//! share learns of it with the rest of what an arrival has changed.)

use crate::cx::Cx;
use crate::events::Events;
use crate::fabric::{Fabric, Fate, Lost};
use thalweg_units::PortId;
use thalweg_wire::Handle;

/// The queue of a port has cut a packet there by so many bytes.
#[cold]
pub(super) fn note<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, id: PortId, handle: Handle, cut: u32) {
    debug_assert!(!cx.features.ingress_accounting, "there no queue has a limit of its own");
    fabric.memory.trimmed[id.at()] += 1;
    cx.instruments.tally.trimmed += 1;
    cx.instruments.tally.payload.cut += u64::from(cut);
    fabric.lost.push(Lost { packet: fabric.packets[handle], fate: Fate::Trimmed });
}
