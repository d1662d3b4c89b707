//! Packets that join the queue of an on-demand port.

use crate::cx::Cx;
use crate::fabric::sharing::Fit;
use crate::fabric::{Fabric, Fate, Lost, sharing, trimming};
use crate::port::flying::{Flying, Load};
use thalweg_machines::schedule::{Discipline, OutputQueue, Verdict};
use thalweg_units::PortId;
use thalweg_wire::{Ecn, Handle, Kind};

impl Fabric {
    /// A packet joins the queue of an on-demand port that has caught up. False if it was dropped.
    pub(super) fn join_queue(&mut self, cx: &mut Cx, id: PortId, flying: &Flying) -> bool {
        let Flying { handle, mut wire, route, load, .. } = *flying;
        let unobserved = !cx.features.observed;
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        if load == Load::Control && unobserved && port.may_bypass_control() && queue.reserve(wire) {
            port.bypass_control(cx.now, *flying);
            self.request_tx::<false>(cx, id);
            return true;
        }
        self.packets[handle].route = route;
        let mut fit = Fit::Now;
        if !self.memory.pools.is_empty() {
            fit = sharing::find_fit(self, cx, id, handle);
            wire = self.packets[handle].wire;
        }
        if fit == Fit::Never {
            self.ports[id.at()].cold.dropped += 1;
            self.lose(cx, id, handle, cx.now);
            return false;
        }
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let before = port.waiting.bytes;
        if port.waiting.packets == 0 && port.free_at < cx.now {
            queue.on_idle(port.free_at);
        }
        let mut verdict = queue.enqueue(cx.now, &self.packets[handle], handle, &mut self.pushed_out);
        let plain = self.pushed_out.is_empty()
            && !port.state.eager
            && !cx.features.points
            && cx.instruments.probes.priorities.is_empty();
        if verdict == Verdict::Queued && plain && fit == Fit::Now {
            // The common case: nothing else observes the queue, and nothing is preempted.
            let after = before + u64::from(wire);
            port.set_waiting(cx.now, port.waiting.packets + 1, after);
            port.note_queue(after);
            self.request_tx::<false>(cx, id);
            return true;
        }
        if fit == Fit::AfterPushOut
            && verdict != Verdict::Dropped
            && sharing::push_out_for(self, cx.now, id, handle, before)
        {
            self.ports[id.at()].cold.marked += u64::from(verdict == Verdict::Marked);
            verdict = Verdict::Dropped;
        }
        self.after_joining(cx, id, handle, before, verdict)
    }

    /// Follows up on a packet that was offered to a queue with `before` bytes, where accounts, probes or congestion
    /// points may need to know. False if it was dropped.
    fn after_joining(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        handle: Handle,
        before: u64,
        verdict: Verdict,
    ) -> bool {
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let packet = &mut self.packets[handle];
        if !cx.instruments.probes.priorities.is_empty()
            && verdict != Verdict::Dropped
            && packet.kind == Kind::Data
        {
            cx.instruments.probes.count_priority(id, packet.rank, cx.spec.probes.priority_histogram);
        }
        // The new length follows from the old one unless the queue pushed something out.
        let whole = matches!(verdict, Verdict::Queued | Verdict::Marked) && self.pushed_out.is_empty();
        if whole {
            port.set_waiting(cx.now, port.waiting.packets + 1, before + u64::from(packet.wire));
        } else {
            port.set_waiting(cx.now, queue.packets(), queue.bytes());
        }
        debug_assert_eq!((port.waiting.packets, port.waiting.bytes), (queue.packets(), queue.bytes()));
        let after = port.waiting.bytes;
        if let Some(pool) = self.memory.pool(&port.place) {
            if after >= before { pool.take(after - before) } else { pool.release(before - after) }
        }
        port.note_queue(after);
        if verdict == Verdict::Marked {
            packet.ecn = Ecn::Ce;
            port.cold.marked += 1;
        }
        if let Verdict::Trimmed(cut) = verdict {
            let Self { memory, ports, packets, lost, .. } = self;
            let packet = &mut packets[cut];
            let bytes = packet.trim();
            trimming::note(memory, &mut cx.instruments.tally, (id, &ports[id.at()]), packet, bytes);
            lost.now.push(Lost { packet: *packet, fate: Fate::Trimmed });
        }
        self.request_tx::<false>(cx, id);
        if self.ports[id.at()].mode.preemptive && verdict != Verdict::Dropped {
            self.preempt(cx, id);
        }
        let dropped = verdict == Verdict::Dropped;
        self.joins(cx, id, handle, before, dropped);
        !dropped
    }
}
