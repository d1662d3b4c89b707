//! Quantities that controllers report about themselves, sample by sample. Columns are created when they are first
//! reported.

use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::Quantity;

/// Columns of controller samples in addition to those that all controllers have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnColumns {
    columns: Vec<Quantity>,
    /// Sample, column, and value if it has one; in the order of samples.
    values: Vec<(u32, u16, Option<f64>)>,
}

impl OwnColumns {
    /// Records the report of sample number `sample`. Samples are recorded in ascending order.
    pub(crate) fn record<'a>(
        &mut self,
        sample: usize,
        report: impl IntoIterator<Item = (&'a Quantity, Option<f64>)>,
    ) {
        for (quantity, value) in report {
            let known = self.columns.iter().position(|column| column == quantity);
            let column = known.unwrap_or_else(|| {
                self.columns.push(quantity.clone());
                self.columns.len() - 1
            });
            self.values.push((sample as u32, column as u16, value));
        }
    }

    /// The report of sample number `sample`.
    pub(crate) fn of(&self, sample: usize) -> impl Iterator<Item = (&Quantity, Option<f64>)> {
        let first = self.values.partition_point(|(number, ..)| (*number as usize) < sample);
        let own = self.values[first..].iter().take_while(move |(number, ..)| *number as usize == sample);
        own.map(|(_, column, value)| (&self.columns[usize::from(*column)], *value))
    }

    /// The columns, each with an entry for every one of `samples` samples.
    pub fn columns(&self, samples: usize) -> Vec<(&Quantity, Vec<Option<f64>>)> {
        let mut out: Vec<_> = self.columns.iter().map(|of| (of, vec![None; samples])).collect();
        for (sample, column, value) in &self.values {
            out[usize::from(*column)].1[*sample as usize] = *value;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machines::congestion::Report;

    #[test]
    fn a_column_is_of_all_that_declare_it_alike_and_empty_elsewhere() {
        let mut own = OwnColumns::default();
        let declared = |name: &'static str, unit: &'static str, value: Option<f64>| {
            let mut report = Report::default();
            report.add(name, unit, "", value);
            report
        };
        own.record(0, declared("alpha", "", Some(0.5)).values());
        own.record(2, declared("alpha", "", Some(0.25)).values());
        own.record(2, declared("alpha", "b/s", Some(1.0)).values());
        own.record(3, declared("beta", "", None).values());
        let found: Vec<_> = own.columns(4).into_iter().map(|(of, v)| (of.name.to_string(), v)).collect();
        let alpha = vec![Some(0.5), None, Some(0.25), None];
        let other = vec![None, None, Some(1.0), None];
        assert_eq!(found, [("alpha".into(), alpha), ("alpha".into(), other), ("beta".into(), vec![None; 4])]);
        let mut again = OwnColumns::default();
        (0..4).for_each(|sample| again.record(sample, own.of(sample)));
        assert_eq!(again, own);
    }
}
