//! Expressions with types and meanings: what is read, and what it comes to.

use super::ratio::Ratio;
use crate::syntax::tree::words;
use std::cmp::Ordering;

words! {
    /// What is known of a packet (M3).
    PacketField {
        /// Version of the policy under which it was admitted.
        PolicyId = "policyId",
        /// Number of the queue that it joins, in the order of their declarations.
        Queue = "queue",
        /// What an application says that it is worth.
        Value = "value",
        /// Cycles that it still needs.
        Processing = "processing",
        /// Longest time from arrival to transmission, ps.
        Slack = "slack",
        /// Number of its flow.
        Flow = "flow",
        /// When it was received, ps.
        Arrival = "arrival",
        /// Its bytes.
        Size = "size",
        /// Its type of service.
        Tos = "TOS",
        /// Where it goes.
        Dst = "dst",
    }
}

words! {
    /// What is known of a queue.
    QueueField {
        /// How much it holds, in its own unit.
        Size = "size",
        /// How much waits, in its own unit.
        CurrSize = "currSize",
        /// How many packets wait.
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
    /// Fields that have two names have one place.
    pub fn place(self) -> Self {
        match self {
            Self::WeightAdm => Self::AdmState,
            Self::WeightSched => Self::SchedState,
            other => other,
        }
    }
}

words! {
    /// What is known of a buffer.
    BufferField {
        /// How much it holds, in its own unit.
        Size = "size",
        /// How much waits in its queues, in its own unit.
        CurrSize = "currSize",
        /// Its state for admission.
        AdmState = "admState",
    }
}

words! {
    /// What is known of a port.
    PortField {
        /// Its rate in kbit/s.
        Rate = "rate",
        /// Its own state for scheduling.
        SchedState = "schedState",
    }
}

/// Of a comparator's two: which. What has one only has the first.
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
    /// Of a packet.
    Packet(Which, PacketField),
    /// Of the packet that is first in a queue.
    Head(Which, PacketField),
    /// Of a queue.
    Queue(Which, QueueField),
    /// Of the buffer.
    Buffer(BufferField),
    /// Of the port.
    Port(PortField),
}

impl Place {
    /// With the comparator's two in each other's place.
    pub fn swapped(self) -> Self {
        match self {
            Self::Packet(which, field) => Self::Packet(which.other(), field),
            Self::Head(which, field) => Self::Head(which.other(), field),
            Self::Queue(which, field) => Self::Queue(which.other(), field),
            one => one,
        }
    }
    /// Of which of the two.
    pub fn which(self) -> Option<Which> {
        match self {
            Self::Packet(which, _) | Self::Head(which, _) | Self::Queue(which, _) => Some(which),
            Self::Buffer(_) | Self::Port(_) => None,
        }
    }
}

/// What two numbers are to each other.
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
    /// Whether numbers that are ordered so have it.
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
    /// What holds of `(b, a)` where this holds of `(a, b)`.
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
    /// Itself.
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
    /// Itself.
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

/// Reads fields.
pub type Look<'a> = &'a dyn Fn(Place) -> i64;

impl Amount {
    /// What it comes to. `None`: more than 128 bits, which the checker excludes.
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
    /// Shows every place that it reads.
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
    /// Whether it holds. `None`: more than 128 bits, which the checker excludes.
    pub fn holds(&self, look: Look<'_>) -> Option<bool> {
        match self {
            Self::Constant(truth) => Some(*truth),
            Self::Compare(relation, a, b) => Some(relation.holds(a.value(look)?.compare(b.value(look)?)?)),
            Self::Not(a) => Some(!a.holds(look)?),
            Self::And(a, b) => Some(a.holds(look)? && b.holds(look)?),
            Self::Or(a, b) => Some(a.holds(look)? || b.holds(look)?),
        }
    }
    /// Shows every place that it reads.
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
