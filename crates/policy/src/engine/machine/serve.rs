//! What leaves a port: which queue is served, what follows, where the packet goes on.

use super::orders::{Order, Orders, Rekeyed};
use super::rules::{Hook, Owner, Rules};
use super::state::Search;
use super::{Arriving, Machine};
use crate::engine::contract::{Cycle, Effect, Fault, Served, Verdict};
use crate::engine::packet::Stored;
use crate::engine::tally::Tally;
use thalweg_wire::Handle;

impl<R: Rules, T: Tally> Machine<R, T> {
    pub(super) fn serve(&mut self, port: usize, effects: &mut Vec<Effect>) -> Result<Option<Served>, Fault> {
        let Some((q, at)) = self.best_queue(port)? else { return Ok(None) };
        let slot = self.leave(q, at);
        self.scheduled(port, q, &slot.packet, slot.handle, effects)?;
        self.go_on(port, q, slot.packet, slot.handle, effects).map(Some)
    }

    pub(super) fn work(&mut self, port: usize, effects: &mut Vec<Effect>) -> Result<Cycle, Fault> {
        let Some((q, at)) = self.best_queue(port)? else { return Ok(Cycle::Idle) };
        let slot = *self.slab.at(at);
        let rest = slot.packet.processing.saturating_sub(1);
        let packet = Stored { processing: rest, ..slot.packet };
        if rest == 0 {
            self.leave(q, at);
            self.scheduled(port, q, &packet, slot.handle, effects)?;
            return self.go_on(port, q, packet, slot.handle, effects).map(Cycle::Left);
        }
        self.rekey(q, at, packet);
        self.scheduled(port, q, &packet, slot.handle, effects)?;
        Ok(Cycle::Worked(slot.handle))
    }

    /// Its processing has gone on: it has another place now in orders that look at that.
    fn rekey(&mut self, q: usize, at: u32, packet: Stored) {
        *self.slab.packet_mut(at) = packet;
        let follows = self.queues[q].fixed.follows;
        let (rules, orders) = (&self.rules, &mut self.queues[q].orders);
        let key = |order, follows: bool| follows.then(|| rules.key(order, q, &packet));
        let keys = Rekeyed {
            admission: key(Order::Admission, follows.admission),
            processing: key(Order::Processing, follows.processing),
        };
        if keys != Rekeyed::default() {
            self.tally.note_rekey();
            let (links, slots) = self.slab.links_mut();
            let before = |order, a: u32, b: u32| {
                rules.before(order, q, &slots[a as usize].packet, &slots[b as usize].packet)
            };
            orders.rekey(links, at, keys, before, &mut self.tally);
        }
        if self.keeps_keys {
            self.renew(q);
        }
    }

    /// The queue that is served, and its head.
    fn best_queue(&mut self, port: usize) -> Result<Option<(usize, u32)>, Fault> {
        self.tally.note_lookup();
        let state = self.ports.get(port).ok_or(Fault::NoSuchPort(port))?;
        let head = |q: usize| self.queues[q].orders.head(self.slab.links());
        if let Some(Search::Kept(keys)) = &state.order {
            let q = keys.winner().map(|(nth, _)| state.queues[nth]);
            return Ok(q.and_then(|q| head(q).map(|at| (q, at))));
        }
        let mut best: Option<(usize, u32)> = None;
        for &q in &state.queues {
            let Some(at) = head(q) else { continue };
            if !self.may_go_on(port, at)? {
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

    fn may_go_on(&self, port: usize, at: u32) -> Result<bool, Fault> {
        let Some(wire) = self.ports[port].wire.as_ref().filter(|wire| wire.waits) else { return Ok(true) };
        let slot = self.slab.at(at);
        let next = wire.next(|field| slot.packet.field(field)).ok_or(Fault::NoWay(slot.handle))?;
        Ok(self.admits(next, &slot.packet))
    }

    /// The queue and its buffer would keep this packet, and everything else.
    fn admits(&self, q: usize, p: &Stored) -> bool {
        let (queue, view) = (&self.queues[q], self.view(p, q));
        let more = |in_packets| if in_packets { 1 } else { i64::from(p.size) };
        let drops = |hook: Hook| {
            let case = self.rules.case(hook, &view);
            case.is_some_and(|case| self.actions(hook)[case].iter().any(crate::normal::Action::drops))
        };
        let mut full = view.queue.curr_size + more(queue.fixed.in_packets) > view.queue.size;
        full |= drops(Hook::Congestion(q));
        if let Some((b, _)) = queue.fixed.buffer {
            full |= view.buffer.curr_size + more(self.buffers[b].in_packets) > view.buffer.size;
            full |= drops(Hook::BufferCongestion(b));
        }
        !full
    }

    fn scheduled(
        &mut self,
        port: usize,
        q: usize,
        p: &Stored,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        if let Some(case) = self.rules.case(Hook::Scheduled(port), &self.view(p, q)) {
            // It is there for as long as the actions last.
            let mut leaving = Some(Arriving { at: super::nodes::NONE, handle });
            self.run(Hook::Scheduled(port), case, p, &mut leaving, q, effects)?;
        }
        Ok(())
    }

    fn go_on(
        &mut self,
        port: usize,
        q: usize,
        p: Stored,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Served, Fault> {
        let Some(wire) = &self.ports[port].wire else { return Ok(Served { handle, queue: q, next: None }) };
        let to = wire.next(|field| p.field(field)).ok_or(Fault::NoWay(handle))?;
        let packet =
            Stored { queue: to as u32, arrival: self.last.ps() as i64, policy_id: self.version, ..p };
        let verdict = self.enqueue(&packet, handle, effects)?;
        Ok(Served { handle, queue: q, next: (verdict == Verdict::Kept).then_some(to) })
    }

    /// See [`Port::catches_up`](crate::normal::Port::catches_up).
    pub(super) fn catch_up(&mut self, q: usize) {
        let port = &self.ports[self.queues[q].fixed.port.0];
        if !port.catches_up || self.queues[q].view.is_filled() {
            return;
        }
        let others =
            port.queues.iter().map(|other| &self.queues[*other].view).filter(|view| view.is_filled());
        if let Some(least) = others.map(|view| view.sched_state).min() {
            let own = &mut self.queues[q].view.sched_state;
            *own = least.max(*own);
        }
    }
}
