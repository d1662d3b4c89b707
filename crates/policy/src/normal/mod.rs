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

/// A policy that was checked.
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
    /// How much it holds, in `unit`.
    pub size: i64,
    /// What that is counted in.
    pub unit: SizeUnit,
    /// Its port.
    pub port: usize,
    /// Its buffer.
    pub buffer: Option<usize>,
    /// Which packets are worth keeping: the last is the victim.
    pub admission: Comparator,
    /// Which packet is served: the first.
    pub processing: Comparator,
    /// When there is congestion.
    pub congestion: Vec<Case>,
    /// After a packet was admitted.
    pub admitted: Vec<Case>,
    /// Its states, at first.
    pub states: States,
}

/// Space that queues share.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// How much it holds, in `unit`.
    pub size: i64,
    /// What that is counted in.
    pub unit: SizeUnit,
    /// Its queues.
    pub queues: Vec<usize>,
    /// Which queue gives up a packet: the last. `None`: that of the arriving one.
    pub order: Option<Comparator>,
    /// When there is congestion.
    pub congestion: Vec<Case>,
    /// After a packet was admitted.
    pub admitted: Vec<Case>,
    /// Its state for admission, at first.
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
    /// Which queue is served: the first that is not empty. `None`: it has one queue.
    pub order: Option<Comparator>,
    /// After a packet was scheduled.
    pub scheduled: Vec<Case>,
    /// Its state for scheduling, at first.
    pub sched_state: i64,
    /// Which queue a packet joins; `None`: the one that it names.
    pub select: Option<Select>,
    /// A queue that was empty comes back with at least the least state of those that were not.
    pub catches_up: bool,
    /// Where packets go on.
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
    /// How much.
    pub amount: Number,
    /// Of what.
    pub unit: RateUnit,
}

impl PortRate {
    /// All of the link.
    pub fn is_whole(self) -> bool {
        let Self { amount: Number { digits, decimals }, unit } = self;
        unit == RateUnit::Percent && u128::from(digits) == 10u128.pow(decimals + 2)
    }
    /// In kbit/s; `None`: a share of the link, which the policy does not know.
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
    /// How it can be kept.
    pub rank: Rank,
}

/// When, and what then.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// When.
    pub test: Test,
    /// What then, in this order.
    pub actions: Vec<Action>,
}

/// An action.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// The victim goes, with this probability.
    Drop(Ratio),
    /// The packet is marked.
    Mark,
    /// The control plane, or the neighbour, is notified.
    Notify,
    /// A state becomes this, rounded down.
    Modify(State, Amount),
}

/// A state that actions may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Of the queue at hand, for admission.
    QueueAdm,
    /// Of the queue at hand, for scheduling.
    QueueSched,
    /// Of the buffer.
    BufferAdm,
    /// Of the port.
    PortSched,
}

impl State {
    /// Where it is read.
    pub fn place(self) -> Place {
        match self {
            Self::QueueAdm => Place::Queue(Which::First, QueueField::AdmState),
            Self::QueueSched => Place::Queue(Which::First, QueueField::SchedState),
            Self::BufferAdm => Place::Buffer(BufferField::AdmState),
            Self::PortSched => Place::Port(PortField::SchedState),
        }
    }
}

/// Which of a port's queues a packet joins.
#[derive(Clone, PartialEq, Debug)]
pub enum Select {
    /// Any, each as likely.
    Random,
    /// The one of this number, from 0.
    By(Amount),
}

/// Where what leaves a port goes on.
#[derive(Clone, PartialEq, Debug)]
pub struct Wire {
    /// The queues, and of each the value of the packet's field for which it is meant; none: there is one queue.
    pub field: Option<(PacketField, i64)>,
    /// The queues, in the order of those values.
    pub to: Vec<usize>,
    /// A packet waits until the next queue admits it; otherwise that queue drops.
    pub waits: bool,
}

impl Policy {
    /// The name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Its statements, printed: two files with the same are the same policy, whatever their comments and spaces.
    pub fn statements(&self) -> String {
        crate::syntax::print(&self.source)
    }
    /// Its queues; what a packet's `queue` names.
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
    /// Fields of packets that some expression reads.
    pub fn reads(&self) -> BTreeSet<PacketField> {
        reads::of(self)
    }
    /// It marks packets.
    pub fn marks(&self) -> bool {
        self.cases().flat_map(|case| &case.actions).any(|action| matches!(action, Action::Mark))
    }
    /// It notifies the control plane, or a neighbour.
    pub fn notifies(&self) -> bool {
        self.cases().flat_map(|case| &case.actions).any(|action| matches!(action, Action::Notify))
    }
    /// Some action changes this state.
    pub fn changes(&self, state: State) -> bool {
        let mut actions = self.cases().flat_map(|case| &case.actions);
        let explicit = actions.any(|action| matches!(action, Action::Modify(of, _) if *of == state));
        explicit || state == State::QueueSched && self.ports.iter().any(|port| port.catches_up)
    }
    /// What states may hold.
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
    /// It may drop a packet.
    pub fn drops(&self) -> bool {
        self.actions.iter().any(Action::drops)
    }
}

impl Action {
    /// It may drop a packet.
    pub fn drops(&self) -> bool {
        matches!(self, Self::Drop(share) if *share != Ratio::ZERO)
    }
}

impl Wire {
    /// Where a packet goes on whose fields are these. `None`: nowhere.
    pub fn next(&self, field_of: impl Fn(expression::PacketField) -> i64) -> Option<usize> {
        let Some((field, first)) = self.field else { return self.to.first().copied() };
        let nth = field_of(field).checked_sub(first)?;
        self.to.get(usize::try_from(nth).ok()?).copied()
    }
}
