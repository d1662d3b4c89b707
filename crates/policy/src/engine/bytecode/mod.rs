//! Decisions as bytecode, for files that are read at run time.

mod program;

use super::decisions::{Decided, Decisions, Ordering};
use super::machine::any::{AnyBacklog, Plan};
use super::machine::orders::Order;
use super::machine::rules::{Candidate, Hook, Owner, Rules, Uses, View};
use super::packet::Stored;
use crate::normal::Policy;
use crate::normal::expression::{BufferField, Place, QueueField, Relation, Which};
use crate::normal::integer::Int;
use crate::normal::range::Limits;
use program::{Condition, Number};

/// See the module.
#[derive(Clone, Debug)]
pub struct Bytecode {
    queues: Vec<QueueCode>,
    buffers: Vec<OwnerCode>,
    ports: Vec<OwnerCode>,
}

#[derive(Clone, Debug)]
struct QueueCode {
    plan: Plan,
    counts_packets: bool,
    admission: OrderCode,
    processing: OrderCode,
    congestion: Cases,
    admitted: Cases,
}

#[derive(Clone, Debug)]
struct OwnerCode {
    order: Option<OrderCode>,
    congestion: Cases,
    after: Cases,
    select: Option<Number>,
}

#[derive(Clone, Debug)]
struct OrderCode {
    key: Option<Number>,
    test: Condition,
}

/// The cases of a hook.
#[derive(Clone, Debug)]
struct Cases {
    all: Vec<CaseCode>,
    which: Sole,
}

/// A shortcut for hooks that one comparison decides.
#[derive(Clone, Copy, Debug)]
enum Sole {
    /// There are no cases.
    Nothing,
    /// The length of the queue is compared with this limit: tail drop.
    Queue(Relation, i64),
    /// The length of its buffer is compared with this limit.
    Buffer(Relation, i64),
    /// Anything else.
    Other,
}

impl Cases {
    fn new(all: Vec<CaseCode>) -> Self {
        let which = match &all[..] {
            [] => Sole::Nothing,
            [CaseCode { test: Condition::Threshold(relation, place, limit), .. }] => match place {
                Place::Queue(_, QueueField::CurrSize) => Sole::Queue(*relation, *limit),
                Place::Buffer(BufferField::CurrSize) => Sole::Buffer(*relation, *limit),
                _ => Sole::Other,
            },
            _ => Sole::Other,
        };
        Self { all, which }
    }

    /// The first case that matches. The shortcuts fetch only one field of the view.
    #[inline]
    fn find<'a>(&self, view: impl FnOnce() -> View<'a>) -> Option<usize> {
        let holds = match self.which {
            Sole::Nothing => false,
            Sole::Queue(relation, limit) => relation.holds(view().queue.curr_size.cmp(&limit)),
            Sole::Buffer(relation, limit) => relation.holds(view().buffer.curr_size.cmp(&limit)),
            Sole::Other => {
                let view = view();
                return self.all.iter().position(|case| case.matches(&view));
            }
        };
        holds.then_some(0)
    }
}

/// A case, and for each of its actions the new value of a state as a fraction.
#[derive(Clone, Debug)]
struct CaseCode {
    test: Condition,
    values: Vec<Option<(Number, Number)>>,
}

impl OrderCode {
    fn of(order: &Ordering, limits: &Limits) -> Self {
        let key = order.key().map(|key| Number::of(&key, limits));
        Self { key, test: Condition::of(&order.test, limits) }
    }
}

impl CaseCode {
    /// Not inlined: only the fields that the test reads are fetched; inlined, all that it might read would be.
    #[inline(never)]
    fn matches(&self, view: &View<'_>) -> bool {
        self.test.holds(|place| view.read(place))
    }
}

fn cases(all: &[Decided], limits: &Limits) -> Cases {
    let number = |int: &Int| Number::of(int, limits);
    let case = |case: &Decided| CaseCode {
        test: Condition::of(&case.test, limits),
        values: case
            .values
            .iter()
            .map(|value| value.as_ref().map(|value| (number(&value.over), number(&value.under))))
            .collect(),
    };
    Cases::new(all.iter().map(case).collect())
}

impl Bytecode {
    /// The bytecode of a policy.
    pub fn of(policy: &Policy) -> Self {
        let (limits, decisions) = (policy.limits(), Decisions::of(policy));
        let order = |order: &Ordering| OrderCode::of(order, &limits);
        let owner = |one: &super::decisions::OfOwner| OwnerCode {
            order: one.order.as_ref().map(order),
            congestion: cases(&one.congestion, &limits),
            after: cases(&one.after, &limits),
            select: one.select.as_ref().map(|select| Number::of(select, &limits)),
        };
        let queue = |one: &super::decisions::OfQueue| QueueCode {
            plan: one.plan.clone(),
            counts_packets: one.counts_packets,
            admission: order(&one.admission),
            processing: order(&one.processing),
            congestion: cases(&one.congestion, &limits),
            admitted: cases(&one.admitted, &limits),
        };
        Self {
            queues: decisions.queues.iter().map(queue).collect(),
            buffers: decisions.buffers.iter().map(owner).collect(),
            ports: decisions.ports.iter().map(owner).collect(),
        }
    }

    #[inline]
    fn cases(&self, hook: Hook) -> &Cases {
        match hook {
            Hook::Congestion(q) => &self.queues[q].congestion,
            Hook::Admitted(q) => &self.queues[q].admitted,
            Hook::BufferCongestion(b) => &self.buffers[b].congestion,
            Hook::BufferAdmitted(b) => &self.buffers[b].after,
            Hook::Scheduled(port) => &self.ports[port].after,
        }
    }
    #[inline]
    fn order(&self, order: Order, queue: usize) -> &OrderCode {
        match order {
            Order::Admission => &self.queues[queue].admission,
            Order::Processing => &self.queues[queue].processing,
        }
    }
    #[inline]
    fn queue_order(&self, owner: Owner) -> Option<&OrderCode> {
        match owner {
            Owner::Buffer(b) => self.buffers[b].order.as_ref(),
            Owner::Port(port) => self.ports[port].order.as_ref(),
        }
    }
}

fn read_packet(packet: &Stored, place: Place) -> i64 {
    match place {
        Place::Packet(_, field) | Place::Head(_, field) => packet.field(field),
        _ => 0,
    }
}

fn read_candidate(one: &Candidate, place: Place) -> i64 {
    match place {
        Place::Queue(_, field) => one.queue.field(field),
        place => read_packet(&one.head, place),
    }
}

impl Rules for Bytecode {
    type Key = i128;
    type Kept = Stored;
    type Backlog = AnyBacklog<i128, Stored>;
    const USES: Uses = Uses::ALL;

    fn backlog(&self, queue: usize) -> Self::Backlog {
        AnyBacklog::of(&self.queues[queue].plan)
    }
    #[inline]
    fn key(&self, order: Order, queue: usize, packet: &Stored) -> i128 {
        // An order without a key is by arrival, or by its comparator, which reads no key.
        match &self.order(order, queue).key {
            Some(key) => key.value(|place| read_packet(packet, place)),
            None => i128::from(packet.arrival),
        }
    }
    #[inline]
    fn before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool {
        let of = |which| if which == Some(Which::Second) { b } else { a };
        self.order(order, queue).test.holds(|place| read_packet(of(place.which()), place))
    }
    #[inline]
    fn queue_key(&self, owner: Owner, queue: &Candidate) -> Option<i128> {
        let key = self.queue_order(owner)?.key.as_ref()?;
        Some(key.value(|place| read_candidate(queue, place)))
    }
    #[inline]
    fn queue_before(&self, owner: Owner, a: &Candidate, b: &Candidate) -> bool {
        let of = |which| if which == Some(Which::Second) { b } else { a };
        let order = self.queue_order(owner);
        order.is_some_and(|order| order.test.holds(|place| read_candidate(of(place.which()), place)))
    }
    #[inline]
    fn counts_packets(&self, queue: usize) -> bool {
        self.queues[queue].counts_packets
    }
    #[inline]
    fn case<'a>(&self, hook: Hook, view: impl FnOnce() -> View<'a>) -> Option<usize> {
        self.cases(hook).find(view)
    }
    fn value(&self, hook: Hook, case: usize, action: usize, view: &View<'_>) -> i128 {
        let value = self.cases(hook).all[case].values[action].as_ref();
        let read = |place| view.read(place);
        value.map_or(0, |(over, under)| over.value(read).div_euclid(under.value(read)))
    }
    fn select(&self, port: usize, packet: &Stored) -> usize {
        let choice = self.ports[port].select.as_ref();
        choice.map_or(0, |choice| choice.value(|place| read_packet(packet, place)) as usize)
    }
}
