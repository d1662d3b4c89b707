//! A controller's internal quantities for time series, such as a minimum round trip. It describes each quantity as it
//! reports it; tables have a column for each.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

type Words = Cow<'static, str>;

/// A quantity of a controller's own state: a column of the table `controllers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantity {
    /// The column's name: with the unit, where it is a time (`min_rtt_ps`).
    pub name: Words,
    /// Its unit; empty: none.
    pub unit: Words,
    /// What it is, and what a missing value means.
    pub doc: Words,
}

/// What one controller reports at one instant.
///
/// ```
/// use thalweg_machines::congestion::Report;
///
/// let mut report = Report::default();
/// report.add("alpha", "", "fraction of bytes that were marked", 0.25);
/// report.add("min_rtt_ps", "ps", "least round trip; null: none yet", None);
/// assert_eq!(report.values().map(|(of, value)| (&*of.name, value)).last(), Some(("min_rtt_ps", None)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report(Vec<(Quantity, Option<f64>)>);

impl Report {
    /// A quantity, and its value now; none, if there is none yet.
    pub fn add(
        &mut self,
        name: impl Into<Words>,
        unit: impl Into<Words>,
        doc: impl Into<Words>,
        value: impl Into<Option<f64>>,
    ) {
        let quantity = Quantity { name: name.into(), unit: unit.into(), doc: doc.into() };
        // NaN and infinities become missing values.
        self.0.push((quantity, value.into().filter(|value| value.is_finite())));
    }

    /// The least round trip that a controller counts with, in picoseconds: many have one.
    pub(in crate::congestion) fn min_rtt(&mut self, ps: Option<f64>) {
        self.add("min_rtt_ps", "ps", "least round trip that the controller counts with; null: none yet", ps);
    }

    /// All, as they were added.
    pub fn values(&self) -> impl Iterator<Item = (&Quantity, Option<f64>)> {
        self.0.iter().map(|(of, value)| (of, *value))
    }
}
