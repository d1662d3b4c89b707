//! Packets and frames between the parts of a network: see [`crate::border`].

use crate::border::{Batch, Cargo, Crossing};
use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::{Fabric, points};
use crate::port::flying::Flying;
use thalweg_units::PortId;
use thalweg_wire::{Handle, NO_SIDE, Packet};

/// Something has gone on the wire of a port that leads out of the part, or its place there is booked: it leaves. Its
/// place on the wire stays, and when its time has come, nothing arrives.
#[inline(never)]
pub(crate) fn leave(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Some(&flying) = fabric.ports[id.at()].flight.back() else { return };
    if flying.is_frame() {
        let posted = fabric.gates.frames[flying.handle];
        fabric.gates.frames.remove(flying.handle);
        return cx.border.post(Crossing { cargo: Cargo::Frame(posted), flying, port: id }, None);
    }
    let packet = fabric.packets[flying.handle];
    let side = (packet.side != NO_SIDE).then(|| &fabric.sides[Handle(packet.side)]);
    let start = start_of(fabric, cx, &flying, &packet);
    let flying = Flying { route: flying.route - start, ..flying };
    cx.border.post(Crossing { cargo: Cargo::Packet(packet), flying, port: id }, side);
    fabric.discard(flying.handle, &packet);
}

/// Where in the table the path of a packet's flow begins, in which every part has slots of its own; 0: its way is
/// looked up.
fn start_of(fabric: &Fabric, cx: &Cx, flying: &Flying, packet: &Packet) -> u32 {
    if cx.features.per_hop || points::is_looked_up(flying) {
        return 0;
    }
    fabric.paths.start(fabric.paths.slot(packet.flow) as usize) as u32
}

/// What has left another part comes in, on the same wires. The flows of all packets have paths here.
pub(crate) fn come_in(fabric: &mut Fabric, cx: &mut Cx, batch: &Batch) {
    let mut sides = batch.sides().iter();
    for crossing in batch.crossings() {
        let flying = match crossing.cargo {
            Cargo::Packet(mut packet) => {
                if packet.side != NO_SIDE {
                    let copy = fabric.sides.claim();
                    fabric.sides[copy].copy_from(sides.next().expect("as many as packets that have any"));
                    packet.side = copy.0;
                }
                let start = start_of(fabric, cx, &crossing.flying, &packet);
                let handle = fabric.packets.insert(packet);
                Flying { handle, route: crossing.flying.route + start, ..crossing.flying }
            }
            Cargo::Frame(posted) => Flying { handle: fabric.gates.frames.insert(posted), ..crossing.flying },
        };
        let port = &mut fabric.ports[crossing.port.at()];
        // Nothing waits on this side of the wire.
        port.waiting.started += 1;
        if port.flight.insert(flying) == 0 {
            cx.schedule(flying.arrive, Phase::Arrive, crossing.port.0);
        }
    }
}
