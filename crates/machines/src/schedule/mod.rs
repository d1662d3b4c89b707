//! Which packet an output port sends next, and which one it gives up when its buffer is full.
//!
//! A [`Discipline`] is the whole of an output queue: *admission* (tail drop, marking, push-out; see
//! [`crate::stage`]) and *order* (FIFO, fair queueing, ranks, priorities). It keeps [`Handle`]s; the
//! packets themselves stay with whoever runs it: the simulator or the emulator.
//!
//! Occupancy never includes the packet being transmitted: it left the queue at `dequeue`.

mod declare;
mod flow_table;
mod heap;
mod interval_heap;
mod lanes;
mod levels;
mod list;
mod managed;
mod min_heap;
mod rank;
mod ranked_flows;
mod sojourn;
mod spec;

pub use declare::{Around, At, Key, Machine, Manages, Needs, OutputQueue, Parameters, QUEUE};
pub use lanes::FairOverflow;
pub use managed::{Entry, Managed, Order};
pub use sojourn::Sojourn;
pub use spec::{DisciplineSpec, Limit};

use crate::custom::CustomDiscipline;
use crate::packet::{Handle, Packet};
use crate::problems::{Problem, Problems};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

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
    fq_codel: FqCodel(round_robin::RoundRobin), "fq-codel";
    input_round_robin: InputRoundRobin(input_round_robin::InputRoundRobin), "input-round-robin";
    parity: Parity(parity::Parity), "parity";
    custom: Custom(CustomDiscipline), "custom";
}

/// What became of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// It is in the queue.
    Queued,
    /// It is in the queue, and its owner must set CE on it.
    Marked,
    /// It was refused; its owner still has it and must discard it. Not listed in `out`.
    Dropped,
}

/// A packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// Which.
    pub handle: Handle,
    /// Its owner must set CE on it (marking at departure).
    pub mark: bool,
}

/// An output queue: admission and order. Never sees the network it is in.
pub trait Discipline {
    /// A packet arrives. Packets pushed out to make room (never the arriving one) are appended to `out`.
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict;
    /// The port is free: what leaves? Packets dropped at departure (CoDel) are appended to `out`.
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served>;
    /// The packet last dequeued is still being transmitted. If one that waits should go before it, takes it back into
    /// its old place (key, arrival number) and returns true: the port then dequeues again. Asked after the arrivals of
    /// an instant, of disciplines made [`DisciplineSpec::preemptive`].
    fn preempt(&mut self, _now: Time) -> bool {
        false
    }
    /// Queues that can be paused one by one, numbered from 0; 0: the port can only be paused as a whole.
    fn queues(&self) -> u16 {
        0
    }
    /// Pauses a queue, or lets it go on: what is in it stays, what comes may join.
    fn pause(&mut self, _queue: u16, _paused: bool) {}
    /// Something waits, and none of it may leave now: [`Discipline::dequeue`] would return nothing.
    fn is_held(&self) -> bool {
        false
    }
    /// Packets waiting.
    fn packets(&self) -> u32;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// When [`Discipline::on_tick`] wants to be called (control planes: ADS maps, PIE).
    fn wake(&self) -> Option<Time> {
        None
    }
    /// The instant named by [`Discipline::wake`] has come.
    fn on_tick(&mut self, _now: Time) {}
    /// True if nothing waits.
    #[inline]
    fn is_empty(&self) -> bool {
        self.packets() == 0
    }
}

#[cfg(test)]
pub(crate) mod tests;
