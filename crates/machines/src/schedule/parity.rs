//! Two classes, flows of even and of odd number, that send a packet each in turn while both have any: fair queueing
//! between two orders of service (Mittal et al., NSDI 2016, Table 1, "FQ: SJF/FIFO").
//!
//! CHOICE UPS §2.3 (FQ of SJF and FIFO): the paper does not say which flows are in which class, nor how long a turn is: parity
//! of the flow number (in both directions), and one packet.

use super::{Drr, Entry, Fifo, Lifo, Order, OrderSpec, Pifo, Priority, Random, Rank, RoundRobin};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream, Time, mix64};

/// An order inside a class.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Inner {
    Fifo(Fifo),
    Lifo(Lifo),
    Random(Random),
    Drr(Box<Drr>),
    Priority(Priority),
    Rank(Box<Rank>),
    Pifo(Box<Pifo>),
    RoundRobin(Box<RoundRobin>),
}

macro_rules! each {
    ($inner:expr, $o:ident => $body:expr) => {
        match $inner {
            Inner::Fifo($o) => $body,
            Inner::Lifo($o) => $body,
            Inner::Random($o) => $body,
            Inner::Drr($o) => $body,
            Inner::Priority($o) => $body,
            Inner::Rank($o) => $body,
            Inner::Pifo($o) => $body,
            Inner::RoundRobin($o) => $body,
        }
    };
}

impl Inner {
    fn new(spec: &OrderSpec, stream: Stream, rate: Rate) -> Result<Self, String> {
        Ok(match *spec {
            OrderSpec::Fifo => Self::Fifo(Fifo::default()),
            OrderSpec::Lifo => Self::Lifo(Lifo::default()),
            OrderSpec::Random => Self::Random(Random::new(stream)),
            OrderSpec::Drr { quantum, overflow } => Self::Drr(Box::new(Drr::new(quantum, overflow)?)),
            OrderSpec::Priority { classes } => Self::Priority(Priority::new(classes)?),
            OrderSpec::Rank { flow_order } => Self::Rank(Box::new(Rank::new(flow_order, false))),
            OrderSpec::Pifo { add_transmission, bucket } => {
                Self::Pifo(Box::new(Pifo::new(add_transmission.then_some(rate), bucket)))
            }
            OrderSpec::RoundRobin { bins, codel } => {
                Self::RoundRobin(Box::new(RoundRobin::new(bins, codel)?))
            }
            // FQ emulates a server that has the whole link; ADS has a clock; a plug-in is a whole discipline.
            OrderSpec::Fq { .. }
            | OrderSpec::InputRoundRobin
            | OrderSpec::Parity { .. }
            | OrderSpec::Ads(_)
            | OrderSpec::Custom { .. } => {
                return Err(format!("this order cannot be one of two classes: {spec:?}"));
            }
        })
    }
}

/// Two orders in turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parity {
    classes: [Inner; 2],
    packets: [u32; 2],
    /// The class whose turn it is.
    turn: u8,
}

impl Parity {
    /// `even` and `odd` inside the classes of even and odd flow numbers, at a port of `rate`.
    ///
    /// # Errors
    /// If an order's parameters contradict each other, or it cannot be inside another.
    pub fn new(even: &OrderSpec, odd: &OrderSpec, mut stream: Stream, rate: Rate) -> Result<Self, String> {
        let mut inner = |spec, class| {
            let stream = Stream::new(mix64(stream.bits()), "class", class);
            Inner::new(spec, stream, rate)
        };
        Ok(Self { classes: [inner(even, 0)?, inner(odd, 1)?], packets: [0; 2], turn: 0 })
    }

    fn forget(&mut self, class: usize, entry: Option<Entry>) -> Option<Entry> {
        self.packets[class] -= u32::from(entry.is_some());
        entry
    }
}

impl Order for Parity {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    fn is_full(&self) -> bool {
        self.classes.iter().any(|class| each!(class, o => o.is_full()))
    }
    fn push(&mut self, now: Time, packet: &Packet, handle: Handle) {
        let class = (packet.flow.0 % 2) as usize;
        self.packets[class] += 1;
        each!(&mut self.classes[class], o => o.push(now, packet, handle));
    }
    fn pop(&mut self, now: Time) -> Option<Entry> {
        let turn = usize::from(self.turn);
        let class = if self.packets[turn] > 0 { turn } else { 1 - turn };
        let entry = each!(&mut self.classes[class], o => o.pop(now));
        self.turn = 1 - class as u8;
        self.forget(class, entry)
    }
    /// CHOICE UPS §2.3 (FQ of SJF and FIFO): the class that holds more packets gives up the one that its order gives up, be it the
    /// arriving one; of equals the even class.
    fn shed(&mut self, arriving: Handle) -> Option<Entry> {
        let class = usize::from(self.packets[1] > self.packets[0]);
        let entry = each!(&mut self.classes[class], o => o.shed(arriving));
        self.forget(class, entry)
    }
    fn take_dropped(&mut self) -> Option<Entry> {
        let class = 1 - usize::from(self.turn); // the one served last
        let entry = each!(&mut self.classes[class], o => o.take_dropped());
        self.forget(class, entry)
    }
}
