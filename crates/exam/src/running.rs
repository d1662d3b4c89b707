//! The runs of an exam, spread over threads.

use crate::contained::contained;
use crate::error::{Cause, Failure};
use crate::marks::{Curves, Marks, Seen, measure};
use crate::report::Row;
use crate::situation::Situation;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use thalweg_lab::Run;
use thalweg_scenario::Scenario;

/// One run to be had.
pub(crate) struct Job {
    pub situation: &'static Situation,
    pub controller: String,
    /// What is run, or why it cannot be.
    pub scenario: Result<Scenario, Cause>,
}

/// A run that has come to its end, as it does.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Done<'a> {
    /// What came of it.
    pub row: &'a Row,
    /// How many have ended, this one included.
    pub finished: usize,
    /// How many there are.
    pub all: usize,
}

/// Jobs that are taken one after another, by whichever thread is free.
struct Queue<'a> {
    jobs: &'a [Job],
    next: AtomicUsize,
}

impl Queue<'_> {
    fn take(&self) -> Option<(usize, &Job)> {
        let at = self.next.fetch_add(1, Relaxed);
        self.jobs.get(at).map(|job| (at, job))
    }
}

/// Leaves nothing to take: where `progress` panics, no further run begins.
struct Emptied<'a>(&'a Queue<'a>);

impl Drop for Emptied<'_> {
    fn drop(&mut self) {
        self.0.next.store(self.0.jobs.len(), Relaxed);
    }
}

/// Performs them on so many threads; rows in the order of the jobs. `progress` is called on this thread, in the order
/// in which runs end.
pub(crate) fn perform(jobs: &[Job], threads: usize, progress: &mut dyn FnMut(Done<'_>)) -> Vec<Row> {
    let queue = Queue { jobs, next: AtomicUsize::new(0) };
    let (sender, receiver) = mpsc::channel();
    let mut rows: Vec<Option<Row>> = jobs.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || {
                while let Some((at, job)) = queue.take() {
                    let _ = sender.send((at, row(job)));
                }
            });
        }
        drop(sender);
        let _emptied = Emptied(&queue);
        for (finished, (at, row)) in (1..).zip(&receiver) {
            progress(Done { row: rows[at].insert(row), finished, all: jobs.len() });
        }
    });
    rows.into_iter().flatten().collect()
}

fn row(job: &Job) -> Row {
    let measured = job.scenario.as_ref().map_err(Cause::clone);
    let measured =
        measured.and_then(|scenario| contained(|| run(job.situation, scenario))?.map_err(Cause::Run));
    let (situation, controller) = (job.situation.name.clone(), job.controller.clone());
    match measured {
        Ok((marks, curves)) => Row { situation, controller, marks: Ok(marks), curves },
        Err(cause) => {
            let failure = Failure { situation: situation.clone(), controller: controller.clone(), cause };
            Row { situation, controller, marks: Err(failure), curves: Curves::default() }
        }
    }
}

fn run(situation: &Situation, scenario: &Scenario) -> Result<(Marks, Curves), String> {
    let mut run = Run::new(scenario).map_err(|e| e.to_string())?;
    while run.step(u64::MAX) {}
    if let Some(law) = run.violation() {
        return Err(format!("a law of the simulator does not hold: {law}"));
    }
    let seen = Seen::of(&run, examined(scenario), &situation.bottleneck)?;
    Ok(measure(&situation.look, &seen))
}

/// The traffic sections of the controller examined.
fn examined(scenario: &Scenario) -> Vec<u32> {
    let sections = (0..).zip(&scenario.document().traffic);
    sections.filter(|(_, section)| section.transport == "default").map(|(n, _)| n).collect()
}
