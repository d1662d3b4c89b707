//! Packets that are removed from the queue of their host's NIC because they are no longer needed. They count as
//! dropped there.

use crate::cx::Cx;
use crate::fabric::{Fabric, reference};
use crate::port::Lane;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::{Handle, Kind};

/// Removes the waiting data packets of a flow, of this class and less important ones, from a port.
///
/// Departures of express ports are booked and cannot be cancelled: such ports are refused when the network is
/// built.
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
        port.set_waiting(cx.now, queue.packets(), queue.bytes());
    } else {
        egresses[port.queue as usize].egress.withdraw(&mut belongs, pushed_out);
        reference::note_queue(fabric, cx.now, id);
    }
    fabric.give_up_pushed_out(cx, id, cx.now);
}
