//! The hosts: thin drivers of the transports' two ends.

use crate::events::{Events, Phase};
use crate::fabric::travels_forward;
use crate::flow::NO_CONNECTION;
use crate::sim::{Sim, Spray};
use crate::spec::NicOrder;
use thalweg_machines::transport::{FlightSpec, Transmit, TransportSpec};
use thalweg_machines::{Flags, Handle, NO_SIDE, Packet};
use thalweg_units::{FlowId, HostId, Span, Time};

impl<Q: Events> Sim<Q> {
    /// A packet has reached its host: to the receiver if it travels forward, else to the sender.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, handle: Handle) {
        if self.watching && !self.welcome(handle) {
            return;
        }
        let packet = self.packets[handle];
        self.tally.delivered += 1;
        self.mark_digest(1 << 63 | u64::from(packet.flow.0) << 32 ^ packet.seq << 2 ^ packet.kind as u64);
        let side = (packet.side != NO_SIDE).then(|| &self.sides[Handle(packet.side)]);
        let slot = self.connections[packet.flow.at()] as usize;
        if travels_forward(packet.kind) {
            let receiving = &mut self.receiving[slot];
            receiving.balance = receiving.balance.wrapping_sub(1);
            let transport = &self.spec.transports[receiving.transport as usize];
            receiving.receiver.on_packet(transport, self.now, &packet, side);
            let newly_complete = !receiving.complete && receiving.receiver.is_done();
            self.discard(handle, &packet);
            self.pump_receiver(slot, packet.flow);
            if newly_complete {
                self.received(slot, packet.flow);
            }
            if self.receiving[slot].complete {
                self.release_if_over(packet.flow);
            }
        } else {
            let sending = &mut self.sending[slot];
            sending.balance = sending.balance.wrapping_sub(1);
            let transport = &self.spec.transports[sending.transport as usize];
            if self.spec.probes.completions.is_some() {
                let stats = sending.sender.stats();
                sending.sender.on_packet(transport, self.now, &packet, side);
                self.note_completion(slot, packet.flow, (stats.rtt_samples, stats.rtt_sum));
            } else {
                sending.sender.on_packet(transport, self.now, &packet, side);
            }
            self.discard(handle, &packet);
            self.pump_sender(slot, packet.flow);
            if self.sending[slot].complete {
                self.release_if_over(packet.flow);
            }
        }
    }

    /// A packet of a watched network has reached its host; false if the transport never sees it: it belongs to a
    /// replay, or the edge drops it.
    #[inline(never)]
    fn welcome(&mut self, handle: Handle) -> bool {
        if self.replay.is_some() {
            self.leave_replay(handle);
            return false;
        }
        let mut packet = self.packets[handle];
        self.record_exit(handle, &packet);
        let delivered = self.pass_edge(&mut packet);
        self.packets[handle] = packet;
        if !delivered {
            self.tally.delivered += 1;
            self.discard(handle, &packet);
            self.records[packet.flow.at()].drops += 1;
            let receiving = &mut self.receiving[self.connections[packet.flow.at()] as usize];
            receiving.balance = receiving.balance.wrapping_sub(1);
            self.release_if_over(packet.flow);
        }
        delivered
    }

    /// Sends what a sender has to send, and keeps its timer event early enough.
    #[inline]
    pub(crate) fn pump_sender(&mut self, slot: usize, flow: FlowId) {
        if self.pulling {
            return self.offer(slot, flow);
        }
        let mut packet = Packet::default();
        let mut paced = Time::MAX;
        loop {
            let sending = &mut self.sending[slot];
            let transport = &self.spec.transports[sending.transport as usize];
            match sending.sender.poll_transmit(transport, self.now, &mut packet, &mut self.scratch) {
                Transmit::Packet => {
                    if packet.flags.has(Flags::RETRANSMISSION)
                        && omniscient(transport)
                        && self.receiving[slot].receiver.holds(packet.seq, packet.payload)
                    {
                        continue;
                    }
                    packet.class = sending.class;
                    sending.balance = sending.balance.wrapping_add(1);
                    let (host, peer) = (sending.host, sending.peer);
                    self.inject(flow, host, peer, self.path_of(slot), &mut packet);
                }
                Transmit::Idle => break,
                Transmit::At(at) => {
                    paced = at;
                    break;
                }
            }
        }
        self.arm_sender(slot, flow, paced);
        self.note_sender(slot, flow);
    }

    /// Sends what a receiver has to send, and keeps its timer event early enough.
    #[inline]
    pub(crate) fn pump_receiver(&mut self, slot: usize, flow: FlowId) {
        let mut packet = Packet::default();
        loop {
            let receiving = &mut self.receiving[slot];
            let transport = &self.spec.transports[receiving.transport as usize];
            if receiving.receiver.poll_transmit(transport, self.now, &mut packet, &mut self.scratch)
                != Transmit::Packet
            {
                break;
            }
            receiving.balance = receiving.balance.wrapping_add(1);
            let (host, peer) = (receiving.host, receiving.peer);
            self.inject(flow, host, peer, self.path_of(slot) + self.stride / 2, &mut packet);
        }
        let receiving = &mut self.receiving[slot];
        let deadline = receiving.receiver.timer().unwrap_or(Time::MAX);
        if deadline < receiving.timer {
            receiving.timer = deadline;
            self.schedule(deadline.max(self.now), Phase::ReceiverTimer, flow.0);
        }
    }

    /// Hands a packet to the NIC of the host `from`. Not inlined: both ends of a flow come by here.
    #[inline(never)]
    pub(crate) fn inject(
        &mut self,
        flow: FlowId,
        from: HostId,
        to: HostId,
        path: usize,
        packet: &mut Packet,
    ) {
        let (nic, flying) = self.prepare(flow, from, to, path, packet);
        self.enqueue::<false>(nic, flying, Span::ZERO);
    }

    /// Entropy of the next packet that `from` sprays.
    pub(crate) fn entropy(&mut self, from: HostId, to: HostId) -> u32 {
        match &mut self.spray[from.at()] {
            Spray::Random(stream) => (stream.bits() >> 32) as u32,
            // Only packets that meet a choice count: within a rack there is none.
            Spray::Counter(_) if self.routes.same_attachment(from, to) => 0,
            Spray::Counter(n) => {
                let value = *n;
                *n = n.wrapping_add(1);
                value
            }
        }
    }

    pub(crate) fn sender_timer(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION || self.sending[slot as usize].timer != self.now {
            return; // re-armed earlier since, or over
        }
        let sending = &mut self.sending[slot as usize];
        sending.timer = Time::MAX;
        let transport = &self.spec.transports[sending.transport as usize];
        let timeouts = sending.sender.stats().timeouts;
        sending.sender.on_timer(transport, self.now);
        let by_timeout = sending.sender.stats().timeouts > timeouts;
        let host = sending.host;
        if self.spec.nic.order == NicOrder::Circle
            && matches!(transport, TransportSpec::Rdma(_))
            && !by_timeout
        {
            // A timer of the controller's is none of the NIC's.
            let look = self.look_of(self.routes.nic(host), flow);
            if look != Some(self.now) {
                self.arm_sender(slot as usize, flow, look.unwrap_or(Time::MAX));
                return;
            }
        }
        self.pump_sender(slot as usize, flow);
        self.release_if_over(flow);
    }

    pub(crate) fn receiver_timer(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION || self.receiving[slot as usize].timer != self.now {
            return;
        }
        let receiving = &mut self.receiving[slot as usize];
        let transport = &self.spec.transports[receiving.transport as usize];
        receiving.timer = Time::MAX;
        receiving.receiver.on_timer(transport, self.now);
        self.pump_receiver(slot as usize, flow);
        self.release_if_over(flow);
    }
}

/// Senders know what their receivers have.
#[cold]
fn omniscient(transport: &TransportSpec) -> bool {
    matches!(transport, TransportSpec::Tcp(tcp) if tcp.flight == FlightSpec::SpanOmniscient)
}
