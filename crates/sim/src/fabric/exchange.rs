//! The fabric of a part: it has all ports, of which only those of its own nodes act; packets on boundary wires are
//! moved between parts.

use super::Fabric;
use crate::paths::Paths;
use crate::port::Lane;
use crate::port::flying::Flying;
use thalweg_machines::pause::Posted;
use thalweg_units::PortId;
use thalweg_wire::Handle;

impl Fabric {
    /// Marks a port whose wire leads to another part.
    pub fn mark_outbound(&mut self, id: PortId) {
        self.ports[id.at()].make_outbound();
    }

    /// Marks a port that belongs to another part. (If its far end does not, what it sends arrives here.)
    pub fn mark_inbound(&mut self, id: PortId) {
        self.ports[id.at()].make_inbound();
    }

    /// Removes a frame that goes to another part.
    pub fn take_frame(&mut self, handle: Handle) -> Posted {
        let posted = self.gates.frames[handle];
        self.gates.frames.remove(handle);
        posted
    }

    /// Stores a frame that comes from another part.
    pub fn put_frame(&mut self, posted: Posted) -> Handle {
        self.gates.frames.insert(posted)
    }

    /// Puts what comes from another part on the wire of a port. True if it is the next to land.
    #[inline(always)]
    pub fn receive(&mut self, id: PortId, flying: Flying) -> bool {
        let port = &mut self.ports[id.at()];
        // Its queue is in the other part, so it does not wait here.
        port.waiting.started += 1;
        port.flight.insert(flying) == 0
    }

    /// Takes a port from the part that owns it, with what waits there.
    pub fn take_port(&mut self, other: &mut Self, id: PortId) {
        let id = id.at();
        std::mem::swap(&mut self.ports[id], &mut other.ports[id]);
        let queue = self.ports[id].queue as usize;
        match self.ports[id].mode.lane {
            Lane::Express => {}
            Lane::OnDemand => std::mem::swap(&mut self.queues[queue], &mut other.queues[queue]),
            Lane::Reference => std::mem::swap(&mut self.egresses[queue], &mut other.egresses[queue]),
        }
        self.memory.take_port(&mut other.memory, id);
        if let (Some(mine), Some(its)) = (self.gates.get_mut(id), other.gates.get_mut(id)) {
            std::mem::swap(mine, its);
        }
    }

    /// Takes the memory of switches from the part that owns them.
    pub fn take_switches(&mut self, other: &mut Self, switches: impl Iterator<Item = usize>) {
        for switch in switches {
            self.memory.take_switch(&mut other.memory, switch);
        }
        self.memory.dropped += other.memory.dropped;
    }

    /// Sets the paths of the flows of all parts.
    pub fn set_paths(&mut self, paths: Paths) {
        self.paths = paths;
    }
}
