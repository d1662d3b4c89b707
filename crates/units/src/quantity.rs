//! Quantity strings: a number and a unit, no unit ever assumed (`"100Gbps"`, `"2us"`, `"500KB"`).

use crate::{Bytes, Rate, Span, Time};
use std::fmt;
use std::str::FromStr;

/// Why a quantity string is not one; names what was written and which units would fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// What was written.
    pub text: String,
    /// What it is not: "a time", "a rate", "a size".
    pub expected: &'static str,
    /// The units that fit, with the nearest first where one was given.
    pub units: &'static str,
    /// What exactly is wrong.
    pub reason: String,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}: {} (units: {})", self.text, self.expected, self.reason, self.units)
    }
}
impl std::error::Error for QuantityError {}

const TIME: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
const RATE: &[(&str, u64)] = &[
    ("bps", 1),
    ("Kbps", 1_000),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
];
const SIZE: &[(&str, u64)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

fn parse(
    text: &str,
    expected: &'static str,
    units: &'static str,
    table: &[(&str, u64)],
) -> Result<u64, QuantityError> {
    let error = |reason: String| QuantityError { text: text.to_owned(), expected, units, reason };
    let trimmed = text.trim();
    let split =
        trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return Err(error(if trimmed.starts_with('-') {
            "it is negative".into()
        } else {
            "it does not begin with a number".into()
        }));
    }
    if unit.is_empty() {
        return Err(error("the unit is missing".into()));
    }
    let Some(&(_, scale)) = table.iter().find(|(name, _)| *name == unit) else {
        return Err(error(format!("`{unit}` is not a unit of this kind")));
    };
    // Decimal arithmetic in integers: "0.1us" is 100000 ps, not what the nearest float makes of it.
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if fraction.contains('.') {
        return Err(error("it has two decimal points".into()));
    }
    let too_large = || error("it is too large".into());
    let mut value = if whole.is_empty() { 0 } else { whole.parse::<u128>().map_err(|_| too_large())? };
    value = value.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let digits = fraction.trim_end_matches('0');
        if digits.len() > 18 {
            return Err(error("it has more than 18 decimal places".into()));
        }
        let tens = 10u128.pow(digits.len() as u32);
        let part = digits.parse::<u128>().unwrap_or(0) * u128::from(scale);
        if part % tens != 0 {
            return Err(error("it is not a whole number of the smallest unit".into()));
        }
        value += part / tens;
    }
    u64::try_from(value).map_err(|_| too_large())
}

fn show(f: &mut fmt::Formatter<'_>, value: u64, table: &[(&str, u64)]) -> fmt::Result {
    // The fewest digits (256 MB are 250 000 KiB); of as many powers of ten (256 KB are 250 KiB).
    let exact = table.iter().rev().filter(|(_, scale)| value >= *scale && value.is_multiple_of(*scale));
    let digits =
        |(_, scale): &&(&str, u64)| ((value / scale).ilog10(), scale.is_power_of_two() && *scale > 1);
    let (unit, scale) = exact.min_by_key(digits).copied().unwrap_or(table[0]);
    write!(f, "{}{}", value / scale, unit)
}

macro_rules! quantity {
    ($t:ident, $table:ident, $get:ident, $make:path, $expected:literal, $units:literal) => {
        impl FromStr for $t {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                parse(text, $expected, $units, $table).map($make)
            }
        }
        /// In the unit that needs no fraction and the fewest digits; parses back to the same value.
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(f, self.$get(), $table)
            }
        }
    };
}
quantity!(Span, TIME, ps, Span::from_ps, "a time", "ps, ns, us, ms, s");
quantity!(Time, TIME, ps, Time::from_ps, "a time", "ps, ns, us, ms, s");
quantity!(Rate, RATE, bps, Rate::from_bps, "a rate", "bps, Kbps, Mbps, Gbps, Tbps");
quantity!(Bytes, SIZE, get, Bytes::new, "a size", "B, KB, MB, GB, TB, KiB, MiB, GiB");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_unit_of_the_fewest_digits() {
        let shown = [
            ("256MB", "256MB"),
            ("256KB", "256KB"),
            ("64KiB", "64KiB"),
            ("2048KiB", "2MiB"),
            ("1500B", "1500B"),
        ];
        for (written, expected) in
            shown.map(|(written, shown)| (written.parse::<Bytes>().expect("a size"), shown))
        {
            assert_eq!(written.to_string(), expected);
        }
        assert_eq!(
            (Bytes::new(0).to_string(), Rate::from_bps(25_000).to_string()),
            ("0B".into(), "25kbps".into())
        );
    }

    #[test]
    fn units_are_compulsory_and_exact() {
        assert_eq!("2us".parse(), Ok(Span::from_us(2)));
        assert_eq!("0.1us".parse(), Ok(Span::from_ns(100)));
        assert_eq!("100 Gbps".parse(), Ok(Rate::from_gbps(100)));
        assert_eq!("500KB".parse(), Ok(Bytes::new(500_000)));
        assert_eq!("2MiB".parse(), Ok(Bytes::new(2 << 20)));
        for bad in [
            "",
            "5",
            "us",
            ".us",
            "_us",
            "-1us",
            "1.5ps",
            "1..2us",
            "5GBps",
            "99999999999999999999s",
            "1µs",
            "1e3us",
        ] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_shown_parses_back() {
        for ps in [0, 1, 999, 1_000, 48_000_000, 1_500_000_000_000] {
            let span = Span::from_ps(ps);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        assert_eq!(Span::from_us(48).to_string(), "48us");
        assert_eq!(Bytes::kb(500).to_string(), "500KB");
    }
}
