//! Expressions in whole numbers: fractions are eliminated, constants folded, thresholds solved for the field.
//!
//! A kernel or a generated file computes these: without fractions, and with no division except for new values of
//! states.

use super::expression::{Amount, Place, Relation, Test};

/// A whole number.
#[derive(Clone, PartialEq, Debug)]
pub enum Int {
    /// A constant.
    Constant(i128),
    /// A field.
    Read(Place),
    /// `-a`
    Neg(Box<Int>),
    /// `a + b`
    Add(Box<Int>, Box<Int>),
    /// `a - b`
    Sub(Box<Int>, Box<Int>),
    /// `a * b`
    Mul(Box<Int>, Box<Int>),
    /// `a % b` for `b > 0`, never negative.
    Rem(Box<Int>, Box<Int>),
}

/// `over / under`, with `under > 0`.
#[derive(Clone, PartialEq, Debug)]
pub struct Fraction {
    /// The numerator.
    pub over: Int,
    /// The denominator.
    pub under: Int,
}

/// A Boolean of whole numbers.
#[derive(Clone, PartialEq, Debug)]
pub enum IntTest {
    /// A constant.
    Constant(bool),
    /// Two numbers compared.
    Compare(Relation, Int, Int),
    /// `!a`
    Not(Box<IntTest>),
    /// `a && b`
    And(Box<IntTest>, Box<IntTest>),
    /// `a || b`
    Or(Box<IntTest>, Box<IntTest>),
}

/// The value of a field, if it is known before the policy runs.
pub type Known<'a> = &'a dyn Fn(Place) -> Option<i64>;

impl Int {
    const ONE: Self = Self::Constant(1);

    fn constant(&self) -> Option<i128> {
        if let Self::Constant(value) = self { Some(*value) } else { None }
    }
    fn add(self, other: Self) -> Self {
        match (self.constant(), other.constant()) {
            (Some(0), _) => other,
            (_, Some(0)) => self,
            (Some(a), Some(b)) if a.checked_add(b).is_some() => Self::Constant(a + b),
            _ => Self::Add(Box::new(self), Box::new(other)),
        }
    }
    fn sub(self, other: Self) -> Self {
        match (self.constant(), other.constant()) {
            (_, Some(0)) => self,
            (Some(a), Some(b)) if a.checked_sub(b).is_some() => Self::Constant(a - b),
            _ => Self::Sub(Box::new(self), Box::new(other)),
        }
    }
    fn mul(self, other: Self) -> Self {
        match (self.constant(), other.constant()) {
            (Some(0), _) | (_, Some(0)) => Self::Constant(0),
            (Some(1), _) => other,
            (_, Some(1)) => self,
            (Some(a), Some(b)) if a.checked_mul(b).is_some() => Self::Constant(a * b),
            // Constants go to the left, where later steps look for them.
            (None, Some(_)) => Self::Mul(Box::new(other), Box::new(self)),
            _ => Self::Mul(Box::new(self), Box::new(other)),
        }
    }
    fn rem(self, other: Self) -> Self {
        match (self.constant(), other.constant()) {
            (Some(a), Some(b)) if b > 0 => Self::Constant(a.rem_euclid(b)),
            _ => Self::Rem(Box::new(self), Box::new(other)),
        }
    }
    /// The same with the two entities of a comparator exchanged.
    pub fn swapped(&self) -> Self {
        let both = |a: &Self, b: &Self| (Box::new(a.swapped()), Box::new(b.swapped()));
        match self {
            Self::Constant(a) => Self::Constant(*a),
            Self::Read(place) => Self::Read(place.swapped()),
            Self::Neg(a) => Self::Neg(Box::new(a.swapped())),
            Self::Add(a, b) => Self::from(both(a, b), Self::Add),
            Self::Sub(a, b) => Self::from(both(a, b), Self::Sub),
            Self::Mul(a, b) => Self::from(both(a, b), Self::Mul),
            Self::Rem(a, b) => Self::from(both(a, b), Self::Rem),
        }
    }
    fn from((a, b): (Box<Self>, Box<Self>), make: fn(Box<Self>, Box<Self>) -> Self) -> Self {
        make(a, b)
    }
    /// Calls `see` for every field that it reads.
    pub fn places(&self, see: &mut dyn FnMut(Place)) {
        match self {
            Self::Constant(_) => {}
            Self::Read(place) => see(*place),
            Self::Neg(a) => a.places(see),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) | Self::Rem(a, b) => {
                a.places(see);
                b.places(see);
            }
        }
    }
}

impl std::ops::Neg for Int {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Constant(a) if a != i128::MIN => Self::Constant(-a),
            Self::Neg(inner) => *inner,
            other => Self::Neg(Box::new(other)),
        }
    }
}

impl Fraction {
    fn whole(over: Int) -> Self {
        Self { over, under: Int::ONE }
    }
    fn sum(self, other: Self, join: fn(Int, Int) -> Int) -> Self {
        if self.under == other.under {
            return Self { over: join(self.over, other.over), under: self.under };
        }
        let over = join(self.over.mul(other.under.clone()), other.over.mul(self.under.clone()));
        Self { over, under: self.under.mul(other.under) }
    }
    /// Converts an amount, with known fields substituted. The checker has ensured that divisors are positive and that
    /// the operands of remainders are whole.
    pub fn of(amount: &Amount, known: Known<'_>) -> Self {
        let of = |amount: &Amount| Self::of(amount, known);
        match amount {
            Amount::Constant(value) => {
                Self { over: Int::Constant(value.numerator()), under: Int::Constant(value.denominator()) }
            }
            Amount::Read(place) => match known(*place) {
                Some(value) => Self::whole(Int::Constant(i128::from(value))),
                None => Self::whole(Int::Read(*place)),
            },
            Amount::Neg(a) => {
                let a = of(a);
                Self { over: -a.over, ..a }
            }
            Amount::Add(a, b) => of(a).sum(of(b), Int::add),
            Amount::Sub(a, b) => of(a).sum(of(b), Int::sub),
            Amount::Mul(a, b) => {
                let (a, b) = (of(a), of(b));
                Self { over: a.over.mul(b.over), under: a.under.mul(b.under) }
            }
            Amount::Div(a, b) => {
                let (a, b) = (of(a), of(b));
                Self { over: a.over.mul(b.under), under: a.under.mul(b.over) }
            }
            Amount::Rem(a, b) => Self::whole(of(a).over.rem(of(b).over)),
        }
    }
}

impl IntTest {
    /// Converts a test, with known fields substituted.
    pub fn of(test: &Test, known: Known<'_>) -> Self {
        match test {
            Test::Constant(truth) => Self::Constant(*truth),
            Test::Compare(relation, a, b) => {
                let (a, b) = (Fraction::of(a, known), Fraction::of(b, known));
                if a.under == b.under {
                    return compare(*relation, a.over, b.over);
                }
                compare(*relation, a.over.mul(b.under), b.over.mul(a.under))
            }
            Test::Not(a) => match Self::of(a, known) {
                Self::Constant(truth) => Self::Constant(!truth),
                other => Self::Not(Box::new(other)),
            },
            Test::And(a, b) => match (Self::of(a, known), Self::of(b, known)) {
                (Self::Constant(false), _) | (_, Self::Constant(false)) => Self::Constant(false),
                (Self::Constant(true), other) | (other, Self::Constant(true)) => other,
                (a, b) => Self::And(Box::new(a), Box::new(b)),
            },
            Test::Or(a, b) => match (Self::of(a, known), Self::of(b, known)) {
                (Self::Constant(true), _) | (_, Self::Constant(true)) => Self::Constant(true),
                (Self::Constant(false), other) | (other, Self::Constant(false)) => other,
                (a, b) => Self::Or(Box::new(a), Box::new(b)),
            },
        }
    }
}

fn compare(relation: Relation, a: Int, b: Int) -> IntTest {
    match (a, b) {
        (Int::Constant(a), Int::Constant(b)) => IntTest::Constant(relation.holds(a.cmp(&b))),
        (a @ Int::Constant(_), b) => compare(relation.mirrored(), b, a),
        (Int::Mul(by, a), Int::Constant(b)) => match *by {
            Int::Constant(by) if by > 0 => threshold(relation, by, *a, b),
            by => IntTest::Compare(relation, Int::Mul(Box::new(by), a), Int::Constant(b)),
        },
        (a, b) => IntTest::Compare(relation, a, b),
    }
}

/// Solves `by * a RELATION b` for `a`: 20 a ≥ 19 007 becomes a ≥ 951.
fn threshold(relation: Relation, by: i128, a: Int, b: i128) -> IntTest {
    let (down, exact) = (b.div_euclid(by), b.rem_euclid(by) == 0);
    let up = if exact { down } else { down + 1 };
    match relation {
        Relation::Less | Relation::AtLeast => IntTest::Compare(relation, a, Int::Constant(up)),
        Relation::AtMost | Relation::More => IntTest::Compare(relation, a, Int::Constant(down)),
        Relation::Equal | Relation::Unequal if exact => IntTest::Compare(relation, a, Int::Constant(down)),
        Relation::Equal => IntTest::Constant(false),
        Relation::Unequal => IntTest::Constant(true),
    }
}
