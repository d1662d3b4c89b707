//! Typed expressions: the fields that they read, and their values.

use super::ratio::Ratio;
use crate::syntax::tree::words;
use std::cmp::Ordering;

words! {
    /// The fields of a packet (M3).
    PacketField {
        /// Version of the policy under which it was admitted.
        PolicyId = "policyId",
        /// Number of the queue that it joins, in the order of declarations.
        Queue = "queue",
        /// Its value, set by an application.
        Value = "value",
        /// Number of processing cycles that it still needs.
        Processing = "processing",
        /// Longest time from arrival to transmission, ps.
        Slack = "slack",
        /// Number of its flow.
        Flow = "flow",
        /// Time of arrival, ps.
        Arrival = "arrival",
        /// Its bytes.
        Size = "size",
        /// Its type of service.
        Tos = "TOS",
        /// Its destination.
        Dst = "dst",
    }
}

words! {
    /// The fields of a queue.
    QueueField {
        /// Its size, in its own unit.
        Size = "size",
        /// Its length, in its own unit.
        CurrSize = "currSize",
        /// Number of waiting packets.
        Length = "length",
        /// Its state for admission.
        AdmState = "admState",
        /// The same.
        WeightAdm = "weightAdm",
        /// Its state for scheduling.
        SchedState = "schedState",
        /// The same.
        WeightSched = "weightSched",
    }
}

impl QueueField {
    /// Of two names of one field, the one that stands for both.
    pub fn place(self) -> Self {
        match self {
            Self::WeightAdm => Self::AdmState,
            Self::WeightSched => Self::SchedState,
            other => other,
        }
    }
}

words! {
    /// The fields of a buffer.
    BufferField {
        /// Its size, in its own unit.
        Size = "size",
        /// Length of its queues together, in its own unit.
        CurrSize = "currSize",
        /// Its state for admission.
        AdmState = "admState",
    }
}

words! {
    /// The fields of a port.
    PortField {
        /// Its rate in kbit/s.
        Rate = "rate",
        /// Its own state for scheduling.
        SchedState = "schedState",
    }
}

/// Which of the two entities of a comparator. Expressions with one entity have the first only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Which {
    /// The first.
    First,
    /// The second.
    Second,
}

impl Which {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// A whole number that can be read in constant time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// A field of a packet.
    Packet(Which, PacketField),
    /// A field of the first packet of a queue.
    Head(Which, PacketField),
    /// A field of a queue.
    Queue(Which, QueueField),
    /// A field of the buffer.
    Buffer(BufferField),
    /// A field of the port.
    Port(PortField),
}

impl Place {
    /// The same with the two entities of a comparator exchanged.
    pub fn swapped(self) -> Self {
        match self {
            Self::Packet(which, field) => Self::Packet(which.other(), field),
            Self::Head(which, field) => Self::Head(which.other(), field),
            Self::Queue(which, field) => Self::Queue(which.other(), field),
            one => one,
        }
    }
    /// The entity of a comparator that it belongs to.
    pub fn which(self) -> Option<Which> {
        match self {
            Self::Packet(which, _) | Self::Head(which, _) | Self::Queue(which, _) => Some(which),
            Self::Buffer(_) | Self::Port(_) => None,
        }
    }
}

/// A relation of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Relation {
    /// True if numbers in this order have the relation.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::More => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
        }
    }
    /// The relation of `(b, a)` that is equivalent to this one of `(a, b)`.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::More => Self::Less,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }
}

/// A number.
#[derive(Clone, PartialEq, Debug)]
pub enum Amount {
    /// A constant.
    Constant(Ratio),
    /// A field.
    Read(Place),
    /// `-a`
    Neg(Box<Amount>),
    /// `a + b`
    Add(Box<Amount>, Box<Amount>),
    /// `a - b`
    Sub(Box<Amount>, Box<Amount>),
    /// `a * b`
    Mul(Box<Amount>, Box<Amount>),
    /// `a / b`, exact.
    Div(Box<Amount>, Box<Amount>),
    /// `a % b`, never negative.
    Rem(Box<Amount>, Box<Amount>),
}

/// A Boolean.
#[derive(Clone, PartialEq, Debug)]
pub enum Test {
    /// A constant.
    Constant(bool),
    /// Two numbers compared.
    Compare(Relation, Amount, Amount),
    /// `!a`
    Not(Box<Test>),
    /// `a && b`
    And(Box<Test>, Box<Test>),
    /// `a || b`
    Or(Box<Test>, Box<Test>),
}

/// Returns the value of a field.
pub type Look<'a> = &'a dyn Fn(Place) -> i64;

impl Amount {
    /// Its value. `None`: more than 128 bits, which the checker excludes.
    pub fn value(&self, look: Look<'_>) -> Option<Ratio> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Read(place) => Some(Ratio::whole(look(*place))),
            Self::Neg(a) => a.value(look)?.neg(),
            Self::Add(a, b) => a.value(look)?.add(b.value(look)?),
            Self::Sub(a, b) => a.value(look)?.sub(b.value(look)?),
            Self::Mul(a, b) => a.value(look)?.mul(b.value(look)?),
            Self::Div(a, b) => a.value(look)?.div(b.value(look)?),
            Self::Rem(a, b) => a.value(look)?.rem(b.value(look)?),
        }
    }
    /// Calls `see` for every field that it reads.
    pub fn places(&self, see: &mut dyn FnMut(Place)) {
        match self {
            Self::Constant(_) => {}
            Self::Read(place) => see(*place),
            Self::Neg(a) => a.places(see),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) | Self::Div(a, b) | Self::Rem(a, b) => {
                a.places(see);
                b.places(see);
            }
        }
    }
}

impl Test {
    /// Its truth value. `None`: more than 128 bits, which the checker excludes.
    pub fn holds(&self, look: Look<'_>) -> Option<bool> {
        match self {
            Self::Constant(truth) => Some(*truth),
            Self::Compare(relation, a, b) => Some(relation.holds(a.value(look)?.compare(b.value(look)?)?)),
            Self::Not(a) => Some(!a.holds(look)?),
            Self::And(a, b) => Some(a.holds(look)? && b.holds(look)?),
            Self::Or(a, b) => Some(a.holds(look)? || b.holds(look)?),
        }
    }
    /// Calls `see` for every field that it reads.
    pub fn places(&self, see: &mut dyn FnMut(Place)) {
        match self {
            Self::Constant(_) => {}
            Self::Compare(_, a, b) => {
                a.places(see);
                b.places(see);
            }
            Self::Not(a) => a.places(see),
            Self::And(a, b) | Self::Or(a, b) => {
                a.places(see);
                b.places(see);
            }
        }
    }
}
