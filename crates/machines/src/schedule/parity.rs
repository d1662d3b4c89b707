//! Two classes, flows of even and of odd number, that send a packet each in turn while both have any: fair queueing
//! between two orders of service (Mittal et al., NSDI 2016, Table 1, "FQ: SJF/FIFO").
//!
//! CHOICE UPS §2.3 (FQ of SJF and FIFO): the paper does not state which flows are in which class, nor how long
//! a turn is: parity of the flow number (in both directions), and one packet.

use super::fifo::Fifo;
use super::lifo::Lifo;
use super::random::Random;
use super::rank::Rank;
use super::{Around, At, Entry, Key, Needs, Order, Parameters, Problems};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time, mix64};
use thalweg_wire::{Handle, Packet};

/// Two classes, flows of even and of odd number, that send a packet each in turn (NSDI 2016 §2.3: FQ between SJF and
/// FIFO).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Order among flows of even number.
    pub even: ClassOrder,
    /// Order among flows of odd number.
    pub odd: ClassOrder,
}

impl Default for Params {
    // CHOICE UPS §2.3: which flows form which class is not stated
    fn default() -> Self {
        Self { even: ClassOrder::Sjf, odd: ClassOrder::Fifo }
    }
}

/// Order inside a class of the scheduler `parity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassOrder {
    /// First come, first served.
    #[default]
    Fifo,
    /// Last come, first served.
    Lifo,
    /// Any, all equally likely.
    Random,
    /// Smallest flow size first.
    Sjf,
    /// Fewest remaining bytes first.
    Srpt,
}

impl ClassOrder {
    fn key(self) -> Key {
        match self {
            Self::Fifo | Self::Lifo | Self::Random => Key::Nothing,
            Self::Sjf => Key::FlowSize,
            Self::Srpt => Key::Remaining,
        }
    }
}

impl Parameters for Params {
    type Machine = Parity;

    fn needs(&self) -> Needs {
        let key = if self.even.key() == Key::Nothing { self.odd.key() } else { self.even.key() };
        Needs { key, ..Needs::NOTHING }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        let (even, odd) = (self.even.key(), self.odd.key());
        if even != odd && even != Key::Nothing && odd != Key::Nothing {
            problems.wrong("odd", "sjf and srpt need different ranks in one header", "write \"fifo\"");
        }
    }
    fn make(&self, at: &At) -> Result<Parity, Invalid> {
        let mut stream = at.stream;
        let mut inner = |order, class| Inner::new(order, Stream::new(mix64(stream.bits()), "class", class));
        Ok(Parity { classes: [inner(self.even, 0), inner(self.odd, 1)], packets: [0; 2], turn: 0 })
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let pair = |even, odd| Self { even, odd };
        vec![
            pair(ClassOrder::Sjf, ClassOrder::Fifo),
            pair(ClassOrder::Lifo, ClassOrder::Srpt),
            pair(ClassOrder::Random, ClassOrder::Random),
        ]
    }
}

/// An order inside a class.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Inner {
    Fifo(Fifo),
    Lifo(Lifo),
    Random(Random),
    Rank(Box<Rank>),
}

macro_rules! each {
    ($inner:expr, $o:ident => $body:expr) => {
        match $inner {
            Inner::Fifo($o) => $body,
            Inner::Lifo($o) => $body,
            Inner::Random($o) => $body,
            Inner::Rank($o) => $body,
        }
    };
}

impl Inner {
    fn new(order: ClassOrder, stream: Stream) -> Self {
        match order {
            ClassOrder::Fifo => Self::Fifo(Fifo::default()),
            ClassOrder::Lifo => Self::Lifo(Lifo::default()),
            ClassOrder::Random => Self::Random(Random::new(stream)),
            ClassOrder::Sjf | ClassOrder::Srpt => Self::Rank(Box::new(Rank::new(true, false))),
        }
    }
}

/// Two orders that are served alternately.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parity {
    classes: [Inner; 2],
    packets: [u32; 2],
    /// The class whose turn it is.
    turn: u8,
}

impl Parity {
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
    fn refuses(&self, packet: &Packet) -> bool {
        self.classes.iter().any(|class| each!(class, o => o.refuses(packet)))
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
    /// CHOICE UPS §2.3 (FQ of SJF and FIFO): the class that holds more packets gives up the one that its
    /// order gives up, be it the arriving one; of equals the even class.
    fn push_out(&mut self, arriving: Handle) -> Option<Entry> {
        let class = usize::from(self.packets[1] > self.packets[0]);
        let entry = each!(&mut self.classes[class], o => o.push_out(arriving));
        self.forget(class, entry)
    }
}
