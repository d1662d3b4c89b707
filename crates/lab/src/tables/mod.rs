//! A run's results as tables.

mod flows;
mod memory;
mod nodes;
mod pauses;
mod ports;
mod series;
mod works;

pub(crate) use flows::{FlowRow, flow_rows};
pub(crate) use memory::{MemoryRow, memory_rows};
pub(crate) use ports::{capacity_in, utilisation, utilisation_in};

use crate::run::Run;
use crate::table::Rows;
use crate::{Layout, Table};

/// All tables of a run; time series only if they were requested.
pub(crate) fn all(run: &Run) -> Vec<Table> {
    let mut out = vec![flows::table(run), ports::table(run), nodes::table(run)];
    out.extend(series::tables(run));
    out.extend(pauses::table(run));
    out.extend(memory::table(run));
    out.extend(works::table(run));
    out
}

/// What tables there are, in the order of [`all`], each with every column that it may have; controllers' own are not
/// among these.
pub fn layouts() -> Vec<Layout> {
    vec![
        flows::Flows::layout(),
        ports::Ports::layout(),
        nodes::Nodes::layout(),
        series::Queues::layout(),
        series::Links::layout(),
        series::Controllers::layout(),
        series::RoundTrips::layout(),
        series::Priorities::layout(),
        pauses::Pauses::layout(),
        memory::Memory::layout(),
        works::Works::layout(),
    ]
}
