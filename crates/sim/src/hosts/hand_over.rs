//! Packets that hosts hand to their NICs.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::port::flying::Flying;
use thalweg_units::{FlowId, HostId, PortId, Span, Time};
use thalweg_wire::{Packet, Side};

/// Hands a packet, with its cold headers if it has any, to the NIC of its host. Not inlined: both ends of a flow
/// use it.
#[inline(never)]
pub(super) fn inject(
    cx: &mut Cx,
    fabric: &mut Fabric,
    flow: FlowId,
    ends: (HostId, HostId),
    path: usize,
    packet: (&mut Packet, &Side),
) {
    let (nic, flying) = prepare(cx, fabric, flow, ends, path, packet);
    hand_over(cx, fabric, nic, flying);
}

/// As [`inject`] for a packet of a flow, or of a message that it carries, of which none has left yet. Returns
/// whether it is known by now when the first one leaves.
#[cold]
pub(super) fn inject_first(
    cx: &mut Cx,
    fabric: &mut Fabric,
    (flow, message): (FlowId, FlowId),
    ends: (HostId, HostId),
    path: usize,
    packet: (&mut Packet, &Side),
) -> bool {
    let (nic, flying) = prepare(cx, fabric, flow, ends, path, packet);
    let before = fabric.ports()[nic.at()].sent.packets;
    let on_demand = fabric.ports()[nic.at()].on_demand();
    if on_demand {
        cx.instruments.firsts.wait(message, flying.handle);
    }
    hand_over(cx, fabric, nic, flying);
    let port = &fabric.ports()[nic.at()];
    if !on_demand && port.sent.packets > before {
        // It is booked behind what waits.
        let begins = Time::from_ps(port.free_at.ps() - port.span(flying.wire).ps());
        cx.instruments.firsts.leave(message, begins);
    }
    cx.instruments.firsts.of(message) != Time::MAX
}

/// Lets a packet join its NIC.
#[inline(always)]
fn hand_over(cx: &mut Cx, fabric: &mut Fabric, nic: PortId, flying: Flying) {
    if cx.features.detours {
        fabric.enqueue::<false, true>(cx, PortId::NONE, nic, flying, Span::ZERO);
    } else {
        fabric.enqueue::<false, false>(cx, PortId::NONE, nic, flying, Span::ZERO);
    }
}

/// Stores a packet of a host in the fabric; also returns the port by which it leaves.
#[inline(always)]
pub(super) fn prepare(
    cx: &mut Cx,
    fabric: &mut Fabric,
    flow: FlowId,
    (from, to): (HostId, HostId),
    path: usize,
    (packet, side): (&mut Packet, &Side),
) -> (PortId, Flying) {
    packet.flow = flow;
    packet.dst = to;
    let nic = if !cx.features.per_hop {
        packet.route = path as u32 + 1;
        fabric.paths().port(path)
    } else {
        fabric.routes().nic(from)
    };
    let handle = fabric.insert(packet, side);
    cx.instruments.tally.injected += 1;
    if cx.features.trims {
        cx.instruments.tally.payload.injected += packet.data_bytes();
    }
    if let Some(journal) = &mut cx.instruments.journal {
        journal.hand(handle, cx.now);
    }
    (nic, Flying::new(handle, packet))
}
