//! A job as a whole: from its start until the last of its flows and computations is over, and how much of that is
//! computing.
//!
//! The longest chain of computations is the longest time that computations take which had to come one after the other
//! in this run, because one followed the other, directly or by way of flows, or because they shared a processor. The
//! pause of a flow after those that it follows counts as computing: it is the `compute` of collective operations. What
//! the job takes longer than that is communication that no computation hides.

use crate::run::Run;
use crate::statistics::statistics;
use crate::tables::FlowRow;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use thalweg_net::spec::{Edge, End, Predecessor, Step};
use thalweg_units::{Span, Time};

/// How long the section's job has taken, where it is over; at which of its hosts it was over when.
pub(crate) fn job(run: &Run, rows: &[FlowRow<'_>], section: usize) -> Json {
    let spec = run.engine.spec();
    let (mut start, mut end, mut over) = (Time::MAX, Time::ZERO, true);
    let mut hosts: BTreeMap<u32, Time> = BTreeMap::new();
    let mut note = |host: u32, at: Time| {
        let last = hosts.entry(host).or_insert(Time::ZERO);
        *last = at.max(*last);
        end = at.max(end);
    };
    let mut computations = 0u64;
    for step in steps(run).filter(|step| group(run, *step) == section) {
        let by_clock = spec.precedence.of_step(step).is_empty();
        let begins = match step {
            Step::Flow(flow) => {
                let FlowRow { spec: flow, outcome, .. } = &rows[flow.at()];
                outcome.started.into_iter().for_each(|at| note(flow.src.0, at));
                outcome.received.into_iter().for_each(|at| note(flow.dst.0, at));
                over &= outcome.received.is_some();
                flow.start
            }
            Step::Work(work) => {
                let (work, record) = (&spec.works[work.at()], run.engine.work(work));
                computations += u64::from(!work.lasts.is_zero());
                over &= record.ended != Time::MAX;
                if record.ended != Time::MAX {
                    note(work.host.0, record.ended);
                }
                work.start
            }
        };
        start = if by_clock { begins.min(start) } else { start };
    }
    let us = |span: Span| span.ps() as f64 / 1e6;
    let takes = (over && end >= start).then(|| end.since(start));
    let chain = takes.map(|_| longest_chain(run, rows, section));
    let finish: Vec<Span> = hosts.into_values().filter(|at| *at >= start).map(|at| at.since(start)).collect();
    let spread = finish.iter().max().zip(finish.iter().min()).map(|(last, first)| us(*last) - us(*first));
    json!({
        "completion_us": takes.map(us),
        "compute_us": chain.map(us),
        "exposed_us": takes.zip(chain).map(|(all, chain)| us(all.saturating_sub(chain))),
        "computations": computations,
        "hosts_us": statistics(finish.into_iter().map(us).collect()),
        "spread_us": spread.filter(|_| over),
    })
}

/// All flows, then all computations.
fn steps(run: &Run) -> impl Iterator<Item = Step> + use<> {
    let spec = run.engine.spec();
    let works = (0..spec.works.len()).map(|work| Step::Work(work.into()));
    (0..spec.flows.len()).map(|flow| Step::Flow(flow.into())).chain(works)
}

/// Of which section it is.
fn group(run: &Run, step: Step) -> usize {
    let spec = run.engine.spec();
    match step {
        Step::Flow(flow) => spec.flows[flow.at()].group.into(),
        Step::Work(work) => spec.works[work.at()].group.into(),
    }
}

/// What a processor has served: when its last two computations ended, and the longest chains up to there. One that takes
/// no time may come before another one that begins at the same instant.
#[derive(Default)]
struct Processor([(Time, Span); 2]);

impl Processor {
    /// The longest chain up to one that begins at this instant.
    fn before(&self, begun: Time) -> Span {
        let over = self.0.iter().filter(|(ended, _)| *ended <= begun);
        over.map(|(_, chain)| *chain).max().unwrap_or(Span::ZERO)
    }

    /// One has ended, or will, at the end of this chain.
    fn serves(&mut self, ended: Time, chain: Span) {
        let [last, before] = &mut self.0;
        if ended >= last.0 {
            (*before, *last) = (*last, (ended, chain));
        } else {
            *before = (ended, before.1.max(chain));
        }
    }
}

/// The longest chain of computations of a section that is over.
fn longest_chain(run: &Run, rows: &[FlowRow<'_>], section: usize) -> Span {
    let spec = run.engine.spec();
    let (flows, works) = (spec.flows.len(), spec.works.len());
    let begun = |step: Step| match step {
        Step::Flow(flow) => rows[flow.at()].outcome.started.unwrap_or(Time::MAX),
        Step::Work(work) => run.engine.work(work).begun,
    };
    // As they began; of those that began at one instant first what others follow. Flows alone come after those that
    // they follow as they are.
    let order = if works == 0 { steps(run).collect() } else { spec.precedence.order(flows, works) };
    let mut order: Vec<(Time, Step)> = order
        .into_iter()
        .filter(|step| group(run, *step) == section)
        .map(|step| (begun(step), step))
        .collect();
    order.sort_by_key(|(at, _)| *at);
    // Until the start of each flow; until the beginning and the end of each computation; of each processor, so far.
    let mut of_flows = vec![Span::ZERO; flows];
    let mut of_works = vec![[Span::ZERO; 2]; works];
    let mut processors: BTreeMap<_, Processor> = BTreeMap::new();
    let mut longest = Span::ZERO;
    for (_, step) in order {
        let of = |before: &Predecessor| match *before {
            Predecessor::Flow { flow, end: End::Received | End::Acked | End::Started } => of_flows[flow.at()],
            Predecessor::Work { work, edge: Edge::Begun } => of_works[work.at()][0],
            Predecessor::Work { work, edge: Edge::Ended } => of_works[work.at()][1],
        };
        let before = spec.precedence.of_step(step);
        let chain = before.iter().map(of).max();
        let pause = |start: Time| chain.map_or(Span::ZERO, |chain| chain + Span::from_ps(start.ps()));
        match step {
            Step::Flow(flow) => {
                of_flows[flow.at()] = pause(spec.flows[flow.at()].start);
                longest = longest.max(of_flows[flow.at()]);
            }
            Step::Work(number) => {
                let work = &spec.works[number.at()];
                let mut begin = pause(work.start);
                if let Some(cpu) = work.cpu {
                    let processor = processors.entry((work.host, cpu)).or_default();
                    let record = run.engine.work(number);
                    begin = begin.max(processor.before(record.begun));
                    processor.serves(record.ended, begin + work.lasts);
                }
                of_works[number.at()] = [begin, begin + work.lasts];
                longest = longest.max(begin + work.lasts);
            }
        }
    }
    longest
}
