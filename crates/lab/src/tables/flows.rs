//! `flows`: one row per flow.

use crate::run::Run;
use crate::table::{Field, Rows, Table, Value};
use crate::window::Share;
use thalweg_net::spec::{FlowSpec, Predecessor, Step};
use thalweg_scenario::Section;
use thalweg_scenario::schema::Fct;
use thalweg_sim::{FlowEnd, FlowOutcome};
use thalweg_units::{FlowId, HostId, Time};

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

/// A flow with what its columns are made of.
pub(super) struct Row<'a> {
    run: &'a Run,
    flow: FlowRow<'a>,
    section: &'a Section,
    share: Option<Share>,
}

/// One row per flow.
pub(super) struct Flows;

impl Rows for Flows {
    type Row<'a> = Row<'a>;
    const NAME: &'static str = "flows";
    const DOC: &'static str = "One row per flow.";
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("id", "", "number of the flow, in the order of starts", Value::U32(|r| r.flow.id)),
        Field::new(
            "listed",
            "",
            "number of the flow in its list: `id`, or without that column the row, from 0; null: of no list",
            Value::Maybe(|r| r.run.meta.listed.get(r.flow.id as usize).copied().flatten()),
        ),
        Field::new("src", "", "host that sends", Value::U32(|r| r.host_of(r.flow.spec.src))),
        Field::new("dst", "", "host that receives", Value::U32(|r| r.host_of(r.flow.spec.dst))),
        Field::new(
            "size",
            "B",
            "payload; null: without end",
            Value::Maybe(|r| (!r.flow.endless()).then_some(r.flow.spec.size)),
        ),
        Field::new(
            "start_ps",
            "ps",
            "when it started; null: not started",
            Value::Maybe(|r| ps(r.ends().started)),
        ),
        Field::new(
            "begun_ps",
            "ps",
            "when its first packet began to leave its host: later than its start where it waits behind others, or behind \
             a pause; null: not yet",
            Value::Maybe(|r| ps(r.ends().begun)),
        ),
        Field::new(
            "fct_ps",
            "ps",
            "flow completion time by measure.fct; null: not complete",
            Value::Maybe(|r| r.flow.fct),
        ),
        Field::new(
            "ideal_ps",
            "ps",
            "completion time alone on the same path at line rate",
            Value::U64(|r| r.flow.ideal),
        ),
        Field::new("slowdown", "", "fct / ideal; null: not complete", Value::MaybeF64(|r| r.flow.slowdown())),
        Field::new(
            "received_ps",
            "ps",
            "when the last byte arrived at the receiver; null: never",
            Value::Maybe(|r| ps(r.ends().received)),
        ),
        Field::new(
            "acked_ps",
            "ps",
            "when the ACK of the last byte arrived at the sender; null: never, or nothing is acknowledged",
            Value::Maybe(|r| ps(acked(r.run, &r.flow))),
        ),
        Field::new("delivered", "B", "payload delivered in order", Value::U64(|r| r.ends().delivered)),
        Field::new(
            "throughput_bps",
            "b/s",
            "of a flow without end: payload delivered in the part of its life that lies in the measured window; null: it \
             has a size, or no such part",
            Value::MaybeF64(|r| r.share.as_ref().map(|s| s.delivered as f64 * 8.0 / s.seconds)),
        ),
        Field::new(
            "rtt_ps",
            "ps",
            "mean of the round trips that ACKs of new data measured, SYN-ACK included; null: none",
            Value::Maybe(|r| r.ends().rtt().map(|t| t.ps())),
        ),
        Field::new("packets", "", "data packets sent", Value::U64(|r| r.ends().counts.sent)),
        Field::new(
            "retransmissions",
            "",
            "data packets sent again",
            Value::U64(|r| r.ends().counts.retransmitted),
        ),
        Field::new(
            "timeouts",
            "",
            "expiries of the retransmission timer",
            Value::U64(|r| r.ends().counts.timeouts),
        ),
        Field::new(
            "drops",
            "",
            "packets lost in queues and on links, ACKs included",
            Value::U64(|r| r.ends().counts.drops),
        ),
        Field::new("data_drops", "", "of those, data packets", Value::U64(|r| r.ends().counts.data_drops)),
        Field::new(
            "trims",
            "",
            "data packets cut to their headers on the way, which are no drops (NDP)",
            Value::U64(|r| r.ends().counts.trims),
        ),
        Field::new(
            "wasted_credits",
            "",
            "credits that came when there was nothing left to send (ExpressPass)",
            Value::U64(|r| r.ends().counts.wasted_credits),
        ),
        Field::new(
            "section",
            "",
            "what its section of traffic is called",
            Value::Text(|r| r.section.name.clone()),
        ),
        Field::new(
            "controller",
            "",
            "its congestion controller; of a transport without one, the transport's kind",
            Value::Text(|r| r.section.controller.clone()),
        ),
        Field::new("group", "", "number of its traffic section", Value::U32(|r| r.flow.spec.group.into())),
        Field::new("class", "", "traffic class", Value::U32(|r| r.flow.spec.class.into())),
        Field::new(
            "measured",
            "",
            "counts towards the statistics",
            Value::Bool(|r| r.flow.is_measured(r.run)),
        ),
        Field::new(
            "after",
            "",
            "the flow that it starts after: of several the last to end, or one that has not; null: none, or a \
             computation",
            Value::Maybe(|r| match r.flow.after {
                Some(Step::Flow(flow)) => Some(flow.0.into()),
                _ => None,
            }),
        ),
        Field::new(
            "status",
            "",
            "completed (by measure.fct), stopped, censored (under way as the run ended), failed or not-started",
            Value::Text(|r| r.flow.status().to_owned()),
        ),
        Field::new(
            "end",
            "",
            "the same of both ends together, whatever measure.fct is",
            Value::Text(|r| r.flow.end().0.to_owned()),
        ),
        Field::new(
            "reason",
            "",
            "why it is not completed; null: it is",
            Value::MaybeText(|r| r.flow.end().1),
        ),
    ];
    const SOMETIMES: &'static [Field<Self>] = &[
        Field::new(
            "src_nic",
            "",
            "node by which its host sends, where hosts have several links",
            Value::U32(|r| r.flow.spec.src.0),
        ),
        Field::new(
            "dst_nic",
            "",
            "node by which its host receives, likewise",
            Value::U32(|r| r.flow.spec.dst.0),
        ),
    ];
}

impl<'a> Row<'a> {
    fn of(run: &'a Run, flow: FlowRow<'a>) -> Self {
        let (section, share) = (&run.meta.sections[usize::from(flow.spec.group)], flow.share(run));
        Self { run, flow, section, share }
    }
    fn ends(&self) -> &FlowOutcome {
        &self.flow.outcome
    }
    fn host_of(&self, nic: HostId) -> u32 {
        self.run.engine.spec().host_of(nic).0
    }
}

fn ps(at: Option<Time>) -> Option<u64> {
    at.map(Time::ps)
}

pub(super) fn table(run: &Run) -> Table {
    let rows: Vec<Row<'_>> = flow_rows(run).map(|flow| Row::of(run, flow)).collect();
    Flows::table(&rows, !run.engine.spec().further_nics.is_empty())
}
