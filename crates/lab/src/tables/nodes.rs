//! `nodes`: one row per host and switch.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};

pub(super) fn table(run: &Run) -> Table {
    let spec = run.engine.spec();
    let all = 0..spec.hosts + spec.switches;
    let kind = |node: u32| if node < spec.hosts { "host" } else { "switch" };
    Table {
        name: "nodes",
        doc: "One row per node: what it is called.",
        columns: vec![
            column("node", "", "number of the node", ColumnData::U32(all.clone().collect())),
            column(
                "name",
                "",
                "what it is called",
                ColumnData::Text(all.clone().map(|n| run.meta.names.of(n)).collect()),
            ),
            column("kind", "", "host or switch", ColumnData::Text(all.map(|n| kind(n).to_owned()).collect())),
        ],
    }
}
