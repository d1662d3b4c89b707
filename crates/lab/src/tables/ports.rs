//! `ports`: one row per direction of a link.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};
use std::ops::Range;
use thalweg_machines::link::TransmitterSpec;
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

pub(super) fn table(run: &Run) -> Table {
    let spec = run.engine.spec();
    let ends: Vec<(u32, u32)> = spec.links.iter().flat_map(|l| [(l.a.0, l.b.0), (l.b.0, l.a.0)]).collect();
    let totals: Vec<_> = (0..ends.len()).map(|p| run.engine.totals(PortId(p as u32))).collect();
    let rate = |port: usize| spec.direction(PortId::from(port)).mean_rate().bps();
    let used = |p: usize| utilisation(run, PortId(p as u32));
    let could = |p: usize| capacity(run, PortId(p as u32), run.engine.now());
    let all = 0..ends.len();
    Table {
        name: "ports",
        doc: "One row per direction of a link: what its port has done in the whole run.",
        columns: vec![
            column(
                "port",
                "",
                "number of the port",
                ColumnData::U32(all.clone().map(|p| p as u32).collect()),
            ),
            column("from", "", "node", ColumnData::U32(ends.iter().map(|e| e.0).collect())),
            column("to", "", "node", ColumnData::U32(ends.iter().map(|e| e.1).collect())),
            column(
                "rate_bps",
                "b/s",
                "of the link; in the long run if it changes",
                ColumnData::U64(all.clone().map(rate).collect()),
            ),
            column("packets", "", "carried", ColumnData::U64(totals.iter().map(|t| t.packets).collect())),
            column("bytes", "B", "carried", ColumnData::U64(totals.iter().map(|t| t.bytes).collect())),
            column(
                "dropped",
                "",
                "packets dropped",
                ColumnData::U64(totals.iter().map(|t| t.dropped).collect()),
            ),
            column(
                "lost",
                "",
                "packets lost on the link, by chance",
                ColumnData::U64(totals.iter().map(|t| t.lost).collect()),
            ),
            column(
                "marked",
                "",
                "packets marked",
                ColumnData::U64(totals.iter().map(|t| t.marked).collect()),
            ),
            column(
                "trimmed",
                "",
                "packets cut to their headers, which are not dropped (NDP)",
                ColumnData::U64(totals.iter().map(|t| t.trimmed).collect()),
            ),
            column(
                "max_queue",
                "B",
                "longest queue",
                ColumnData::U64(totals.iter().map(|t| t.max_queue).collect()),
            ),
            column(
                "waited_ps",
                "packet ps",
                "time that packets have waited, summed",
                // More than a u64 holds where much waits for long.
                ColumnData::F64(totals.iter().map(|t| t.waited as f64).collect()),
            ),
            column(
                "pauses",
                "",
                "how often its neighbour made it pause",
                ColumnData::U64(totals.iter().map(|t| t.pauses).collect()),
            ),
            column(
                "paused_ps",
                "ps",
                "for how long in all, pauses that stand included",
                ColumnData::U64(totals.iter().map(|t| t.paused).collect()),
            ),
            column(
                "capacity",
                "B",
                "what could have left, had something always waited: by the rate, or by the opportunities of a trace",
                ColumnData::U64(all.clone().map(could).collect()),
            ),
            column(
                "utilisation",
                "",
                "bytes that have left / capacity: of a packet in transmission what is out",
                ColumnData::F64(all.map(used).collect()),
            ),
        ],
    }
}
