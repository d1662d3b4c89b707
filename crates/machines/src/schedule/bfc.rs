//! Backpressure flow control at one port: which queue a flow's packets wait in, and when the hop before is to
//! pause. Goyal, "Congestion Control in Highly Variable Networks", MIT 2022, §3.3 (revises Goyal et al.,
//! "Backpressure Flow Control", NSDI 2022).
//!
//! A flow table of fixed size, indexed by a hash, remembers of flows that wait here which queue they are in
//! (`table`); one that begins to wait gets an empty queue if there is one (§3.3.3.1, `pick`). A packet that
//! makes its queue longer than a hop's bandwidth-delay product divided by the queues that share the link is
//! *overfull*: the hop before pauses the queue that it came from until all such packets have left
//! (§3.3.3.2). The switch keeps those counts: [`crate::pause::Backpressure`]. The queues (`fifos`) take turns
//! (`turns`). The delays of the Tofino2 program (§3.4), which the paper's text does not have, are kept apart,
//! and off unless configured (`tofino`, `late`).

mod fifos;
mod late;
mod params;
mod table;
mod tofino;
mod turns;

pub use params::{Assignment, Params, Service};

use super::{Around, At, Entry, HopByHop, Key, Needs, Order, Parameters, Pausable, Pipeline};
use crate::problems::{Invalid, Problems};
use fifos::{Fifo, Fifos, NIL, Node};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use table::{Cell, Table};
use thalweg_units::{FlowId, Rate, Span, Stream, Time, mix64};
use thalweg_wire::{Handle, Packet, QueueSet};
use tofino::Tofino;
use turns::{Class, shortest};

impl Parameters for Params {
    type Machine = Bfc;

    fn needs(&self) -> Needs {
        let key = if self.service == Service::Shortest { Key::Remaining } else { Key::Nothing };
        let classed = self.classes > 1 || self.incast_class.is_some();
        Needs {
            key,
            classes: classed.then_some(u16::from(self.classes)),
            inputs: self.pipelines > 1,
            reports_overfull: true,
            fixed_rate: true,
            keeps: true,
            apart: self.post_queue > 0 || !self.recirc_delay.is_zero(),
            ..Needs::NOTHING
        }
    }
    fn check(&self, at: &Around, problems: &mut Problems) {
        self.check_keys(problems);
        self.check_tofino(problems);
        self.check_pauses(at, problems);
    }
    fn make(&self, at: &At) -> Result<Bfc, Invalid> {
        Ok(Bfc::new(self, at))
    }
    fn memory(&self, _: f64) -> f64 {
        f64::from(self.queues) * (f64::from(self.table) * size_of::<Cell>() as f64 + size_of::<Fifo>() as f64)
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let small = Self { queues: 5, table: 2, hop_rtt: Some(Span::from_us(3)), ..Self::default() };
        vec![
            Self { assignment: Assignment::Hashed, ..small.clone() },
            Self { classes: 3, sampling: 0.5, ..small.clone() },
            Self { service: Service::Shortest, incast_class: Some(2), ..small.clone() },
            Self { assignment: Assignment::Reserved, post_queue: 3, ..small.clone() },
            Self {
                bitmap_stale: Span::from_us(7), // on whose grid the law of shifted times shifts
                pipelines: 3,
                classes: 2,
                recirc_delay: Span::from_us(2),
                ..small.clone()
            },
            small,
        ]
    }
}

/// The round trip of a hop where none is given (§3.6.2.1).
const HOP_RTT: Span = Span::from_us(2);

/// The parameters as they apply at one port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Rules {
    /// The incast class and its queue.
    incast: Option<(u8, u16)>,
    assignment: Assignment,
    service: Service,
    sampling: f64,
    needs_backlog: bool,
    quantum: u64,
    /// The pause threshold in bytes of a queue that has the link to itself.
    one_hop: u64,
    sticky: Span,
}

/// What the next hop has paused, where its frames name flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stopped {
    /// Queues that are paused by number.
    numbers: QueueSet,
    /// Entries of the flow table.
    cells: BTreeSet<u32>,
}

/// The queues of one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bfc {
    rules: Rules,
    table: Table,
    fifos: Fifos,
    /// Paused queues: by number, or because a paused flow waits there.
    paused: QueueSet,
    /// Once the next hop has paused a flow.
    stopped: Option<Box<Stopped>>,
    classes: Vec<Class>,
    control: VecDeque<Entry>,
    draw: Stream,
    overfull: bool,
    served: u16,
    /// If configured.
    tofino: Option<Box<Tofino>>,
}

impl Bfc {
    fn new(p: &Params, at: &At) -> Self {
        let hop = p.hop_rtt.unwrap_or(HOP_RTT);
        // A port of infinite rate never holds anything back.
        let bandwidth = if at.rate == Rate::INFINITE { u64::MAX } else { at.rate.over(hop).get() };
        let data = p.queues - 1;
        let shared = data - u16::from(p.incast_class.is_some());
        let classes = (0..u32::from(p.classes)).map(|class| {
            let first = |class: u32| (class * u32::from(shared) / u32::from(p.classes)) as u16;
            let mut own: QueueSet = (first(class)..first(class + 1)).collect();
            if p.incast_class.is_some_and(|c| u32::from(c.min(p.classes - 1)) == class) {
                own.set(shared, true);
            }
            Class::new(own)
        });
        let mut draw = at.stream;
        let rules = Rules {
            incast: p.incast_class.map(|class| (class, shared)),
            assignment: p.assignment,
            service: p.service,
            sampling: p.sampling,
            needs_backlog: p.needs_backlog,
            quantum: p.quantum.get(),
            one_hop: (p.threshold * bandwidth as f64) as u64,
            sticky: Span::from_ps((p.sticky * hop.ps() as f64) as u64),
        };
        let entries = usize::from(p.queues) * p.table as usize;
        Self {
            rules,
            table: Table::new(entries, usize::from(p.pipelines), draw.bits()),
            fifos: Fifos::new(data),
            paused: QueueSet::default(),
            stopped: None,
            classes: classes.collect(),
            control: VecDeque::new(),
            draw,
            overfull: false,
            served: 0,
            tofino: Tofino::of(p).map(Box::new),
        }
    }

    /// `pick_queue`: the queue for a flow of that class that begins to wait.
    // CHOICE BFC §3.3.3.1: which of the empty queues is open. Uniformly drawn; the first of them would be
    // given again to the next flow whenever the port drains between two packets of the same flow. Nor one
    // that is paused (the artifact's rule): the pause was meant for another flow.
    fn pick(&mut self, now: Time, packet: &Packet, class: usize, hash: u64) -> u16 {
        let mut own = self.classes[class].own;
        if let Some((_, queue)) = self.rules.incast {
            own.set(queue, false);
        }
        if self.rules.assignment == Assignment::Hashed {
            // A different hash from the flow table's; otherwise only some cells of each queue would be used.
            let nth = (u128::from(mix64(hash ^ 0x51ed)) * u128::from(own.len())) >> 64;
            return own.nth(nth as u32).unwrap_or(0);
        }
        let occupied = self.tofino.as_ref().map_or(self.fifos.occupied, |t| t.seen(self.fifos.occupied));
        let mut among = own.without(&occupied).without(&self.paused);
        if self.rules.assignment == Assignment::Reserved {
            let free = among.without(&self.table.kept(now, self.rules.sticky));
            among = if free.is_empty() { among } else { free };
        }
        if among.is_empty() {
            among = own;
        } else if let Some(queue) =
            self.tofino.as_mut().and_then(|t| t.in_rotation(class, packet.input, &among))
        {
            return queue;
        }
        let nth = self.draw.below(u64::from(among.len()).max(1)) as u32;
        among.nth(nth).unwrap_or(0)
    }

    /// N_active: queues that compete with those of the class, at least one.
    // CHOICE BFC §3.6.6.1: with classes, those of its own and of more important ones.
    #[inline]
    fn active(&self, class: usize) -> u64 {
        let ready = self.fifos.occupied.without(&self.paused);
        let sum: u32 = if self.classes.len() == 1 {
            ready.len()
        } else {
            self.classes[..=class].iter().map(|c| ready.within(&c.own).len()).sum()
        };
        u64::from(sum.max(1))
    }

    /// The next packet out of the queues.
    #[inline(always)]
    fn take(&mut self, now: Time) -> Option<Entry> {
        for class in &mut self.classes {
            let ready = self.fifos.occupied.without(&self.paused).within(&class.own);
            if !ready.is_empty() {
                let queue = match self.rules.service {
                    Service::Fair => class.in_turn(&mut self.fifos, &ready, self.rules.quantum),
                    Service::Shortest => shortest(&self.fifos, &ready),
                };
                self.served = queue;
                let Node { entry, cell, .. } = self.fifos.take(queue);
                if cell != NIL && !self.tofino.as_mut().is_some_and(|t| t.puts_off(now, cell)) {
                    self.left(now, cell);
                }
                return Some(entry);
            }
        }
        None
    }

    /// The flow table is notified of a departure.
    #[inline]
    fn left(&mut self, now: Time, cell: u32) {
        if self.table.left(now, cell) && self.stopped.is_some() {
            self.hold_stopped();
        }
    }

    /// Recomputes which queues are paused: those paused by number, and every queue in which a paused flow waits.
    #[cold]
    fn hold_stopped(&mut self) {
        let Some(stopped) = &self.stopped else { return };
        let cells = stopped.cells.iter().map(|cell| self.table.cells[*cell as usize]);
        let waits = cells.filter(|cell| cell.size > 0).map(|cell| cell.queue);
        self.paused = waits.collect::<QueueSet>().with(&stopped.numbers);
    }
}

impl Order for Bfc {
    fn pushes_out(&self) -> bool {
        false
    }
    fn refuses(&self, _: &Packet) -> bool {
        self.fifos.is_full()
    }

    /// §3.3.3.1, on enqueue.
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        self.overfull = false;
        let entry = Entry::new(packet, handle);
        if entry.control {
            return self.control.push_back(entry);
        }
        let hash = self.table.hash(packet.flow);
        let cell =
            if self.tofino.is_some() { self.catch_up(now, packet, hash) } else { self.table.find(hash) };
        let class = usize::from(packet.class).min(self.classes.len() - 1);
        let found = self.table.cells[cell];
        let forgotten = found.is_forgotten(now, self.rules.sticky);
        let mut queue = if forgotten { self.pick(now, packet, class, hash) } else { found.queue };
        if let Some((incast, own)) = self.rules.incast
            && incast == packet.class
        {
            queue = own;
        }
        let sampled = self.rules.sampling >= 1.0 || self.draw.unit() < self.rules.sampling;
        let size = found.size + u32::from(sampled);
        self.table.cells[cell] = Cell { last: now, size, queue, used: true };
        if size == 1 && self.stopped.is_some() {
            self.hold_stopped();
        }
        let cell = if sampled { cell as u32 } else { NIL };
        self.fifos.append(queue, Node { entry, rank: packet.rank, cell, next: NIL });
        // Th = HRTT · μ / N_active, of the queue with the packet: whose flow it is does not matter.
        let bytes = self.fifos.all[usize::from(queue)].bytes;
        let over = bytes.saturating_mul(self.active(class)) > self.rules.one_hop;
        self.overfull = over && sampled && !(self.rules.needs_backlog && size <= 1);
        if self.tofino.is_some() {
            self.fill(now);
        }
    }

    fn pop(&mut self, now: Time) -> Option<Entry> {
        if let Some(entry) = self.control.pop_front() {
            self.served = self.fifos.all.len() as u16;
            return Some(entry);
        }
        if self.tofino.is_some() { self.pop_from_behind(now) } else { self.take(now) }
    }
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        None
    }
    fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32> {
        self.fifos.iter().for_each(|node| see(node.entry.handle));
        Some(self.fifos.occupied.len())
    }
    fn pausable(&self) -> Option<&dyn Pausable> {
        Some(self)
    }
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        Some(self)
    }
    #[inline]
    fn hop_by_hop(&self) -> Option<&dyn HopByHop> {
        Some(self)
    }
    fn pipeline(&self) -> Option<&dyn Pipeline> {
        Some(self)
    }
}

impl Pausable for Bfc {
    fn queues(&self) -> u16 {
        self.fifos.all.len() as u16
    }
    fn pause(&mut self, queue: u16, paused: bool) {
        let Some(stopped) = &mut self.stopped else { return self.paused.set(queue, paused) };
        stopped.numbers.set(queue, paused);
        self.hold_stopped();
    }
    fn pause_only(&mut self, queues: &QueueSet) {
        let Some(stopped) = &mut self.stopped else { return self.paused = *queues };
        stopped.numbers = *queues;
        self.hold_stopped();
    }
    fn pause_flows(&mut self, flows: &BTreeSet<FlowId>) {
        if flows.is_empty() && self.stopped.is_none() {
            return;
        }
        let found = |flow: &FlowId| self.table.find_all(self.table.hash(*flow));
        let cells = flows.iter().flat_map(found).map(|cell| cell as u32).collect();
        let numbers = self.stopped.as_ref().map_or(self.paused, |stopped| stopped.numbers);
        self.stopped = Some(Box::new(Stopped { numbers, cells }));
        self.hold_stopped();
    }
    fn is_held(&self) -> bool {
        let none = self.control.is_empty() && self.fifos.occupied.without(&self.paused).is_empty();
        none && self.tofino.as_ref().is_none_or(|t| t.committed(0).is_none())
    }
}

impl HopByHop for Bfc {
    #[inline]
    fn is_overfull(&self) -> bool {
        self.overfull
    }
    #[inline]
    fn served_queue(&self) -> u16 {
        self.served
    }
}

impl Pipeline for Bfc {
    fn committed(&self, nth: usize) -> Option<Handle> {
        self.tofino.as_ref().and_then(|t| t.committed(nth))
    }
    fn late(&self) -> Span {
        self.tofino.as_ref().map_or(Span::ZERO, |t| t.late())
    }
}

#[cfg(test)]
mod tests;
