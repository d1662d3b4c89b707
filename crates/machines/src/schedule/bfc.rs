//! Backpressure flow control at one port: which queue a flow's packets wait in, and when the hop before is to pause. Goyal, "Congestion
//! Control in Highly Variable Networks", MIT 2022, §3.3 (revises Goyal et al., "Backpressure Flow Control", NSDI 2022).
//!
//! A flow table of fixed size, indexed by a hash, remembers of flows that wait here which queue they are in; one that begins to wait
//! gets an empty queue if there is one (§3.3.3.1). A packet that makes its queue longer than a hop's bandwidth-delay product
//! divided by the queues that share the link is *overfull*: whoever passed it on pauses the queue that it came from until all such
//! packets have left (§3.3.3.2). Those counts are the affair of the switch: [`crate::pause::Backpressure`].
//!
//! Not here: the delays of the Tofino implementation (§3.4).

use super::{Around, At, Entry, Key, Needs, Order, Parameters, Problems};
use crate::packet::{Handle, Packet};
use crate::pause::QueueSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time, mix64};

/// Backpressure flow control: a few queues that flows are assigned to as they begin to wait, and that the next hop pauses one by one
/// (Goyal, MIT 2022, §3.3; Goyal et al., NSDI 2022). The next hops pause with `switch.backpressure`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Queues of a port. One of them is that of control packets, which goes first and is never paused.
    #[schemars(range(min = 2, max = 256))]
    pub queues: u16,
    /// Entries of a port's flow table, per queue.
    #[schemars(range(min = 1, max = 100_000))]
    pub table: u32,
    /// From a pause to its effect and back: the round trip of a hop. Without the key that of the longest link, propagation only.
    #[schemars(extend("examples" = ["2us"]))]
    pub hop_rtt: Option<Span>,
    /// A queue is too long beyond so many times `hop_rtt` × rate ÷ queues that may send now.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
    pub threshold: f64,
    /// A flow of which nothing else waits here never makes the hop before pause.
    pub needs_backlog: bool,
    /// A flow of which nothing waits keeps its queue for so many times `hop_rtt`.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub sticky: f64,
    /// Which queue a flow gets that begins to wait.
    pub assignment: Assignment,
    /// Which of the queues that may send goes next.
    pub service: Service,
    /// Under `fair`: bytes that a queue may send in a turn.
    pub quantum: Bytes,
    /// The queues are split among so many classes: strict priority between them, assignment and turns inside each.
    #[schemars(range(min = 1, max = 8))]
    pub classes: u8,
    /// Packets of this class share one queue of their own; no other class uses it.
    #[schemars(extend("examples" = [1]))]
    pub incast_class: Option<u8>,
    /// Share of the packets that the flow table and the hop before are told of.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub sampling: f64,
}

/// Which queue a flow gets that begins to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// An empty one that is not paused, if there is any, else any; drawn at random.
    #[default]
    Dynamic,
    /// Always the same, by a hash: stochastic fair queueing.
    Hashed,
}

/// Which of the queues that may send goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// Deficit round robin (Shreedhar & Varghese, SIGCOMM 1995).
    #[default]
    Fair,
    /// That whose first packet is of the flow with the fewest remaining bytes.
    Shortest,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            queues: 32,    // §3.6.2.1
            table: 100,    // §3.3.3.1
            hop_rtt: None, // 2 us in §3.6.2.1
            threshold: 1.0,
            needs_backlog: false,
            sticky: 2.0, // §3.3.3.2
            assignment: Assignment::default(),
            service: Service::default(),
            quantum: Bytes::new(1500), // a full Ethernet payload
            classes: 1,
            incast_class: None,
            sampling: 1.0,
        }
    }
}

/// Where nobody says how long a hop takes (§3.6.2.1).
const HOP_RTT: Span = Span::from_us(2);

impl Parameters for Params {
    type Machine = Bfc;

    fn needs(&self) -> Needs {
        let key = if self.service == Service::Shortest { Key::Remaining } else { Key::Nothing };
        let classed = self.classes > 1 || self.incast_class.is_some();
        Needs {
            key,
            classes: classed.then_some(u16::from(self.classes)),
            says_overfull: true,
            ..Needs::NOTHING
        }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        let of_data = self.queues.saturating_sub(1 + u16::from(self.incast_class.is_some()));
        if self.queues < 2 || self.queues > QueueSet::CAPACITY {
            let reason = format!("{} queues are out of range: one is for control packets", self.queues);
            problems.wrong("queues", reason, "allowed: 2 to 256");
        } else if self.classes == 0 || u16::from(self.classes) > of_data {
            let reason = format!("{} classes cannot share {of_data} queues", self.classes);
            problems.wrong("classes", reason, format!("allowed: 1 to {of_data}"));
        }
        if !(1..=100_000).contains(&self.table) {
            problems.wrong(
                "table",
                format!("{} entries per queue are out of range", self.table),
                "for example 100",
            );
        }
        let factor = |x: f64| (0.0..=1e6).contains(&x);
        if !factor(self.threshold) || self.threshold == 0.0 {
            problems.wrong("threshold", format!("{} is out of range", self.threshold), "for example 1.0");
        }
        if !factor(self.sticky) {
            problems.wrong("sticky", format!("{} is out of range", self.sticky), "for example 2.0");
        }
        if let Some(hop) = self.hop_rtt {
            problems.positive("hop_rtt", hop, "2us");
        }
        problems.share("sampling", self.sampling);
        problems.size("quantum", self.quantum, |size| format!("a quantum of {size} is impossible"), "1500B");
        if self.service == Service::Shortest && self.quantum != Self::default().quantum {
            problems.useless("quantum", "the service `shortest` knows no turns", "remove the key");
        }
    }
    fn make(&self, at: &At) -> Result<Bfc, String> {
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
            small,
        ]
    }
}

/// An entry of the flow table.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Cell {
    /// When a packet of it last came or left.
    last: Time,
    /// Packets of it that wait.
    size: u32,
    /// Where they wait.
    queue: u16,
    /// A flow has been here.
    used: bool,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Node {
    entry: Entry,
    rank: i64,
    /// The entry of the flow table that counts it, or [`NIL`].
    cell: u32,
    /// The one behind it, or the next free place.
    next: u32,
}

const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Fifo {
    bytes: u64,
    /// DRR's.
    deficit: u64,
    head: u32,
    tail: u32,
}

/// The queues of a class, and whose turn it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Class {
    own: QueueSet,
    turn: u16,
    /// That queue has had its quantum in this turn.
    granted: bool,
}

/// What the parameters come to at one port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Rules {
    /// Of packets of this class, this queue.
    incast: Option<(u8, u16)>,
    assignment: Assignment,
    service: Service,
    sampling: f64,
    needs_backlog: bool,
    quantum: u64,
    /// The threshold of a queue that has the link to itself.
    one_hop: u64,
    sticky: Span,
    salt: u64,
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
    table: Vec<Cell>,
    queues: Vec<Fifo>,
    nodes: Vec<Node>,
    free: u32,
    occupied: QueueSet,
    /// By number, or because a flow that is paused waits there.
    paused: QueueSet,
    /// Once the next hop has paused a flow.
    stopped: Option<Box<Stopped>>,
    classes: Vec<Class>,
    control: VecDeque<Entry>,
    draw: Stream,
    overfull: bool,
    served: u16,
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
            Class { own, turn: 0, granted: false }
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
            salt: draw.bits(),
        };
        Self {
            rules,
            table: vec![Cell::default(); usize::from(p.queues) * p.table as usize],
            queues: vec![Fifo { bytes: 0, deficit: 0, head: NIL, tail: NIL }; usize::from(data)],
            nodes: Vec::new(),
            free: NIL,
            occupied: QueueSet::default(),
            paused: QueueSet::default(),
            stopped: None,
            classes: classes.collect(),
            control: VecDeque::new(),
            draw,
            overfull: false,
            served: 0,
        }
    }

    #[inline]
    fn hash(&self, flow: FlowId) -> u64 {
        mix64(u64::from(flow.0) ^ self.rules.salt)
    }

    /// Where the flow table has the packet's flow. Multiplied into range: no division.
    #[inline]
    fn cell(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.table.len() as u128) >> 64) as usize
    }

    /// `pick_queue`: for a flow of that class that begins to wait.
    // CHOICE BFC §3.3.3.1: which of the empty queues is open. Uniformly drawn; the first of them would be given again to the next flow
    // whenever the port drains between two packets of the same flow. Nor one that is paused (the artifact's rule): the pause was meant
    // for another flow.
    fn pick(&mut self, class: usize, hash: u64) -> u16 {
        let mut own = self.classes[class].own;
        if let Some((_, queue)) = self.rules.incast {
            own.set(queue, false);
        }
        if self.rules.assignment == Assignment::Hashed {
            // Another hash than the table's, of whose cells only some would be used otherwise.
            let nth = (u128::from(mix64(hash ^ 0x51ed)) * u128::from(own.len())) >> 64;
            return own.nth(nth as u32).unwrap_or(0);
        }
        let empty = own.without(&self.occupied).without(&self.paused);
        let among = if empty.is_empty() { own } else { empty };
        let nth = self.draw.below(u64::from(among.len()).max(1)) as u32;
        among.nth(nth).unwrap_or(0)
    }

    fn append(&mut self, queue: u16, node: Node) {
        let at = if self.free == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = std::mem::replace(&mut self.nodes[at as usize], node).next;
            at
        };
        let fifo = &mut self.queues[usize::from(queue)];
        match fifo.tail {
            NIL => fifo.head = at,
            tail => self.nodes[tail as usize].next = at,
        }
        fifo.tail = at;
        fifo.bytes += u64::from(node.entry.wire);
        self.occupied.set(queue, true);
    }

    /// Queues of these that hold anything and are not paused.
    #[inline]
    fn ready(&self, own: &QueueSet) -> QueueSet {
        self.occupied.without(&self.paused).within(own)
    }

    /// N_active: queues that compete with those of the class, at least one.
    // CHOICE BFC §3.6.6.1: with classes, those of its own and of more important ones.
    #[inline]
    fn active(&self, class: usize) -> u64 {
        let ready = self.occupied.without(&self.paused);
        let sum: u32 = if self.classes.len() == 1 {
            ready.len()
        } else {
            self.classes[..=class].iter().map(|c| ready.within(&c.own).len()).sum()
        };
        u64::from(sum.max(1))
    }

    /// Of the queues `ready` of a class that whose turn it is.
    fn in_turn(&mut self, class: usize, ready: &QueueSet) -> u16 {
        let Class { turn, granted, .. } = &mut self.classes[class];
        loop {
            if ready.has(*turn) {
                let fifo = &mut self.queues[usize::from(*turn)];
                if !std::mem::replace(granted, true) {
                    fifo.deficit += self.rules.quantum;
                }
                let wire = u64::from(self.nodes[fifo.head as usize].entry.wire);
                if wire <= fifo.deficit {
                    fifo.deficit -= wire;
                    return *turn;
                }
            }
            *turn = ready.next(*turn + 1).or_else(|| ready.next(0)).unwrap_or(0);
            *granted = false;
        }
    }

    /// That whose first packet has the lowest rank; ties go to the lowest number.
    fn shortest(&self, ready: &QueueSet) -> u16 {
        let rank = |queue: &u16| self.nodes[self.queues[usize::from(*queue)].head as usize].rank;
        ready.iter().min_by_key(rank).unwrap_or(0)
    }

    fn take(&mut self, now: Time, queue: u16) -> Entry {
        let fifo = &mut self.queues[usize::from(queue)];
        let at = fifo.head;
        let node = &mut self.nodes[at as usize];
        let Node { entry, cell, next, .. } = *node;
        node.next = self.free;
        self.free = at;
        fifo.head = next;
        fifo.bytes -= u64::from(entry.wire);
        if next == NIL {
            fifo.tail = NIL;
            fifo.deficit = 0;
            self.occupied.set(queue, false);
        }
        if let Some(own) = self.table.get_mut(cell as usize) {
            own.size -= 1;
            own.last = now;
            if own.size == 0 && self.stopped.is_some() {
                self.hold_stopped();
            }
        }
        entry
    }

    /// Paused is what is paused by number, and every queue in which a flow waits that is.
    #[cold]
    fn hold_stopped(&mut self) {
        let Some(stopped) = &self.stopped else { return };
        let waits = stopped.cells.iter().map(|cell| self.table[*cell as usize]).filter(|cell| cell.size > 0);
        self.paused = waits.map(|cell| cell.queue).collect::<QueueSet>().with(&stopped.numbers);
    }
}

impl Order for Bfc {
    fn pushes_out(&self) -> bool {
        false
    }
    fn is_full(&self) -> bool {
        self.nodes.len() >= NIL as usize
    }

    /// §3.3.3.1, on enqueue; sticky as in §3.3.3.2.
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        self.overfull = false;
        let entry = Entry::new(packet, handle);
        if entry.control {
            return self.control.push_back(entry);
        }
        let hash = self.hash(packet.flow);
        let cell = self.cell(hash);
        let class = usize::from(packet.class).min(self.classes.len() - 1);
        let Cell { last, size, queue, used } = self.table[cell];
        let forgotten = size == 0 && (!used || now.since(last) > self.rules.sticky);
        let mut queue = if forgotten { self.pick(class, hash) } else { queue };
        if let Some((incast, own)) = self.rules.incast
            && incast == packet.class
        {
            queue = own;
        }
        let sampled = self.rules.sampling >= 1.0 || self.draw.unit() < self.rules.sampling;
        let size = size + u32::from(sampled);
        self.table[cell] = Cell { last: now, size, queue, used: true };
        if size == 1 && self.stopped.is_some() {
            self.hold_stopped();
        }
        let cell = if sampled { cell as u32 } else { NIL };
        self.append(queue, Node { entry, rank: packet.rank, cell, next: NIL });
        // Th = HRTT · μ / N_active, of the queue with the packet: whose flow it is does not matter.
        let over =
            self.queues[usize::from(queue)].bytes.saturating_mul(self.active(class)) > self.rules.one_hop;
        self.overfull = over && sampled && !(self.rules.needs_backlog && size <= 1);
    }

    fn pop(&mut self, now: Time) -> Option<Entry> {
        if let Some(entry) = self.control.pop_front() {
            self.served = self.queues.len() as u16;
            return Some(entry);
        }
        for class in 0..self.classes.len() {
            let ready = self.ready(&self.classes[class].own);
            if !ready.is_empty() {
                let queue = match self.rules.service {
                    Service::Fair => self.in_turn(class, &ready),
                    Service::Shortest => self.shortest(&ready),
                };
                self.served = queue;
                return Some(self.take(now, queue));
            }
        }
        None
    }
    fn shed(&mut self, _arriving: Handle) -> Option<Entry> {
        None
    }
    fn queues(&self) -> u16 {
        self.queues.len() as u16
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
        let cells = flows.iter().map(|flow| self.cell(self.hash(*flow)) as u32).collect();
        let numbers = self.stopped.as_ref().map_or(self.paused, |stopped| stopped.numbers);
        self.stopped = Some(Box::new(Stopped { numbers, cells }));
        self.hold_stopped();
    }
    fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32> {
        for queue in self.occupied.iter() {
            let mut at = self.queues[usize::from(queue)].head;
            while let Some(node) = self.nodes.get(at as usize) {
                see(node.entry.handle);
                at = node.next;
            }
        }
        Some(self.occupied.len())
    }
    fn is_held(&self) -> bool {
        self.control.is_empty() && self.occupied.without(&self.paused).is_empty()
    }
    #[inline]
    fn is_overfull(&self) -> bool {
        self.overfull
    }
    #[inline]
    fn served_queue(&self) -> u16 {
        self.served
    }
}

#[cfg(test)]
mod tests;
