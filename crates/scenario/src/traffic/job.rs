//! Jobs: messages and computations that depend on each other, from traces (GOAL, Chakra).

use super::Family;
use super::course::{Course, Fluid};
use super::drafts::{Drafts, MOST_FOLLOWED, WorkDraft};
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::topology::Graph;
use std::path::Path;
use thalweg_net::spec::{Edge, End, Predecessor};
use thalweg_units::{FlowId, Rows, Span, Time, WorkId};

/// A unit of work of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A flow.
    Send { src: u32, dst: u32, size: u64 },
    /// A computation on a processor of the host; without one, a delay.
    Work { host: u32, cpu: Option<u32>, lasts: Span },
}

/// The start or the end of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum When {
    /// It has started.
    Started,
    /// The flow's last byte has arrived; the computation has ended.
    Over,
}

/// The start or the end of the task with this number.
pub(crate) type Moment = (u32, When);

/// The tasks of a job, and their dependencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// Each task comes after its predecessors.
    tasks: Vec<Task>,
    /// The predecessors of each task.
    after: Rows<Moment>,
}

impl Job {
    /// Adds a task that starts after these moments of earlier tasks, or with the job if there are none. Returns its
    /// number.
    pub fn push(&mut self, task: Task, after: impl IntoIterator<Item = Moment>) -> u32 {
        self.tasks.push(task);
        self.after.push(after);
        (self.tasks.len() - 1) as u32
    }

    /// At most [`MOST_FOLLOWED`] moments, the last of which is at the same time as the last of these. If there are
    /// more, they are replaced by the end of a computation of no duration that follows all of them.
    pub fn last_of(&mut self, host: u32, mut moments: Vec<Moment>) -> Vec<Moment> {
        moments.sort_unstable();
        moments.dedup();
        if moments.len() <= MOST_FOLLOWED {
            return moments;
        }
        vec![(self.push(Task::Work { host, cpu: None, lasts: Span::ZERO }, moments), When::Over)]
    }

    /// The number and bytes of the flows, and an estimate of when the last task starts if only receivers' links and
    /// processors cause delays.
    pub fn expected(&self, graph: &Graph) -> Expected {
        let rate = (graph.host_rate() / 8.0).max(1.0);
        let mut links = vec![0.0f64; graph.hosts as usize];
        let mut processors = std::collections::BTreeMap::new();
        let mut reached: Vec<[f64; 2]> = Vec::with_capacity(self.tasks.len());
        let (mut flows, mut bytes, mut busy, mut last) = (0.0, 0.0, 0.0, 0.0f64);
        for (number, task) in self.tasks.iter().enumerate() {
            let of = |(task, when): &Moment| reached[*task as usize][usize::from(*when == When::Over)];
            let ready = self.after.row(number).iter().map(of).fold(0.0, f64::max);
            let both = match task {
                Task::Send { dst, size, .. } => {
                    let link = &mut links[*dst as usize];
                    *link = link.max(ready) + *size as f64 / rate;
                    flows += 1.0;
                    bytes += *size as f64;
                    busy += *link - ready;
                    last = last.max(ready);
                    [ready, *link]
                }
                Task::Work { host, cpu, lasts } => {
                    let mut begin = ready;
                    if let Some(cpu) = cpu {
                        let free = processors.entry((*host, *cpu)).or_insert(0.0f64);
                        begin = free.max(ready);
                        *free = begin + lasts.secs();
                    }
                    last = last.max(begin + lasts.secs());
                    [begin, begin + lasts.secs()]
                }
            };
            reached.push(both);
        }
        let end = reached.iter().map(|both| both[1]).fold(1e-12, f64::max);
        let waits = self.after.items().len() as f64;
        Expected { flows, bytes, endless: 0.0, span: last, active: busy / end, waits }
    }

    /// Appends the flows and computations to `out`. Those without predecessors start at `start`.
    pub fn lay(&self, s: &Section<'_>, start: Time, out: &mut Drafts) -> Result<(), Diagnostic> {
        let mut places: Vec<u32> = Vec::with_capacity(self.tasks.len());
        for (number, task) in self.tasks.iter().enumerate() {
            if number.is_multiple_of(1 << 16) {
                s.cx.proceed()?;
            }
            let before = |(task, when): &Moment| {
                let place = places[*task as usize];
                match (self.tasks[*task as usize], when) {
                    (Task::Send { .. }, When::Started) => flow(place, End::Started),
                    (Task::Send { .. }, When::Over) => flow(place, End::Received),
                    (Task::Work { .. }, When::Started) => work(place, Edge::Begun),
                    (Task::Work { .. }, When::Over) => work(place, Edge::Ended),
                }
            };
            let after = self.after.row(number);
            let first = after.is_empty();
            let before = after.iter().map(before);
            let place = match *task {
                Task::Send { src, dst, size } if first => out.push(s.flow(src, dst, size, start)),
                Task::Send { src, dst, size } => {
                    out.follow_all(s.follower(src, dst, size, Span::ZERO), before)
                }
                Task::Work { host, cpu, lasts } => {
                    let start = if first { start } else { Time::ZERO };
                    let group = s.index as u16;
                    out.work(WorkDraft { host, cpu, start, lasts, group }, before)
                }
            };
            places.push(place as u32);
        }
        Ok(())
    }
}

fn flow(place: u32, end: End) -> Predecessor {
    Predecessor::Flow { flow: FlowId(place), end }
}

fn work(place: u32, edge: Edge) -> Predecessor {
    Predecessor::Work { work: WorkId(place), edge }
}

/// A family whose files describe one job.
pub(super) trait Traced {
    /// The job that the files describe. Refuses one that cannot be run.
    fn job(&self, s: &Section<'_>) -> Result<Job, Diagnostic>;

    /// When the job starts.
    fn start(&self) -> Span;

    /// All files that the section reads, relative to their folder `dir`.
    fn files(&self, dir: &Path) -> Vec<String>;
}

impl<T: Traced> Family for T {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.start("start", self.start())?;
        Ok(self.job(s)?.expected(s.graph))
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let start = s.start("start", self.start())?;
        self.job(s)?.lay(s, start, out)
    }

    fn course(&self, f: &Fluid) -> Course {
        course(f, self.start())
    }

    fn packets(&self, mean: f64, payload: f64) -> f64 {
        (mean / payload + 0.5).max(1.0)
    }

    fn is_job(&self) -> bool {
        true
    }

    fn files(&self, dir: &Path) -> Vec<String> {
        Traced::files(self, dir)
    }
}

/// The course over time of a job that starts at `start`, for estimates.
fn course(f: &Fluid, start: Span) -> Course {
    let (e, begin) = (f.expected, start.secs());
    let end = (e.span + f.wire / f.line).max(e.bytes / (f.line * f.hosts)) + f.rtt;
    Course::new(begin, begin + end, e.active.max(1.0))
}
