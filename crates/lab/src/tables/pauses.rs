//! `pauses`: one row per pause of a port.

use crate::run::Run;
use crate::table::{Field, Rows, Table, Value};
use thalweg_sim::PauseRecord;
use thalweg_units::Time;

/// How many pauses lead to each, one the cause of the next: 0 for a root. Causes come before what they cause.
fn depths(pauses: &[PauseRecord]) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::with_capacity(pauses.len());
    for p in pauses {
        let depth = p.cause.and_then(|cause| out.get(cause as usize)).map_or(0, |cause| cause + 1);
        out.push(depth);
    }
    out
}

/// A pause with its ends.
pub(super) struct Row<'a> {
    number: u32,
    pause: &'a PauseRecord,
    from: u32,
    to: u32,
    depth: u32,
}

/// One row per pause of a port.
pub(super) struct Pauses;

impl Rows for Pauses {
    type Row<'a> = Row<'a>;
    const NAME: &'static str = "pauses";
    const DOC: &'static str =
        "One row per pause of a port, from the arrival of the frame there to the next one's.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("pause", "", "number of the pause", Value::U32(|r| r.number)),
        Field::new("port", "", "which had to stop", Value::U32(|r| r.pause.port.0)),
        Field::new("from_node", "", "its node", Value::U32(|r| r.from)),
        Field::new("to_node", "", "the node that made it stop", Value::U32(|r| r.to)),
        Field::new("began_ps", "ps", "when", Value::U64(|r| r.pause.began.ps())),
        Field::new(
            "ended_ps",
            "ps",
            "until when; null: it stands",
            Value::Maybe(|r| (r.pause.ended != Time::MAX).then_some(r.pause.ended.ps())),
        ),
        Field::new(
            "cause",
            "",
            "the pause that caused it; null: none, the output was merely busy",
            Value::Maybe(|r| r.pause.cause.map(Into::into)),
        ),
        Field::new("depth", "", "pauses that led to it, one causing the next", Value::U32(|r| r.depth)),
    ];
}

/// The table, if it was requested.
pub(super) fn table(run: &Run) -> Option<Table> {
    let spec = run.engine.spec();
    let pauses = spec.probes.pauses.then(|| run.engine.pauses())?;
    let row = |(number, (pause, depth)): (usize, (_, _))| {
        let pause: &PauseRecord = pause;
        let (from, to) = spec.ends(pause.port);
        Row { number: number as u32, pause, from: from.0, to: to.0, depth }
    };
    let rows: Vec<Row<'_>> = pauses.iter().zip(depths(pauses)).enumerate().map(row).collect();
    Some(Pauses::table(&rows, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::PortId;

    #[test]
    fn depth_counts_the_pauses_before() {
        let pause = |cause| PauseRecord { port: PortId(0), began: Time::ZERO, ended: Time::MAX, cause };
        let pauses = [None, Some(0), None, Some(1), Some(1), Some(4)].map(pause);
        assert_eq!(depths(&pauses), [0, 1, 0, 2, 2, 3]);
    }
}
