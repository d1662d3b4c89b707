//! Memory shared by the ports of a switch: whether a packet fits, and which queues give up packets for it.

use crate::cx::Cx;
use crate::fabric::{Fabric, Fate, Lost, reference, trimming};
use crate::port::Lane;
use thalweg_machines::schedule::Discipline;
use thalweg_machines::sharing::{Admission, Arriving};
use thalweg_units::{PortId, Time};
use thalweg_wire::Handle;

/// Whether a packet that has come to a port fits into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It fits now, or the port shares no memory.
    Now,
    /// It fits once its own queue has given up packets, perhaps this one ([`push_out_for`]).
    AfterPushOut,
    /// It does not fit.
    Never,
}

/// Whether the packet `handle` fits into memory at the port `id`. On the way, queues of other ports may have given
/// up packets, or the packet's payload may have been cut off.
#[inline(never)]
pub(super) fn find_fit(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle) -> Fit {
    loop {
        let Fabric { ports, queues, egresses, memory, packets, pushed_out, lost, .. } = fabric;
        let port = &ports[id.at()];
        let Some(switch) = port.place.pool() else { return Fit::Now };
        let Some(pool) = memory.pools.get_mut(switch) else { return Fit::Now };
        let (own, packet) = (&memory.links[switch], &mut packets[handle]);
        let (wire, bare) = (packet.wire, packet.bare());
        let header = (bare < wire).then_some(bare);
        let arriving = Arriving { port: id, waiting: port.waiting.bytes, wire, header };
        let nth = |nth: usize| (own[nth], ports[own[nth].at()].waiting.bytes);
        let victim = match pool.admit(&arriving, own.len(), nth) {
            Admission::Keep => return Fit::Now,
            Admission::Trim => {
                let cut = packet.trim();
                trimming::note(memory, &mut cx.instruments.tally, (id, port), packet, cut);
                lost.now.push(Lost { packet: *packet, fate: Fate::Trimmed });
                return Fit::Now;
            }
            Admission::Drop => return Fit::Never,
            Admission::PushOut(victim) if victim == id => return Fit::AfterPushOut,
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
            port.set_waiting(cx.now, queue.packets(), queue.bytes());
            pool.release(before - port.waiting.bytes);
        }
        debug_assert!(
            !fabric.pushed_out.is_empty(),
            "orders that cannot push out are refused when the network is built"
        );
        if fabric.pushed_out.is_empty() {
            return Fit::Never;
        }
        fabric.give_up_pushed_out(cx, victim, cx.now);
    }
}

/// The packet `arriving` has joined the queue of the port `id`, which held `before` bytes; the queue gives up
/// packets for it ([`Fit::AfterPushOut`]). True if `arriving` is one of those given up.
#[cold]
pub(super) fn push_out_for(
    fabric: &mut Fabric,
    now: Time,
    id: PortId,
    arriving: Handle,
    before: u64,
) -> bool {
    let Fabric { ports, queues, egresses, memory, pushed_out: out, .. } = fabric;
    let port = &ports[id.at()];
    let free = memory.pool(&port.place).map_or(0, |pool| pool.free());
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
