//! What a packet costs in each engine (OQ-D2): ns for one arrival and one departure, at several numbers of packets that
//! wait. `native` is written by hand to the same contract: a ring, two balanced trees, four rings. Every number is the
//! least of many short passes, by turns with those of the others: a machine that does other things as well disturbs
//! little, and all alike.
//!
//! `cargo run --release -p thalweg-policy-compiled --example cost`
#![allow(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

mod native;
mod ours;

use native::{Fifo, Longest, TwoOrders};
use ours::Ours;
use std::hint::black_box;
use std::time::Instant;
use thalweg_policy::compiled::Rules;
use thalweg_policy::{Bytecode, Effect, Engine, Interpreter, Machine, Offered, Policy};
use thalweg_policy_compiled as compiled;
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

/// What arrives: drawn once, so that draws cost nothing.
fn packets(queues: u64) -> Vec<Offered> {
    let mut draw = Stream::new(1, "packets", 0);
    let packet = |_| Offered {
        queue: draw.below(queues) as u32,
        tos: draw.below(256) as u8,
        size: 64 + draw.below(1436) as u32,
        ..Offered::default()
    };
    (0..65_536).map(packet).collect()
}

/// Passes, of which the best counts.
const PASSES: u32 = 40;

/// A pass of an engine: ns for an arrival and a departure.
type Pass<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// Passes of so many arrivals and departures, with `resident` packets waiting.
fn passes<'a>(mut engine: impl Engine + 'a, ports: u32, resident: u32, pairs: u32) -> Pass<'a> {
    let (packets, mut effects, mut now) = (packets(u64::from(ports)), Vec::<Effect>::new(), 0);
    let mut arrive = move |engine: &mut _, nth: u32| {
        effects.clear();
        now += 1;
        let packet = &packets[nth as usize % packets.len()];
        black_box(Engine::arrive(engine, Time::from_ps(now), packet, Handle(nth), &mut effects))
            .expect("no fault");
        Time::from_ps(now)
    };
    for nth in 0..resident {
        arrive(&mut engine, nth);
    }
    let (mut nth, mut left) = (resident, Vec::new());
    Box::new(move || {
        let start = Instant::now();
        for _ in 0..pairs {
            let now = arrive(&mut engine, nth);
            let port = (nth % ports) as usize;
            black_box(engine.dequeue(port, now, &mut left)).expect("no fault");
            nth += 1;
        }
        start.elapsed().as_nanos() as f64 / f64::from(pairs)
    })
}

/// The least of each, which take turns: what disturbs one disturbs the others.
fn least<const N: usize>(mut engines: [Pass<'_>; N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for _ in 0..PASSES {
        least.iter_mut().zip(&mut engines).for_each(|(least, pass)| *least = least.min(pass()));
    }
    least
}

fn row(name: &str, policy: &Policy, rules: impl Rules, resident: u32, native: impl Engine) {
    let ports = policy.ports().len() as u32;
    let slow = (100_000 / resident).clamp(10, 1_000);
    let [interpreted, bytecode, compiled, native] = least([
        passes(Interpreter::new(policy, 1), ports, resident, slow),
        passes(Machine::new(policy, Bytecode::of(policy), 1), ports, resident, 20_000),
        passes(Machine::new(policy, rules, 1), ports, resident, 20_000),
        passes(native, ports, resident, 20_000),
    ]);
    println!(
        "| {name} | {resident} | {interpreted:.0} | {bytecode:.1} | {compiled:.1} | {native:.1} | {:.2} | {:.2} |",
        bytecode / native,
        compiled / native
    );
}

/// FIFO again, against the simulator's own machine of it.
fn fifo_against_ours(resident: u32) {
    let (policy, rules) = (compiled::roomy_fifo::policy(), compiled::roomy_fifo::Decisions);
    let [compiled, bytecode, ours] = least([
        passes(Machine::new(&policy, rules, 1), 1, resident, 20_000),
        passes(Machine::new(&policy, Bytecode::of(&policy), 1), 1, resident, 20_000),
        passes(Ours::fifo(1_000_000), 1, resident, 20_000),
    ]);
    println!(
        "FIFO, {resident} resident: {ours:.1} ns in `order = \"fifo\"`; compiled {:.2} times, bytecode {:.2} times that",
        compiled / ours,
        bytecode / ours
    );
}

fn main() {
    println!(
        "| policy | resident | interpreter | bytecode | compiled | native | bytecode / native | compiled / native |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for resident in [64, 1_024, 16_384] {
        let (policy, rules) = (compiled::roomy_fifo::policy(), compiled::roomy_fifo::Decisions);
        row("FIFO, tail drop", &policy, rules, resident, Fifo::new(1_000_000));
        let (policy, rules) =
            (compiled::roomy_two_priorities::policy(), compiled::roomy_two_priorities::Decisions);
        row("two priorities", &policy, rules, resident, TwoOrders::new(1_000_000_000_000));
        let (policy, rules) = (compiled::roomy_lqd::policy(), compiled::roomy_lqd::Decisions);
        row("LQD, 4 queues", &policy, rules, resident, Longest::new(1_000_000_000_000));
    }
    println!();
    [64, 1_024, 16_384].into_iter().for_each(fifo_against_ours);
}
