//! `nodes`: one row per host and switch.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};
use thalweg_units::HostId;

pub(super) fn table(run: &Run) -> Table {
    let spec = run.engine.spec();
    let all = 0..spec.hosts + spec.switches;
    let kind = |node: u32| if node < spec.hosts { "host" } else { "switch" };
    let host = |node: u32| (node < spec.hosts).then(|| spec.host_of(HostId(node)).0.into());
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
            column(
                "kind",
                "",
                "host (one of its links, if it has several) or switch",
                ColumnData::Text(all.clone().map(|n| kind(n).to_owned()).collect()),
            ),
            column(
                "host",
                "",
                "number of the host; of a further link of one it is not the node's; null: a switch",
                ColumnData::Maybe(all.map(host).collect()),
            ),
        ],
    }
}
