//! The normal form: entities by number, attributes with types, comparators with their keys.

pub mod expression;
pub mod integer;
pub mod range;
pub mod rank;
pub mod ratio;
pub(crate) mod reads;

use crate::syntax::tree::{File, Number, RateUnit, SizeUnit};
use expression::{Amount, BufferField, PacketField, Place, PortField, QueueField, Test, Which};
use range::{Limits, Range};
use rank::Rank;
use ratio::Ratio;
use std::collections::BTreeSet;

/// A checked policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    pub(crate) name: String,
    pub(crate) source: File,
    pub(crate) queues: Vec<Queue>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) ports: Vec<Port>,
}

/// An ordered set of packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Its size, in `unit`.
    pub size: i64,
    /// The unit of its size.
    pub unit: SizeUnit,
    /// Its port.
    pub port: usize,
    /// Its buffer.
    pub buffer: Option<usize>,
    /// The order of admission: the last packet is the victim.
    pub admission: Comparator,
    /// The order of processing: the first packet is served.
    pub processing: Comparator,
    /// Cases on congestion.
    pub congestion: Vec<Case>,
    /// Cases after a packet was admitted.
    pub admitted: Vec<Case>,
    /// Its initial states.
    pub states: States,
}

/// Space that queues share.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Its size, in `unit`.
    pub size: i64,
    /// The unit of its size.
    pub unit: SizeUnit,
    /// Its queues.
    pub queues: Vec<usize>,
    /// The order of its queues: the last one drops a packet. `None`: the queue of the arriving packet does.
    pub order: Option<Comparator>,
    /// Cases on congestion.
    pub congestion: Vec<Case>,
    /// Cases after a packet was admitted.
    pub admitted: Vec<Case>,
    /// Its initial state for admission.
    pub adm_state: i64,
}

/// A scheduler over queues.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its rate.
    pub rate: PortRate,
    /// Its queues.
    pub queues: Vec<usize>,
    /// The order of its queues: the first that is not empty is served. `None`: there is one queue.
    pub order: Option<Comparator>,
    /// Cases after a packet was scheduled.
    pub scheduled: Vec<Case>,
    /// Its initial state for scheduling.
    pub sched_state: i64,
    /// The choice of the queue that a packet joins; `None`: the queue that the packet names.
    pub select: Option<Select>,
    /// The state of a queue that was empty becomes at least the smallest state of those that were not.
    pub catches_up: bool,
    /// The queues that packets enter next.
    pub wire: Option<Wire>,
}

/// Initial states of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct States {
    /// For admission.
    pub adm: i64,
    /// For scheduling.
    pub sched: i64,
}

/// A port's rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortRate {
    /// The number.
    pub amount: Number,
    /// Its unit.
    pub unit: RateUnit,
}

impl PortRate {
    /// True if it is the whole rate of the link.
    pub fn is_whole(self) -> bool {
        let Self { amount: Number { digits, decimals }, unit } = self;
        unit == RateUnit::Percent && u128::from(digits) == 10u128.pow(decimals + 2)
    }
    /// The rate in kbit/s; `None`: a share of the link, whose rate the policy does not know.
    pub fn kbps(self) -> Option<i64> {
        let factor: i128 = match self.unit {
            RateUnit::Percent => return None,
            RateUnit::Kbps => 1,
            RateUnit::Mbps => 1_000,
            RateUnit::Gbps => 1_000_000,
        };
        let rate = Ratio::new(i128::from(self.amount.digits) * factor, 10i128.pow(self.amount.decimals))?;
        i64::try_from(rate.floor()).ok()
    }
}

/// A binary order.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparator {
    /// True if the first ranks before the second.
    pub test: Test,
    /// How the order can be implemented.
    pub rank: Rank,
}

/// A condition with its actions.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The condition.
    pub test: Test,
    /// The actions, in order.
    pub actions: Vec<Action>,
}

/// An action.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// The victim is dropped with this probability.
    Drop(Ratio),
    /// The packet is marked.
    Mark,
    /// The control plane, or the neighbour, is notified.
    Notify,
    /// A state is set to this value, rounded down.
    Modify(State, Amount),
}

/// A state that actions may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Of the queue of the hook, for admission.
    QueueAdm,
    /// Of the queue of the hook, for scheduling.
    QueueSched,
    /// Of the buffer.
    BufferAdm,
    /// Of the port.
    PortSched,
}

impl State {
    /// The field that reads it.
    pub fn place(self) -> Place {
        match self {
            Self::QueueAdm => Place::Queue(Which::First, QueueField::AdmState),
            Self::QueueSched => Place::Queue(Which::First, QueueField::SchedState),
            Self::BufferAdm => Place::Buffer(BufferField::AdmState),
            Self::PortSched => Place::Port(PortField::SchedState),
        }
    }
}

/// The choice of one of a port's queues.
#[derive(Clone, PartialEq, Debug)]
pub enum Select {
    /// Random, all with the same probability.
    Random,
    /// The queue with this number, from 0.
    By(Amount),
}

/// The queues that packets enter after leaving a port.
#[derive(Clone, PartialEq, Debug)]
pub struct Wire {
    /// The field of packets that decides, and the value of that field for the first queue; `None`: there is one queue.
    pub field: Option<(PacketField, i64)>,
    /// The queues, in the order of those values.
    pub to: Vec<usize>,
    /// True if a packet waits until the next queue admits it; otherwise the next queue drops it.
    pub waits: bool,
}

impl Policy {
    /// The name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Its statements, printed. Two files with the same statements are the same policy, whatever their comments and
    /// spaces.
    pub fn statements(&self) -> String {
        crate::syntax::print(&self.source)
    }
    /// Its queues, in the order of the numbers that a packet's `queue` gives.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }
    /// Its buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
    /// Its ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }
    /// All cases of all hooks.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &Case> {
        let queues = self.queues.iter().flat_map(|queue| queue.congestion.iter().chain(&queue.admitted));
        let buffers = self.buffers.iter().flat_map(|buffer| buffer.congestion.iter().chain(&buffer.admitted));
        queues.chain(buffers).chain(self.ports.iter().flat_map(|port| &port.scheduled))
    }
    /// The fields of packets that some expression reads.
    pub fn reads(&self) -> BTreeSet<PacketField> {
        reads::of(self)
    }
    /// True if it marks packets.
    pub fn marks(&self) -> bool {
        self.cases().flat_map(|case| &case.actions).any(|action| matches!(action, Action::Mark))
    }
    /// True if it notifies the control plane, or a neighbour.
    pub fn notifies(&self) -> bool {
        self.cases().flat_map(|case| &case.actions).any(|action| matches!(action, Action::Notify))
    }
    /// True if some action changes this state.
    pub fn changes(&self, state: State) -> bool {
        let mut actions = self.cases().flat_map(|case| &case.actions);
        let explicit = actions.any(|action| matches!(action, Action::Modify(of, _) if *of == state));
        explicit || state == State::QueueSched && self.ports.iter().any(|port| port.catches_up)
    }
    /// The ranges of states.
    pub fn limits(&self) -> Limits {
        let of = |state: State, values: &mut dyn Iterator<Item = i64>| {
            let values: Vec<i64> = values.collect();
            let ends = (values.iter().min(), values.iter().max());
            match ends {
                (Some(least), Some(greatest)) if !self.changes(state) => {
                    Range { least: i128::from(*least), greatest: i128::from(*greatest) }
                }
                _ => Limits::default().of_place(state.place()),
            }
        };
        Limits {
            queue_adm: of(State::QueueAdm, &mut self.queues.iter().map(|queue| queue.states.adm)),
            queue_sched: of(State::QueueSched, &mut self.queues.iter().map(|queue| queue.states.sched)),
            buffer_adm: of(State::BufferAdm, &mut self.buffers.iter().map(|buffer| buffer.adm_state)),
            port_sched: of(State::PortSched, &mut self.ports.iter().map(|port| port.sched_state)),
        }
    }
}

impl Case {
    /// True if it may drop a packet.
    pub fn drops(&self) -> bool {
        self.actions.iter().any(Action::drops)
    }
}

impl Action {
    /// True if it may drop a packet.
    pub fn drops(&self) -> bool {
        matches!(self, Self::Drop(share) if *share != Ratio::ZERO)
    }
}

impl Wire {
    /// The queue that a packet with these fields enters; `None` if there is none.
    pub fn next(&self, field_of: impl Fn(expression::PacketField) -> i64) -> Option<usize> {
        let Some((field, first)) = self.field else { return self.to.first().copied() };
        let nth = field_of(field).checked_sub(first)?;
        self.to.get(usize::try_from(nth).ok()?).copied()
    }
}
