//! Time series, if they were requested.

use super::ports::capacity;
use crate::run::Run;
use crate::table::{Column, ColumnData, Field, Rows, Table, Value, column};
use thalweg_sim::probe::{Completion, ControllerSample, LinkSample, QueueSample};

/// No window comes near: what is as large is no limit, or the sum of such.
const UNLIMITED: u64 = u64::MAX / 2;

/// Bytes that are a limit.
fn limit(bytes: u64) -> Option<u64> {
    Some(bytes).filter(|bytes| *bytes < UNLIMITED)
}

/// Queue lengths; flows waiting at each port (opt-in).
pub(super) struct Queues;

impl Rows for Queues {
    type Row<'a> = QueueSample;
    const NAME: &'static str = "queues";
    const DOC: &'static str = "Queue lengths over time, without the packet being transmitted.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("time_ps", "ps", "when", Value::U64(|s| s.at.ps())),
        Field::new("port", "", "which", Value::U32(|s| s.port.0)),
        Field::new("packets", "", "waiting", Value::U32(|s| s.packets)),
        Field::new("bytes", "B", "waiting", Value::U64(|s| s.bytes)),
        Field::new("dropped", "", "packets so far", Value::U64(|s| s.dropped)),
        Field::new("marked", "", "packets so far", Value::U64(|s| s.marked)),
    ];
    const SOMETIMES: &'static [Field<Self>] = &[
        Field::new("flows", "", "of which data waits", Value::U32(|s| s.flows)),
        Field::new("occupied", "", "queues that hold it", Value::U32(|s| s.occupied)),
    ];
}

/// What links have carried; what ports take their links' rates for, if one must estimate that.
pub(super) struct Links;

/// A sample of a link, and what could have left it by then.
pub(super) struct LinkRow<'a> {
    sample: &'a LinkSample,
    capacity: u64,
}

impl Rows for Links {
    type Row<'a> = LinkRow<'a>;
    const NAME: &'static str = "links";
    const DOC: &'static str = "What links have carried over time.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("time_ps", "ps", "when", Value::U64(|r| r.sample.at.ps())),
        Field::new("port", "", "which", Value::U32(|r| r.sample.port.0)),
        Field::new("packets", "", "so far", Value::U64(|r| r.sample.packets)),
        Field::new("bytes", "B", "so far", Value::U64(|r| r.sample.bytes)),
        Field::new(
            "capacity",
            "B",
            "what could have left so far, had something always waited",
            Value::U64(|r| r.capacity),
        ),
    ];
    const SOMETIMES: &'static [Field<Self>] = &[Field::new(
        "estimate",
        "b/s",
        "what the port's marking takes the link's rate for (ABC before batches); null: nothing yet, or it need not \
         estimate",
        Value::Maybe(|r| r.sample.estimate.filter(|rate| *rate > 0)),
    )];
}

/// What samples of all controllers have.
pub(super) struct Controllers;

impl Rows for Controllers {
    type Row<'a> = ControllerSample;
    const NAME: &'static str = "controllers";
    const DOC: &'static str = "Congestion controllers over time.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("time_ps", "ps", "when", Value::U64(|s| s.at.ps())),
        Field::new("flow", "", "whose", Value::U32(|s| s.flow.0)),
        Field::new(
            "window",
            "B",
            "payload that may be in the network; null: no limit",
            Value::Maybe(|s| limit(s.window)),
        ),
        Field::new(
            "threshold",
            "B",
            "slow-start threshold; null: none",
            Value::Maybe(|s| limit(s.threshold)),
        ),
        Field::new("in_flight", "B", "payload in the network", Value::U64(|s| s.in_flight)),
        Field::new(
            "srtt_ps",
            "ps",
            "smoothed round trip; null: none yet",
            Value::Maybe(|s| (s.srtt > 0).then_some(s.srtt)),
        ),
        Field::new(
            "delivered",
            "B",
            "payload so far, in order: what is behind a gap counts when that is filled",
            Value::U64(|s| s.delivered),
        ),
        Field::new(
            "arrived",
            "B",
            "payload that has arrived so far, each byte once, what is behind a gap included: its growth is never faster \
             than a link",
            Value::U64(|s| s.arrived),
        ),
        Field::new("pace", "b/s", "rate on the wire; null: not limited by one", Value::Maybe(|s| s.pace)),
    ];
}

/// What controllers report of themselves, after what all have. A name that is taken gets a number.
fn own(run: &Run, taken: &[Column]) -> Vec<Column> {
    let probes = run.engine.probes();
    let mut names: Vec<String> = taken.iter().map(|column| column.name.to_string()).collect();
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

/// Round trips, each as it was measured.
pub(super) struct RoundTrips;

impl Rows for RoundTrips {
    type Row<'a> = Completion;
    const NAME: &'static str = "round_trips";
    const DOC: &'static str = "Every round trip that a sender measured in the measured window.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("time_ps", "ps", "when its ACK arrived", Value::U64(|s| s.at.ps())),
        Field::new("flow", "", "whose", Value::U32(|s| s.flow.0)),
        Field::new("rtt_ps", "ps", "as reported to its controller", Value::U64(|s| s.rtt.ps())),
        Field::new(
            "pace",
            "b/s",
            "rate on the wire after it; null: not limited by one",
            Value::Maybe(|s| s.pace),
        ),
    ];
}

/// Packets by their priority.
pub(super) struct Priorities;

/// So many packets of a priority at a port.
pub(super) struct PriorityRow {
    port: u32,
    priority: u32,
    packets: u64,
}

impl Rows for Priorities {
    type Row<'a> = PriorityRow;
    const NAME: &'static str = "priorities";
    const DOC: &'static str = "Packets per ADS priority at every port: as CSV, the file of a static ADS map.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("port", "", "which", Value::U32(|r| r.port)),
        Field::new("priority", "", "min(remaining, cap) / mtu, rounded up", Value::U32(|r| r.priority)),
        Field::new("packets", "", "that joined its queue", Value::U64(|r| r.packets)),
    ];
}

/// Those that occur.
fn priorities(run: &Run) -> Vec<PriorityRow> {
    let counted = run.engine.probes().priorities.iter().enumerate();
    counted
        .flat_map(|(port, counts)| {
            let some = counts.iter().enumerate().filter(|(_, packets)| **packets > 0);
            let row = move |(level, packets): (usize, &u64)| PriorityRow {
                port: port as u32,
                priority: level as u32,
                packets: *packets,
            };
            some.map(row)
        })
        .collect()
}

pub(super) fn tables(run: &Run) -> Vec<Table> {
    let (probes, wanted) = (run.engine.probes(), &run.engine.spec().probes);
    let mut out = Vec::new();
    if wanted.queues.is_some() {
        out.push(Queues::table(&probes.queues, wanted.queue_flows));
    }
    if wanted.links.is_some() {
        let estimated = probes.links.iter().any(|s| s.estimate.is_some());
        let row = |sample| LinkRow { sample, capacity: capacity(run, sample.port, sample.at) };
        let rows: Vec<LinkRow<'_>> = probes.links.iter().map(row).collect();
        out.push(Links::table(&rows, estimated));
    }
    if wanted.controllers.is_some() {
        let mut table = Controllers::table(&probes.controllers, false);
        let own = own(run, &table.columns);
        table.columns.extend(own);
        out.push(table);
    }
    if wanted.completions.is_some() {
        out.push(RoundTrips::table(&probes.completions, false));
    }
    if wanted.priority_histogram.is_some() {
        out.push(Priorities::table(&priorities(run), false));
    }
    out
}
