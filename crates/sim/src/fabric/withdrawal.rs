//! Packets that leave the queue of their host because they are no longer needed. They count as dropped there.

use crate::cx::Cx;
use crate::fabric::{Fabric, reference};
use crate::port::Lane;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::{Handle, Kind};

/// Data of a flow, of this class and less important ones, leaves the queue of a port, wherever it waits there.
///
/// What an express port holds has its place on the wire booked: such ports are refused when the network is built.
#[inline(never)]
pub(crate) fn withdraw(fabric: &mut Fabric, cx: &mut Cx, id: PortId, flow: FlowId, class: u8) {
    if fabric.ports[id.at()].waiting.packets == 0 || !fabric.ports[id.at()].on_demand() {
        return;
    }
    fabric.catch_up(cx, id);
    let on_demand = fabric.ports[id.at()].mode.lane == Lane::OnDemand;
    if on_demand {
        fabric.spill(id);
    }
    let Fabric { ports, queues, egresses, packets, pushed_out, .. } = fabric;
    let port = &mut ports[id.at()];
    let mut belongs = |handle: Handle| {
        let packet = &packets[handle];
        packet.flow == flow && packet.kind == Kind::Data && packet.class >= class
    };
    if on_demand {
        let queue = &mut queues[port.queue as usize];
        queue.withdraw(&mut belongs, pushed_out);
        port.now_waiting(cx.now, queue.packets(), queue.bytes());
    } else {
        egresses[port.queue as usize].egress.withdraw(&mut belongs, pushed_out);
        reference::note_queue(fabric, cx.now, id);
    }
    fabric.lose_pushed_out(cx, id, cx.now);
}
