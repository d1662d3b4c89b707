//! What came of a run.

use crate::recording::RecordingCounts;
use crate::run::Run;
use crate::table::Table;
use crate::{summary, tables};

impl Run {
    /// Everything measured, as columns.
    pub fn tables(&self) -> Vec<Table> {
        let mut all = tables::all(self);
        all.extend(self.recorded.iter().flat_map(RecordingCounts::tables));
        all
    }

    /// What a reader wants to know first.
    pub fn summary(&self) -> serde_json::Value {
        let mut summary = summary::summary(self);
        if let Some(counts) = &self.recorded {
            summary["packets"] = counts.summary();
        }
        summary
    }
}
