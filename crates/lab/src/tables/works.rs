//! `works`: one row per computation, where there are any.

use crate::run::Run;
use crate::table::{Field, Rows, Table, Value};
use thalweg_net::spec::WorkSpec;
use thalweg_sim::WorkRecord;
use thalweg_units::{Time, WorkId};

/// A computation with what became of it.
pub(super) struct Row<'a> {
    number: u32,
    work: &'a WorkSpec,
    record: WorkRecord,
    section: &'a str,
}

/// One row per computation.
pub(super) struct Works;

impl Rows for Works {
    type Row<'a> = Row<'a>;
    const NAME: &'static str = "works";
    const DOC: &'static str = "One row per computation, of runs that have any.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("id", "", "number of the computation", Value::U32(|r| r.number)),
        Field::new("host", "", "where", Value::U32(|r| r.work.host.0)),
        Field::new(
            "cpu",
            "",
            "the processor that it needs; null: none, it stands for the last of what it follows",
            Value::Maybe(|r| r.work.cpu.map(u64::from)),
        ),
        Field::new("lasts_ps", "ps", "how long it takes", Value::U64(|r| r.work.lasts.ps())),
        Field::new(
            "begun_ps",
            "ps",
            "when it got its processor; null: not yet",
            Value::Maybe(|r| reached(r.record.begun)),
        ),
        Field::new(
            "ended_ps",
            "ps",
            "when it was over; null: not yet",
            Value::Maybe(|r| reached(r.record.ended)),
        ),
        Field::new(
            "section",
            "",
            "what its section of traffic is called",
            Value::Text(|r| r.section.to_owned()),
        ),
        Field::new("group", "", "number of its traffic section", Value::U32(|r| r.work.group.into())),
    ];
}

fn reached(at: Time) -> Option<u64> {
    (at != Time::MAX).then_some(at.ps())
}

pub(super) fn table(run: &Run) -> Option<Table> {
    let works = &run.engine.spec().works;
    let rows: Vec<Row<'_>> = works
        .iter()
        .enumerate()
        .map(|(number, work)| Row {
            number: number as u32,
            work,
            record: run.engine.work(WorkId::from(number)),
            section: &run.meta.sections[usize::from(work.group)].name,
        })
        .collect();
    (!rows.is_empty()).then(|| Works::table(&rows, false))
}
