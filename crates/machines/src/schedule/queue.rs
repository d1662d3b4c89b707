//! The one list of disciplines, statically dispatched.

use super::ads::Ads;
use super::{
    Discipline, DisciplineSpec, Drr, Entry, Fifo, Fq, Managed, OrderSpec, Priority, Rank, Served, Verdict,
};
use crate::custom::{CustomDiscipline, Limited};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream, Time};

/// Any output queue. To add an order: its file, an arm here, an arm in [`OrderSpec`]. The rare and large ones are
/// boxed, so that a port with a plain FIFO stays small.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Queue {
    /// See [`Fifo`].
    Fifo(Managed<Fifo>),
    /// See [`Drr`].
    Drr(Box<Managed<Drr>>),
    /// See [`Fq`].
    Fq(Box<Managed<Fq>>),
    /// See [`Priority`].
    Priority(Box<Managed<Priority>>),
    /// See [`Rank`].
    Rank(Box<Managed<Rank>>),
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
        Ok(match &self.order {
            OrderSpec::Fifo => Queue::Fifo(Managed::new(Fifo::default(), self, stream, rate)?),
            &OrderSpec::Drr { quantum, overflow } => {
                Queue::Drr(boxed(Drr::new(quantum, overflow)?, self, stream, rate)?)
            }
            &OrderSpec::Fq { overflow } => Queue::Fq(boxed(Fq::new(rate, overflow)?, self, stream, rate)?),
            &OrderSpec::Priority { classes } => {
                Queue::Priority(boxed(Priority::new(classes)?, self, stream, rate)?)
            }
            &OrderSpec::Rank { flow_order } => Queue::Rank(boxed(Rank::new(flow_order), self, stream, rate)?),
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
            Queue::Fifo(q) => q.serve(now),
            Queue::Drr(q) => q.serve(now),
            Queue::Fq(q) => q.serve(now),
            Queue::Priority(q) => q.serve(now),
            Queue::Rank(q) => q.serve(now),
            Queue::Ads(q) => q.serve(now),
            Queue::Custom(q) => q.dequeue(now, out).map(|served| (look(served.handle), served.mark)),
        }
    }

    /// True if a packet that finds nothing waiting, that the limit admits and that leaves at the same instant,
    /// changes nothing here and leaves unmarked: then it need not come in.
    pub fn is_transparent(&self) -> bool {
        match self {
            Queue::Fifo(q) => q.is_transparent(),
            Queue::Drr(q) => q.is_transparent(),
            Queue::Fq(q) => q.is_transparent(),
            Queue::Priority(q) => q.is_transparent(),
            Queue::Rank(q) => q.is_transparent(),
            Queue::Ads(q) => q.is_transparent(),
            Queue::Custom(_) => false,
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
