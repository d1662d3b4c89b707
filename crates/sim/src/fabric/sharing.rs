//! Memory that the ports of a switch share: what a packet finds there, and how queues make room.

use crate::cx::Cx;
use crate::fabric::{Fabric, Fate, Lost, reference, trimming};
use crate::port::Lane;
use thalweg_machines::schedule::Discipline;
use thalweg_machines::sharing::{Admission, Arriving, Pool};
use thalweg_units::{PortId, Time};
use thalweg_wire::Handle;

/// What a packet finds that has come to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There is room for it, as it is now, or the port shares nothing.
    Enough,
    /// There is room once its own queue has given up packets, this one perhaps ([`make_room`]).
    Own,
    /// There is none.
    None,
}

/// What the packet `handle` finds at the port `id`. Queues of other ports have made room for it then, or its payload is
/// cut off.
#[inline(never)]
pub(super) fn find_room(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle) -> Room {
    loop {
        let Fabric { ports, queues, egresses, memory, packets, pushed_out, lost, .. } = fabric;
        let port = &ports[id.at()];
        let switch = port.place.pool as usize;
        let Some(pool) = memory.pools.get_mut(switch) else { return Room::Enough };
        let (own, packet) = (&memory.links[switch], &mut packets[handle]);
        let (wire, bare) = (packet.wire, packet.bare());
        let header = (bare < wire).then_some(bare);
        let arriving = Arriving { port: id, waiting: port.waiting.bytes, wire, header };
        let nth = |nth: usize| (own[nth], ports[own[nth].at()].waiting.bytes);
        let victim = match pool.admit(&arriving, own.len(), nth) {
            Admission::Keep => return Room::Enough,
            Admission::Trim => {
                let cut = packet.trim();
                trimming::note(memory, &mut cx.instruments.tally, (id, port), packet, cut);
                lost.now.push(Lost { packet: *packet, fate: Fate::Trimmed });
                return Room::Enough;
            }
            Admission::Drop => return Room::None,
            Admission::PushOut(victim) if victim == id => return Room::Own,
            Admission::PushOut(victim) => victim,
        };
        let port = &mut ports[victim.at()];
        if port.mode.lane == Lane::Reference {
            let egress = &mut egresses[port.queue as usize].egress;
            egress.push_out(cx.now, Handle::NONE, pushed_out);
            reference::note_queue(fabric, cx.now, victim);
        } else {
            let (queue, before) = (&mut queues[port.queue as usize], port.waiting.bytes);
            queue.push_out(cx.now, Handle::NONE, pushed_out);
            port.now_waiting(cx.now, queue.packets(), queue.bytes());
            pool.release(before - port.waiting.bytes);
        }
        debug_assert!(
            !fabric.pushed_out.is_empty(),
            "who keeps what waits is refused when the network is built"
        );
        if fabric.pushed_out.is_empty() {
            return Room::None;
        }
        fabric.lose_pushed_out(cx, victim, cx.now);
    }
}

/// The packet `arriving` has joined the queue of the port `id`, which held so many bytes `before` and makes room for it
/// itself ([`Room::Own`]). True: it is one of those that the queue has given up.
#[cold]
pub(super) fn make_room(fabric: &mut Fabric, now: Time, id: PortId, arriving: Handle, before: u64) -> bool {
    let Fabric { ports, queues, egresses, memory, pushed_out: out, .. } = fabric;
    let port = &ports[id.at()];
    let free = memory.pools.get(port.place.pool as usize).map_or(0, Pool::free);
    let at = port.queue as usize;
    if port.mode.lane == Lane::Reference {
        let egress = &mut egresses[at].egress;
        while egress.queue().bytes().saturating_sub(before) > free && egress.push_out(now, arriving, out) {}
    } else {
        let queue = &mut queues[at];
        while queue.bytes().saturating_sub(before) > free && queue.push_out(now, arriving, out) {}
    }
    let Some(at) = out.iter().position(|gone| *gone == arriving) else { return false };
    out.remove(at);
    true
}
