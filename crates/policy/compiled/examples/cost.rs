//! What a packet costs in each engine (OQ-D2): ns for one arrival and one departure, at several numbers of packets that
//! wait. `native` is hand-written: a ring, two heaps, four rings.
//!
//! `cargo run --release -p thalweg-policy-compiled --example cost`
#![allow(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

use std::collections::{BTreeSet, VecDeque};
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

/// ns for an arrival and a departure, with `resident` packets waiting.
fn per_packet(rounds: u32, mut arrive: impl FnMut(u32), mut depart: impl FnMut(u32), resident: u32) -> f64 {
    (0..resident).for_each(&mut arrive);
    let mut pair = |nth: u32| {
        arrive(nth);
        depart(nth);
    };
    (resident..resident + rounds / 4).for_each(&mut pair);
    let start = Instant::now();
    (resident..resident + rounds).for_each(&mut pair);
    start.elapsed().as_nanos() as f64 / f64::from(rounds)
}

fn of_engine(engine: impl Engine, ports: u32, resident: u32, rounds: u32) -> f64 {
    let (packets, engine) =
        (packets(u64::from(ports)), std::cell::RefCell::new((engine, Vec::<Effect>::new(), 0)));
    let arrive = |nth: u32| {
        let (engine, effects, now) = &mut *engine.borrow_mut();
        effects.clear();
        *now += 1;
        let packet = &packets[nth as usize % packets.len()];
        black_box(engine.arrive(Time::from_ps(*now), packet, Handle(nth), effects)).expect("no fault");
    };
    let depart = |nth: u32| {
        let (engine, effects, now) = &mut *engine.borrow_mut();
        black_box(engine.dequeue((nth % ports) as usize, Time::from_ps(*now), effects)).expect("no fault");
    };
    per_packet(rounds, arrive, depart, resident)
}

fn row(name: &str, policy: &Policy, rules: impl Rules, resident: u32, native: f64) {
    let ports = policy.ports().len() as u32;
    let interpreted =
        of_engine(Interpreter::new(policy, 1), ports, resident, (2_000_000 / resident).min(20_000));
    let bytecode = of_engine(Machine::new(policy, Bytecode::of(policy), 1), ports, resident, 2_000_000);
    let compiled = of_engine(Machine::new(policy, rules, 1), ports, resident, 2_000_000);
    println!(
        "| {name} | {resident} | {interpreted:.0} | {bytecode:.0} | {compiled:.0} | {native:.0} | {:.1} | {:.1} |",
        bytecode / native,
        compiled / native
    );
}

/// A bounded ring, or four of them with one memory, of which the longest gives up its last.
fn native_rings(rings: u32, resident: u32) -> f64 {
    let packets = packets(u64::from(rings));
    let state = std::cell::RefCell::new((
        vec![VecDeque::<(Handle, u32)>::new(); rings as usize],
        vec![0u64; rings as usize],
    ));
    let arrive = |nth: u32| {
        let (queues, bytes) = &mut *state.borrow_mut();
        let packet = &packets[nth as usize % packets.len()];
        queues[packet.queue as usize].push_back((Handle(nth), packet.size));
        bytes[packet.queue as usize] += u64::from(packet.size);
        while rings > 1 && bytes.iter().sum::<u64>() > 1 << 40 {
            let longest = (0..rings as usize).max_by_key(|queue| bytes[*queue]).unwrap_or(0);
            bytes[longest] -= queues[longest].pop_back().map_or(0, |(_, size)| u64::from(size));
        }
    };
    let depart = |nth: u32| {
        let (queues, bytes) = &mut *state.borrow_mut();
        let queue = (nth % rings) as usize;
        if let Some((handle, size)) = queues[queue].pop_front() {
            bytes[queue] -= u64::from(size);
            black_box(handle);
        }
    };
    per_packet(2_000_000, arrive, depart, resident)
}

/// Two orders of the same packets, each a balanced tree.
fn native_orders(resident: u32) -> f64 {
    let packets = packets(1);
    type Orders = (BTreeSet<(u8, u32)>, BTreeSet<(u32, u32)>);
    let state = std::cell::RefCell::new(Orders::default());
    let arrive = |nth: u32| {
        let (urgent, compact) = &mut *state.borrow_mut();
        let packet = &packets[nth as usize % packets.len()];
        urgent.insert((7 - packet.tos % 8, nth));
        compact.insert((packet.size, nth));
    };
    let depart = |_| {
        let (urgent, compact) = &mut *state.borrow_mut();
        if let Some((_, nth)) = urgent.pop_first() {
            compact.remove(&(packets[nth as usize % packets.len()].size, nth));
            black_box(nth);
        }
    };
    per_packet(2_000_000, arrive, depart, resident)
}

fn main() {
    println!(
        "| policy | resident | interpreter | bytecode | compiled | native | bytecode / native | compiled / native |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for resident in [64, 1_024, 16_384] {
        let (policy, rules) = (compiled::roomy_fifo::policy(), compiled::roomy_fifo::Decisions);
        row("FIFO, tail drop", &policy, rules, resident, native_rings(1, resident));
        let (policy, rules) =
            (compiled::roomy_two_priorities::policy(), compiled::roomy_two_priorities::Decisions);
        row("two priorities", &policy, rules, resident, native_orders(resident));
        let (policy, rules) = (compiled::roomy_lqd::policy(), compiled::roomy_lqd::Decisions);
        row("LQD, 4 queues", &policy, rules, resident, native_rings(4, resident));
    }
}
