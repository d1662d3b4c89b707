//! Results as columns with units.

use crate::run::Run;
use crate::schema::Fct;
use thalweg_sim::FlowOutcome;
use thalweg_sim::spec::FlowSpec;
use thalweg_units::{FlowId, PortId};

/// Values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Counts, sizes.
    U64(Vec<u64>),
    /// Times that may be missing: −1.
    I64(Vec<i64>),
    /// Ratios; missing: not a number.
    F64(Vec<f64>),
    /// Numbers of things.
    U32(Vec<u32>),
    /// 0 or 1.
    Bool(Vec<u8>),
    /// Words.
    Text(Vec<String>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty: none.
    pub unit: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its values.
    pub data: ColumnData,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// All of one length.
    pub columns: Vec<Column>,
}

impl ColumnData {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::Bool(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A flow with what became of it.
pub(crate) struct FlowRow<'a> {
    pub id: u32,
    pub spec: &'a FlowSpec,
    pub outcome: FlowOutcome,
    /// Completion time by the scenario's measure, ps.
    pub fct: Option<u64>,
    /// The same alone on the path, ps.
    pub ideal: u64,
}

impl FlowRow<'_> {
    pub fn slowdown(&self) -> Option<f64> {
        self.fct.filter(|_| self.ideal > 0).map(|fct| fct as f64 / self.ideal as f64)
    }
    pub fn status(&self) -> &'static str {
        match (self.fct, self.outcome.started) {
            (Some(_), _) => "completed",
            (None, Some(_)) => "censored",
            (None, None) => "not-started",
        }
    }
    pub fn endless(&self) -> bool {
        self.spec.size == u64::MAX
    }
}

pub(crate) fn flow_rows(run: &Run) -> impl Iterator<Item = FlowRow<'_>> {
    let fct = run.meta.fct;
    run.engine.spec().flows.iter().enumerate().map(move |(i, spec)| {
        let outcome = run.engine.outcome(FlowId(i as u32));
        let (end, ideal) = match fct {
            Fct::Receiver => (outcome.received, outcome.ideal),
            Fct::Sender => (outcome.acked, outcome.ideal_acked),
        };
        let fct = outcome.started.zip(end).map(|(start, end)| end.since(start).ps());
        FlowRow { id: i as u32, spec, outcome, fct, ideal: ideal.ps() }
    })
}

fn flows(run: &Run) -> Table {
    let rows: Vec<FlowRow<'_>> = flow_rows(run).collect();
    let u64s = |f: &dyn Fn(&FlowRow<'_>) -> u64| ColumnData::U64(rows.iter().map(f).collect());
    let u32s = |f: &dyn Fn(&FlowRow<'_>) -> u32| ColumnData::U32(rows.iter().map(f).collect());
    let time = |f: &dyn Fn(&FlowRow<'_>) -> Option<u64>| {
        ColumnData::I64(rows.iter().map(|r| f(r).map_or(-1, |ps| ps as i64)).collect())
    };
    let column = |name, unit, doc, data| Column { name, unit, doc, data };
    Table {
        name: "flows",
        doc: "One row per flow.",
        columns: vec![
            column("id", "", "number of the flow", u32s(&|r| r.id)),
            column("src", "", "host that sends", u32s(&|r| r.spec.src.0)),
            column("dst", "", "host that receives", u32s(&|r| r.spec.dst.0)),
            column("size", "B", "payload; 2^64 - 1: without end", u64s(&|r| r.spec.size)),
            column(
                "start_ps",
                "ps",
                "when it started; -1: not started",
                time(&|r| r.outcome.started.map(|t| t.ps())),
            ),
            column("fct_ps", "ps", "flow completion time by measure.fct; -1: not complete", time(&|r| r.fct)),
            column(
                "ideal_ps",
                "ps",
                "completion time alone on the same path at line rate",
                u64s(&|r| r.ideal),
            ),
            column(
                "slowdown",
                "",
                "fct / ideal; not a number: not complete",
                ColumnData::F64(rows.iter().map(|r| r.slowdown().unwrap_or(f64::NAN)).collect()),
            ),
            column(
                "received_ps",
                "ps",
                "when the last byte arrived at the receiver; -1: never",
                time(&|r| r.outcome.received.map(|t| t.ps())),
            ),
            column(
                "acked_ps",
                "ps",
                "when the ACK of the last byte arrived at the sender; -1: never",
                time(&|r| r.outcome.acked.map(|t| t.ps())),
            ),
            column("delivered", "B", "payload delivered in order", u64s(&|r| r.outcome.delivered)),
            column(
                "rtt_ps",
                "ps",
                "mean of the round trips that ACKs of new data measured, SYN-ACK included; -1: none",
                time(&|r| r.outcome.rtt.map(|t| t.ps())),
            ),
            column("packets", "", "data packets sent", u32s(&|r| r.outcome.sent)),
            column("retransmissions", "", "data packets sent again", u32s(&|r| r.outcome.retransmitted)),
            column("timeouts", "", "expiries of the retransmission timer", u32s(&|r| r.outcome.timeouts)),
            column("drops", "", "packets lost in queues, ACKs included", u32s(&|r| r.outcome.drops)),
            column("group", "", "traffic section", u32s(&|r| u32::from(r.spec.group))),
            column("class", "", "traffic class", u32s(&|r| u32::from(r.spec.class))),
            column(
                "measured",
                "",
                "counts towards the statistics",
                ColumnData::Bool(rows.iter().map(|r| u8::from(r.spec.measured)).collect()),
            ),
            column(
                "status",
                "",
                "completed, censored or not-started",
                ColumnData::Text(rows.iter().map(|r| r.status().to_owned()).collect()),
            ),
        ],
    }
}

fn ports(run: &Run) -> Table {
    let spec = run.engine.spec();
    let ends: Vec<(u32, u32)> = spec.links.iter().flat_map(|l| [(l.a.0, l.b.0), (l.b.0, l.a.0)]).collect();
    let totals: Vec<_> = (0..ends.len()).map(|p| run.engine.totals(PortId(p as u32))).collect();
    let rate = |port: usize| spec.links[port / 2].rate.bps();
    let seconds = run.engine.now().secs();
    let used = |p: usize| {
        if seconds > 0.0 { totals[p].bytes as f64 * 8.0 / (rate(p) as f64 * seconds) } else { 0.0 }
    };
    let column = |name, unit, doc, data| Column { name, unit, doc, data };
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
            column("rate_bps", "b/s", "of the link", ColumnData::U64(all.clone().map(rate).collect())),
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
            column("utilisation", "", "bytes carried / capacity", ColumnData::F64(all.map(used).collect())),
        ],
    }
}

fn series(run: &Run) -> Vec<Table> {
    let probes = run.engine.probes();
    let wanted = &run.engine.spec().probes;
    let column = |name, unit, doc, data| Column { name, unit, doc, data };
    let mut out = Vec::new();
    if wanted.queues.is_some() {
        let q = &probes.queues;
        out.push(Table {
            name: "queues",
            doc: "Queue lengths over time, without the packet being transmitted.",
            columns: vec![
                column("time_ps", "ps", "when", ColumnData::U64(q.iter().map(|s| s.at.ps()).collect())),
                column("port", "", "which", ColumnData::U32(q.iter().map(|s| s.port.0).collect())),
                column("packets", "", "waiting", ColumnData::U32(q.iter().map(|s| s.packets).collect())),
                column("bytes", "B", "waiting", ColumnData::U64(q.iter().map(|s| s.bytes).collect())),
                column(
                    "dropped",
                    "",
                    "packets so far",
                    ColumnData::U64(q.iter().map(|s| s.dropped).collect()),
                ),
                column("marked", "", "packets so far", ColumnData::U64(q.iter().map(|s| s.marked).collect())),
            ],
        });
    }
    if wanted.links.is_some() {
        let l = &probes.links;
        out.push(Table {
            name: "links",
            doc: "What links have carried over time.",
            columns: vec![
                column("time_ps", "ps", "when", ColumnData::U64(l.iter().map(|s| s.at.ps()).collect())),
                column("port", "", "which", ColumnData::U32(l.iter().map(|s| s.port.0).collect())),
                column("packets", "", "so far", ColumnData::U64(l.iter().map(|s| s.packets).collect())),
                column("bytes", "B", "so far", ColumnData::U64(l.iter().map(|s| s.bytes).collect())),
            ],
        });
    }
    if wanted.controllers.is_some() {
        let c = &probes.controllers;
        out.push(Table {
            name: "controllers",
            doc: "Congestion controllers over time.",
            columns: vec![
                column("time_ps", "ps", "when", ColumnData::U64(c.iter().map(|s| s.at.ps()).collect())),
                column("flow", "", "whose", ColumnData::U32(c.iter().map(|s| s.flow.0).collect())),
                column(
                    "window",
                    "B",
                    "payload that may be in the network",
                    ColumnData::U64(c.iter().map(|s| s.window).collect()),
                ),
                column(
                    "threshold",
                    "B",
                    "slow-start threshold; 2^64 - 1: none",
                    ColumnData::U64(c.iter().map(|s| s.threshold).collect()),
                ),
                column(
                    "in_flight",
                    "B",
                    "payload in the network",
                    ColumnData::U64(c.iter().map(|s| s.in_flight).collect()),
                ),
                column(
                    "srtt_ps",
                    "ps",
                    "smoothed round trip; 0: none yet",
                    ColumnData::U64(c.iter().map(|s| s.srtt).collect()),
                ),
                column(
                    "delivered",
                    "B",
                    "payload so far",
                    ColumnData::U64(c.iter().map(|s| s.delivered).collect()),
                ),
            ],
        });
    }
    if wanted.priority_histogram.is_some() {
        let (mut port, mut priority, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        for (p, counts) in probes.priorities.iter().enumerate() {
            for (level, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                port.push(p as u32);
                priority.push(level as u32);
                packets.push(*n);
            }
        }
        out.push(Table {
            name: "priorities",
            doc: "Packets per ADS priority at every port: as CSV, the file of a static ADS map.",
            columns: vec![
                column("port", "", "which", ColumnData::U32(port)),
                column("priority", "", "min(remaining, cap) / mtu, rounded up", ColumnData::U32(priority)),
                column("packets", "", "that joined its queue", ColumnData::U64(packets)),
            ],
        });
    }
    out
}

/// All tables of a run; time series only if they were asked for.
pub(crate) fn all(run: &Run) -> Vec<Table> {
    let mut out = vec![flows(run), ports(run)];
    out.extend(series(run));
    out
}
