//! `pauses`: one row per pause of a port.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};
use thalweg_sim::PauseRecord;
use thalweg_units::Time;

/// How many pauses lead to each, one the cause of the next: 0 for a root. Causes come before what they cause.
fn depths(pauses: &[PauseRecord]) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::with_capacity(pauses.len());
    for p in pauses {
        let depth = out.get(p.cause as usize).map_or(0, |cause| cause + 1);
        out.push(depth);
    }
    out
}

/// The table, if it was requested.
pub(super) fn table(run: &Run) -> Option<Table> {
    let spec = run.engine.spec();
    if !spec.probes.pauses {
        return None;
    }
    let pauses = run.engine.pauses();
    let ends = |p: &PauseRecord| spec.ends(p.port);
    let u32s = |f: &dyn Fn(&PauseRecord) -> u32| ColumnData::U32(pauses.iter().map(f).collect());
    let maybe = |f: &dyn Fn(&PauseRecord) -> Option<u64>| ColumnData::Maybe(pauses.iter().map(f).collect());
    Some(Table {
        name: "pauses",
        doc: "One row per pause of a port, from the arrival of the frame there to the next one's.",
        columns: vec![
            column("pause", "", "number of the pause", ColumnData::U32((0..pauses.len() as u32).collect())),
            column("port", "", "which had to stop", u32s(&|p| p.port.0)),
            column("from_node", "", "its node", u32s(&|p| ends(p).0.0)),
            column("to_node", "", "the node that made it stop", u32s(&|p| ends(p).1.0)),
            column("began_ps", "ps", "when", ColumnData::U64(pauses.iter().map(|p| p.began.ps()).collect())),
            column(
                "ended_ps",
                "ps",
                "until when; null: it stands",
                maybe(&|p| (p.ended != Time::MAX).then_some(p.ended.ps())),
            ),
            column(
                "cause",
                "",
                "the pause that caused it; null: none, the output was merely busy",
                maybe(&|p| (p.cause != u32::MAX).then_some(u64::from(p.cause))),
            ),
            column(
                "depth",
                "",
                "pauses that led to it, one causing the next",
                ColumnData::U32(depths(pauses)),
            ),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::PortId;

    #[test]
    fn depth_counts_the_pauses_before() {
        let pause = |cause| PauseRecord { port: PortId(0), began: Time::ZERO, ended: Time::MAX, cause };
        let pauses = [u32::MAX, 0, u32::MAX, 1, 1, 4].map(pause);
        assert_eq!(depths(&pauses), [0, 1, 0, 2, 2, 3]);
    }
}
