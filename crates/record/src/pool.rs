//! The waiting packets, by handle.

use thalweg_machines::egress::Packets;
use thalweg_units::Time;
use thalweg_wire::{Ecn, Handle, Packet, Side};

/// A waiting packet.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub packet: Packet,
    pub number: u64,
    pub label: u32,
    pub came: Time,
    pub ecn: Ecn,
}

/// The waiting packets, by handle.
#[derive(Default)]
pub(crate) struct Pool {
    slots: Vec<Waiting>,
    free: Vec<u32>,
    /// Cold headers are not written: ports with stages that do are not recorded.
    side: Side,
}

impl Pool {
    pub fn put(&mut self, waiting: Waiting) -> Handle {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = waiting;
                Handle(slot)
            }
            None => {
                self.slots.push(waiting);
                Handle(self.slots.len() as u32 - 1)
            }
        }
    }

    pub fn get(&self, handle: Handle) -> &Waiting {
        &self.slots[handle.0 as usize]
    }

    pub fn take(&mut self, handle: Handle) -> Waiting {
        self.free.push(handle.0);
        self.slots[handle.0 as usize]
    }
}

impl Packets for Pool {
    fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.slots[handle.0 as usize].packet
    }
    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side) {
        (&mut self.slots[handle.0 as usize].packet, &mut self.side)
    }
}
