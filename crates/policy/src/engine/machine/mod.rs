//! The machine: the semantics of M4 on structures that the comparators allow (M7). Per packet it inserts into, and
//! deletes from, at most two orders, and looks up one head and one victim; nothing is rebuilt.

mod actions;
pub mod any;
pub mod buckets;
mod inside;
pub mod line;
mod nodes;
pub mod orders;
pub mod rules;
mod saved;
mod serve;
mod state;
mod tournament;
pub mod tree;
mod victims;

pub use saved::{Misfit, Saved};

use super::contract::{Cycle, Effect, Engine, Fault, Served, Verdict};
use super::packet::{Offered, Stored};
use super::tally::Tally;
use crate::normal::{Policy, Select};
use nodes::{Slab, Slot};
use orders::{Order, Orders};
use rules::{BufferView, Hook, QueueView, Rules, View};
use state::{BufferState, PortState, QueueState, Search};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// A policy at work. `R`: its decisions; `T`: what counts operations.
#[derive(Clone, Debug)]
pub struct Machine<R: Rules, T = ()> {
    rules: R,
    queues: Vec<QueueState<R::Orders>>,
    buffers: Vec<BufferState>,
    ports: Vec<PortState>,
    slab: Slab,
    seq: u64,
    version: u32,
    last: Time,
    /// Some queue's key is kept, and must be renewed when it changes.
    keeps_keys: bool,
    tally: T,
}

impl<R: Rules> Machine<R> {
    /// An empty one. Draws are of streams of this seed, one for each queue, buffer and port.
    pub fn new(policy: &Policy, rules: R, seed: u64) -> Self {
        Self::counting(policy, rules, seed, ())
    }
}

/// The packet that is being admitted, until something gives it up.
#[derive(Clone, Copy)]
struct Arriving {
    at: u32,
    handle: Handle,
}

impl<R: Rules, T: Tally> Machine<R, T> {
    /// The same, whose operations are counted.
    pub fn counting(policy: &Policy, rules: R, seed: u64, tally: T) -> Self {
        let buffers = state::buffers(policy, seed);
        let ports = state::ports(policy, seed);
        let kept = |order: &Option<Search>| matches!(order, Some(Search::Kept(_)));
        Self {
            queues: state::queues(policy, |nth| rules.orders(nth), seed),
            keeps_keys: buffers.iter().any(|one| kept(&one.order))
                || ports.iter().any(|one| kept(&one.order)),
            buffers,
            ports,
            rules,
            slab: Slab::default(),
            seq: 0,
            version: 0,
            last: Time::ZERO,
            tally,
        }
    }

    /// What operations were counted.
    pub fn tally(&self) -> &T {
        &self.tally
    }

    /// The steps of [`Interpreter`](super::Interpreter), by their numbers.
    fn enqueue(&mut self, p: &Stored, handle: Handle, effects: &mut Vec<Effect>) -> Result<Verdict, Fault> {
        let q = p.queue as usize;
        self.catch_up(q);
        // 1.
        let case = self.rules.case(Hook::Congestion(q), &self.view(p, q));
        // 2.
        let at = self.join(q, *p, handle);
        let mut arriving = Some(Arriving { at, handle });
        // 3.
        if let Some(case) = case {
            self.run(Hook::Congestion(q), case, p, &mut arriving, q, effects)?;
        }
        // 4.
        while self.queues[q].view.curr_size > self.queues[q].view.size {
            if !self.drop_victim(q, &mut arriving, effects) {
                break;
            }
        }
        // 5.
        if let (Some((b, _)), Some(_)) = (self.queues[q].fixed.buffer, arriving) {
            self.admit_to_buffer(b, p, &mut arriving, effects)?;
        }
        // 6.
        if arriving.is_none() {
            return Ok(Verdict::Dropped);
        }
        if let Some(case) = self.rules.case(Hook::Admitted(q), &self.view(p, q)) {
            self.run(Hook::Admitted(q), case, p, &mut arriving, q, effects)?;
        }
        if let Some((b, _)) = self.queues[q].fixed.buffer
            && let Some(case) = self.rules.case(Hook::BufferAdmitted(b), &self.view(p, q))
        {
            self.run(Hook::BufferAdmitted(b), case, p, &mut arriving, q, effects)?;
        }
        Ok(Verdict::Kept)
    }

    fn admit_to_buffer(
        &mut self,
        b: usize,
        p: &Stored,
        arriving: &mut Option<Arriving>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let q = p.queue as usize;
        let case = self.rules.case(Hook::BufferCongestion(b), &self.view_without(p, q, b));
        if let Some(case) = case {
            self.run(Hook::BufferCongestion(b), case, p, arriving, q, effects)?;
        }
        while self.buffers[b].view.curr_size > self.buffers[b].view.size {
            if !self.drop_buffer_victim(b, q, arriving, effects) {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn view<'a>(&self, packet: &'a Stored, q: usize) -> View<'a> {
        let queue = &self.queues[q];
        let buffer = queue.fixed.buffer.map_or(BufferView::default(), |(b, _)| self.buffers[b].view);
        View { packet, queue: queue.view, buffer, port: self.ports[queue.fixed.port.0].view }
    }

    /// As if the packet had not joined.
    fn view_without<'a>(&self, packet: &'a Stored, q: usize, b: usize) -> View<'a> {
        let amount = |in_packets| if in_packets { 1 } else { i64::from(packet.size) };
        let mut view = self.view(packet, q);
        view.queue.curr_size -= amount(self.queues[q].fixed.in_packets);
        view.queue.length -= 1;
        view.buffer.curr_size -= amount(self.buffers[b].in_packets);
        view
    }

    /// A packet joins both orders of its queue.
    #[inline]
    fn join(&mut self, q: usize, packet: Stored, handle: Handle) -> u32 {
        let seq = self.seq;
        self.seq += 1;
        let at = self.slab.put(Slot { packet, handle });
        self.insert(q, at, &packet, seq);
        let queue = &mut self.queues[q];
        queue.own.0 += 1;
        queue.own.1 += u64::from(packet.size);
        self.count(q, 1, i64::from(packet.size));
        at
    }

    #[inline]
    fn insert(&mut self, q: usize, at: u32, packet: &Stored, seq: u64) {
        let (rules, orders) = (&self.rules, &mut self.queues[q].orders);
        let (links, slots) = self.slab.links_mut();
        let node = &mut links.processing[at as usize];
        (node.key, node.seq) = (rules.key(Order::Processing, q, packet), seq);
        if !orders.shares() {
            let node = &mut links.admission[at as usize];
            (node.key, node.seq) = (rules.key(Order::Admission, q, packet), seq);
        }
        let before = |order, a: u32, b: u32| {
            rules.before(order, q, &slots[a as usize].packet, &slots[b as usize].packet)
        };
        orders.insert(links, at, before, &mut self.tally);
    }

    /// A packet leaves both.
    #[inline]
    fn leave(&mut self, q: usize, at: u32) -> Slot {
        let (links, _) = self.slab.links_mut();
        self.queues[q].orders.remove(links, at, &mut self.tally);
        let slot = self.slab.take(at);
        let queue = &mut self.queues[q];
        queue.own.0 -= 1;
        queue.own.1 -= u64::from(slot.packet.size);
        self.count(q, -1, -i64::from(slot.packet.size));
        slot
    }

    /// So much more waits in a queue.
    #[inline]
    fn count(&mut self, q: usize, packets: i64, bytes: i64) {
        let queue = &mut self.queues[q];
        queue.view.length += packets;
        queue.view.curr_size += if queue.fixed.in_packets { packets } else { bytes };
        if let Some((b, _)) = queue.fixed.buffer {
            let buffer = &mut self.buffers[b];
            buffer.view.curr_size += if buffer.in_packets { packets } else { bytes };
        }
        if self.keeps_keys {
            self.renew(q);
        }
    }

    fn advance(&mut self, now: Time) -> Result<(), Fault> {
        if now < self.last || now.ps() > i64::MAX as u64 {
            return Err(Fault::Clock);
        }
        self.last = now;
        Ok(())
    }
}

impl<R: Rules, T: Tally> Engine for Machine<R, T> {
    fn arrive(
        &mut self,
        now: Time,
        offered: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        self.advance(now)?;
        let named = self.queues.get(offered.queue as usize).ok_or(Fault::NoSuchQueue(offered.queue))?;
        let number = named.fixed.port.0;
        let port = &mut self.ports[number];
        let mut packet = Stored::new(offered, offered.queue, now.ps() as i64, self.version);
        match &port.select {
            None => {}
            Some(Select::Random) => {
                packet.queue = port.queues[port.draws.below(port.queues.len() as u64) as usize] as u32;
            }
            Some(Select::By(_)) => packet.queue = port.queues[self.rules.select(number, &packet)] as u32,
        }
        self.enqueue(&packet, handle, effects)
    }

    fn dequeue(
        &mut self,
        port: usize,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<Served>, Fault> {
        self.advance(now)?;
        self.serve(port, effects)
    }

    fn cycle(&mut self, port: usize, now: Time, effects: &mut Vec<Effect>) -> Result<Cycle, Fault> {
        self.advance(now)?;
        self.work(port, effects)
    }

    fn packets(&self, queue: usize) -> u32 {
        self.queues[queue].own.0
    }
    fn bytes(&self, queue: usize) -> u64 {
        self.queues[queue].own.1
    }
    fn set_version(&mut self, version: u32) {
        self.version = version;
    }
    fn hold(&mut self, queue: usize, packets: u32, bytes: u64) {
        let held = std::mem::replace(&mut self.queues[queue].held, (packets, bytes));
        let more = |new: u64, old: u64| new as i64 - old as i64;
        self.count(queue, more(u64::from(packets), u64::from(held.0)), more(bytes, held.1));
    }
}

impl QueueView {
    /// It holds packets, an earlier policy's included.
    fn is_filled(&self) -> bool {
        self.length > 0
    }
}
