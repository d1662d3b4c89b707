//! The one list of disciplines, statically dispatched.

use super::ads::Ads;
use super::{
    Discipline, DisciplineSpec, Drr, Entry, Fifo, Fq, InputRoundRobin, Lifo, Managed, Order, OrderSpec,
    Parity, Pifo, Priority, Random, Rank, RoundRobin, Served, Verdict,
};
use crate::custom::{CustomDiscipline, Limited};
use crate::packet::{Handle, Packet};
use crate::stage::StageSpec;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream, Time};

/// Any output queue. To add an order: its file, an arm here, an arm in [`OrderSpec`]. All are boxed: who looks for a port's
/// queue finds four in a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Queue {
    /// See [`Fifo`].
    Fifo(Box<Managed<Fifo>>),
    /// See [`Drr`].
    Drr(Box<Managed<Drr>>),
    /// See [`Fq`].
    Fq(Box<Managed<Fq>>),
    /// See [`Priority`].
    Priority(Box<Managed<Priority>>),
    /// See [`Rank`].
    Rank(Box<Managed<Rank>>),
    /// See [`Lifo`].
    Lifo(Box<Managed<Lifo>>),
    /// See [`Random`].
    Random(Box<Managed<Random>>),
    /// See [`Pifo`].
    Pifo(Box<Managed<Pifo>>),
    /// See [`RoundRobin`].
    RoundRobin(Box<Managed<RoundRobin>>),
    /// See [`InputRoundRobin`].
    InputRoundRobin(Box<Managed<InputRoundRobin>>),
    /// See [`Parity`].
    Parity(Box<Managed<Parity>>),
    /// See [`Ads`].
    Ads(Box<Managed<Ads>>),
    /// A user's own, behind the port's limit; marking is its own affair.
    Custom(Box<Limited>),
}

impl DisciplineSpec {
    /// The queue of a port of `rate`; `stream` is what random decisions draw from.
    ///
    /// # Errors
    /// If parameters contradict each other, with their values, or no custom discipline of the name is known.
    pub fn make(&self, stream: Stream, rate: Rate) -> Result<Queue, String> {
        fn boxed<O: super::Order>(
            order: O,
            spec: &DisciplineSpec,
            stream: Stream,
            rate: Rate,
        ) -> Result<Box<Managed<O>>, String> {
            Managed::new(order, spec, stream, rate).map(Box::new)
        }
        if self.preemptive && !self.can_preempt() {
            return Err(format!("an order that serves in turns cannot be preemptive: {:?}", self.order));
        }
        if self.preemptive && matches!(self.stage, StageSpec::Codel(_)) {
            return Err(
                "CoDel measures until the first bit leaves: it does not go with a preemptive port".into()
            );
        }
        Ok(match &self.order {
            OrderSpec::Fifo => Queue::Fifo(boxed(Fifo::default(), self, stream, rate)?),
            &OrderSpec::Drr { quantum, overflow } => {
                Queue::Drr(boxed(Drr::new(quantum, overflow)?, self, stream, rate)?)
            }
            &OrderSpec::Fq { overflow } => Queue::Fq(boxed(Fq::new(rate, overflow)?, self, stream, rate)?),
            &OrderSpec::Priority { classes } => {
                Queue::Priority(boxed(Priority::new(classes)?, self, stream, rate)?)
            }
            &OrderSpec::Rank { flow_order } => {
                Queue::Rank(boxed(Rank::new(flow_order, self.preemptive), self, stream, rate)?)
            }
            OrderSpec::Lifo => Queue::Lifo(boxed(Lifo::default(), self, stream, rate)?),
            OrderSpec::Random => Queue::Random(boxed(Random::new(stream), self, stream, rate)?),
            &OrderSpec::Pifo { add_transmission, bucket } => {
                Queue::Pifo(boxed(Pifo::new(add_transmission.then_some(rate), bucket), self, stream, rate)?)
            }
            &OrderSpec::RoundRobin { bins, codel } => {
                Queue::RoundRobin(boxed(RoundRobin::new(bins, codel)?, self, stream, rate)?)
            }
            OrderSpec::Parity { even, odd } => {
                Queue::Parity(boxed(Parity::new(even, odd, stream, rate)?, self, stream, rate)?)
            }
            OrderSpec::InputRoundRobin => {
                Queue::InputRoundRobin(boxed(InputRoundRobin::default(), self, stream, rate)?)
            }
            OrderSpec::Ads(ads) => Queue::Ads(boxed(Ads::new(ads)?, self, stream, rate)?),
            OrderSpec::Custom { name, params } => {
                let discipline = CustomDiscipline::make(name, params)?;
                Queue::Custom(Box::new(Limited { discipline, limit: self.limit }))
            }
        })
    }
}

macro_rules! each {
    ($queue:expr, $q:ident => $body:expr) => {
        match $queue {
            Queue::Fifo($q) => $body,
            Queue::Drr($q) => $body,
            Queue::Fq($q) => $body,
            Queue::Priority($q) => $body,
            Queue::Rank($q) => $body,
            Queue::Lifo($q) => $body,
            Queue::Random($q) => $body,
            Queue::Pifo($q) => $body,
            Queue::RoundRobin($q) => $body,
            Queue::InputRoundRobin($q) => $body,
            Queue::Parity($q) => $body,
            Queue::Ads($q) => $body,
            Queue::Custom($q) => $body,
        }
    };
}

impl Queue {
    /// As [`Discipline::dequeue`]: what leaves, and whether it is to be marked. Most queues remember what is to be
    /// known of the packet; for the others, `look` looks.
    #[inline]
    pub fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        match self {
            Queue::Fifo(q) => q.serve(now, out),
            Queue::Drr(q) => q.serve(now, out),
            Queue::Fq(q) => q.serve(now, out),
            Queue::Priority(q) => q.serve(now, out),
            Queue::Rank(q) => q.serve(now, out),
            Queue::Pifo(q) => q.serve(now, out),
            Queue::Lifo(q) => q.serve(now, out),
            Queue::Random(q) => q.serve(now, out),
            Queue::RoundRobin(q) => q.serve(now, out),
            Queue::InputRoundRobin(q) => q.serve(now, out),
            Queue::Parity(q) => q.serve(now, out),
            Queue::Ads(q) => q.serve(now, out),
            Queue::Custom(q) => q.dequeue(now, out).map(|served| (look(served.handle), served.mark)),
        }
    }

    /// Which packet would probably be next: a hint for prefetching.
    #[inline]
    pub fn upcoming(&self) -> Option<Handle> {
        match self {
            Queue::Pifo(q) => q.order().upcoming(),
            _ => None,
        }
    }

    /// A packet of at most so many bytes that finds nothing waiting and leaves before another comes changes nothing here
    /// but what [`Queue::note_bypass`] notes, and leaves unmarked: then it need not come in. If another does come, it may still
    /// join, as of its own arrival, and is then admitted unmarked. 0: all must come in.
    pub fn bypass_limit(&self) -> u64 {
        match self {
            Queue::Fifo(q) => q.bypass_limit(),
            Queue::Drr(q) => q.bypass_limit(),
            Queue::Fq(q) => q.bypass_limit(),
            Queue::Priority(q) => q.bypass_limit(),
            Queue::Rank(q) => q.bypass_limit(),
            Queue::Pifo(q) => q.bypass_limit(),
            Queue::Lifo(q) => q.bypass_limit(),
            Queue::Random(q) => q.bypass_limit(),
            Queue::RoundRobin(q) => q.bypass_limit(),
            Queue::InputRoundRobin(q) => q.bypass_limit(),
            Queue::Parity(q) => q.bypass_limit(),
            Queue::Ads(q) => q.bypass_limit(),
            Queue::Custom(_) => 0,
        }
    }

    /// True if a control packet of `wire` bytes would leave before everything that waits and whatever may come: then it
    /// need not come in, and is counted until [`Queue::cancel_reserve`].
    #[inline]
    pub fn reserve(&mut self, wire: u32) -> bool {
        match self {
            Queue::Rank(q) => q.reserve(wire),
            _ => false,
        }
    }

    /// A packet of `wire` bytes that was reserved for has left.
    #[inline]
    pub fn cancel_reserve(&mut self, wire: u32) {
        if let Queue::Rank(q) = self {
            q.cancel_reserve(wire);
        }
    }

    /// A packet that came by `input` of the switch has bypassed the queue.
    #[inline]
    pub fn note_bypass(&mut self, input: u8) {
        if let Queue::InputRoundRobin(q) = self {
            q.note_bypass(input);
        }
    }
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        each!(self, q => q.enqueue(now, packet, handle, out))
    }
    #[inline]
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
        each!(self, q => q.dequeue(now, out))
    }
    fn preempt(&mut self, now: Time) -> bool {
        each!(self, q => q.preempt(now))
    }
    fn queues(&self) -> u16 {
        each!(self, q => q.queues())
    }
    fn pause(&mut self, queue: u16, paused: bool) {
        each!(self, q => q.pause(queue, paused));
    }
    fn is_held(&self) -> bool {
        each!(self, q => q.is_held())
    }
    #[inline]
    fn packets(&self) -> u32 {
        each!(self, q => q.packets())
    }
    #[inline]
    fn bytes(&self) -> u64 {
        each!(self, q => q.bytes())
    }
    #[inline]
    fn wake(&self) -> Option<Time> {
        each!(self, q => q.wake())
    }
    fn on_tick(&mut self, now: Time) {
        each!(self, q => q.on_tick(now));
    }
}
