//! Where hosts and their network meet: packets enter, NICs are notified of what waits for them, flows come and go.

use super::Fabric;
use super::gate::{Foreseen, Foresight};
use crate::cx::Cx;
use thalweg_machines::stage::Carry;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::{Handle, NO_SIDE, Packet, Side};

impl Fabric {
    /// A packet enters; `side`: its cold header, if it names one.
    #[inline(always)]
    pub fn insert(&mut self, packet: &mut Packet, side: &Side) -> Handle {
        if packet.side != NO_SIDE {
            let copy = self.sides.claim();
            self.sides[copy].copy_from(side);
            packet.side = copy.0;
        }
        self.packets.insert(*packet)
    }

    /// A packet of a replay enters, without a cold header; `times`: its timetable.
    pub fn insert_recorded(&mut self, packet: Packet, times: impl ExactSizeIterator<Item = i64>) -> Handle {
        let handle = self.packets.insert(packet);
        self.stages.carried.on_entry(handle, times);
        handle
    }

    /// The edge of a host has written into a packet that has come to it.
    pub fn rewrite(&mut self, handle: Handle, packet: Packet) {
        self.packets[handle] = packet;
    }

    /// Flows of its host may have something for a NIC, or have nothing: it is not woken.
    #[inline(always)]
    pub fn set_input_ready(&mut self, nic: PortId, ready: bool) {
        self.gates[nic.at()].input_ready = ready;
    }

    /// The same, and unless it is paused its port decides.
    pub fn offer(&mut self, cx: &mut Cx, nic: PortId, ready: bool) {
        let gate = &mut self.gates[nic.at()];
        gate.input_ready = ready;
        if !gate.stopped {
            self.wake(cx, nic);
        }
    }

    /// The flows of a NIC's host will have nothing for it when its link is free.
    #[inline(always)]
    pub fn foresee(&mut self, nic: PortId, foreseen: Foreseen) {
        self.gates[nic.at()].foresight = Foresight::Stands(foreseen);
    }

    /// What a NIC foresaw, if that has become uncertain: it is forgotten.
    #[inline(always)]
    pub fn take_recalled(&mut self, nic: PortId) -> Option<Foreseen> {
        let foresight = &mut self.gates[nic.at()].foresight;
        let Foresight::Recalled(foreseen) = *foresight else { return None };
        *foresight = Foresight::Nothing;
        Some(foreseen)
    }

    /// Since this was asked last, the neighbour of a NIC has resumed queues that flows may wait for.
    #[inline(always)]
    pub fn take_freed(&mut self, nic: PortId) -> bool {
        std::mem::take(&mut self.gates[nic.at()].freed)
    }

    /// A flow is over, and none of its packets is left.
    #[inline(always)]
    pub fn close_path(&mut self, flow: FlowId) {
        self.paths.close(flow);
    }

    /// The hosts have missed what was lost.
    pub fn forget_lost(&mut self) {
        self.lost.now.clear();
    }
}
