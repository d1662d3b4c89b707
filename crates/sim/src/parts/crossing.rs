//! Packets and frames between the parts of a network: see [`crate::border`].
//!
//! Both ways go through memory that was last touched long ago, in no order. All that crosses in a window is known at
//! once: what the later ones touch is fetched while the earlier ones are moved.

use super::part::Part;
use crate::border::{Batch, Cargo, Crossing, Leaving};
use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, points};
use crate::paths::NO_SLOT;
use crate::port::flying::Flying;
use crate::prefetch::prefetch;
use crate::sim::Sim;
use thalweg_units::{FlowId, PortId};
use thalweg_wire::{Handle, NO_SIDE, Packet, Side};

/// How many ahead each is looked at: what it is, and then where that leads to.
const FAR: usize = 16;
const NEAR: usize = 8;

impl Part {
    /// What has gone on wires that lead out in this window leaves.
    pub fn go_out(&mut self) {
        let Sim { cx, fabric, .. } = &mut self.sim;
        let leaving = std::mem::take(&mut cx.border.leaving);
        for (number, &Leaving { flying, port }) in leaving.iter().enumerate() {
            look_ahead_out(fabric, &leaving, number);
            if flying.is_frame() {
                let posted = fabric.take_frame(flying.handle);
                cx.border.post(Crossing { cargo: Cargo::Frame(posted), flying, port }, None);
                continue;
            }
            let packet = fabric.packets()[flying.handle];
            let side = (packet.side != NO_SIDE).then(|| &fabric.sides()[Handle(packet.side)]);
            let flying = Flying { route: flying.route - start(fabric, cx, &flying, packet.flow), ..flying };
            cx.border.post(Crossing { cargo: Cargo::Packet(packet), flying, port }, side);
            fabric.discard(flying.handle, &packet);
        }
        cx.border.leaving = leaving;
        cx.border.leaving.clear();
    }

    /// What others have sent comes in, on the same wires.
    pub fn come_in(&mut self) {
        for at in 0..self.inbox.len() {
            let mut batch = std::mem::take(&mut self.inbox[at]);
            self.take_in(&batch);
            batch.clear();
            self.inbox[at] = batch;
        }
    }

    fn take_in(&mut self, batch: &Batch) {
        let Sim { cx, fabric, hosts, .. } = &mut self.sim;
        let (none, mut sides) = (Side::default(), batch.sides().iter());
        for (number, crossing) in batch.crossings().iter().enumerate() {
            look_ahead_in(fabric, batch.crossings(), number);
            let flying = match crossing.cargo {
                Cargo::Packet(mut packet) => {
                    // A notice may be for a flow that is over.
                    if fabric.paths().slot(packet.flow) == NO_SLOT && !points::is_looked_up(&crossing.flying)
                    {
                        let spec = cx.spec.flows[packet.flow.at()];
                        hosts.open(cx, fabric, packet.flow, &spec);
                    }
                    let side = match packet.side {
                        NO_SIDE => &none,
                        _ => sides.next().expect("as many as packets that have any"),
                    };
                    let route = crossing.flying.route + start(fabric, cx, &crossing.flying, packet.flow);
                    Flying { handle: fabric.insert(&mut packet, side), route, ..crossing.flying }
                }
                Cargo::Frame(posted) => Flying { handle: fabric.put_frame(posted), ..crossing.flying },
            };
            if fabric.come_in(crossing.port, flying) {
                cx.schedule(flying.arrive, Phase::Arrive, crossing.port.0);
            }
        }
    }
}

/// Where in the table the path of a packet's flow begins, in which every part has slots of its own; 0: its way is
/// looked up.
#[inline(always)]
fn start(fabric: &Fabric, cx: &Cx, flying: &Flying, flow: FlowId) -> u32 {
    if cx.features.per_hop || points::is_looked_up(flying) {
        return 0;
    }
    fabric.paths().start(fabric.paths().slot(flow) as usize) as u32
}

/// The packets of those that leave later, and their flows' slots.
#[inline(always)]
fn look_ahead_out(fabric: &Fabric, leaving: &[Leaving], number: usize) {
    let packet =
        |ahead: usize| leaving.get(number + ahead).map(|leaving| leaving.flying).filter(|f| !f.is_frame());
    if let Some(far) = packet(FAR) {
        prefetch(fabric.packets().hint(far.handle));
    }
    if let Some(near) = packet(NEAR) {
        prefetch(fabric.paths().place(fabric.packets()[near.handle].flow));
    }
}

/// The ports by whose wires the later ones come, their flows' slots, and where those rings end.
#[inline(always)]
fn look_ahead_in(fabric: &Fabric, crossings: &[Crossing], number: usize) {
    if let Some(Crossing { cargo, port, .. }) = crossings.get(number + FAR) {
        prefetch(&fabric.ports()[port.at()]);
        if let Cargo::Packet(Packet { flow, .. }) = cargo {
            prefetch(fabric.paths().place(*flow));
        }
    }
    if let Some(Crossing { port: PortId(port), .. }) = crossings.get(number + NEAR) {
        prefetch(fabric.ports()[*port as usize].flight.end());
    }
}
