//! `flows`: one row per flow.

use crate::run::Run;
use crate::table::{ColumnData, Table, column};
use crate::window::Share;
use thalweg_net::spec::{FlowSpec, Predecessor, Step};
use thalweg_scenario::schema::Fct;
use thalweg_sim::{FlowEnd, FlowOutcome};
use thalweg_units::{FlowId, Time};

/// A flow with what became of it.
pub(crate) struct FlowRow<'a> {
    pub id: u32,
    pub spec: &'a FlowSpec,
    pub outcome: FlowOutcome,
    /// What it had to wait for, or has to: of several the last to end, or one that has not ended.
    pub after: Option<Step>,
    /// Completion time by the scenario's measure, ps.
    pub fct: Option<u64>,
    /// The same alone on the path, ps.
    pub ideal: u64,
}

impl FlowRow<'_> {
    /// It counts. Of flows that follow others those do that started in the measured window, or may still start in it,
    /// but answers do with what they answer.
    pub fn is_measured(&self, run: &Run) -> bool {
        let follows = run.engine.spec().precedence.follows(FlowId(self.id));
        let by_start = follows && !run.meta.sections[usize::from(self.spec.group)].answers;
        self.spec.measured && (!by_start || self.may_count(run))
    }
    fn may_count(&self, run: &Run) -> bool {
        match self.outcome.started {
            Some(at) => run.window.holds(at),
            None => run.window.may_hold_after(run.engine.now()),
        }
    }
    pub fn slowdown(&self) -> Option<f64> {
        self.fct.filter(|_| self.ideal > 0).map(|fct| fct as f64 / self.ideal as f64)
    }
    /// How it stands by the scenario's measure: a flow may be complete at its receiver and not at its sender.
    pub fn status(&self) -> &'static str {
        match self.outcome.end {
            FlowEnd::Stopped => "stopped",
            _ if self.fct.is_some() => "completed",
            _ => self.end().0,
        }
    }
    /// How it ended, and, unless it is complete at both ends, why.
    pub fn end(&self) -> (&'static str, Option<&'static str>) {
        match self.outcome.end {
            FlowEnd::Completed => ("completed", None),
            FlowEnd::Stopped => ("stopped", Some("its time was over")),
            FlowEnd::Censored => ("censored", Some("the run ended first")),
            FlowEnd::NotStarted if self.after.is_none() => ("not-started", Some("the run ended first")),
            FlowEnd::NotStarted if matches!(self.after, Some(Step::Work(_))) => {
                ("not-started", Some("a computation that it follows has not ended"))
            }
            FlowEnd::NotStarted => ("not-started", Some("a flow that it follows has not completed")),
            FlowEnd::Stalled => ("failed", Some("stalled: its sender waits for what never comes")),
            FlowEnd::Deadlocked => ("failed", Some("deadlocked: its packets wait behind a cycle of pauses")),
            FlowEnd::Unreachable => ("failed", Some("unreachable: no path is left")),
        }
    }
    /// Of a flow without end: what it has done in the measured window.
    pub fn share(&self, run: &Run) -> Option<Share> {
        run.window.share(FlowId(self.id), &self.outcome, run.engine.now())
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
        // A flow that was stopped had no size to complete.
        let end = end.filter(|_| spec.size != u64::MAX);
        let fct = outcome.started.zip(end).map(|(start, end)| end.since(start).ps());
        let after = last_of(run, run.engine.spec().precedence.of(FlowId(i as u32)));
        FlowRow { id: i as u32, spec, outcome, after, fct, ideal: ideal.ps() }
    })
}

/// Which of these ended last, if all have; else the first that has not.
fn last_of(run: &Run, before: &[Predecessor]) -> Option<Step> {
    let ended = |before: &Predecessor| match *before {
        Predecessor::Flow { flow, end } => run.engine.outcome(flow).ended(end).unwrap_or(Time::MAX),
        Predecessor::Work { work, edge } => run.engine.work(work).reached(edge),
    };
    let mut last = before.first()?;
    for next in before.iter().filter(|_| before.len() > 1) {
        last = if ended(next) > ended(last) { next } else { last };
    }
    Some(last.step())
}

/// When the last ACK came. A sender that waits for none has nothing left to do once it has sent: that is no ACK.
fn acked(run: &Run, row: &FlowRow<'_>) -> Option<Time> {
    let transport = &run.engine.spec().transports[usize::from(row.spec.transport)];
    row.outcome.acked.filter(|_| transport.wire().is_acknowledged())
}

pub(super) fn table(run: &Run) -> Table {
    let rows: Vec<FlowRow<'_>> = flow_rows(run).collect();
    let section = |r: &FlowRow<'_>| &run.meta.sections[usize::from(r.spec.group)];
    let u64s = |f: &dyn Fn(&FlowRow<'_>) -> u64| ColumnData::U64(rows.iter().map(f).collect());
    let u32s = |f: &dyn Fn(&FlowRow<'_>) -> u32| ColumnData::U32(rows.iter().map(f).collect());
    let maybe = |f: &dyn Fn(&FlowRow<'_>) -> Option<u64>| ColumnData::Maybe(rows.iter().map(f).collect());
    let nics = [
        column(
            "src_nic",
            "",
            "node by which its host sends, where hosts have several links",
            u32s(&|r| r.spec.src.0),
        ),
        column("dst_nic", "", "node by which its host receives, likewise", u32s(&|r| r.spec.dst.0)),
    ];
    let mut table = Table {
        name: "flows",
        doc: "One row per flow.",
        columns: vec![
            column("id", "", "number of the flow, in the order of starts", u32s(&|r| r.id)),
            column(
                "listed",
                "",
                "number of the flow in its list: `id`, or without that column the row, from 0; null: of no list",
                maybe(&|r| run.meta.listed.get(r.id as usize).copied().flatten()),
            ),
            column("src", "", "host that sends", u32s(&|r| run.engine.spec().host_of(r.spec.src).0)),
            column("dst", "", "host that receives", u32s(&|r| run.engine.spec().host_of(r.spec.dst).0)),
            column(
                "size",
                "B",
                "payload; null: without end",
                maybe(&|r| (!r.endless()).then_some(r.spec.size)),
            ),
            column(
                "start_ps",
                "ps",
                "when it started; null: not started",
                maybe(&|r| r.outcome.started.map(|t| t.ps())),
            ),
            column(
                "begun_ps",
                "ps",
                "when its first packet began to leave its host: later than its start where it waits behind others, or behind a pause; null: not yet",
                maybe(&|r| r.outcome.begun.map(|t| t.ps())),
            ),
            column(
                "fct_ps",
                "ps",
                "flow completion time by measure.fct; null: not complete",
                maybe(&|r| r.fct),
            ),
            column(
                "ideal_ps",
                "ps",
                "completion time alone on the same path at line rate",
                u64s(&|r| r.ideal),
            ),
            column(
                "slowdown",
                "",
                "fct / ideal; null: not complete",
                ColumnData::MaybeF64(rows.iter().map(FlowRow::slowdown).collect()),
            ),
            column(
                "received_ps",
                "ps",
                "when the last byte arrived at the receiver; null: never",
                maybe(&|r| r.outcome.received.map(|t| t.ps())),
            ),
            column(
                "acked_ps",
                "ps",
                "when the ACK of the last byte arrived at the sender; null: never, or nothing is acknowledged",
                maybe(&|r| acked(run, r).map(|t| t.ps())),
            ),
            column("delivered", "B", "payload delivered in order", u64s(&|r| r.outcome.delivered)),
            column(
                "throughput_bps",
                "b/s",
                "of a flow without end: payload delivered in the part of its life that lies in the measured window; null: it has a size, or no such part",
                ColumnData::MaybeF64(
                    rows.iter().map(|r| r.share(run).map(|s| s.delivered as f64 * 8.0 / s.seconds)).collect(),
                ),
            ),
            column(
                "rtt_ps",
                "ps",
                "mean of the round trips that ACKs of new data measured, SYN-ACK included; null: none",
                maybe(&|r| r.outcome.rtt().map(|t| t.ps())),
            ),
            column("packets", "", "data packets sent", u64s(&|r| r.outcome.counts.sent)),
            column(
                "retransmissions",
                "",
                "data packets sent again",
                u64s(&|r| r.outcome.counts.retransmitted),
            ),
            column(
                "timeouts",
                "",
                "expiries of the retransmission timer",
                u64s(&|r| r.outcome.counts.timeouts),
            ),
            column(
                "drops",
                "",
                "packets lost in queues and on links, ACKs included",
                u64s(&|r| r.outcome.counts.drops),
            ),
            column("data_drops", "", "of those, data packets", u64s(&|r| r.outcome.counts.data_drops)),
            column(
                "trims",
                "",
                "data packets cut to their headers on the way, which are no drops (NDP)",
                u64s(&|r| r.outcome.counts.trims),
            ),
            column(
                "wasted_credits",
                "",
                "credits that came when there was nothing left to send (ExpressPass)",
                u64s(&|r| r.outcome.counts.wasted_credits),
            ),
            column(
                "section",
                "",
                "what its section of traffic is called",
                ColumnData::Text(rows.iter().map(|r| section(r).name.clone()).collect()),
            ),
            column(
                "controller",
                "",
                "its congestion controller; of a transport without one, the transport's kind",
                ColumnData::Text(rows.iter().map(|r| section(r).controller.clone()).collect()),
            ),
            column("group", "", "number of its traffic section", u32s(&|r| u32::from(r.spec.group))),
            column("class", "", "traffic class", u32s(&|r| u32::from(r.spec.class))),
            column(
                "measured",
                "",
                "counts towards the statistics",
                ColumnData::Bool(rows.iter().map(|r| u8::from(r.is_measured(run))).collect()),
            ),
            column(
                "after",
                "",
                "the flow that it starts after: of several the last to end, or one that has not; null: none, or a computation",
                maybe(&|r| match r.after {
                    Some(Step::Flow(flow)) => Some(u64::from(flow.0)),
                    _ => None,
                }),
            ),
            column(
                "status",
                "",
                "completed (by measure.fct), stopped, censored (under way as the run ended), failed or not-started",
                ColumnData::Text(rows.iter().map(|r| r.status().to_owned()).collect()),
            ),
            column(
                "end",
                "",
                "the same of both ends together, whatever measure.fct is",
                ColumnData::Text(rows.iter().map(|r| r.end().0.to_owned()).collect()),
            ),
            column(
                "reason",
                "",
                "why it is not completed; null: it is",
                ColumnData::MaybeText(rows.iter().map(|r| r.end().1.map(str::to_owned)).collect()),
            ),
        ],
    };
    if !run.engine.spec().further_nics.is_empty() {
        table.columns.extend(nics);
    }
    table
}
