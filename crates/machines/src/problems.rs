//! What is wrong with parameters: what an algorithm reports of its own ([`Problem`]: one sentence, the way out, and
//! whether it is impossible or only in vain), and why something is not made ([`Invalid`]).

use std::borrow::Cow;
use std::fmt;
use thalweg_units::{Bytes, Rate, Span};

/// Why an algorithm, a queue, a link or an end of a flow is not made: whose parameter it is, which one, what is wrong
/// with it, and the way out. Shown, it is one line.
///
/// ```
/// use thalweg_machines::Invalid;
///
/// let error = Invalid::new("window is 0").of("pHost").at("window").hint("allowed: at least 1");
/// assert_eq!(error.to_string(), "pHost: window is 0; allowed: at least 1");
/// assert_eq!(error.key, "window");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invalid {
    /// Whose parameter: the algorithm's name. Empty where the sentence names it.
    pub of: Cow<'static, str>,
    /// Which one, dotted within the table of its owner. Empty: the whole of it, or what it is made for.
    pub key: Cow<'static, str>,
    /// What is wrong: a sentence that names it.
    pub why: Cow<'static, str>,
    /// The way out. Empty where the sentence names it.
    pub hint: Cow<'static, str>,
}

impl Invalid {
    /// Something is wrong.
    pub fn new(why: impl Into<Cow<'static, str>>) -> Self {
        Self { of: "".into(), key: "".into(), why: why.into(), hint: "".into() }
    }
    /// The same of an algorithm of that name.
    #[must_use]
    pub fn of(self, name: impl Into<Cow<'static, str>>) -> Self {
        Self { of: name.into(), ..self }
    }
    /// The same of that parameter.
    #[must_use]
    pub fn at(self, key: impl Into<Cow<'static, str>>) -> Self {
        Self { key: key.into(), ..self }
    }
    /// The same with a way out.
    #[must_use]
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: hint.into(), ..self }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, why, hint, .. } = self;
        if !of.is_empty() {
            write!(f, "{of}: ")?;
        }
        f.write_str(why)?;
        if hint.is_empty() { Ok(()) } else { write!(f, "; {hint}") }
    }
}

impl std::error::Error for Invalid {}

impl From<String> for Invalid {
    fn from(why: String) -> Self {
        Self::new(why)
    }
}
impl From<&'static str> for Invalid {
    fn from(why: &'static str) -> Self {
        Self::new(why)
    }
}
/// As one line, for those who only pass it on.
impl From<Invalid> for String {
    fn from(error: Invalid) -> Self {
        error.to_string()
    }
}

/// Something wrong with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Which, dotted within the algorithm's table; empty: all of it.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// The way out.
    pub hint: String,
    /// It is not impossible, but cannot take effect.
    pub useless: bool,
}

/// Something wrong in a text that an algorithm is written in: what its user wrote in a language of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// What is wrong.
    pub reason: String,
    /// The way out.
    pub hint: String,
}

/// What is wrong with an algorithm's parameters.
#[derive(Clone, Debug, Default)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// What a check has found.
    pub(crate) fn found(check: impl FnOnce(&mut Self)) -> Vec<Problem> {
        let mut problems = Self::default();
        check(&mut problems);
        problems.0
    }
    /// An impossible value.
    pub fn wrong(&mut self, key: &str, reason: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem { key: key.into(), reason: reason.into(), hint: hint.into(), useless: false });
    }
    /// A setting that changes nothing.
    pub fn useless(&mut self, key: &str, why: &str, hint: impl Into<String>) {
        self.0.push(Problem { key: key.into(), reason: why.into(), hint: hint.into(), useless: true });
    }
    /// A time above zero.
    pub fn positive(&mut self, key: &str, span: Span, example: &str) {
        if span.is_zero() {
            self.wrong(key, "a time of 0 never passes", format!("for example \"{example}\""));
        }
    }
    /// A rate that the line can carry, and that carries something.
    pub fn rate(&mut self, key: &str, rate: Rate, line: Rate) {
        if rate == Rate::ZERO {
            self.wrong(key, "a rate of 0bps sends nothing", "write a rate above zero");
        } else if rate > line {
            let reason = format!("{rate} is above the rate of the slowest host, {line}");
            self.wrong(key, reason, format!("at most \"{line}\""));
        }
    }
    /// The size of a packet, or of a step: above zero, at most 1 GiB; `reason` is what an impossible one is called.
    pub fn size(&mut self, key: &str, size: Bytes, reason: impl FnOnce(Bytes) -> String, example: &str) {
        if size.get() == 0 || size.get() > 1 << 30 {
            self.wrong(key, reason(size), format!("for example \"{example}\""));
        }
    }
    /// The size of a hash table, in entries: at most 2^24.
    pub fn table(&mut self, key: &str, entries: u32) {
        if !(1..=1 << 24).contains(&entries) {
            self.wrong(key, format!("a table of {entries} entries"), "allowed: 1 to 16777216");
        }
    }
    /// A number in (0, 1].
    pub fn share(&mut self, key: &str, value: f64) {
        if !(value > 0.0 && value <= 1.0) {
            self.wrong(key, format!("{value} is out of range"), "allowed: above 0, at most 1");
        }
    }
    /// A number in [0, 1].
    pub fn fraction(&mut self, key: &str, value: f64) {
        if !(0.0..=1.0).contains(&value) {
            self.wrong(key, format!("{value} is out of range"), "allowed: 0 to 1");
        }
    }
    /// A number of things whose orders are made by exclusive or.
    pub fn power_of_two(&mut self, key: &str, value: u32) {
        if !value.is_power_of_two() {
            let below = 1u32 << value.max(2).ilog2();
            let reason = format!("{value} is no power of two, and orders are made by exclusive or");
            self.wrong(key, reason, format!("for example {below}"));
        }
    }
    /// The first impossible value, of the algorithm `name`.
    pub(crate) fn first(self, name: &'static str) -> Result<(), Invalid> {
        let Some(Problem { key, reason, hint, .. }) = self.0.into_iter().find(|p| !p.useless) else {
            return Ok(());
        };
        let why = if key.is_empty() { reason } else { format!("`{key}`: {reason}") };
        Err(Invalid::new(why).of(name).at(key).hint(hint))
    }
}
