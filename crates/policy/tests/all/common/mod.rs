//! Policies and traces that several tests share.

use thalweg_policy::{
    Bytecode, Cycle, Effect, Engine, Interpreter, Machine, Offered, Policy, Served, Verdict,
};
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

/// From this crate, and from the one of compiled policies.
fn folder() -> std::path::PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    ["library", "../library"]
        .into_iter()
        .map(|name| here.join(name))
        .find(|path| path.is_dir())
        .expect("the library")
}

/// The library, by file name.
pub fn library() -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .expect("the library")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|ends| ends == "oq"))
        .collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("text"))).collect()
}

/// A policy that is right.
pub fn policy(text: &str) -> Policy {
    thalweg_policy::check(text, "test.oq").unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// One of the library's.
pub fn of_library(name: &str) -> Policy {
    let path = folder().join(format!("{name}.oq"));
    policy(&std::fs::read_to_string(path).expect("a policy of the library"))
}

/// What happens to an engine.
#[derive(Clone, Debug)]
pub enum Step {
    /// A packet arrives.
    Arrive(Offered),
    /// A port is free.
    Dequeue(usize),
    /// A port works for a cycle.
    Cycle(usize),
}

/// A step, and how long after the one before it.
pub type Trace = Vec<(u64, Step)>;

/// What an engine answered.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// To an arrival.
    Arrived(Verdict),
    /// To a port that is free.
    Served(Option<Served>),
    /// To a cycle.
    Worked(Cycle),
}

/// Answers and effects of a whole trace, and what waits in the end.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record {
    pub answers: Vec<Answer>,
    pub effects: Vec<Effect>,
    pub waiting: Vec<(u32, u64)>,
}

/// Runs a trace.
pub fn run(engine: &mut impl Engine, queues: usize, trace: &Trace) -> Record {
    let (mut record, mut now) = (Record::default(), 0);
    for (nth, (after, step)) in trace.iter().enumerate() {
        now += after;
        let (time, effects) = (Time::from_ps(now), &mut record.effects);
        let answer = match step {
            Step::Arrive(offered) => {
                Answer::Arrived(engine.arrive(time, offered, Handle(nth as u32), effects).expect("no fault"))
            }
            Step::Dequeue(port) => Answer::Served(engine.dequeue(*port, time, effects).expect("no fault")),
            Step::Cycle(port) => Answer::Worked(engine.cycle(*port, time, effects).expect("no fault")),
        };
        record.answers.push(answer);
    }
    record.waiting = (0..queues).map(|queue| (engine.packets(queue), engine.bytes(queue))).collect();
    record
}

/// Queues that packets enter from outside.
pub fn entrances(policy: &Policy) -> Vec<usize> {
    let entered = |queue: &usize| {
        !policy.ports().iter().flat_map(|port| &port.wire).any(|wire| wire.to.contains(queue))
    };
    (0..policy.queues().len()).filter(entered).collect()
}

/// How a trace is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Steps.
    pub steps: usize,
    /// Of 16 steps, how many are arrivals.
    pub arrivals: u64,
    /// Ports work in cycles, instead of sending.
    pub cycles: bool,
}

/// A random trace for a policy.
pub fn trace(policy: &Policy, seed: u64, course: Course) -> Trace {
    let mut draw = Stream::new(seed, "trace", 0);
    let (enter, ports) = (entrances(policy), policy.ports().len() as u64);
    let step = |draw: &mut Stream| {
        if draw.below(16) >= course.arrivals {
            let port = draw.below(ports) as usize;
            return if course.cycles { Step::Cycle(port) } else { Step::Dequeue(port) };
        }
        let size = if draw.below(3) == 0 { 64 + draw.below(1400) } else { 1500 };
        Step::Arrive(Offered {
            queue: enter[draw.below(enter.len() as u64) as usize] as u32,
            value: draw.below(9) as i64 - 4,
            processing: 1 + draw.below(5) as u32,
            slack: draw.below(40),
            flow: draw.below(20) as u32,
            size: size as u32,
            tos: draw.below(256) as u8,
            dst: 1 + draw.below(3) as u32,
        })
    };
    // Many things happen at the same instant: ties are where engines differ.
    (0..course.steps).map(|_| (draw.below(3), step(&mut draw))).collect()
}

/// The interpreter's record, after the bytecode's was found to be the same.
pub fn compared(policy: &Policy, trace: &Trace, seed: u64) -> Record {
    let queues = policy.queues().len();
    let said = run(&mut Interpreter::new(policy, seed), queues, trace);
    let done = run(&mut Machine::new(policy, Bytecode::of(policy), seed), queues, trace);
    assert_same(&said, &done, trace);
    said
}

/// Says where two records part.
pub fn assert_same(said: &Record, done: &Record, trace: &Trace) {
    let differs = said.answers.iter().zip(&done.answers).position(|(a, b)| a != b);
    if let Some(nth) = differs {
        panic!("step {nth} ({:?}): {:?}, not {:?}", trace[nth], done.answers[nth], said.answers[nth]);
    }
    assert_eq!(said.effects, done.effects);
    assert_eq!(said.waiting, done.waiting);
}
