//! Numbers and tests as C in 64 bits; new values of states in 128 bits if 64 are not enough for intermediate results.

use crate::generate::numbers::{At, queue_field};
use crate::normal::expression::{BufferField, PacketField, Place, PortField, Relation, Which};
use crate::normal::integer::{Fraction, Int, IntTest};
use crate::normal::range::Limits;
use crate::normal::ratio::Ratio;

/// A test. Targets check that 64 bits are enough.
pub fn test(of: &IntTest, at: At) -> String {
    match of {
        IntTest::Constant(truth) => u8::from(*truth).to_string(),
        IntTest::Compare(relation, a, b) => {
            format!("{} {} {}", number(a, at), operator(*relation), number(b, at))
        }
        IntTest::Not(a) => format!("!({})", test(a, at)),
        IntTest::And(a, b) => format!("({}) && ({})", test(a, at), test(b, at)),
        IntTest::Or(a, b) => format!("({}) || ({})", test(a, at), test(b, at)),
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

/// A number of 64 bits.
pub fn number(of: &Int, at: At) -> String {
    let of_one = |a: &Int| number(a, at);
    match of {
        Int::Constant(value) => constant(*value),
        Int::Read(place) => read(*place, at),
        Int::Neg(a) => format!("(-{})", of_one(a)),
        Int::Add(a, b) => format!("({} + {})", of_one(a), of_one(b)),
        Int::Sub(a, b) => format!("({} - {})", of_one(a), of_one(b)),
        Int::Mul(a, b) => format!("({} * {})", of_one(a), of_one(b)),
        Int::Rem(a, b) => format!("rest({}, {})", of_one(a), of_one(b)),
    }
}

fn constant(value: i128) -> String {
    if value == i128::from(i64::MIN) {
        // C has no negative literals, and the absolute value of this number is none either.
        return "(-9223372036854775807LL - 1)".to_owned();
    }
    if value < 0 { format!("({value}LL)") } else { format!("{value}LL") }
}

/// The statement that sets `state` to this value, rounded down, or counts a fault.
pub fn becomes(state: &str, value: &Fraction, limits: &Limits, at: At) -> String {
    let Fraction { over, under } = value;
    if limits.fits_words(over) && *under == Int::Constant(1) {
        return format!("{state} = {};", number(over, at));
    }
    format!("if (!become(&{state}, {}, {})) faults.states++;", wide(over, limits, at), number(under, at))
}

/// True if the new value of a state can be computed: divisors and remainders have 64 bits.
pub fn can_become(value: &Fraction, limits: &Limits) -> bool {
    fn rests(of: &Int, limits: &Limits) -> bool {
        limits.fits_words(of)
            || match of {
                Int::Constant(_) | Int::Read(_) | Int::Rem(..) => false,
                Int::Neg(a) => rests(a, limits),
                Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) => rests(a, limits) && rests(b, limits),
            }
    }
    limits.fits_words(&value.under) && rests(&value.over, limits)
}

fn wide(of: &Int, limits: &Limits, at: At) -> String {
    if limits.fits_words(of) {
        return format!("(wide){}", number(of, at));
    }
    let of_one = |a: &Int| wide(a, limits, at);
    match of {
        Int::Neg(a) => format!("(-{})", of_one(a)),
        Int::Add(a, b) => format!("({} + {})", of_one(a), of_one(b)),
        Int::Sub(a, b) => format!("({} - {})", of_one(a), of_one(b)),
        Int::Mul(a, b) => format!("times({}, {})", of_one(a), of_one(b)),
        Int::Constant(_) | Int::Read(_) | Int::Rem(..) => number(of, at),
    }
}

/// Draws of 64 bits below this are within the share.
pub fn threshold(share: Ratio) -> String {
    let (over, under) = (share.numerator().unsigned_abs(), share.denominator().unsigned_abs());
    format!("{}ULL", (over << 64).div_ceil(under))
}

/// A field. `a` and `b` are the compared entities; `p` and `v` are those that a hook sees.
fn read(place: Place, at: At) -> String {
    match (place, at) {
        (Place::Packet(_, field), At::Hook) => packet("p->", field),
        (Place::Queue(_, field), At::Hook) => format!("v->{}", queue_field(field)),
        (Place::Packet(which, field), At::Order) => packet(&format!("{}->", side(which)), field),
        (Place::Head(which, field), _) => packet(&format!("{}->head.", side(which)), field),
        (Place::Queue(which, field), At::Order) => format!("{}->queue.{}", side(which), queue_field(field)),
        (Place::Buffer(BufferField::Size), _) => "v->buffer_size".to_owned(),
        (Place::Buffer(BufferField::CurrSize), _) => "v->buffer_curr_size".to_owned(),
        (Place::Buffer(BufferField::AdmState), _) => "v->buffer_adm_state".to_owned(),
        // A rate that the policy does not know is 0, as in all engines.
        (Place::Port(PortField::Rate), _) => "0LL".to_owned(),
        (Place::Port(PortField::SchedState), _) => "v->port_sched_state".to_owned(),
    }
}

fn side(which: Which) -> &'static str {
    match which {
        Which::First => "a",
        Which::Second => "b",
    }
}

/// A policy in the kernel has one version, 0; policies with fields that packets do not have were refused.
fn packet(of: &str, field: PacketField) -> String {
    match field {
        PacketField::Value => format!("{of}value"),
        PacketField::Arrival => format!("{of}arrival"),
        PacketField::Queue => format!("{of}queue"),
        PacketField::Flow => format!("{of}flow"),
        PacketField::Size => format!("{of}size"),
        PacketField::Tos => format!("{of}tos"),
        PacketField::PolicyId | PacketField::Processing | PacketField::Slack | PacketField::Dst => {
            "0LL".to_owned()
        }
    }
}
