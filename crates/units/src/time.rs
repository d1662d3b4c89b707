//! Instants, durations, rates and sizes as private integers.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant: picoseconds since the start of the run. One byte at 400 Gb/s lasts exactly 20 ps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Time(u64);

/// A duration in picoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Span(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Rate(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Bytes(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }
    /// `us` microseconds after the start.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// `ms` milliseconds after the start.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// Picoseconds since the start.
    #[inline(always)]
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds since the start, for people.
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// The time since `earlier`, or zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, stopping at [`Time::MAX`].
    #[inline]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than every run.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }
    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }
    /// Seconds, rounded to the nearest picosecond; negative or not-a-number becomes zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self(libm::round(s * 1e12) as u64)
    }
    /// Picoseconds.
    #[inline(always)]
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds, for people and for controllers that compute in floating point.
    #[inline]
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// `self − other`, or zero.
    #[inline]
    pub const fn saturating_sub(self, other: Span) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// `self × factor`, stopping at [`Span::MAX`].
    #[inline]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
    /// True for the empty duration.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Rate {
    /// Nothing moves.
    pub const ZERO: Self = Self(0);
    /// A link that takes no time to serialise (theory's "white routers").
    pub const INFINITE: Self = Self(u64::MAX);

    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// `mbps` · 10⁶ bits per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }
    /// `gbps` · 10⁹ bits per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }
    /// Bits per second.
    #[inline(always)]
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// Bytes carried in `span`, rounded down; at most `Bytes::MAX`.
    pub fn over(self, span: Span) -> Bytes {
        Bytes(narrow(u128::from(self.0) * u128::from(span.0) / 8_000_000_000_000))
    }
}

impl Bytes {
    /// None.
    pub const ZERO: Self = Self(0);
    /// More than any buffer: "unlimited".
    pub const MAX: Self = Self(u64::MAX);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// `n` · 1000 bytes.
    pub const fn kb(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// The count.
    #[inline(always)]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// `self − other`, or zero.
    #[inline]
    pub const fn saturating_sub(self, other: Bytes) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// What fits of it.
fn narrow(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline(always)]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign<Span> for Time {
    #[inline(always)]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    #[inline(always)]
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}
/// The time between two instants; in debug builds a negative one panics.
impl Sub for Time {
    type Output = Span;
    #[inline(always)]
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}
/// Time on the wire, rounded up: a frame has not left before its last bit has. At most `Span::MAX`.
impl Div<Rate> for Bytes {
    type Output = Span;
    fn div(self, rate: Rate) -> Span {
        if rate == Rate::INFINITE {
            return Span::ZERO;
        }
        // A packet's fits into a word.
        match self.0.checked_mul(8_000_000_000_000) {
            Some(exact) => Span(exact.div_ceil(rate.0)),
            None => Span(narrow((u128::from(self.0) * 8_000_000_000_000).div_ceil(u128::from(rate.0)))),
        }
    }
}
/// How many times `other` fits in `self`, as a number without a dimension.
impl Div for Span {
    type Output = f64;
    fn div(self, other: Span) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

macro_rules! additive {
    ($($t:ident),*) => {$(
        impl Add for $t {
            type Output = $t;
            #[inline(always)]
            fn add(self, other: $t) -> $t { $t(self.0 + other.0) }
        }
        impl AddAssign for $t {
            #[inline(always)]
            fn add_assign(&mut self, other: $t) { self.0 += other.0; }
        }
        impl SubAssign for $t {
            #[inline(always)]
            fn sub_assign(&mut self, other: $t) { self.0 -= other.0; }
        }
        impl Mul<u64> for $t {
            type Output = $t;
            #[inline(always)]
            fn mul(self, factor: u64) -> $t { $t(self.0 * factor) }
        }
        impl std::iter::Sum for $t {
            fn sum<I: Iterator<Item = $t>>(items: I) -> $t { $t(items.map(|i| i.0).sum()) }
        }
    )*};
}
additive!(Span, Rate, Bytes);

macro_rules! subtractive {
    ($($t:ident),*) => {$(
        impl Sub for $t {
            type Output = $t;
            #[inline(always)]
            fn sub(self, other: $t) -> $t { $t(self.0 - other.0) }
        }
        impl Div<u64> for $t {
            type Output = $t;
            fn div(self, divisor: u64) -> $t { $t(self.0 / divisor) }
        }
    )*};
}
subtractive!(Span, Rate, Bytes);

/// How long a link takes to put a frame on the wire: [`Bytes`] ÷ [`Rate`] made cheap.
///
/// Exact for every rate; a multiplication where a byte lasts a whole number of picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Serializer {
    /// Picoseconds per byte; or, with the top bit set, the quantum (zero: none) for the slow way.
    code: u64,
    rate: Rate,
}

const SLOW: u64 = 1 << 63;

impl Serializer {
    /// A link of `rate`. `quantum` zero keeps picoseconds; otherwise times are cut down to whole
    /// quanta, as simulators with nanosecond clocks do (their links are faster than they say).
    pub fn new(rate: Rate, quantum: Span) -> Self {
        let code = match rate {
            Rate::INFINITE => 0,
            Rate(bps) if quantum.is_zero() && bps > 0 && 8_000_000_000_000u64.is_multiple_of(bps) => {
                8_000_000_000_000 / bps
            }
            _ => SLOW | quantum.0,
        };
        Self { code, rate }
    }

    /// Time on the wire of a frame of `wire` bytes.
    #[inline(always)]
    pub fn span(&self, wire: u32) -> Span {
        if self.code & SLOW == 0 { Span(self.code * u64::from(wire)) } else { self.slow(wire) }
    }

    /// Picoseconds per byte, if they are a whole number of them and nothing is cut: then a span is a product.
    pub fn ps_per_byte(&self) -> Option<u64> {
        (self.code & SLOW == 0).then_some(self.code)
    }

    #[cold]
    fn slow(&self, wire: u32) -> Span {
        let quantum = self.code & !SLOW;
        if quantum == 0 {
            return Bytes::new(u64::from(wire)) / self.rate;
        }
        let exact = u128::from(wire) * 8_000_000_000_000 / u128::from(self.rate.0);
        Span(narrow(exact) / quantum * quantum)
    }

    /// What times are cut down to multiples of; zero: nothing is cut.
    pub fn quantum(&self) -> Span {
        if self.code & SLOW == 0 { Span::ZERO } else { Span(self.code & !SLOW) }
    }

    /// The rate this was made for.
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_the_same_whether_or_not_its_bits_fit_into_a_word() {
        // 8 · 10^12 times the first is the last multiple below 2^64.
        let spans = [2_305_843, 2_305_844].map(|bytes| Bytes::new(bytes) / Rate::from_gbps(36));
        assert_eq!(spans, [Span::from_ps(512_409_556), Span::from_ps(512_409_778)]);
    }

    #[test]
    fn a_full_frame_at_100_gbps_takes_120_ns() {
        assert_eq!(Bytes::new(1500) / Rate::from_gbps(100), Span::from_ns(120));
    }

    #[test]
    fn a_frame_has_not_left_before_its_last_bit_has() {
        assert_eq!(Bytes::new(1) / Rate::from_gbps(3), Span::from_ps(2667));
    }

    #[test]
    fn the_cheap_serializer_equals_the_division_for_every_size_and_rate() {
        for rate in [Rate::from_gbps(100), Rate::from_gbps(400), Rate::from_mbps(5556), Rate::from_bps(3)] {
            let s = Serializer::new(rate, Span::ZERO);
            for wire in [0u32, 1, 40, 1500, 9000] {
                assert_eq!(s.span(wire), Bytes::new(u64::from(wire)) / rate, "{wire} at {rate}");
            }
        }
    }

    #[test]
    fn a_nanosecond_clock_truncates() {
        let s = Serializer::new(Rate::from_gbps(100), Span::from_ns(1));
        assert_eq!(s.span(1048), Span::from_ns(83)); // 83.84 ns exactly
    }
}
