//! From a comparator to a key, so that packets are compared by numbers that are computed once, on arrival (M8).
//!
//! `e(p1) < e(p2)` has the key e, `>` its negative, and `e(p1) < e(p2) || e(p1) == e(p2) && REST` the key e followed by
//! the key of the rest. The key determines the data structure for the packets (M7).

use super::expression::{PacketField, Place, Relation, Which};
use super::integer::{Int, IntTest};
use super::range::Limits;

/// Largest number of levels of an order that is implemented as one list per level.
pub const LEVELS: u128 = 4096;

/// How an order can be implemented. Keys are of the first entity of a comparator; the smallest key ranks first, then
/// the earliest arrival.
#[derive(Clone, PartialEq, Debug)]
pub enum Rank {
    /// By arrival alone.
    Arrival {
        /// The latest arrival ranks first.
        latest: bool,
    },
    /// By a key with few values.
    Bounded {
        /// The key.
        key: Int,
        /// Its smallest value.
        least: i128,
        /// Number of values.
        levels: u16,
    },
    /// By a key.
    General {
        /// The key.
        key: Int,
    },
    /// By the comparator itself.
    Unranked,
}

impl Rank {
    /// The rank of a comparator.
    pub fn of(test: &IntTest, limits: &Limits) -> Self {
        let Some(mut keys) = keys(test) else { return Self::Unranked };
        // Ties go to the earlier arrival anyway.
        while keys.last() == Some(&arrival()) {
            keys.pop();
        }
        if keys.is_empty() {
            return Self::Arrival { latest: false };
        }
        if keys == [-arrival()] {
            return Self::Arrival { latest: true };
        }
        let Some(key) = packed(keys, limits) else { return Self::Unranked };
        match limits.of(&key) {
            Some(range) if range.values() <= LEVELS => {
                Self::Bounded { key, least: range.least, levels: range.values() as u16 }
            }
            Some(_) => Self::General { key },
            None => Self::Unranked,
        }
    }

    /// The key, if it has one.
    pub fn key(&self) -> Option<&Int> {
        match self {
            Self::Bounded { key, .. } | Self::General { key } => Some(key),
            Self::Arrival { .. } | Self::Unranked => None,
        }
    }
}

fn arrival() -> Int {
    Int::Read(Place::Packet(Which::First, PacketField::Arrival))
}

/// The keys of a test that is a lexicographic order.
fn keys(test: &IntTest) -> Option<Vec<Int>> {
    match test {
        IntTest::Constant(false) => Some(Vec::new()),
        IntTest::Compare(relation, a, b) => strict(*relation, a, b).map(|key| vec![key]),
        IntTest::Or(one, other) => chain(one, other).or_else(|| chain(other, one)),
        _ => None,
    }
}

/// `FIRST || EQUAL && REST`
fn chain(first: &IntTest, then: &IntTest) -> Option<Vec<Int>> {
    let IntTest::Compare(relation, a, b) = first else { return None };
    let key = strict(*relation, a, b)?;
    let IntTest::And(one, other) = then else { return None };
    let rest = if ties(one, &key) {
        keys(other)?
    } else if ties(other, &key) {
        keys(one)?
    } else {
        return None;
    };
    Some([vec![key], rest].concat())
}

/// The key of `a < b`, if both sides have the same one.
fn strict(relation: Relation, a: &Int, b: &Int) -> Option<Int> {
    if let (Int::Sub(a, b), Int::Constant(0)) = (a, b) {
        return strict(relation, a, b);
    }
    if only(a, Which::Second) {
        return if only(b, Which::First) { strict(relation.mirrored(), b, a) } else { None };
    }
    if !only(a, Which::First) || *b != a.swapped() {
        return None;
    }
    match relation {
        Relation::Less => Some(a.clone()),
        Relation::More => Some(-a.clone()),
        _ => None,
    }
}

/// True if the test is the equality of this key.
fn ties(test: &IntTest, key: &Int) -> bool {
    let IntTest::Compare(Relation::Equal, a, b) = test else { return false };
    let (a, b) = if only(a, Which::First) { (a, b) } else { (b, a) };
    *b == a.swapped() && (a == key || -a.clone() == *key)
}

/// True if it reads fields of this entity only.
fn only(int: &Int, which: Which) -> bool {
    let (mut some, mut others) = (false, false);
    int.places(&mut |place| match place.which() {
        Some(of) if of != which => others = true,
        _ => some = true,
    });
    some && !others
}

/// One key with the same order as these keys one after the other.
fn packed(keys: Vec<Int>, limits: &Limits) -> Option<Int> {
    let mut keys = keys.into_iter();
    let first = keys.next()?;
    keys.try_fold(first, |all, key| {
        let range = limits.of(&key)?;
        let values = i128::try_from(range.values()).ok()?;
        let from_zero = Int::Sub(Box::new(key), Box::new(Int::Constant(range.least)));
        let shifted = Int::Mul(Box::new(Int::Constant(values)), Box::new(all));
        let all = Int::Add(Box::new(shifted), Box::new(from_zero));
        limits.of(&all)?;
        Some(all)
    })
}
