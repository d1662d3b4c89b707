//! Numbers and tests as code for a stack machine: with 64 bits if nothing can exceed them, else with 128.

use crate::normal::expression::{Place, Relation};
use crate::normal::integer::{Int, IntTest};
use crate::normal::range::Limits;
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// Number of operands that need no allocation.
const STACK: usize = 16;

/// An instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Op {
    Constant(i128),
    Read(Place),
    Neg,
    Add,
    Sub,
    Mul,
    Rem,
    /// Replaces the two topmost values by 1 if they have this relation, else by 0.
    Compare(Relation),
    Not,
    /// Jumps to this instruction if the topmost value is 0 (`IfFalse`) or 1 (`IfTrue`), which then stays; otherwise
    /// removes it.
    IfFalse(u32),
    IfTrue(u32),
}

/// A program, and the stack that it needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    ops: Vec<Op>,
    depth: usize,
    wide: bool,
}

/// The type of numbers that a program computes with.
trait Word:
    Copy + Default + Ord + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    fn of(value: i128) -> Self;
    fn of_field(value: i64) -> Self;
    fn remainder(self, by: Self) -> Self;
    fn wide(self) -> i128;
}

impl Word for i64 {
    fn of(value: i128) -> Self {
        value as i64
    }
    fn of_field(value: i64) -> Self {
        value
    }
    fn remainder(self, by: Self) -> Self {
        self.rem_euclid(by)
    }
    fn wide(self) -> i128 {
        i128::from(self)
    }
}

impl Word for i128 {
    fn of(value: i128) -> Self {
        value
    }
    fn of_field(value: i64) -> Self {
        Self::from(value)
    }
    fn remainder(self, by: Self) -> Self {
        self.rem_euclid(by)
    }
    fn wide(self) -> i128 {
        self
    }
}

/// A program under construction.
struct Writer<'l> {
    ops: Vec<Op>,
    now: usize,
    depth: usize,
    narrow: bool,
    limits: &'l Limits,
}

impl Writer<'_> {
    fn push(&mut self, op: Op, grows: bool) {
        self.ops.push(op);
        self.now = if grows { self.now + 1 } else { self.now };
        self.depth = self.depth.max(self.now);
    }
    fn number(&mut self, int: &Int) {
        self.narrow &= self.limits.of(int).is_some_and(|range| range.fits_word());
        match int {
            Int::Constant(value) => self.push(Op::Constant(*value), true),
            Int::Read(place) => self.push(Op::Read(*place), true),
            Int::Neg(a) => {
                self.number(a);
                self.push(Op::Neg, false);
            }
            Int::Add(a, b) => self.two(a, b, Op::Add),
            Int::Sub(a, b) => self.two(a, b, Op::Sub),
            Int::Mul(a, b) => self.two(a, b, Op::Mul),
            Int::Rem(a, b) => self.two(a, b, Op::Rem),
        }
    }
    fn two(&mut self, a: &Int, b: &Int, op: Op) {
        self.number(a);
        self.number(b);
        self.push(op, false);
        self.now -= 1;
    }
    fn test(&mut self, test: &IntTest) {
        match test {
            IntTest::Constant(truth) => self.push(Op::Constant(i128::from(*truth)), true),
            IntTest::Compare(relation, a, b) => self.two(a, b, Op::Compare(*relation)),
            IntTest::Not(a) => {
                self.test(a);
                self.push(Op::Not, false);
            }
            IntTest::And(a, b) => self.unless(a, b, Op::IfFalse),
            IntTest::Or(a, b) => self.unless(a, b, Op::IfTrue),
        }
    }
    /// The second test is evaluated only if the first does not decide.
    fn unless(&mut self, a: &IntTest, b: &IntTest, jump: fn(u32) -> Op) {
        self.test(a);
        let at = self.ops.len();
        self.push(jump(0), false);
        self.now -= 1;
        self.test(b);
        self.ops[at] = jump(self.ops.len() as u32);
    }
}

impl Program {
    fn write(limits: &Limits, write: impl FnOnce(&mut Writer<'_>)) -> Self {
        let mut writer = Writer { ops: Vec::new(), now: 0, depth: 0, narrow: true, limits };
        write(&mut writer);
        Self { ops: writer.ops, depth: writer.depth, wide: !writer.narrow }
    }

    #[inline]
    fn run(&self, read: impl Fn(Place) -> i64) -> i128 {
        match (self.wide, self.depth <= STACK) {
            (false, true) => self.on(&mut [0i64; STACK], read).wide(),
            (false, false) => self.on(&mut vec![0i64; self.depth], read).wide(),
            (true, true) => self.on(&mut [0i128; STACK], read),
            (true, false) => self.on(&mut vec![0i128; self.depth], read),
        }
    }

    #[inline]
    fn on<W: Word>(&self, stack: &mut [W], read: impl Fn(Place) -> i64) -> W {
        let (mut at, mut top) = (0, 0);
        while let Some(op) = self.ops.get(at) {
            at += 1;
            match *op {
                Op::Constant(value) => {
                    stack[top] = W::of(value);
                    top += 1;
                    continue;
                }
                Op::Read(place) => {
                    stack[top] = W::of_field(read(place));
                    top += 1;
                    continue;
                }
                Op::Neg => {
                    stack[top - 1] = -stack[top - 1];
                    continue;
                }
                Op::Not => {
                    stack[top - 1] = W::of(1) - stack[top - 1];
                    continue;
                }
                Op::IfFalse(to) | Op::IfTrue(to) => {
                    let decides = (stack[top - 1] == W::of(0)) == matches!(op, Op::IfFalse(_));
                    if decides {
                        at = to as usize;
                    } else {
                        top -= 1;
                    }
                    continue;
                }
                Op::Add | Op::Sub | Op::Mul | Op::Rem | Op::Compare(_) => {}
            }
            let (a, b) = (stack[top - 2], stack[top - 1]);
            top -= 1;
            stack[top - 1] = match *op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Rem => a.remainder(b),
                Op::Compare(relation) => W::of(i128::from(relation.holds(a.cmp(&b)))),
                _ => a,
            };
        }
        stack[0]
    }
}

/// A number, with short forms for constants and fields.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// A constant.
    Constant(i128),
    /// A field.
    Field(Place),
    /// The negative of a field.
    NegativeField(Place),
    /// Any other number.
    Program(Program),
}

impl Number {
    /// The code of an integer.
    pub fn of(int: &Int, limits: &Limits) -> Self {
        match int {
            Int::Constant(value) => Self::Constant(*value),
            Int::Read(place) => Self::Field(*place),
            Int::Neg(inner) => match **inner {
                Int::Read(place) => Self::NegativeField(place),
                _ => Self::Program(Program::write(limits, |writer| writer.number(int))),
            },
            int => Self::Program(Program::write(limits, |writer| writer.number(int))),
        }
    }
    /// Evaluates the number.
    #[inline]
    pub fn value(&self, read: impl Fn(Place) -> i64) -> i128 {
        match self {
            Self::Constant(value) => *value,
            Self::Field(place) => i128::from(read(*place)),
            Self::NegativeField(place) => -i128::from(read(*place)),
            Self::Program(program) => program.run(read),
        }
    }
}

/// A test, with short forms for comparisons of fields and constants.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// A constant.
    Constant(bool),
    /// A field compared with a constant.
    Threshold(Relation, Place, i64),
    /// A field compared with another field.
    Fields(Relation, Place, Place),
    /// Any other test.
    Program(Program),
}

impl Condition {
    /// The code of a test.
    pub fn of(test: &IntTest, limits: &Limits) -> Self {
        match test {
            IntTest::Constant(truth) => Self::Constant(*truth),
            IntTest::Compare(relation, Int::Read(a), Int::Read(b)) => Self::Fields(*relation, *a, *b),
            IntTest::Compare(relation, Int::Read(a), Int::Constant(b)) if i64::try_from(*b).is_ok() => {
                Self::Threshold(*relation, *a, *b as i64)
            }
            test => Self::Program(Program::write(limits, |writer| writer.test(test))),
        }
    }
    /// Evaluates the test.
    #[inline]
    pub fn holds(&self, read: impl Fn(Place) -> i64) -> bool {
        let compare = |a: i64, b: i64| -> Ordering { a.cmp(&b) };
        match self {
            Self::Constant(truth) => *truth,
            Self::Threshold(relation, a, b) => relation.holds(compare(read(*a), *b)),
            Self::Fields(relation, a, b) => relation.holds(compare(read(*a), read(*b))),
            Self::Program(program) => program.run(read) != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::expression::{PacketField, Which};

    fn field() -> Box<Int> {
        Box::new(Int::Read(Place::Packet(Which::First, PacketField::Size)))
    }

    #[test]
    fn what_may_exceed_64_bits_is_computed_in_128() {
        let large = Int::Mul(Box::new(Int::Constant(1 << 40)), field());
        let number = Number::of(&large, &Limits::default());
        assert!(matches!(&number, Number::Program(program) if program.wide));
        assert_eq!(number.value(|_| i64::from(u32::MAX)), (1 << 40) * i128::from(u32::MAX));
        let small = Int::Mul(Box::new(Int::Constant(20)), field());
        assert!(matches!(Number::of(&small, &Limits::default()), Number::Program(program) if !program.wide));
    }

    #[test]
    fn conjunctions_stop_where_they_are_decided() {
        let less = |b| IntTest::Compare(Relation::Less, *field(), Int::Constant(b));
        let both = IntTest::And(Box::new(less(10)), Box::new(IntTest::Not(Box::new(less(5)))));
        let either = IntTest::Or(Box::new(both), Box::new(less(3)));
        let condition = Condition::of(&either, &Limits::default());
        let holds: Vec<bool> = [2, 4, 7, 12].iter().map(|size| condition.holds(|_| *size)).collect();
        assert_eq!(holds, [true, false, true, false]);
    }
}
