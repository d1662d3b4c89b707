//! Round-robin NICs: the link asks flows for a packet, one from each that may send in turn, whenever it is free.
//!
//! A flow that has nothing to send, or may not send yet, leaves the round; what wakes it (an arrival, a timer) puts it at
//! its end.

use crate::events::{Events, Phase};
use crate::flow::NO_CONNECTION;
use crate::port::Flying;
use crate::sim::Sim;
use crate::spec::NicOrder;
use thalweg_machines::Packet;
use thalweg_machines::transport::Transmit;
use thalweg_units::{FlowId, PortId, Time};

impl<Q: Events> Sim<Q> {
    /// A flow may have something to send.
    pub(crate) fn offer(&mut self, slot: usize, flow: FlowId) {
        let sending = &mut self.sending[slot];
        let nic = self.routes.nic(sending.host);
        let mut look = Time::MAX;
        if self.spec.nic.order == NicOrder::Circle {
            let over = sending.sender.is_done();
            self.look_for(nic, flow, over);
            look = self.look_of(nic, flow).filter(|at| *at > self.now).unwrap_or(Time::MAX);
        } else if !sending.ready {
            sending.ready = true;
            self.gates[nic.at()].turns.push_back(flow);
            if !self.gates[nic.at()].paused {
                self.wake(nic);
            }
        }
        self.arm_sender(slot, flow, look);
        self.note_sender(slot, flow);
    }

    /// The next packet of the round leaves, if anybody has one.
    pub(crate) fn pull(&mut self, id: PortId) {
        if self.unreliable && self.is_down(id) {
            return; // until the link is mended
        }
        if self.spec.nic.order == NicOrder::Circle {
            return self.pull_in_circle(id);
        }
        let mut packet = Packet::default();
        while let Some(flow) = self.gates[id.at()].turns.pop_front() {
            let slot = self.connections[flow.at()];
            if slot == NO_CONNECTION {
                continue;
            }
            let slot = slot as usize;
            let sending = &mut self.sending[slot];
            sending.ready = false;
            let transport = &self.spec.transports[sending.transport as usize];
            let answer = sending.sender.poll_transmit(transport, self.now, &mut packet, &mut self.scratch);
            let mut paced = Time::MAX;
            match answer {
                Transmit::Packet => {
                    sending.ready = true;
                    self.gates[id.at()].turns.push_back(flow);
                    self.send_pulled(id, slot, flow, &mut packet);
                }
                Transmit::Idle => {}
                Transmit::At(at) => paced = at,
            }
            self.arm_sender(slot, flow, paced);
            self.note_sender(slot, flow);
            if answer == Transmit::Packet {
                return;
            }
            self.release_if_over(flow);
        }
    }

    /// What a flow was asked for leaves.
    #[inline]
    pub(crate) fn send_pulled(&mut self, id: PortId, slot: usize, flow: FlowId, packet: &mut Packet) {
        let sending = &mut self.sending[slot];
        packet.class = sending.class;
        sending.balance = sending.balance.wrapping_add(1);
        let (host, peer) = (sending.host, sending.peer);
        let path = self.path_of(slot);
        let (_, flying) = self.prepare(flow, host, peer, path, packet);
        self.transmit_now(id, flying);
    }

    /// Keeps a sender's timer event early enough.
    #[inline]
    pub(crate) fn arm_sender(&mut self, slot: usize, flow: FlowId, paced: Time) {
        let sending = &mut self.sending[slot];
        let deadline = sending.sender.timer().unwrap_or(Time::MAX).min(paced);
        if deadline < sending.timer {
            sending.timer = deadline;
            self.schedule(deadline.max(self.now), Phase::SenderTimer, flow.0);
        }
    }

    /// Notes that a sender has nothing left to wait for.
    #[inline]
    pub(crate) fn note_sender(&mut self, slot: usize, flow: FlowId) {
        let sending = &mut self.sending[slot];
        if !sending.complete && sending.sender.is_done() {
            sending.complete = true;
            self.acked(slot, flow);
        }
    }

    /// Where in the path table the packets of a connection find their way.
    #[inline(always)]
    pub(crate) fn path_of(&self, slot: usize) -> usize {
        match self.detours.get(slot) {
            Some(&at) if at != u32::MAX => at as usize,
            _ => slot * self.stride,
        }
    }

    /// Puts a packet of a host into the network's books; also the port by which it leaves.
    #[inline(always)]
    pub(crate) fn prepare(
        &mut self,
        flow: FlowId,
        from: thalweg_units::HostId,
        to: thalweg_units::HostId,
        path: usize,
        packet: &mut Packet,
    ) -> (PortId, Flying) {
        packet.flow = flow;
        packet.dst = to;
        let nic = if self.spray.is_empty() {
            packet.route = path as u32 + 1;
            self.paths[path]
        } else {
            packet.route = self.entropy(from, to);
            self.routes.nic(from)
        };
        if packet.side != thalweg_machines::NO_SIDE {
            packet.side = self.sides.insert(self.scratch).0;
        }
        self.tally.injected += 1;
        let handle = self.packets.insert(*packet);
        if let Some(journal) = &mut self.journal {
            journal.hand(handle, self.now);
        }
        (nic, Flying::new(handle, packet))
    }
}
