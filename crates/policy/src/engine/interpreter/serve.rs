//! Scheduling: which packet leaves a port, and the queue that it enters next.

use super::{Interpreter, View, Waiting, amount};
use crate::engine::contract::{Effect, Fault, Part, Served, Verdict};
use crate::engine::packet::Stored;
use crate::normal::{Case, Port};
use std::rc::Rc;

impl Interpreter {
    /// CHOICE OpenQueue §2.3.1: if a port lets queues catch up, the state of a queue that was empty becomes at least
    /// the smallest state of those that were not. Other reading: it keeps its own state; then it would hold the port
    /// until it has caught up.
    pub(super) fn catch_up(&mut self, q: usize) {
        let port = &self.policy.ports()[self.policy.queues()[q].port];
        if !port.catches_up || self.length(q) > 0 {
            return;
        }
        let others = port.queues.iter().filter(|other| self.length(**other) > 0);
        let least = others.map(|other| self.queues[*other].states.sched).min();
        let own = &mut self.queues[q].states.sched;
        *own = least.map_or(*own, |least| least.max(*own));
    }

    /// getBestQueue(): the first queue in the order of schedPrio that is not empty and whose head can enter the next
    /// queue.
    pub(super) fn best_queue(&self, port: usize) -> Result<Option<usize>, Fault> {
        let port = &self.policy.ports()[port];
        let mut best = None;
        for &q in &port.queues {
            let Some(head) = self.head(q)? else { continue };
            if !self.may_go_on(port, &self.queues[q].waiting[head])? {
                continue;
            }
            best = match (best, &port.order) {
                (Some(first), Some(order)) if !self.queue_before(order, q, first)? => Some(first),
                (Some(first), None) => Some(first),
                _ => Some(q),
            };
        }
        Ok(best)
    }

    fn may_go_on(&self, port: &Port, p: &Waiting) -> Result<bool, Fault> {
        match &port.wire {
            Some(wire) if wire.waits => self
                .admits(wire.next(|field| p.packet.field(field)).ok_or(Fault::NoWay(p.handle))?, &p.packet),
            _ => Ok(true),
        }
    }

    /// True if the queue and its buffer would keep this packet and all others.
    fn admits(&self, q: usize, p: &Stored) -> Result<bool, Fault> {
        let queue = &self.policy.queues()[q];
        let view = View { packet: p, queue: q, port: queue.port, without: None };
        let more = |unit| amount(unit, 1, u64::from(p.size));
        let drops = |case: Option<&Case>| case.is_some_and(Case::drops);
        let mut full =
            drops(self.first(&queue.congestion, view)?) || self.size(q) + more(queue.unit) > queue.size;
        if let Some(b) = queue.buffer {
            let buffer = &self.policy.buffers()[b];
            full |= drops(self.first(&buffer.congestion, view)?);
            full |= self.buffer_size(b) + more(buffer.unit) > buffer.size;
        }
        Ok(!full)
    }

    /// Runs the cases after a packet was scheduled.
    pub(super) fn scheduled(
        &mut self,
        port: usize,
        q: usize,
        p: &Waiting,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let policy = Rc::clone(&self.policy);
        let view = View { packet: &p.packet, queue: q, port, without: None };
        let case = self.first(&policy.ports()[port].scheduled, view)?;
        self.run(case, p, Part::Port(port as u32), view, effects)
    }

    /// The packet enters the next queue, if its port is connected.
    pub(super) fn go_on(
        &mut self,
        port: usize,
        q: usize,
        p: Waiting,
        effects: &mut Vec<Effect>,
    ) -> Result<Served, Fault> {
        let (policy, handle) = (Rc::clone(&self.policy), p.handle);
        let Some(wire) = &policy.ports()[port].wire else {
            return Ok(Served { handle, queue: q as u32, next: None });
        };
        let to = wire.next(|field| p.packet.field(field)).ok_or(Fault::NoWay(handle))?;
        let packet =
            Stored { queue: to as u32, arrival: self.last.ps() as i64, policy_id: self.version, ..p.packet };
        let verdict = self.enqueue(to, Waiting { packet, handle }, effects)?;
        Ok(Served { handle, queue: q as u32, next: (verdict == Verdict::Kept).then_some(to as u32) })
    }
}
