//! Readers of files in other programs' formats. Pure: text in, values or a line number and a reason out.

pub mod cdf;
pub mod chakra;
mod csv;
pub mod flows;
pub mod goal;
pub mod graph;
pub mod matrix;
pub mod simai;
pub mod tables;
pub mod trace;

use crate::Diagnostic;
pub(crate) use crate::diagnostic::quoted;

/// A mistake in a text, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, counted from 1; 0: the whole text.
    pub line: u32,
    /// What is wrong.
    pub reason: String,
    /// A hint; may be empty.
    pub hint: String,
}

impl ParseError {
    pub(crate) fn new(line: usize, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line: u32::try_from(line).unwrap_or(0), reason: reason.into(), hint: hint.into() }
    }
    pub(crate) fn in_file(self, file: &str) -> Diagnostic {
        let d = Diagnostic::in_file(file, self.line, self.reason);
        if self.hint.is_empty() { d } else { d.hint(self.hint) }
    }
}

/// The lines that are not empty, numbered from 1; `#` starts a comment.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.strip_prefix('\u{feff}')
        .unwrap_or(text)
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty())
}

/// A field of a line.
pub(crate) fn field<T: std::str::FromStr>(
    line: usize,
    what: &str,
    text: Option<&str>,
) -> Result<T, ParseError> {
    let Some(text) = text.map(str::trim).filter(|t| !t.is_empty()) else {
        return Err(ParseError::new(line, format!("{what} is missing"), ""));
    };
    text.parse().map_err(|_| ParseError::new(line, format!("`{}` is not {what}", quoted(text)), ""))
}

/// A decimal number, exactly: its digits, and the number of them after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u128,
    places: i32,
}

/// Digits with a point and an exponent, as programs write numbers (`1460`, `0.15`, `2.5e-05`); not negative. `None` if
/// the text is not such a number.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i16>().ok()?),
        None => (text, 0),
    };
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let part = part.trim_end_matches('0');
    if mantissa.is_empty() || mantissa == "." || whole.len() + part.len() > 38 {
        return None;
    }
    let mut digits = 0u128;
    for byte in whole.bytes().chain(part.bytes()) {
        digits =
            digits.checked_mul(10)?.checked_add(u128::from(byte.checked_sub(b'0').filter(|d| *d < 10)?))?;
    }
    Some(Decimal { digits, places: part.len() as i32 - i32::from(exponent) })
}

impl Decimal {
    /// The number times `times`, rounded down; `None` if it is too large.
    pub(crate) fn scaled(self, times: u128) -> Option<u128> {
        let product = self.digits.checked_mul(times)?;
        match 10u128.checked_pow(self.places.unsigned_abs()) {
            Some(power) if self.places >= 0 => Some(product / power),
            Some(power) => product.checked_mul(power),
            None if self.places >= 0 || product == 0 => Some(0),
            None => None,
        }
    }

    /// The number, if it is whole.
    pub(crate) fn whole(self) -> Option<u128> {
        let whole = self.scaled(1)?;
        let again = Self { digits: whole, places: 0 };
        let exact = match 10u128.checked_pow(self.places.unsigned_abs()) {
            Some(power) if self.places >= 0 => again.digits.checked_mul(power) == Some(self.digits),
            Some(_) => true,
            None => self.digits == 0,
        };
        exact.then_some(whole)
    }
}
