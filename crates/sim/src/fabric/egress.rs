//! The state of a port on the reference lane, and its machine's access to packets.

use crate::arena::{Arena, Packets};
use crate::port::{Lane, Port};
use serde::{Deserialize, Serialize};
use thalweg_machines::Invalid;
use thalweg_machines::egress::{self, Egress};
use thalweg_machines::schedule::Queue;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::PortId;
use thalweg_wire::{Handle, NO_SIDE, Packet, Side};

/// A port on the reference lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub egress: Egress,
    /// See [`crate::port::PortTotals::lost`].
    pub lost: u64,
}

impl Reference {
    /// The machine of a port.
    ///
    /// # Errors
    /// If a parameter is out of range, or the port needs something that only the other lanes support.
    pub fn new(spec: &NetworkSpec, id: PortId) -> Result<Self, Invalid> {
        Ok(Self { egress: Egress::new(&spec.egress(id)?, spec.seed, u64::from(id.0))?, lost: 0 })
    }
}

/// The queue of a port that has one; where it is kept depends on the lane.
pub(crate) fn queue_of<'a>(port: &Port, queues: &'a [Queue], egresses: &'a [Reference]) -> Option<&'a Queue> {
    match port.mode.lane {
        Lane::Express => None,
        Lane::OnDemand => queues.get(port.queue as usize),
        Lane::Reference => egresses.get(port.queue as usize).map(|reference| reference.egress.queue()),
    }
}

/// See [`queue_of`].
pub(crate) fn queue_of_mut<'a>(
    port: &Port,
    queues: &'a mut [Queue],
    egresses: &'a mut [Reference],
) -> Option<&'a mut Queue> {
    match port.mode.lane {
        Lane::Express => None,
        Lane::OnDemand => queues.get_mut(port.queue as usize),
        Lane::Reference => {
            egresses.get_mut(port.queue as usize).map(|reference| reference.egress.queue_mut())
        }
    }
}

/// The fabric's packets, as the machine accesses them.
pub(crate) struct Held<'a> {
    pub packets: &'a mut Packets,
    pub sides: &'a mut Arena<Side>,
}

impl egress::Packets for Held<'_> {
    #[inline]
    fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.packets[handle]
    }

    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side) {
        let packet = &mut self.packets[handle];
        if packet.side == NO_SIDE {
            packet.side = self.sides.insert(Side::Empty).0;
        }
        let side = Handle(packet.side);
        (packet, &mut self.sides[side])
    }
}
