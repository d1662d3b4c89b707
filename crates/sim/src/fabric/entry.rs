//! The fabric's interface to hosts: packets enter, NICs learn that flows have packets, flows open and close paths.

use super::Fabric;
use super::gate::{Foreseen, Foresight};
use crate::cx::Cx;
use thalweg_machines::stage::Carry;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::{Handle, NO_SIDE, Packet, Side};

impl Fabric {
    /// Stores a packet that enters the network. `side`: its cold headers, if it has any.
    #[inline(always)]
    pub fn insert(&mut self, packet: &mut Packet, side: &Side) -> Handle {
        if packet.side != NO_SIDE {
            let copy = self.sides.claim();
            self.sides[copy].copy_from(side);
            packet.side = copy.0;
        }
        self.packets.insert(*packet)
    }

    /// Stores a packet of a replay, without cold headers. `times`: its timetable.
    pub fn insert_recorded(&mut self, packet: Packet, times: impl ExactSizeIterator<Item = i64>) -> Handle {
        let handle = self.packets.insert(packet);
        self.mechanisms.headers.carried.on_entry(handle, times);
        handle
    }

    /// Replaces a packet that the edge of its host has changed.
    pub fn rewrite(&mut self, handle: Handle, packet: Packet) {
        self.packets[handle] = packet;
    }

    /// Notes whether flows of a NIC's host may have packets for it. The port is not woken.
    #[inline(always)]
    pub fn set_input_ready(&mut self, nic: PortId, ready: bool) {
        self.gates[nic.at()].input_ready = ready;
    }

    /// As [`Fabric::set_input_ready`], and wakes the port unless it is paused.
    pub fn offer(&mut self, cx: &mut Cx, nic: PortId, ready: bool) {
        let gate = &mut self.gates[nic.at()];
        gate.input_ready = ready;
        if !gate.stopped {
            self.wake(cx, nic);
        }
    }

    /// Notes that the flows of a NIC's host will have nothing to send when its link is free.
    #[inline(always)]
    pub fn foresee(&mut self, nic: PortId, foreseen: Foreseen) {
        self.gates[nic.at()].foresight = Foresight::Stands(foreseen);
    }

    /// Takes what a NIC foresaw, if it has been recalled.
    #[inline(always)]
    pub fn take_recalled(&mut self, nic: PortId) -> Option<Foreseen> {
        let foresight = &mut self.gates[nic.at()].foresight;
        let Foresight::Recalled(foreseen) = *foresight else { return None };
        *foresight = Foresight::Nothing;
        Some(foreseen)
    }

    /// Whether the neighbour of a NIC has resumed queues that flows may wait for since the last call.
    #[inline(always)]
    pub fn take_freed(&mut self, nic: PortId) -> bool {
        std::mem::take(&mut self.gates[nic.at()].freed)
    }

    /// Frees the path of a flow that is over and has no packets left in the network.
    #[inline(always)]
    pub fn close_path(&mut self, flow: FlowId) {
        self.paths.close(flow);
    }

    /// Clears the list of lost packets once hosts have accounted for them.
    pub fn forget_lost(&mut self) {
        self.lost.now.clear();
    }
}
