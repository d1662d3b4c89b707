//! What others may see of the fabric. They change nothing: see [`super::entry`] and [`super::exchange`].

use super::egress::Reference;
use super::gate::Gates;
use super::memory::Memory;
use super::outages::Outages;
use super::preemption::Preempted;
use super::stages::Stages;
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
    /// What gated ports have besides their queues.
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
    /// Their cold headers.
    #[inline(always)]
    pub fn sides(&self) -> &Arena<Side> {
        &self.sides
    }
    /// Where packets go.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }
    /// The ways of the active flows.
    #[inline(always)]
    pub fn paths(&self) -> &Paths {
        &self.paths
    }
    /// What header stages remember.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }
    /// Transmissions that were interrupted.
    pub fn preempted(&self) -> &Preempted {
        &self.preempted
    }
    /// What is broken.
    pub fn outages(&self) -> &Outages {
        &self.outages
    }
    /// The idle port that is next to decide at this instant.
    pub fn first_ready(&self) -> Option<PortId> {
        self.tx_ready.last().copied()
    }
    /// Packets that hosts are still to miss.
    #[inline(always)]
    pub fn lost(&self) -> &[Lost] {
        &self.lost.now
    }
}
