//! `nodes`: one row per host and switch.

use crate::run::Run;
use crate::table::{Field, Rows, Table, Value};
use thalweg_units::HostId;

/// A host or switch, by its number.
pub(super) struct Row<'a> {
    run: &'a Run,
    node: u32,
}

impl Row<'_> {
    fn is_host(&self) -> bool {
        self.node < self.run.engine.spec().hosts
    }
}

/// One row per node.
pub(super) struct Nodes;

impl Rows for Nodes {
    type Row<'a> = Row<'a>;
    const NAME: &'static str = "nodes";
    const DOC: &'static str = "One row per node: what it is called.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("node", "", "number of the node", Value::U32(|r| r.node)),
        Field::new("name", "", "what it is called", Value::Text(|r| r.run.meta.names.of(r.node))),
        Field::new(
            "kind",
            "",
            "host (one of its links, if it has several) or switch",
            Value::Text(|r| if r.is_host() { "host" } else { "switch" }.to_owned()),
        ),
        Field::new(
            "host",
            "",
            "number of the host; of a further link of one it is not the node's; null: a switch",
            Value::Maybe(|r| r.is_host().then(|| r.run.engine.spec().host_of(HostId(r.node)).0.into())),
        ),
    ];
}

pub(super) fn table(run: &Run) -> Table {
    let spec = run.engine.spec();
    let rows: Vec<Row<'_>> = (0..spec.hosts + spec.switches).map(|node| Row { run, node }).collect();
    Nodes::table(&rows, false)
}
