//! A fabric in parts: each has all ports and only its own nodes; what is on a wire that was cut changes parts.

use super::Fabric;
use crate::paths::Paths;
use crate::port::Lane;
use crate::port::flying::Flying;
use thalweg_machines::pause::Posted;
use thalweg_units::PortId;
use thalweg_wire::Handle;

impl Fabric {
    /// The far end of a port belongs to another part.
    pub fn lead_out(&mut self, id: PortId) {
        self.ports[id.at()].make_outbound();
    }

    /// A port belongs to another part. (If its far end does not, what it sends comes in here.)
    pub fn lead_in(&mut self, id: PortId) {
        self.ports[id.at()].make_inbound();
    }

    /// A frame that goes to another part is no longer here.
    pub fn take_frame(&mut self, handle: Handle) -> Posted {
        let posted = self.gates.frames[handle];
        self.gates.frames.remove(handle);
        posted
    }

    /// A frame has come from another part.
    pub fn put_frame(&mut self, posted: Posted) -> Handle {
        self.gates.frames.insert(posted)
    }

    /// Another part has put something on the wire of a port; true if it is the next to land.
    #[inline(always)]
    pub fn come_in(&mut self, id: PortId, flying: Flying) -> bool {
        let port = &mut self.ports[id.at()];
        // Nothing waits on this side of the wire.
        port.waiting.started += 1;
        port.flight.insert(flying) == 0
    }

    /// Takes a port of another part's nodes over, with what waits there.
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

    /// Takes the memory of another part's switches over.
    pub fn take_switches(&mut self, other: &mut Self, switches: impl Iterator<Item = usize>) {
        for switch in switches {
            self.memory.take_switch(&mut other.memory, switch);
        }
        self.memory.dropped += other.memory.dropped;
    }

    /// The flows of all parts have these ways.
    pub fn set_paths(&mut self, paths: Paths) {
        self.paths = paths;
    }
}
