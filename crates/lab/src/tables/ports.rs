//! `ports`: one row per direction of a link.

use crate::run::Run;
use crate::table::{Field, Rows, Table, Value};
use std::ops::Range;
use thalweg_machines::link::TransmitterSpec;
use thalweg_sim::port::PortTotals;
use thalweg_units::{PortId, Time};

/// What could have left by an instant.
pub(crate) fn capacity(run: &Run, port: PortId, until: Time) -> u64 {
    run.engine.spec().direction(port).transmitter.offered(until).get()
}

/// Bytes that have left, over what could have: of a packet in transmission what is out already.
pub(crate) fn utilisation(run: &Run, port: PortId) -> f64 {
    let transmitter = &run.engine.spec().direction(port).transmitter;
    let capacity = match transmitter {
        // (Not in whole bytes.)
        TransmitterSpec::Fixed(fixed) => fixed.rate.bps() as f64 * run.engine.now().secs(),
        _ => capacity(run, port, run.engine.now()) as f64 * 8.0,
    };
    if capacity > 0.0 { run.engine.carried(port).left as f64 * 8.0 / capacity } else { 0.0 }
}

/// Bits that could have left in a window.
pub(crate) fn capacity_in(run: &Run, port: PortId, window: &Range<Time>) -> f64 {
    let transmitter = &run.engine.spec().direction(port).transmitter;
    let span = window.end.ps().saturating_sub(window.start.ps()) as f64 / 1e12;
    match transmitter {
        TransmitterSpec::Fixed(fixed) => fixed.rate.bps() as f64 * span,
        _ => 8.0 * capacity(run, port, window.end).saturating_sub(capacity(run, port, window.start)) as f64,
    }
}

/// Bytes carried in the window in which loads are measured, over what could have left in it.
pub(crate) fn utilisation_in(run: &Run, port: PortId, window: &Range<Time>) -> f64 {
    let capacity = capacity_in(run, port, window);
    if capacity > 0.0 { run.engine.carried_in_window(port) as f64 * 8.0 / capacity } else { 0.0 }
}

/// A direction of a link, with what its port has done.
pub(super) struct Row<'a> {
    run: &'a Run,
    port: PortId,
    ends: (u32, u32),
    totals: PortTotals,
}

/// One row per direction of a link.
pub(super) struct Ports;

impl Rows for Ports {
    type Row<'a> = Row<'a>;
    const NAME: &'static str = "ports";
    const DOC: &'static str = "One row per direction of a link: what its port has done in the whole run.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("port", "", "number of the port", Value::U32(|r| r.port.0)),
        Field::new("from", "", "node", Value::U32(|r| r.ends.0)),
        Field::new("to", "", "node", Value::U32(|r| r.ends.1)),
        Field::new(
            "rate_bps",
            "b/s",
            "of the link; in the long run if it changes",
            Value::U64(|r| r.run.engine.spec().direction(r.port).mean_rate().bps()),
        ),
        Field::new("packets", "", "carried", Value::U64(|r| r.totals.packets)),
        Field::new("bytes", "B", "carried", Value::U64(|r| r.totals.bytes)),
        Field::new("dropped", "", "packets dropped", Value::U64(|r| r.totals.dropped)),
        Field::new("lost", "", "packets lost on the link, by chance", Value::U64(|r| r.totals.lost)),
        Field::new("marked", "", "packets marked", Value::U64(|r| r.totals.marked)),
        Field::new(
            "trimmed",
            "",
            "packets cut to their headers, which are not dropped (NDP)",
            Value::U64(|r| r.totals.trimmed),
        ),
        Field::new("max_queue", "B", "longest queue", Value::U64(|r| r.totals.max_queue)),
        Field::new(
            "waited_ps",
            "packet ps",
            "time that packets have waited, summed",
            // More than a u64 holds where much waits for long.
            Value::F64(|r| r.totals.waited as f64),
        ),
        Field::new("pauses", "", "how often its neighbour made it pause", Value::U64(|r| r.totals.pauses)),
        Field::new(
            "paused_ps",
            "ps",
            "for how long in all, pauses that stand included",
            Value::U64(|r| r.totals.paused),
        ),
        Field::new(
            "capacity",
            "B",
            "what could have left, had something always waited: by the rate, or by the opportunities of a trace",
            Value::U64(|r| capacity(r.run, r.port, r.run.engine.now())),
        ),
        Field::new(
            "utilisation",
            "",
            "bytes that have left / capacity: of a packet in transmission what is out",
            Value::F64(|r| utilisation(r.run, r.port)),
        ),
    ];
}

pub(super) fn table(run: &Run) -> Table {
    let ends = run.engine.spec().links.iter().flat_map(|l| [(l.a.0, l.b.0), (l.b.0, l.a.0)]);
    let row = |(number, ends)| {
        let port = PortId::from(number);
        Row { run, port, ends, totals: run.engine.totals(port) }
    };
    let rows: Vec<Row<'_>> = ends.enumerate().map(row).collect();
    Ports::table(&rows, false)
}
