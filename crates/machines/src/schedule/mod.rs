//! Which packet an output port sends next, and which one it gives up when its buffer is full.
//!
//! A [`Discipline`] is the whole of an output queue: *admission* (tail drop, marking, push-out; see
//! [`crate::stage`]) and *order* (FIFO, fair queueing, ranks, priorities). It keeps [`Handle`]s; the
//! packets themselves stay with whoever runs it: the simulator or the emulator.
//!
//! Occupancy never includes the packet being transmitted: it left the queue at `dequeue`.

mod bins;
mod declare;
mod discipline;
mod flow_table;
mod heap;
mod interval_heap;
mod lanes;
mod levels;
mod linked;
mod list;
mod managed;
mod min_heap;
mod order;
mod rank;
mod ranked_flows;
mod sojourn;
mod space_saving;
mod spec;
mod two_queues;

pub(crate) use flow_table::FlowTable;

pub use declare::{Around, At, Key, Machine, Manages, Needs, Parameters, Paused, QUEUE};
pub use discipline::{Discipline, Limit, Served, Verdict};
pub use lanes::FairOverflow;
pub use managed::Managed;
pub use order::{Entry, Order, OutputQueue};
pub use sojourn::Sojourn;
pub use spec::DisciplineSpec;
pub use two_queues::Weights;

use crate::problems::{Problem, Problems};
use crate::stage::StageSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Handle, Packet, QueueSet};

// The one list. Each order has a file of its own, which declares its `Params` ([`Parameters`]).
list::orders! {
    fifo: Fifo(fifo::Fifo), "fifo";
    drr: Drr(drr::Drr), "drr";
    fq: Fq(fq::Fq), "fq";
    priority: Priority(priority::Priority), "priority";
    sjf: Sjf(rank::Rank), "sjf";
    srpt: Srpt(rank::Rank), "srpt";
    ads: Ads(ads::Ads), "ads";
    lifo: Lifo(lifo::Lifo), "lifo";
    random: Random(random::Random), "random";
    lstf: Lstf(pifo::Pifo), "lstf";
    pifo: Pifo(pifo::Pifo), "pifo";
    round_robin: RoundRobin(round_robin::RoundRobin), "round-robin";
    fq_codel: FqCodel(fq_codel::FqCodel), "fq-codel";
    input_round_robin: InputRoundRobin(input_round_robin::InputRoundRobin), "input-round-robin";
    parity: Parity(parity::Parity), "parity";
    bfc: Bfc(bfc::Bfc), "bfc";
    liftable: Liftable(liftable::Liftable), "liftable";
    expresspass: ExpressPass(expresspass::Credits), "expresspass";
    ndp: Ndp(ndp::Unlimited), "ndp";
    max_min: MaxMin(max_min::MaxMin), "max-min";
    zombie_list: ZombieList(zombie_list::ZombieList), "zombie-list";
    custom: Custom(custom::CustomDiscipline), "custom";
}

impl Queue {
    /// Queue and lane, if packets can be lifted from one to the other.
    #[inline]
    pub fn liftable(&self) -> Option<&liftable::Liftable> {
        if let Self::Liftable(queue) = self { Some(queue.order()) } else { None }
    }
    /// Likewise, to move packets, or to take them out with [`Managed::give_up`].
    pub fn liftable_mut(&mut self) -> Option<&mut Managed<liftable::Liftable>> {
        if let Self::Liftable(queue) = self { Some(queue) } else { None }
    }
}

#[cfg(test)]
pub(crate) mod tests;
