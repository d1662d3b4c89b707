//! Read access to the fabric. What changes it from outside is in [`super::entry`] and [`super::exchange`].

use super::egress::Reference;
use super::gate::Gates;
use super::mechanisms::Mechanisms;
use super::memory::Memory;
use super::outages::Outages;
use super::preemption::Preempted;
use super::{Fabric, Lost};
use crate::arena::{Arena, Packets};
use crate::paths::Paths;
use crate::port::Port;
use thalweg_machines::schedule::Queue;
use thalweg_net::routing::Routes;
use thalweg_units::PortId;
use thalweg_wire::Side;

impl Fabric {
    /// The ports.
    #[inline(always)]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }
    /// Queues of the on-demand ports.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }
    /// Machines of the ports on the reference lane.
    pub fn egresses(&self) -> &[Reference] {
        &self.egresses
    }
    /// The state of gated ports besides their queues.
    #[inline(always)]
    pub fn gates(&self) -> &Gates {
        &self.gates
    }
    /// Switch memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
    /// Every packet.
    #[inline(always)]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }
    /// The cold headers of packets.
    #[inline(always)]
    pub fn sides(&self) -> &Arena<Side> {
        &self.sides
    }
    /// The routes.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }
    /// The paths of the active flows.
    #[inline(always)]
    pub fn paths(&self) -> &Paths {
        &self.paths
    }
    /// The state of header stages, congestion points and reliefs.
    pub fn mechanisms(&self) -> &Mechanisms {
        &self.mechanisms
    }
    /// The transmissions of preemptive ports.
    pub fn preempted(&self) -> &Preempted {
        &self.preempted
    }
    /// Failed links and lossy pause frames.
    pub fn outages(&self) -> &Outages {
        &self.outages
    }
    /// The idle port that is next to decide at this instant.
    pub fn first_ready(&self) -> Option<PortId> {
        self.deciders.first()
    }
    /// Packets lost or trimmed in this event, not yet reported to their hosts.
    #[inline(always)]
    pub fn lost(&self) -> &[Lost] {
        &self.lost.now
    }
}
