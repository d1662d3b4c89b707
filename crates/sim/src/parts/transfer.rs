//! Transfer of packets and frames between the parts of a network: see [`crate::boundary`].
//!
//! Export and import touch memory in random order that is no longer cached. All transfers of a window are known at
//! once, so what later ones touch is prefetched while earlier ones are moved.

use super::part::Part;
use crate::boundary::{Batch, Cargo, Outbound, Transfer};
use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, points};
use crate::paths::NO_SLOT;
use crate::port::flying::Flying;
use crate::prefetch::prefetch;
use crate::sim::Sim;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::{Handle, NO_SIDE, Packet, Side};

/// How many transfers ahead the two steps of prefetching are: the packet or port itself, and then what it refers
/// to.
const FAR: usize = 16;
const NEAR: usize = 8;

impl Part {
    /// Copies what was put on wires to other parts in this window into the batches for these parts.
    pub fn export(&mut self) {
        let Sim { cx, fabric, .. } = &mut self.sim;
        let outbound = std::mem::take(&mut cx.boundary.outbound);
        for (number, &Outbound { flying, port }) in outbound.iter().enumerate() {
            look_ahead_out(fabric, &outbound, number);
            if flying.is_frame() {
                let posted = fabric.take_frame(flying.handle);
                cx.boundary.post(Transfer { cargo: Cargo::Frame(posted), flying, port }, None);
                continue;
            }
            let packet = fabric.packets()[flying.handle];
            let side = (packet.side != NO_SIDE).then(|| &fabric.sides()[Handle(packet.side)]);
            let flying = Flying { route: flying.route - start(fabric, cx, &flying, packet.flow), ..flying };
            cx.boundary.post(Transfer { cargo: Cargo::Packet(packet), flying, port }, side);
            fabric.discard(flying.handle, &packet);
        }
        cx.boundary.outbound = outbound;
        cx.boundary.outbound.clear();
    }

    /// Puts what other parts have sent on this part's copies of the same wires.
    pub fn import(&mut self) {
        for at in 0..self.inbox.len() {
            let mut batch = std::mem::take(&mut self.inbox[at]);
            self.import_batch(&batch);
            batch.clear();
            self.inbox[at] = batch;
        }
    }

    fn import_batch(&mut self, batch: &Batch) {
        let Sim { cx, fabric, hosts, .. } = &mut self.sim;
        let (none, mut sides) = (Side::default(), batch.sides().iter());
        for (number, transfer) in batch.transfers().iter().enumerate() {
            look_ahead_in(fabric, batch.transfers(), number);
            let flying = match transfer.cargo {
                Cargo::Packet(mut packet) => {
                    // A flow may be new to this part. A congestion point's notice may be for a flow that is over.
                    if fabric.paths().slot(packet.flow) == NO_SLOT && !points::is_looked_up(&transfer.flying)
                    {
                        let spec = cx.spec.flows[packet.flow.at()];
                        hosts.open(cx, fabric, packet.flow, &spec);
                    }
                    let side = match packet.side {
                        NO_SIDE => &none,
                        _ => sides.next().expect("as many as packets that have any"),
                    };
                    let route = transfer.flying.route + start(fabric, cx, &transfer.flying, packet.flow);
                    Flying { handle: fabric.insert(&mut packet, side), route, ..transfer.flying }
                }
                Cargo::Frame(posted) => Flying { handle: fabric.put_frame(posted), ..transfer.flying },
            };
            if fabric.receive(transfer.port, flying) {
                cx.schedule(flying.arrive, Phase::Arrive, transfer.port.0);
            }
        }
    }
}

/// The position of the path of a packet's flow in this part's table: every part has slots of its own. 0 if the
/// packet has no source route.
#[inline(always)]
fn start(fabric: &Fabric, cx: &Cx, flying: &Flying, flow: FlowId) -> u32 {
    if cx.features.per_hop || points::is_looked_up(flying) {
        return 0;
    }
    fabric.paths().start(fabric.paths().slot(flow) as usize) as u32
}

/// Prefetches the packets of later exports, and their flows' slots.
#[inline(always)]
fn look_ahead_out(fabric: &Fabric, outbound: &[Outbound], number: usize) {
    let packet =
        |ahead: usize| outbound.get(number + ahead).map(|outbound| outbound.flying).filter(|f| !f.is_frame());
    if let Some(far) = packet(FAR) {
        prefetch(fabric.packets().hint(far.handle));
    }
    if let Some(near) = packet(NEAR) {
        prefetch(fabric.paths().place(fabric.packets()[near.handle].flow));
    }
}

/// Prefetches the ports of later imports, their flows' slots, and the ends of these ports' rings.
#[inline(always)]
fn look_ahead_in(fabric: &Fabric, transfers: &[Transfer], number: usize) {
    if let Some(Transfer { cargo, port, .. }) = transfers.get(number + FAR) {
        prefetch(&fabric.ports()[port.at()]);
        if let Cargo::Packet(Packet { flow, .. }) = cargo {
            prefetch(fabric.paths().place(*flow));
        }
    }
    if let Some(Transfer { port: PortId(port), .. }) = transfers.get(number + NEAR) {
        prefetch(fabric.ports()[*port as usize].flight.end());
    }
}
