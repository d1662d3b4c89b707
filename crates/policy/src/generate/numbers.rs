//! Numbers and tests as Rust.

use crate::normal::expression::{BufferField, PacketField, Place, PortField, QueueField, Relation, Which};
use crate::normal::integer::{Int, IntTest};
use crate::normal::range::Limits;

/// The place of code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// In a comparator, or a key.
    Order,
    /// In a hook.
    Hook,
}

/// A test; each comparison is in 64 bits if they are enough.
pub fn test(of: &IntTest, limits: &Limits, at: At) -> String {
    match of {
        IntTest::Constant(truth) => truth.to_string(),
        IntTest::Compare(relation, a, b) => {
            let is_narrow = limits.fits_words(a) && limits.fits_words(b);
            let (a, b) = (number(a, is_narrow, at), number(b, is_narrow, at));
            format!("{a} {} {b}", operator(*relation))
        }
        IntTest::Not(a) => format!("!({})", test(a, limits, at)),
        IntTest::And(a, b) => format!("({}) && ({})", test(a, limits, at), test(b, limits, at)),
        IntTest::Or(a, b) => format!("({}) || ({})", test(a, limits, at), test(b, limits, at)),
    }
}

fn operator(of: Relation) -> &'static str {
    match of {
        Relation::Less => "<",
        Relation::AtMost => "<=",
        Relation::More => ">",
        Relation::AtLeast => ">=",
        Relation::Equal => "==",
        Relation::Unequal => "!=",
    }
}

/// A number of 128 bits, computed in 64 if they are enough.
pub fn wide(of: &Int, limits: &Limits, at: At) -> String {
    if limits.fits_words(of) {
        format!("i128::from({})", number(of, true, at))
    } else {
        number(of, false, at)
    }
}

pub fn number(of: &Int, is_narrow: bool, at: At) -> String {
    let of_one = |a: &Int| number(a, is_narrow, at);
    let both = |a: &Int, b: &Int, sign: &str| format!("({} {sign} {})", of_one(a), of_one(b));
    match of {
        Int::Constant(value) => format!("({value}_{})", if is_narrow { "i64" } else { "i128" }),
        Int::Read(place) if is_narrow => read(*place, at),
        Int::Read(place) => format!("i128::from({})", read(*place, at)),
        Int::Neg(a) => format!("(-{})", of_one(a)),
        Int::Add(a, b) => both(a, b, "+"),
        Int::Sub(a, b) => both(a, b, "-"),
        Int::Mul(a, b) => both(a, b, "*"),
        Int::Rem(a, b) => format!("{}.rem_euclid({})", of_one(a), of_one(b)),
    }
}

/// A field of 64 bits. The names are those of parameters in [`generate`]: `a` and `b` are the compared entities, or the
/// entity with a key; `v` is the view of a hook.
fn read(place: Place, at: At) -> String {
    match (place, at) {
        (Place::Packet(_, field), At::Hook) => packet("v.packet.", field),
        (Place::Queue(_, field), At::Hook) => format!("v.queue.{}", queue_field(field)),
        _ => read_compared(place),
    }
}

fn read_compared(place: Place) -> String {
    match place {
        Place::Packet(which, field) => packet(&format!("{}.", side(which)), field),
        Place::Head(which, field) => packet(&format!("{}.head.", side(which)), field),
        Place::Queue(which, field) => format!("{}.queue.{}", side(which), queue_field(field)),
        Place::Buffer(BufferField::Size) => "v.buffer.size".to_owned(),
        Place::Buffer(BufferField::CurrSize) => "v.buffer.curr_size".to_owned(),
        Place::Buffer(BufferField::AdmState) => "v.buffer.adm_state".to_owned(),
        Place::Port(PortField::Rate) => "v.port.rate".to_owned(),
        Place::Port(PortField::SchedState) => "v.port.sched_state".to_owned(),
    }
}

fn side(which: Which) -> &'static str {
    match which {
        Which::First => "a",
        Which::Second => "b",
    }
}

/// The name of a queue's field in generated code.
pub fn queue_field(field: QueueField) -> &'static str {
    match field.place() {
        QueueField::Size => "size",
        QueueField::CurrSize => "curr_size",
        QueueField::Length => "length",
        QueueField::AdmState | QueueField::WeightAdm => "adm_state",
        QueueField::SchedState | QueueField::WeightSched => "sched_state",
    }
}

fn packet(of: &str, field: PacketField) -> String {
    let narrow = |name: &str| format!("i64::from({of}{name})");
    match field {
        PacketField::Value => format!("{of}value"),
        PacketField::Slack => format!("{of}slack"),
        PacketField::Arrival => format!("{of}arrival"),
        PacketField::PolicyId => narrow("policy_id"),
        PacketField::Queue => narrow("queue"),
        PacketField::Processing => narrow("processing"),
        PacketField::Flow => narrow("flow"),
        PacketField::Size => narrow("size"),
        PacketField::Tos => narrow("tos"),
        PacketField::Dst => narrow("dst"),
    }
}
