//! Scheduling: which queue is served, the actions after that, and the queue that the packet enters next.

use super::backlog::{Backlog, Slot};
use super::orders::{Order, Rekeyed};
use super::rules::{Hook, Owner, Rules};
use super::state::Search;
use super::{Arriving, Machine};
use crate::engine::contract::{Cycle, Effect, Fault, Served, Verdict};
use crate::engine::packet::{Kept, Stored};
use crate::engine::tally::Tally;
use crate::normal::Wire;
use thalweg_wire::Handle;

impl<R: Rules, T: Tally> Machine<R, T> {
    #[inline]
    pub(super) fn serve(&mut self, port: usize, effects: &mut Vec<Effect>) -> Result<Option<Served>, Fault> {
        let Some((q, at)) = self.best_queue(port)? else { return Ok(None) };
        let goes_on = R::USES.wires && self.ports[port].wire.is_some();
        if !goes_on && self.ports[port].scheduled.is_empty() {
            return Ok(Some(Served { handle: self.release(q, at), queue: q as u32, next: None }));
        }
        self.serve_watched(port, q, at, effects).map(Some)
    }

    /// The same if the policy has cases for departures, or the port is connected.
    #[inline(never)]
    fn serve_watched(
        &mut self,
        port: usize,
        q: usize,
        at: u32,
        effects: &mut Vec<Effect>,
    ) -> Result<Served, Fault> {
        let slot = self.leave(q, at);
        self.scheduled(port, q, &slot.packet, slot.handle, effects)?;
        self.go_on(port, q, slot.packet, slot.handle, effects)
    }

    pub(super) fn work(&mut self, port: usize, effects: &mut Vec<Effect>) -> Result<Cycle, Fault> {
        let Some((q, at)) = self.best_queue(port)? else { return Ok(Cycle::Idle) };
        let Slot { packet, handle } = *self.queues[q].backlog.at(at);
        let slot = Slot { packet: packet.packet(), handle };
        let rest = slot.packet.processing.saturating_sub(1);
        let packet = Stored { processing: rest, ..slot.packet };
        if rest == 0 {
            self.leave(q, at);
            self.scheduled(port, q, &packet, slot.handle, effects)?;
            return self.go_on(port, q, packet, slot.handle, effects).map(Cycle::Left);
        }
        self.rekey(q, at, &packet);
        self.scheduled(port, q, &packet, slot.handle, effects)?;
        Ok(Cycle::Worked(slot.handle))
    }

    /// The remaining processing of a packet has changed, and with it its place in orders that depend on that.
    fn rekey(&mut self, q: usize, at: u32, packet: &Stored) {
        let (rules, queue) = (&self.rules, &mut self.queues[q]);
        let follows = queue.fixed.follows;
        let key = |order, follows: bool| follows.then(|| rules.key(order, q, packet));
        let keys = Rekeyed {
            admission: key(Order::Admission, follows.admission),
            processing: key(Order::Processing, follows.processing),
        };
        if follows.admission || follows.processing {
            self.tally.note_rekey();
        }
        let before = |order, a: &R::Kept, b: &R::Kept| rules.before(order, q, &a.packet(), &b.packet());
        queue.backlog.change(at, R::Kept::of(packet), keys, before, &mut self.tally);
        if R::USES.many_queues && self.keeps_keys {
            self.renew(q);
        }
    }

    /// The queue that is served, and its head.
    #[inline]
    fn best_queue(&mut self, port: usize) -> Result<Option<(usize, u32)>, Fault> {
        self.tally.note_lookup();
        let state = self.ports.get(port).ok_or(Fault::NoSuchPort(port as u32))?;
        let head = |q: usize| self.queues[q].backlog.head();
        // Most ports have one queue, which needs no comparison.
        if let [q] = state.queues[..] {
            return match head(q) {
                Some(at) if self.may_go_on(port, q, at)? => Ok(Some((q, at))),
                _ => Ok(None),
            };
        }
        if let Some(Search::Kept(keys)) = &state.order {
            let q = keys.winner().map(|(nth, _)| state.queues[nth]);
            return Ok(q.and_then(|q| head(q).map(|at| (q, at))));
        }
        let mut best: Option<(usize, u32)> = None;
        for &q in &state.queues {
            let Some(at) = head(q) else { continue };
            if !self.may_go_on(port, q, at)? {
                continue;
            }
            let first = match best {
                None => true,
                Some(_) if state.order.is_none() => false,
                Some((other, _)) => match (self.candidate(q), self.candidate(other)) {
                    (Some(one), Some(other)) => self.queue_before(Owner::Port(port), &one, &other),
                    _ => false,
                },
            };
            if first {
                best = Some((q, at));
            }
        }
        Ok(best)
    }

    #[inline(always)]
    fn may_go_on(&self, port: usize, q: usize, at: u32) -> Result<bool, Fault> {
        match &self.ports[port].wire {
            Some(wire) if R::USES.wires && wire.waits => self.has_room_beyond(wire, q, at),
            _ => Ok(true),
        }
    }

    /// True if the queue that this queue's head would enter next would keep it.
    #[inline(never)]
    fn has_room_beyond(&self, wire: &Wire, q: usize, at: u32) -> Result<bool, Fault> {
        let slot = self.queues[q].backlog.at(at);
        let packet = slot.packet.packet();
        let next = wire.next(|field| packet.field(field)).ok_or(Fault::NoWay(slot.handle))?;
        Ok(self.admits(next, &packet))
    }

    /// True if the queue and its buffer would keep this packet and all others.
    fn admits(&self, q: usize, p: &Stored) -> bool {
        let view = self.view(p, q);
        let more = |in_packets: bool| if in_packets { 1 } else { i64::from(p.size) };
        let drops = |hook: Hook| {
            let case = self.rules.case(hook, || view);
            case.is_some_and(|case| self.actions(hook)[case].iter().any(crate::normal::Action::drops))
        };
        let mut full = view.queue.curr_size + more(self.rules.counts_packets(q)) > view.queue.size;
        full |= drops(Hook::Congestion(q));
        if let Some((b, _)) = self.buffer(q) {
            full |= view.buffer.curr_size + more(self.buffers[b].in_packets) > view.buffer.size;
            full |= drops(Hook::BufferCongestion(b));
        }
        !full
    }

    #[inline]
    fn scheduled(
        &mut self,
        port: usize,
        q: usize,
        p: &Stored,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        if let Some(case) = self.rules.case(Hook::Scheduled(port), || self.view(p, q)) {
            // The packet is there until the actions have run.
            let mut leaving = Some(Arriving { queue: q, at: super::nodes::NONE, handle });
            self.run(Hook::Scheduled(port), case, *p, &mut leaving, q, effects)?;
        }
        Ok(())
    }

    #[inline]
    fn go_on(
        &mut self,
        port: usize,
        q: usize,
        p: Stored,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Served, Fault> {
        let last = Served { handle, queue: q as u32, next: None };
        if !R::USES.wires {
            return Ok(last);
        }
        let Some(wire) = &self.ports[port].wire else { return Ok(last) };
        let to = wire.next(|field| p.field(field)).ok_or(Fault::NoWay(handle))?;
        let packet =
            Stored { queue: to as u32, arrival: self.last.ps() as i64, policy_id: self.version, ..p };
        let verdict = self.enqueue(&packet, handle, effects)?;
        Ok(Served { next: (verdict == Verdict::Kept).then_some(to as u32), ..last })
    }

    /// See [`Port::catches_up`](crate::normal::Port::catches_up).
    pub(super) fn catch_up(&mut self, q: usize) {
        let port = &self.ports[self.queues[q].fixed.port.0];
        if !port.catches_up || self.queues[q].waiting.0 > 0 {
            return;
        }
        let others = port.queues.iter().map(|other| &self.queues[*other]).filter(|other| other.waiting.0 > 0);
        if let Some(least) = others.map(|other| other.states.sched).min() {
            let own = &mut self.queues[q].states.sched;
            *own = least.max(*own);
        }
    }
}
