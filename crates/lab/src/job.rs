//! A job as a whole: from its start until the last of its flows and computations is over, and how much of that is
//! computing.
//!
//! The longest chain of computations is the longest time that computations take which had to come one after the other
//! in this run, because one followed the other, directly or by way of flows, or because they shared a processor, with
//! another job's, too: of what that one computed counts what came after this one's start. The pause of a flow after
//! those that it follows counts as computing: it is the `compute` of collective operations. What the job takes longer
//! than that is communication that no computation hides.

use crate::run::Run;
use crate::statistics::statistics;
use crate::tables::FlowRow;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use thalweg_net::spec::{Edge, End, Predecessor, Step};
use thalweg_units::{HostId, Span, Time, WorkId};

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
                outcome.started.into_iter().for_each(|at| note(spec.host_of(flow.src).0, at));
                outcome.received.into_iter().for_each(|at| note(spec.host_of(flow.dst).0, at));
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
    let chain = takes.map(|_| longest_chain(run, rows, section, start));
    let finish: Vec<Span> = hosts.into_values().filter(|at| *at >= start).map(|at| at.since(start)).collect();
    let spread = finish.iter().max().zip(finish.iter().min()).map(|(last, first)| us(*last) - us(*first));
    json!({
        "completion_us": takes.map(us),
        "compute_us": chain.map(us),
        "exposed_us": takes.zip(chain).map(|(all, chain)| us(all.saturating_sub(chain))),
        "computations": computations,
        "hosts_us": takes.map(|_| statistics(finish.into_iter().map(us).collect())),
        "spread_us": spread.filter(|_| takes.is_some()),
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

/// The computation before each on its processor, in the order in which they were served: of those that begin at one
/// instant first those that take no time, and of these first what others follow.
fn before_on_processor(run: &Run, order: &[(Time, Step)]) -> Vec<Option<WorkId>> {
    let works = &run.engine.spec().works;
    let on_processor = |(place, (begun, step)): (usize, &(Time, Step))| {
        let Step::Work(work) = *step else { return None };
        let of = &works[work.at()];
        of.cpu.map(|cpu| ((of.host, cpu), *begun, run.engine.work(work).ended, place, work))
    };
    let mut served: Vec<_> = order.iter().enumerate().filter_map(on_processor).collect();
    served.sort_unstable();
    let mut before = vec![None; works.len()];
    for pair in served.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        before[pair[1].4.at()] = Some(pair[0].4);
    }
    before
}

/// The sections whose computations share a processor with this one's, or with those of a section that does; itself.
fn together(run: &Run, section: usize) -> BTreeSet<usize> {
    let mut users: BTreeMap<(HostId, u32), BTreeSet<usize>> = BTreeMap::new();
    for work in &run.engine.spec().works {
        if let Some(cpu) = work.cpu {
            users.entry((work.host, cpu)).or_default().insert(work.group.into());
        }
    }
    let mut all = BTreeSet::from([section]);
    loop {
        let before = all.len();
        for users in users.values().filter(|users| !users.is_disjoint(&all)).cloned().collect::<Vec<_>>() {
            all.extend(users);
        }
        if all.len() == before {
            return all;
        }
    }
}

/// The longest chain of computations of a section that is over and began at `start`. Chains of other sections lead to
/// it by way of processors only.
fn longest_chain(run: &Run, rows: &[FlowRow<'_>], section: usize, start: Time) -> Span {
    let spec = run.engine.spec();
    let (flows, works) = (spec.flows.len(), spec.works.len());
    let begun = |step: Step| match step {
        Step::Flow(flow) => rows[flow.at()].outcome.started.unwrap_or(Time::MAX),
        Step::Work(work) => run.engine.work(work).begun,
    };
    // As they began; of those that began at one instant first what others follow. Flows alone come after those that
    // they follow as they are.
    let order = if works == 0 { steps(run).collect() } else { spec.precedence.order(flows, works) };
    let together = together(run, section);
    let mut order: Vec<(Time, Step)> = order
        .into_iter()
        .filter(|step| together.contains(&group(run, *step)))
        .map(|step| (begun(step), step))
        // (Others' sections need not be over.)
        .filter(|(at, _)| *at != Time::MAX)
        .collect();
    order.sort_by_key(|(at, _)| *at);
    let before_on_processor = before_on_processor(run, &order);
    // What of a time that ends at an instant came after the start.
    let since = |time: Span, end: Time| time.min(Span::from_ps(end.ps().saturating_sub(start.ps())));
    let mut chains = Chains { flows: vec![Span::ZERO; flows], works: vec![[Span::ZERO; 2]; works] };
    // Once, and again where a processor's order at one instant is not that in which steps follow each other.
    loop {
        let mut grows = false;
        for (begun, step) in &order {
            let before = spec.precedence.of_step(*step);
            let chain = before.iter().map(|before| chains.up_to(before)).max();
            let pause = |pause: Time| {
                chain.map_or(Span::ZERO, |chain| chain + since(Span::from_ps(pause.ps()), *begun))
            };
            grows |= match *step {
                Step::Flow(flow) => grow(&mut chains.flows[flow.at()], pause(spec.flows[flow.at()].start)),
                Step::Work(number) => {
                    let work = &spec.works[number.at()];
                    let last = before_on_processor[number.at()].map(|last| chains.works[last.at()][1]);
                    let begin = pause(work.start).max(last.unwrap_or(Span::ZERO));
                    let [begins, ends] = &mut chains.works[number.at()];
                    grow(begins, begin) | grow(ends, begin + since(work.lasts, *begun + work.lasts))
                }
            };
        }
        if !grows {
            let own = order.iter().filter(|(_, step)| group(run, *step) == section);
            break own.map(|(_, step)| chains.at_end_of(*step)).max().unwrap_or(Span::ZERO);
        }
    }
}

/// A chain is at least so long; whether that is news.
fn grow(chain: &mut Span, to: Span) -> bool {
    let grows = to > *chain;
    *chain = to.max(*chain);
    grows
}

/// The longest chains of computations: until the start of each flow, until the beginning and the end of each
/// computation.
struct Chains {
    flows: Vec<Span>,
    works: Vec<[Span; 2]>,
}

impl Chains {
    fn up_to(&self, before: &Predecessor) -> Span {
        match *before {
            Predecessor::Flow { flow, end: End::Received | End::Acked | End::Started } => {
                self.flows[flow.at()]
            }
            Predecessor::Work { work, edge: Edge::Begun } => self.works[work.at()][0],
            Predecessor::Work { work, edge: Edge::Ended } => self.works[work.at()][1],
        }
    }

    fn at_end_of(&self, step: Step) -> Span {
        match step {
            Step::Flow(flow) => self.flows[flow.at()],
            Step::Work(work) => self.works[work.at()][1],
        }
    }
}
