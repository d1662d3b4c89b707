//! The ranges of whole numbers: the proof that nothing exceeds 128 bits.

use super::expression::{BufferField, PacketField, Place, PortField, QueueField};
use super::integer::{Int, IntTest};

/// Largest absolute value of intermediate results: far below 128 bits, because exact fractions may have larger
/// intermediate results than whole numbers.
const FAR: i128 = 1 << 120;
/// More bytes than any switch stores.
pub const LARGEST_SIZE: i64 = 1 << 48;

/// A range of numbers, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The smallest number.
    pub least: i128,
    /// The largest number.
    pub greatest: i128,
}

impl Range {
    fn new(a: i128, b: i128) -> Option<Self> {
        (a >= -FAR && b <= FAR).then_some(Self { least: a, greatest: b })
    }
    /// All numbers of 64 bits.
    const WORD: Self = Self { least: i64::MIN as i128, greatest: i64::MAX as i128 };

    /// True if the range fits into 64 bits.
    pub fn fits_word(self) -> bool {
        self.least >= Self::WORD.least && self.greatest <= Self::WORD.greatest
    }
    /// Number of values.
    pub fn values(self) -> u128 {
        self.greatest.abs_diff(self.least) + 1
    }
}

/// The ranges of states: all of 64 bits if an action changes them, else their initial value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// [`QueueField::AdmState`]
    pub queue_adm: Range,
    /// [`QueueField::SchedState`]
    pub queue_sched: Range,
    /// [`BufferField::AdmState`]
    pub buffer_adm: Range,
    /// [`PortField::SchedState`]
    pub port_sched: Range,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queue_adm: Range::WORD,
            queue_sched: Range::WORD,
            buffer_adm: Range::WORD,
            port_sched: Range::WORD,
        }
    }
}

impl Limits {
    /// The range of a field.
    pub fn of_place(&self, place: Place) -> Range {
        let (least, greatest) = match place {
            Place::Packet(_, field) | Place::Head(_, field) => of_packet(field),
            Place::Queue(_, QueueField::Size) | Place::Buffer(BufferField::Size) => (1, LARGEST_SIZE),
            Place::Queue(_, QueueField::CurrSize) | Place::Buffer(BufferField::CurrSize) => (0, LARGEST_SIZE),
            Place::Queue(_, QueueField::Length) => (0, i64::from(u32::MAX)),
            Place::Port(PortField::Rate) => (1, LARGEST_SIZE),
            Place::Queue(_, QueueField::AdmState | QueueField::WeightAdm) => return self.queue_adm,
            Place::Queue(_, QueueField::SchedState | QueueField::WeightSched) => return self.queue_sched,
            Place::Buffer(BufferField::AdmState) => return self.buffer_adm,
            Place::Port(PortField::SchedState) => return self.port_sched,
        };
        Range { least: i128::from(least), greatest: i128::from(greatest) }
    }
}

fn of_packet(field: PacketField) -> (i64, i64) {
    match field {
        PacketField::Value => (i64::MIN, i64::MAX),
        PacketField::Arrival | PacketField::Slack => (0, i64::MAX),
        PacketField::Size => (1, i64::from(u32::MAX)),
        PacketField::Tos => (0, 255),
        PacketField::PolicyId
        | PacketField::Queue
        | PacketField::Processing
        | PacketField::Flow
        | PacketField::Dst => (0, i64::from(u32::MAX)),
    }
}

impl Limits {
    /// The range of a number; `None` if it may exceed the bounds.
    pub fn of(&self, int: &Int) -> Option<Range> {
        let both = |a: &Int, b: &Int| Some((self.of(a)?, self.of(b)?));
        match int {
            Int::Constant(a) => Range::new(*a, *a),
            Int::Read(place) => Some(self.of_place(*place)),
            Int::Neg(a) => self.of(a).and_then(|a| Range::new(-a.greatest, -a.least)),
            Int::Add(a, b) => {
                let (a, b) = both(a, b)?;
                Range::new(a.least + b.least, a.greatest + b.greatest)
            }
            Int::Sub(a, b) => {
                let (a, b) = both(a, b)?;
                Range::new(a.least - b.greatest, a.greatest - b.least)
            }
            Int::Mul(a, b) => {
                let (a, b) = both(a, b)?;
                product(a, b)
            }
            Int::Rem(a, b) => {
                let (_, by) = both(a, b)?;
                Range::new(0, (by.greatest - 1).max(0))
            }
        }
    }

    /// True if all intermediate results stay within 64 bits.
    pub fn fits_words(&self, int: &Int) -> bool {
        let fits = self.of(int).is_some_and(Range::fits_word);
        fits && match int {
            Int::Constant(_) | Int::Read(_) => true,
            Int::Neg(a) => self.fits_words(a),
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Rem(a, b) => {
                self.fits_words(a) && self.fits_words(b)
            }
        }
    }

    /// True if all compared numbers stay within bounds.
    pub fn fit(&self, test: &IntTest) -> bool {
        match test {
            IntTest::Constant(_) => true,
            IntTest::Compare(_, a, b) => self.of(a).is_some() && self.of(b).is_some(),
            IntTest::Not(a) => self.fit(a),
            IntTest::And(a, b) | IntTest::Or(a, b) => self.fit(a) && self.fit(b),
        }
    }
}

fn product(a: Range, b: Range) -> Option<Range> {
    let pairs = [(a.least, b.least), (a.least, b.greatest), (a.greatest, b.least), (a.greatest, b.greatest)];
    let mut corners = [0; 4];
    for (corner, (a, b)) in corners.iter_mut().zip(pairs) {
        *corner = a.checked_mul(b)?;
    }
    Range::new(*corners.iter().min()?, *corners.iter().max()?)
}
