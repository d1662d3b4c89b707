//! What an algorithm says is wrong with its parameters: one sentence, the way out, and whether it is
//! impossible or only in vain.

use thalweg_units::{Bytes, Rate, Span};

/// Something wrong with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The size of a packet, or of a step: above zero, at most 1 GiB; `said` is what an impossible one is called.
    pub fn size(&mut self, key: &str, size: Bytes, said: impl FnOnce(Bytes) -> String, example: &str) {
        if size.get() == 0 || size.get() > 1 << 30 {
            self.wrong(key, said(size), format!("for example \"{example}\""));
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
    /// The first impossible value, as one line about the algorithm `name`.
    pub(crate) fn first(self, name: &str) -> Result<(), String> {
        match self.0.into_iter().find(|p| !p.useless) {
            Some(Problem { key, reason, hint, .. }) => {
                let key = if key.is_empty() { key } else { format!("`{key}`: ") };
                Err(format!("{name}: {key}{reason}; {hint}"))
            }
            None => Ok(()),
        }
    }
}
