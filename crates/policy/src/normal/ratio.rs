//! Exact rationals.

use std::cmp::Ordering;

/// A fraction in lowest terms with a positive denominator. Arithmetic returns `None` if 128 bits are not enough: it
/// neither wraps nor saturates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

fn common(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs().max(1)
}

// Methods, because they may fail, which operators may not.
#[allow(clippy::should_implement_trait)]
impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// One.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// A whole number.
    pub fn whole(n: i64) -> Self {
        Self { numerator: i128::from(n), denominator: 1 }
    }
    /// `n / d`; `None` if `d` is zero, or if the lowest terms do not fit into 128 bits.
    pub fn new(n: i128, d: i128) -> Option<Self> {
        if d == 0 || n == i128::MIN || d == i128::MIN {
            return None;
        }
        let by = common(n, d) * d.signum();
        Some(Self { numerator: n / by, denominator: d / by })
    }
    /// Its numerator in lowest terms.
    pub fn numerator(self) -> i128 {
        self.numerator
    }
    /// Its denominator in lowest terms, positive.
    pub fn denominator(self) -> i128 {
        self.denominator
    }
    /// Its value, if it is whole.
    pub fn as_whole(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }
    /// The value rounded down.
    pub fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }
    /// `-self`
    pub fn neg(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }
    /// `self + other`
    pub fn add(self, other: Self) -> Option<Self> {
        let by = common(self.denominator, other.denominator);
        let (to_self, to_other) = (other.denominator / by, self.denominator / by);
        let one = self.numerator.checked_mul(to_self)?;
        let sum = one.checked_add(other.numerator.checked_mul(to_other)?)?;
        Self::new(sum, self.denominator.checked_mul(to_self)?)
    }
    /// `self - other`
    pub fn sub(self, other: Self) -> Option<Self> {
        self.add(other.neg()?)
    }
    /// `self * other`
    pub fn mul(self, other: Self) -> Option<Self> {
        // Common factors are removed crosswise first, so that the products are already in lowest terms.
        let (a, b) = (common(self.numerator, other.denominator), common(other.numerator, self.denominator));
        let numerator = (self.numerator / a).checked_mul(other.numerator / b)?;
        Self::new(numerator, (self.denominator / b).checked_mul(other.denominator / a)?)
    }
    /// `self / other`
    pub fn div(self, other: Self) -> Option<Self> {
        self.mul(Self::new(other.denominator, other.numerator)?)
    }
    /// The remainder of whole numbers for a positive divisor, never negative.
    pub fn rem(self, other: Self) -> Option<Self> {
        let (of, by) = (self.as_whole()?, other.as_whole()?);
        if by <= 0 { None } else { Self::new(of.rem_euclid(by), 1) }
    }
    /// The order of both; `None` if the products do not fit.
    pub fn compare(self, other: Self) -> Option<Ordering> {
        Some(self.sub(other)?.numerator.cmp(&0))
    }
    /// True if a draw of 64 uniform bits falls within this share.
    pub fn admits(self, draw: u64) -> bool {
        // Both sides times 2⁶⁴; probabilities have at most 18 decimals, so nothing exceeds 128 bits.
        i128::from(draw).saturating_mul(self.denominator) < self.numerator.saturating_mul(1 << 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_five_hundredths_of_twenty_is_nineteen() {
        let share = Ratio::new(95, 100).unwrap();
        assert_eq!((share.numerator(), share.denominator()), (19, 20));
        assert_eq!(share.mul(Ratio::whole(20)), Some(Ratio::whole(19)));
    }

    #[test]
    fn what_has_no_place_is_none_not_something_else() {
        let large = Ratio::new(i128::MAX, 1).unwrap();
        assert_eq!(large.add(Ratio::ONE), None);
        assert_eq!(large.mul(Ratio::whole(2)), None);
        assert_eq!(Ratio::ONE.div(Ratio::ZERO), None);
    }

    #[test]
    fn half_of_all_draws_is_exactly_the_lower_half() {
        let half = Ratio::new(1, 2).unwrap();
        assert!(half.admits(u64::MAX / 2));
        assert!(!half.admits(u64::MAX / 2 + 1));
    }
}
