//! The machine: the semantics of M4 on the data structures that the comparators allow (M7). For each packet it inserts
//! into, and deletes from, at most two orders, and looks up one head and one victim; nothing is rebuilt.

mod actions;
pub mod any;
pub mod backlog;
pub mod buckets;
pub mod line;
pub mod nodes;
pub mod orders;
pub mod ring;
pub mod rules;
mod saved;
mod serve;
mod state;
pub mod tournament;
pub mod tree;
mod victims;

pub use saved::{Misfit, Saved};

use super::contract::{Cycle, Effect, Engine, Fault, Served, Verdict};
use super::packet::{Kept, Offered, Stored};
use super::tally::Tally;
use crate::normal::{Policy, Select};
use backlog::{Backlog, Slot};
use nodes::NONE;
use orders::New;
use rules::{BufferView, Hook, PortView, QueueView, Rules, View};
use state::{BufferState, PortState, QueueState, Search};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// A running policy. `R`: its decisions; `T`: a counter of operations.
#[derive(Clone, Debug)]
pub struct Machine<R: Rules, T = ()> {
    rules: R,
    queues: Vec<QueueState<R::Backlog>>,
    buffers: Vec<BufferState>,
    ports: Vec<PortState>,
    seq: u64,
    version: u32,
    last: Time,
    /// Some queue's key is stored, and must be updated when it changes.
    keeps_keys: bool,
    tally: T,
}

impl<R: Rules> Machine<R> {
    /// An empty machine, with random streams of this seed for each queue, buffer and port.
    pub fn new(policy: &Policy, rules: R, seed: u64) -> Self {
        Self::counting(policy, rules, seed, ())
    }
}

/// The packet that is being admitted, until it is dropped.
#[derive(Clone, Copy)]
struct Arriving {
    queue: usize,
    at: u32,
    handle: Handle,
}

impl<R: Rules, T: Tally> Machine<R, T> {
    /// The same with a counter of operations.
    pub fn counting(policy: &Policy, rules: R, seed: u64, tally: T) -> Self {
        let buffers = state::buffers(policy, seed);
        let ports = state::ports(policy, seed);
        let kept = |order: &Option<Search>| matches!(order, Some(Search::Kept(_)));
        Self {
            queues: state::queues(policy, |nth| rules.backlog(nth), seed),
            keeps_keys: buffers.iter().any(|one| kept(&one.order))
                || ports.iter().any(|one| kept(&one.order)),
            buffers,
            ports,
            rules,
            seq: 0,
            version: 0,
            last: Time::ZERO,
            tally,
        }
    }

    /// The counts of operations.
    pub fn tally(&self) -> &T {
        &self.tally
    }

    /// The steps of [`Interpreter`](super::Interpreter), with the same numbers.
    #[inline]
    fn enqueue(&mut self, p: &Stored, handle: Handle, effects: &mut Vec<Effect>) -> Result<Verdict, Fault> {
        let q = p.queue as usize;
        if R::USES.catches_up {
            self.catch_up(q);
        }
        // 1.
        let case = self.rules.case(Hook::Congestion(q), || self.view(p, q));
        // 2.
        let at = self.join(q, p, handle);
        let arriving = Arriving { queue: q, at, handle };
        // 3. and 4. Most packets fit.
        if (case.is_some() || self.curr_size(q) > self.queues[q].size)
            && !self.relieve_queue(case, *p, arriving, effects)?
        {
            return Ok(Verdict::Dropped);
        }
        // 5.
        if let Some((b, _)) = self.buffer(q) {
            let case = self.buffer_case(p, q, b);
            let is_full = self.buffers[b].view.curr_size > self.buffers[b].view.size;
            if (case.is_some() || is_full) && !self.relieve_buffer(b, case, *p, arriving, effects)? {
                return Ok(Verdict::Dropped);
            }
        }
        // 6.
        let mut present = Some(arriving);
        if let Some(case) = self.rules.case(Hook::Admitted(q), || self.view(p, q)) {
            self.run(Hook::Admitted(q), case, *p, &mut present, q, effects)?;
        }
        if let Some((b, _)) = self.buffer(q)
            && let Some(case) = self.rules.case(Hook::BufferAdmitted(b), || self.view(p, q))
        {
            self.run(Hook::BufferAdmitted(b), case, *p, &mut present, q, effects)?;
        }
        Ok(Verdict::Kept)
    }

    /// Runs the matching case of a queue's congestion hook, and drops victims until the queue is within its size. True
    /// if the packet is still there.
    #[inline(never)]
    fn relieve_queue(
        &mut self,
        case: Option<usize>,
        p: Stored,
        arriving: Arriving,
        effects: &mut Vec<Effect>,
    ) -> Result<bool, Fault> {
        let (q, mut arriving) = (arriving.queue, Some(arriving));
        if let Some(case) = case {
            self.run(Hook::Congestion(q), case, p, &mut arriving, q, effects)?;
        }
        while self.curr_size(q) > self.queues[q].size {
            if !self.drop_victim(q, &mut arriving, effects) {
                break;
            }
        }
        Ok(arriving.is_some())
    }

    /// The same for a buffer.
    #[inline(never)]
    fn relieve_buffer(
        &mut self,
        b: usize,
        case: Option<usize>,
        p: Stored,
        arriving: Arriving,
        effects: &mut Vec<Effect>,
    ) -> Result<bool, Fault> {
        let (q, mut arriving) = (arriving.queue, Some(arriving));
        if let Some(case) = case {
            self.run(Hook::BufferCongestion(b), case, p, &mut arriving, q, effects)?;
        }
        while self.buffers[b].view.curr_size > self.buffers[b].view.size {
            if !self.drop_buffer_victim(b, q, &mut arriving, effects) {
                break;
            }
        }
        Ok(arriving.is_some())
    }

    /// The length of a queue, in its own unit.
    #[inline]
    fn curr_size(&self, q: usize) -> i64 {
        let queue = &self.queues[q];
        if self.rules.counts_packets(q) { i64::from(queue.waiting.0) } else { queue.waiting.1 as i64 }
    }

    /// A queue's fields for rules.
    #[inline]
    fn queue_view(&self, q: usize) -> QueueView {
        let queue = &self.queues[q];
        QueueView {
            size: queue.size,
            curr_size: self.curr_size(q),
            length: i64::from(queue.waiting.0),
            adm_state: queue.states.adm,
            sched_state: queue.states.sched,
        }
    }

    /// A queue's buffer, and the number of the queue there.
    #[inline]
    fn buffer(&self, q: usize) -> Option<(usize, usize)> {
        if R::USES.buffers { self.queues[q].fixed.buffer } else { None }
    }

    #[inline]
    fn view<'a>(&'a self, packet: &'a Stored, q: usize) -> View<'a> {
        let queue = &self.queues[q];
        // Without a possible panic, fields that are not read are not fetched.
        let buffer = self.buffer(q).and_then(|(b, _)| self.buffers.get(b));
        let port = self.ports.get(queue.fixed.port.0);
        View {
            packet,
            queue: self.queue_view(q),
            buffer: buffer.map_or(BufferView::NONE, |buffer| &buffer.view),
            port: port.map_or(PortView::NONE, |port| &port.view),
        }
    }

    /// The matching case of a buffer's congestion hook, which sees the buffer before the packet joined.
    #[inline]
    fn buffer_case(&self, packet: &Stored, q: usize, b: usize) -> Option<usize> {
        let amount = |in_packets: bool| if in_packets { 1 } else { i64::from(packet.size) };
        let BufferState { view: mut buffer, in_packets, .. } = self.buffers[b];
        buffer.curr_size -= amount(in_packets);
        self.rules.case(Hook::BufferCongestion(b), || {
            let mut view = View { buffer: &buffer, ..self.view(packet, q) };
            view.queue.curr_size -= amount(self.rules.counts_packets(q));
            view.queue.length -= 1;
            view
        })
    }

    /// A packet joins both orders of its queue.
    #[inline]
    fn join(&mut self, q: usize, packet: &Stored, handle: Handle) -> u32 {
        let (rules, queue) = (&self.rules, &mut self.queues[q]);
        let key = |order| rules.key(order, q, packet);
        let before = |order, a: &R::Kept, b: &R::Kept| rules.before(order, q, &a.packet(), &b.packet());
        let slot = Slot { packet: R::Kept::of(packet), handle };
        let at = queue.backlog.join(slot, New { at: NONE, seq: self.seq, key }, before, &mut self.tally);
        self.seq += 1;
        queue.waiting.0 += 1;
        queue.waiting.1 += u64::from(packet.size);
        self.count(q, 1, i64::from(packet.size));
        at
    }

    /// A packet leaves both orders. (Inlined, so that fields that are not read are not fetched.)
    #[inline(always)]
    fn leave(&mut self, q: usize, at: u32) -> Slot<Stored> {
        let queue = &mut self.queues[q];
        let Slot { packet, handle } = queue.backlog.leave(at, &mut self.tally);
        let packet = packet.packet();
        queue.waiting.0 -= 1;
        queue.waiting.1 -= u64::from(packet.size);
        self.count(q, -1, -i64::from(packet.size));
        Slot { packet, handle }
    }

    /// A packet leaves both orders. Only its size is still needed, so no other field is fetched.
    #[inline(always)]
    fn release(&mut self, q: usize, at: u32) -> Handle {
        let queue = &mut self.queues[q];
        let slot = queue.backlog.at(at);
        let (handle, size) = (slot.handle, slot.packet.packet().size);
        queue.backlog.leave(at, &mut self.tally);
        queue.waiting.0 -= 1;
        queue.waiting.1 -= u64::from(size);
        self.count(q, -1, -i64::from(size));
        handle
    }

    /// Adds to the length of a queue.
    #[inline(always)]
    fn count(&mut self, q: usize, packets: i64, bytes: i64) {
        if let Some((b, _)) = self.buffer(q) {
            let buffer = &mut self.buffers[b];
            buffer.view.curr_size += if buffer.in_packets { packets } else { bytes };
        }
        if R::USES.many_queues && self.keeps_keys {
            self.renew(q);
        }
    }

    #[inline]
    fn advance(&mut self, now: Time) -> Result<(), Fault> {
        if now < self.last || now.ps() > i64::MAX as u64 {
            return Err(Fault::Clock);
        }
        self.last = now;
        Ok(())
    }
}

impl<R: Rules, T: Tally> Engine for Machine<R, T> {
    #[inline]
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
        let mut packet = Stored::new(offered, offered.queue, now.ps() as i64, self.version);
        if R::USES.select {
            let port = &mut self.ports[number];
            match &port.select {
                None => {}
                Some(Select::Random) => {
                    packet.queue = port.queues[port.draws.below(port.queues.len() as u64) as usize] as u32;
                }
                Some(Select::By(_)) => packet.queue = port.queues[self.rules.select(number, &packet)] as u32,
            }
        }
        self.enqueue(&packet, handle, effects)
    }

    #[inline]
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
        self.queues[queue].waiting.0 - self.queues[queue].held.0
    }
    fn bytes(&self, queue: usize) -> u64 {
        self.queues[queue].waiting.1 - self.queues[queue].held.1
    }
    fn set_version(&mut self, version: u32) {
        self.version = version;
    }
    fn hold(&mut self, queue: usize, packets: u32, bytes: u64) {
        let one = &mut self.queues[queue];
        let held = std::mem::replace(&mut one.held, (packets, bytes));
        one.waiting = (one.waiting.0 - held.0 + packets, one.waiting.1 - held.1 + bytes);
        let more = |new: u64, old: u64| new as i64 - old as i64;
        self.count(queue, more(u64::from(packets), u64::from(held.0)), more(bytes, held.1));
    }
}
