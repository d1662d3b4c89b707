//! The semantics, step by step (M4 of the specification), on plain lists: slow, and the oracle for all other engines.
//!
//! CHOICE OpenQueue §2.3.2: cmp(a, b) means that a ranks before b; the victim is the last packet, and ties are broken
//! by arrival. With `fifo` this is tail drop. Other reading: Figure 2.10's, where the admission order of tail drop is
//! called rfifo.
//!
//! CHOICE OpenQueue §2.3.2: a buffer's condition does not count the arriving packet, and is evaluated after the
//! packet's queue has admitted it. Other reading: it counts what waited before the queue dropped other packets for it.
//!
//! CHOICE OpenQueue §2.3.2: among queues that tie, the arriving packet's own queue drops, then the one declared first.
//! Other reading: the last one; the literature on LQD leaves it open.
//!
//! CHOICE OpenQueue §2.2.4: with cycles, postSchedAct runs after each cycle, because Figure 2.9's crr counts so. Other
//! reading: once per packet.
//!
//! CHOICE OpenQueue §2.4: a connected port serves the first of its queues whose head the next queue admits, and the
//! packet enters that queue immediately. Other reading: the first of all queues; then one full queue would block the
//! others.

mod look;
mod serve;

use super::contract::{Cycle, Effect, Engine, Fault, Part, Served, Verdict};
use super::packet::{Offered, Stored};
use crate::normal::expression::{Look, Place, Test};
use crate::normal::{Action, Case, Policy, Select, State, States, ratio::Ratio};
use crate::syntax::tree::SizeUnit;
use std::rc::Rc;
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    handle: Handle,
    packet: Stored,
}

/// A queue, in the order of arrival.
#[derive(Clone, Debug)]
struct Queue {
    waiting: Vec<Waiting>,
    states: States,
    held: (u32, u64),
    draws: Stream,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Interpreter {
    policy: Rc<Policy>,
    queues: Vec<Queue>,
    adm_states: Vec<i64>,
    buffer_draws: Vec<Stream>,
    sched_states: Vec<i64>,
    select_draws: Vec<Stream>,
    version: u32,
    last: Time,
}

/// The entities that a hook can read.
#[derive(Clone, Copy)]
struct View<'a> {
    packet: &'a Stored,
    queue: usize,
    port: usize,
    /// This packet is not counted.
    without: Option<&'a Stored>,
}

fn amount(unit: SizeUnit, packets: u64, bytes: u64) -> i64 {
    (if unit == SizeUnit::Packets { packets } else { bytes }) as i64
}

impl Interpreter {
    /// An empty interpreter, with random streams of this seed for each queue, buffer and port.
    pub fn new(policy: &Policy, seed: u64) -> Self {
        let queue = |(nth, queue): (usize, &crate::normal::Queue)| Queue {
            waiting: Vec::new(),
            states: queue.states,
            held: (0, 0),
            draws: Stream::new(seed, "policy queue", nth as u64),
        };
        let streams = |purpose: &str, count: usize| {
            (0..count).map(|nth| Stream::new(seed, purpose, nth as u64)).collect::<Vec<_>>()
        };
        Self {
            queues: policy.queues().iter().enumerate().map(queue).collect(),
            adm_states: policy.buffers().iter().map(|buffer| buffer.adm_state).collect(),
            buffer_draws: streams("policy buffer", policy.buffers().len()),
            sched_states: policy.ports().iter().map(|port| port.sched_state).collect(),
            select_draws: streams("policy select", policy.ports().len()),
            version: 0,
            last: Time::ZERO,
            policy: Rc::new(policy.clone()),
        }
    }

    // enqueue(p), once p's queue is known.
    fn enqueue(&mut self, q: usize, p: Waiting, effects: &mut Vec<Effect>) -> Result<Verdict, Fault> {
        let policy = Rc::clone(&self.policy);
        let (queue, part) = (&policy.queues()[q], Part::Queue(q as u32));
        self.catch_up(q);
        // 1. The first matching case of the queue's congestion hook, before p joins.
        let view = View { packet: &p.packet, queue: q, port: queue.port, without: None };
        let case = self.first(&queue.congestion, view)?;
        // 2. p joins.
        self.queues[q].waiting.push(p);
        // 3. Actions.
        self.run(case, &p, part, view, effects)?;
        // 4. The size limit.
        while self.size(q) > queue.size && self.drop_victim(q, effects)? {}
        // 5. The same for the buffer.
        if let Some(b) = queue.buffer
            && self.is_present(q, &p)
        {
            let buffer = &policy.buffers()[b];
            let case = self.first(&buffer.congestion, View { without: Some(&p.packet), ..view })?;
            self.run(case, &p, Part::Buffer(b as u32), view, effects)?;
            while self.buffer_size(b) > buffer.size && self.drop_buffer_victim(b, q, effects)? {}
        }
        // 6. The cases after admission, if p is still there.
        if !self.is_present(q, &p) {
            return Ok(Verdict::Dropped);
        }
        let case = self.first(&queue.admitted, view)?;
        self.run(case, &p, part, view, effects)?;
        if let Some(b) = queue.buffer {
            let case = self.first(&policy.buffers()[b].admitted, view)?;
            self.run(case, &p, Part::Buffer(b as u32), view, effects)?;
        }
        Ok(Verdict::Kept)
    }

    fn first<'c>(&self, cases: &'c [Case], view: View<'_>) -> Result<Option<&'c Case>, Fault> {
        for case in cases {
            if holds(&case.test, &|place| self.read(place, view))? {
                return Ok(Some(case));
            }
        }
        Ok(None)
    }

    fn run(
        &mut self,
        case: Option<&Case>,
        p: &Waiting,
        part: Part,
        view: View<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let leaving = matches!(part, Part::Port(_));
        for action in case.iter().flat_map(|case| &case.actions) {
            match action {
                Action::Drop(share) => {
                    if self.draw(part, *share) {
                        match part {
                            Part::Buffer(b) => self.drop_buffer_victim(b as usize, view.queue, effects)?,
                            _ => self.drop_victim(view.queue, effects)?,
                        };
                    }
                }
                _ if !leaving && !self.is_present(view.queue, p) => {}
                Action::Mark => effects.push(Effect::Marked(p.handle)),
                Action::Notify => effects.push(Effect::Notified(p.handle, part)),
                Action::Modify(state, value) => {
                    let value = value.value(&|place| self.read(place, view)).ok_or(Fault::Arithmetic)?;
                    let value = i64::try_from(value.floor()).map_err(|_| Fault::State(part))?;
                    *self.state(*state, view) = value;
                }
            }
        }
        Ok(())
    }

    /// Draws for a probability, unless it is 0 or 1.
    fn draw(&mut self, part: Part, share: Ratio) -> bool {
        if share == Ratio::ONE || share == Ratio::ZERO {
            return share == Ratio::ONE;
        }
        let stream = match part {
            Part::Buffer(b) => &mut self.buffer_draws[b as usize],
            Part::Queue(q) => &mut self.queues[q as usize].draws,
            Part::Port(port) => &mut self.select_draws[port as usize],
        };
        share.admits(stream.bits())
    }

    fn state(&mut self, state: State, view: View<'_>) -> &mut i64 {
        let states = &mut self.queues[view.queue].states;
        match state {
            State::QueueAdm => &mut states.adm,
            State::QueueSched => &mut states.sched,
            State::BufferAdm => &mut self.adm_states[self.policy.queues()[view.queue].buffer.unwrap_or(0)],
            State::PortSched => &mut self.sched_states[view.port],
        }
    }

    /// Drops the last packet of a queue in the order of admPrio.
    fn drop_victim(&mut self, q: usize, effects: &mut Vec<Effect>) -> Result<bool, Fault> {
        let (order, waiting) = (&self.policy.queues()[q].admission, &self.queues[q].waiting);
        let mut last = 0;
        for nth in 1..waiting.len() {
            if !Self::packet_before(order, &waiting[nth].packet, &waiting[last].packet)? {
                last = nth;
            }
        }
        if waiting.is_empty() {
            return Ok(false);
        }
        effects.push(Effect::Dropped(self.queues[q].waiting.remove(last).handle));
        Ok(true)
    }

    /// Drops the victim of the last queue in the order of queuePrio.
    fn drop_buffer_victim(&mut self, b: usize, own: usize, effects: &mut Vec<Effect>) -> Result<bool, Fault> {
        let policy = Rc::clone(&self.policy);
        let Some(order) = &policy.buffers()[b].order else { return self.drop_victim(own, effects) };
        let filled =
            policy.buffers()[b].queues.iter().copied().filter(|q| !self.queues[*q].waiting.is_empty());
        let filled: Vec<usize> = filled.collect();
        let Some(mut last) = filled.first().copied() else { return Ok(false) };
        for q in &filled[1..] {
            if self.queue_before(order, last, *q)? {
                last = *q;
            }
        }
        let ties = |a, b| Ok(!self.queue_before(order, a, b)? && !self.queue_before(order, b, a)?);
        if filled.contains(&own) && ties(own, last)? {
            last = own;
        }
        self.drop_victim(last, effects)
    }

    fn advance(&mut self, now: Time) -> Result<(), Fault> {
        if now < self.last || i64::try_from(now.ps()).is_err() {
            return Err(Fault::Clock);
        }
        self.last = now;
        Ok(())
    }
}

fn holds(test: &Test, look: Look<'_>) -> Result<bool, Fault> {
    test.holds(look).ok_or(Fault::Arithmetic)
}

impl Engine for Interpreter {
    fn arrive(
        &mut self,
        now: Time,
        offered: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        self.advance(now)?;
        let policy = Rc::clone(&self.policy);
        let named = policy.queues().get(offered.queue as usize).ok_or(Fault::NoSuchQueue(offered.queue))?;
        let mut packet = Stored::new(offered, offered.queue, now.ps() as i64, self.version);
        let port = &policy.ports()[named.port];
        let select = |nth: usize| port.queues[nth] as u32;
        match &port.select {
            None => {}
            Some(Select::Random) => {
                packet.queue = select(self.select_draws[named.port].below(port.queues.len() as u64) as usize);
            }
            Some(Select::By(choice)) => {
                let nth = choice.value(&|place| match place {
                    Place::Packet(_, field) => packet.field(field),
                    _ => 0,
                });
                packet.queue = select(nth.ok_or(Fault::Arithmetic)?.floor() as usize);
            }
        }
        self.enqueue(packet.queue as usize, Waiting { packet, handle }, effects)
    }

    // dequeue(port)
    fn dequeue(
        &mut self,
        port: usize,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<Served>, Fault> {
        self.advance(now)?;
        if port >= self.policy.ports().len() {
            return Err(Fault::NoSuchPort(port as u32));
        }
        let Some(q) = self.best_queue(port)? else { return Ok(None) };
        let Some(head) = self.head(q)? else { return Ok(None) };
        let p = self.queues[q].waiting.remove(head);
        self.scheduled(port, q, &p, effects)?;
        self.go_on(port, q, p, effects).map(Some)
    }

    fn cycle(&mut self, port: usize, now: Time, effects: &mut Vec<Effect>) -> Result<Cycle, Fault> {
        self.advance(now)?;
        if port >= self.policy.ports().len() {
            return Err(Fault::NoSuchPort(port as u32));
        }
        let Some(q) = self.best_queue(port)? else { return Ok(Cycle::Idle) };
        let Some(head) = self.head(q)? else { return Ok(Cycle::Idle) };
        let rest = &mut self.queues[q].waiting[head].packet.processing;
        *rest = rest.saturating_sub(1);
        let p = self.queues[q].waiting[head];
        if p.packet.processing > 0 {
            self.scheduled(port, q, &p, effects)?;
            return Ok(Cycle::Worked(p.handle));
        }
        self.queues[q].waiting.remove(head);
        self.scheduled(port, q, &p, effects)?;
        self.go_on(port, q, p, effects).map(Cycle::Left)
    }

    fn packets(&self, queue: usize) -> u32 {
        self.queues[queue].waiting.len() as u32
    }
    fn bytes(&self, queue: usize) -> u64 {
        self.queues[queue].waiting.iter().map(|one| u64::from(one.packet.size)).sum()
    }
    fn set_version(&mut self, version: u32) {
        self.version = version;
    }
    fn hold(&mut self, queue: usize, packets: u32, bytes: u64) {
        self.queues[queue].held = (packets, bytes);
    }
}
