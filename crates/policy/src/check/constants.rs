//! Constants by name.

use crate::normal::ratio::Ratio;
use crate::syntax::tree::Number;
use std::collections::BTreeMap;

/// The constants that `const` declares.
#[derive(Debug, Default)]
pub struct Constants(BTreeMap<String, Ratio>);

/// A number as it is written, exactly.
pub fn exact(number: Number) -> Ratio {
    Ratio::new(i128::from(number.digits), 10i128.pow(number.decimals)).unwrap_or(Ratio::ZERO)
}

impl Constants {
    /// Adds a constant. False if the name is taken.
    pub fn add(&mut self, word: &str, value: Number) -> bool {
        self.0.insert(word.to_owned(), exact(value)).is_none()
    }
    /// The constant with this name.
    pub fn get(&self, word: &str) -> Option<Ratio> {
        self.0.get(word).copied()
    }
}
