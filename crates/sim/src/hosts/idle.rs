//! Packets that leave only when a NIC has nothing else to send: the NIC has a queue; when the queue is empty and
//! the link free, the NIC polls the flows of its host for one packet (RC3's second loop in pull mode).
//!
//! Such a packet joins the empty queue and leaves at once, so that limits, marks and counters of the port apply to
//! it as to every other packet. Among several flows, one whose packet is of the most important class is polled;
//! flows of one class take turns.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::hosts::hand_over::inject;
use crate::paths::NO_SLOT;
use thalweg_machines::transport::Transmit;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::Packet;

/// Lets the NIC poll a flow that has sent what it may send by itself.
pub(super) fn offer(hosts: &mut Hosts, cx: &mut Cx, fabric: &mut Fabric, slot: usize, flow: FlowId) {
    let sending = &mut hosts.sending[slot];
    let transport = &cx.spec.transports[sending.transport as usize];
    if sending.ready || sending.sender.waits_for_idle(transport).is_none() {
        return;
    }
    sending.ready = true;
    let id = fabric.routes().nic(sending.host);
    hosts.nics[id.at()].ready.push_back(flow);
    fabric.offer(cx, id, true);
}

/// Polls flows for a NIC that has nothing else to send and whose link is free.
pub(crate) fn pull(hosts: &mut Hosts, cx: &mut Cx, fabric: &mut Fabric, id: PortId) {
    // Otherwise the flows wait until the link is restored.
    if cx.features.failures && fabric.outages().is_down(id) {
        return;
    }
    let mut packet = Packet::default();
    while let Some((flow, slot)) = next(hosts, cx, fabric, id) {
        let sending = &mut hosts.sending[slot];
        let transport = &cx.spec.transports[sending.transport as usize];
        if sending.sender.poll_idle(transport, cx.now, &mut packet, &mut hosts.scratch) != Transmit::Packet {
            sending.ready = false;
            continue;
        }
        sending.balance = sending.balance.wrapping_add(1);
        let ends = (sending.host, sending.peer);
        hosts.nics[id.at()].ready.push_back(flow);
        let path = fabric.paths().start(slot);
        inject(cx, fabric, flow, ends, path, (&mut packet, &hosts.scratch));
        // Unless the port has dropped it.
        if fabric.ports()[id.at()].state.tx_pending {
            break;
        }
    }
    fabric.set_input_ready(id, !hosts.nics[id.at()].ready.is_empty());
}

/// Takes the flow to be polled next from those that have something.
fn next(hosts: &mut Hosts, cx: &Cx, fabric: &Fabric, id: PortId) -> Option<(FlowId, usize)> {
    let Hosts { nics, sending, .. } = hosts;
    let ready = &mut nics[id.at()].ready;
    let mut best: Option<(u8, usize, FlowId, usize)> = None;
    let mut place = 0;
    ready.retain(|flow| {
        let slot = fabric.paths().slot(*flow);
        if slot == NO_SLOT {
            return false;
        }
        let sending = &mut sending[slot as usize];
        let transport = &cx.spec.transports[sending.transport as usize];
        let class = sending.sender.waits_for_idle(transport);
        sending.ready = class.is_some();
        let Some(class) = class else { return false };
        if best.is_none_or(|(least, ..)| class < least) {
            best = Some((class, place, *flow, slot as usize));
        }
        place += 1;
        true
    });
    let (_, place, flow, slot) = best?;
    ready.remove(place);
    Some((flow, slot))
}
