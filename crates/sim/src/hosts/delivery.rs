//! Packets that reach their host, or are lost on the way.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::flows::Flows;
use crate::hosts::Hosts;
use crate::hosts::streams::NO_STREAM;
use crate::instruments::recording;
use crate::paths::{NO_SLOT, travels_forward};
use thalweg_machines::transport::Reception;
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, NO_SIDE, Packet};

impl Hosts {
    /// Delivers a packet at its host: to the receiver if it travels forward, else to the sender.
    #[inline(always)]
    pub fn deliver(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, handle: Handle) {
        if cx.features.headers && !self.receive_at_edge(cx, fabric, flows, handle) {
            return;
        }
        if cx.features.points && fabric.mechanisms().points.sent(&fabric.packets()[handle]) {
            return self.deliver_notice(cx, fabric, flows, handle);
        }
        let packet = fabric.packets()[handle];
        cx.instruments.tally.delivered += 1;
        if cx.features.trims {
            cx.instruments.tally.payload.delivered += packet.data_bytes();
        }
        cx.mark_digest(delivered_word(&packet));
        let side = (packet.side != NO_SIDE).then(|| &fabric.sides()[Handle(packet.side)]);
        let slot = fabric.paths().slot(packet.flow) as usize;
        if travels_forward(packet.kind) {
            if cx.features.delays {
                self.delays.measure(cx, fabric, slot, &packet);
            }
            let receiving = &mut self.receiving[slot];
            receiving.balance = receiving.balance.wrapping_sub(1);
            let transport = &self.transports[receiving.transport as usize];
            receiving.receiver.on_packet(transport, cx.now, &packet, side);
            let newly_complete = !receiving.complete && receiving.receiver.is_done();
            let agent = if cx.features.agents { self.agent_receives(cx, slot, &packet, side) } else { None };
            fabric.discard(handle, &packet);
            if let Some(agent) = agent {
                self.pump_agent(cx, fabric, agent);
            }
            self.pump_receiver(cx, fabric, slot, packet.flow);
            let stream = if cx.features.streams { self.sending[slot].stream } else { NO_STREAM };
            if stream != NO_STREAM {
                let received = self.receiving[slot].receiver.received();
                self.streams.note_arrived(cx, flows, stream, received);
            } else if newly_complete {
                self.received(cx, flows, slot, packet.flow);
            }
            if self.receiving[slot].complete {
                self.close_if_over(fabric, flows, packet.flow);
            }
        } else {
            let sending = &mut self.sending[slot];
            sending.balance = sending.balance.wrapping_sub(1);
            let transport = &self.transports[sending.transport as usize];
            let reception = sending.sender.on_packet(transport, cx.now, &packet, side);
            if cx.features.completions
                && let Some(rtt) = reception.round_trip()
            {
                self.note_completion(cx, slot, packet.flow, rtt);
            }
            let agent = if cx.features.agents { self.agent_receives(cx, slot, &packet, side) } else { None };
            fabric.discard(handle, &packet);
            if let Some(agent) = agent {
                self.pump_agent(cx, fabric, agent);
            }
            self.pump_sender(cx, fabric, flows, slot, packet.flow);
            if self.sending[slot].complete {
                self.close_if_over(fabric, flows, packet.flow);
            }
        }
    }

    /// Delivers a notice of a congestion point. The sender may be done, or may ignore notices.
    #[inline(never)]
    fn deliver_notice(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, handle: Handle) {
        let packet = fabric.packets()[handle];
        cx.instruments.tally.delivered += 1;
        cx.mark_digest(delivered_word(&packet));
        let slot = fabric.paths().slot(packet.flow);
        if slot == NO_SLOT || self.sending[slot as usize].complete {
            return fabric.discard(handle, &packet);
        }
        let sending = &mut self.sending[slot as usize];
        let transport = &self.transports[sending.transport as usize];
        let side = &fabric.sides()[Handle(packet.side)];
        let reception = sending.sender.on_packet(transport, cx.now, &packet, Some(side));
        fabric.discard(handle, &packet);
        if reception == Reception::Ignored {
            return;
        }
        self.pump_sender(cx, fabric, flows, slot as usize, packet.flow);
        self.close_if_over(fabric, flows, packet.flow);
    }

    /// Delivers a recorded or slack-carrying packet to the edge. Returns false if the transport must not see it: it
    /// belongs to a replay, or the edge's queue management drops it.
    #[inline(never)]
    fn receive_at_edge(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        handle: Handle,
    ) -> bool {
        if let Some(replay) = &mut self.replay {
            replay.leave(cx, fabric, handle);
            return false;
        }
        let mut packet = fabric.packets()[handle];
        cx.instruments.record(handle, &packet, recording::End::Arrived(cx.now), cx.now);
        let slot = fabric.paths().slot(packet.flow) as usize;
        let delivered =
            self.pass_edge(cx, slot, &mut packet, fabric.mechanisms().headers.initial_slack(handle));
        fabric.rewrite(handle, packet);
        if !delivered {
            cx.instruments.tally.delivered += 1;
            cx.instruments.tally.payload.delivered += packet.data_bytes();
            fabric.discard(handle, &packet);
            self.lose(fabric, flows, &packet);
        }
        delivered
    }

    /// Notifies a sender of a dropped data packet after `delay`.
    // CHOICE BFC §3.6.2.1: the propagation delays of the way back, nothing waits for anything.
    pub fn notify_of_drop(&mut self, cx: &mut Cx, fabric: &Fabric, packet: &Packet, delay: Span) {
        let slot = fabric.paths().slot(packet.flow);
        if slot == NO_SLOT {
            return;
        }
        let sending = &mut self.sending[slot as usize];
        let transport = &self.transports[sending.transport as usize];
        // A timer set for this instant might have fired already.
        let at = (cx.now + delay).max(cx.now + Span::from_ps(1));
        sending.sender.on_drop(transport, packet.seq, at);
        self.arm_sender(cx, slot as usize, packet.flow, Time::MAX);
    }

    /// Accounts for a packet that was lost in the fabric or at the edge.
    pub fn lose(&mut self, fabric: &mut Fabric, flows: &mut Flows, packet: &Packet) {
        if fabric.mechanisms().points.sent(packet) {
            return; // notices are not counted as packets of flows
        }
        flows.lose(packet);
        let slot = fabric.paths().slot(packet.flow) as usize;
        let balance = if travels_forward(packet.kind) {
            &mut self.sending[slot].balance
        } else {
            &mut self.receiving[slot].balance
        };
        *balance = balance.wrapping_sub(1);
        self.close_if_over(fabric, flows, packet.flow);
    }
}

/// The word that a delivered packet contributes to the digest.
#[inline(always)]
fn delivered_word(packet: &Packet) -> u64 {
    1 << 63 | u64::from(packet.flow.0) << 32 ^ packet.seq << 2 ^ packet.kind as u64
}
