//! `works`: one row per computation, where there are any.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};
use thalweg_net::spec::WorkSpec;
use thalweg_sim::WorkRecord;
use thalweg_units::{Time, WorkId};

pub(super) fn table(run: &Run) -> Option<Table> {
    let works = &run.engine.spec().works;
    if works.is_empty() {
        return None;
    }
    let rows: Vec<(&WorkSpec, WorkRecord)> = works
        .iter()
        .enumerate()
        .map(|(number, work)| (work, run.engine.work(WorkId::from(number))))
        .collect();
    let reached = |at: Time| (at != Time::MAX).then_some(at.ps());
    let maybe = |f: &dyn Fn(&(&WorkSpec, WorkRecord)) -> Option<u64>| {
        ColumnData::Maybe(rows.iter().map(f).collect::<Vec<_>>())
    };
    let section = |work: &WorkSpec| run.meta.sections[usize::from(work.group)].name.clone();
    Some(Table {
        name: "works",
        doc: "One row per computation, of runs that have any.",
        columns: vec![
            column("id", "", "number of the computation", ColumnData::U32((0..rows.len() as u32).collect())),
            column("host", "", "where", ColumnData::U32(rows.iter().map(|(work, _)| work.host.0).collect())),
            column(
                "cpu",
                "",
                "the processor that it needs; null: none, it stands for the last of what it follows",
                maybe(&|(work, _)| work.cpu.map(u64::from)),
            ),
            column(
                "lasts_ps",
                "ps",
                "how long it takes",
                ColumnData::U64(rows.iter().map(|(work, _)| work.lasts.ps()).collect()),
            ),
            column(
                "begun_ps",
                "ps",
                "when it got its processor; null: not yet",
                maybe(&|(_, record)| reached(record.begun)),
            ),
            column(
                "ended_ps",
                "ps",
                "when it was over; null: not yet",
                maybe(&|(_, record)| reached(record.ended)),
            ),
            column(
                "section",
                "",
                "what its section of traffic is called",
                ColumnData::Text(rows.iter().map(|(work, _)| section(work)).collect()),
            ),
            column(
                "group",
                "",
                "number of its traffic section",
                ColumnData::U32(rows.iter().map(|(work, _)| u32::from(work.group)).collect()),
            ),
        ],
    })
}
