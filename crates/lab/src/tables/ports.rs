//! `ports`: one row per direction of a link.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};
use thalweg_units::PortId;

pub(super) fn table(run: &Run) -> Table {
    let spec = run.engine.spec();
    let ends: Vec<(u32, u32)> = spec.links.iter().flat_map(|l| [(l.a.0, l.b.0), (l.b.0, l.a.0)]).collect();
    let totals: Vec<_> = (0..ends.len()).map(|p| run.engine.totals(PortId(p as u32))).collect();
    let rate = |port: usize| spec.links[port / 2].direction(PortId(port as u32)).mean_rate().bps();
    let seconds = run.engine.now().secs();
    let used = |p: usize| {
        if seconds > 0.0 { totals[p].bytes as f64 * 8.0 / (rate(p) as f64 * seconds) } else { 0.0 }
    };
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
                "marked",
                "",
                "packets marked",
                ColumnData::U64(totals.iter().map(|t| t.marked).collect()),
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
                ColumnData::U64(totals.iter().map(|t| t.waited).collect()),
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
            column("utilisation", "", "bytes carried / capacity", ColumnData::F64(all.map(used).collect())),
        ],
    }
}
