//! Time series, if they were requested.

use super::ports::capacity;
use crate::run::Run;
use crate::table::{Column, ColumnData, Table, column};
use thalweg_sim::probe::ControllerSample;

/// No window comes near: what is as large is no limit, or the sum of such.
const UNLIMITED: u64 = u64::MAX / 2;

/// Columns that samples of all controllers have.
const COMMON: [&str; 9] =
    ["time_ps", "flow", "window", "threshold", "in_flight", "srtt_ps", "delivered", "arrived", "pace"];

/// Flows waiting per port (opt-in).
fn competing(run: &Run) -> Vec<Column> {
    let q = &run.engine.probes().queues;
    if !run.engine.spec().probes.queue_flows {
        return Vec::new();
    }
    vec![
        column("flows", "", "of which data waits", ColumnData::U32(q.iter().map(|s| s.flows).collect())),
        column(
            "occupied",
            "",
            "queues that hold it",
            ColumnData::U32(q.iter().map(|s| s.occupied).collect()),
        ),
    ]
}

/// What ports take their links' rates for, if one must estimate that.
fn estimated(run: &Run) -> Option<Column> {
    let l = &run.engine.probes().links;
    let data = ColumnData::Maybe(l.iter().map(|s| s.estimate.filter(|rate| *rate > 0)).collect());
    let doc = "what the port's marking takes the link's rate for (ABC before batches); null: nothing yet, or it need not estimate";
    l.iter().any(|s| s.estimate.is_some()).then(|| column("estimate", "b/s", doc, data))
}

/// What controllers report of themselves, after what all have. A name that is taken gets a number.
fn own(run: &Run) -> Vec<Column> {
    let probes = run.engine.probes();
    let mut names: Vec<String> = COMMON.iter().map(|&name| name.to_owned()).collect();
    let mut out = Vec::new();
    for (of, values) in probes.own.columns(probes.controllers.len()) {
        let numbered = (2..).map(|n| format!("{}_{n}", of.name));
        let mut candidates = std::iter::once(of.name.to_string()).chain(numbered);
        let name = candidates.find(|name| !names.contains(name)).unwrap_or_default();
        names.push(name.clone());
        out.push(column(name, of.unit.clone(), of.doc.clone(), ColumnData::MaybeF64(values)));
    }
    out
}

pub(super) fn tables(run: &Run) -> Vec<Table> {
    let probes = run.engine.probes();
    let wanted = &run.engine.spec().probes;
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
            ]
            .into_iter()
            .chain(competing(run))
            .collect(),
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
                column(
                    "capacity",
                    "B",
                    "what could have left so far, had something always waited",
                    ColumnData::U64(l.iter().map(|s| capacity(run, s.port, s.at)).collect()),
                ),
            ]
            .into_iter()
            .chain(estimated(run))
            .collect(),
        });
    }
    if wanted.controllers.is_some() {
        let c = &probes.controllers;
        // The largest number stands for no limit.
        let limits = |f: &dyn Fn(&ControllerSample) -> u64| {
            ColumnData::Maybe(c.iter().map(|s| Some(f(s)).filter(|bytes| *bytes < UNLIMITED)).collect())
        };
        out.push(Table {
            name: "controllers",
            doc: "Congestion controllers over time.",
            columns: vec![
                column("time_ps", "ps", "when", ColumnData::U64(c.iter().map(|s| s.at.ps()).collect())),
                column("flow", "", "whose", ColumnData::U32(c.iter().map(|s| s.flow.0).collect())),
                column(
                    "window",
                    "B",
                    "payload that may be in the network; null: no limit",
                    limits(&|s| s.window),
                ),
                column(
                    "threshold",
                    "B",
                    "slow-start threshold; null: none",
                    limits(&|s| s.threshold),
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
                    "smoothed round trip; null: none yet",
                    ColumnData::Maybe(c.iter().map(|s| (s.srtt > 0).then_some(s.srtt)).collect()),
                ),
                column(
                    "delivered",
                    "B",
                    "payload so far, in order: what is behind a gap counts when that is filled",
                    ColumnData::U64(c.iter().map(|s| s.delivered).collect()),
                ),
                column(
                    "arrived",
                    "B",
                    "payload that has arrived so far, each byte once, what is behind a gap included: its growth is never faster than a link",
                    ColumnData::U64(c.iter().map(|s| s.arrived).collect()),
                ),
                column(
                    "pace",
                    "b/s",
                    "rate on the wire; null: not limited by one",
                    ColumnData::Maybe(c.iter().map(|s| s.pace).collect()),
                ),
            ]
            .into_iter()
            .chain(own(run))
            .collect(),
        });
    }
    if wanted.completions.is_some() {
        let c = &probes.completions;
        out.push(Table {
            name: "round_trips",
            doc: "Every round trip that a sender measured in the measured window.",
            columns: vec![
                column(
                    "time_ps",
                    "ps",
                    "when its ACK arrived",
                    ColumnData::U64(c.iter().map(|s| s.at.ps()).collect()),
                ),
                column("flow", "", "whose", ColumnData::U32(c.iter().map(|s| s.flow.0).collect())),
                column(
                    "rtt_ps",
                    "ps",
                    "as reported to its controller",
                    ColumnData::U64(c.iter().map(|s| s.rtt.ps()).collect()),
                ),
                column(
                    "pace",
                    "b/s",
                    "rate on the wire after it; null: not limited by one",
                    ColumnData::Maybe(c.iter().map(|s| s.pace).collect()),
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
