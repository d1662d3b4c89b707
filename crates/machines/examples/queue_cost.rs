//! What one enqueue and one dequeue cost together, for every order at several queue lengths.
//!
//! `cargo run --release -p thalweg-machines --example queue_cost`
#![allow(clippy::disallowed_methods)] // a benchmark looks at the clock

use std::hint::black_box;
use std::time::Instant;
use thalweg_machines::schedule::{Discipline, DisciplineSpec, Limit, OrderSpec, policy};
use thalweg_machines::stage::{MarkAt, step_ecn};
use thalweg_units::notation::Length;
use thalweg_units::{FlowId, Rate, Stream, Time};
use thalweg_wire::{Handle, Packet};

const PAIRS: u32 = 1_000_000;

/// A queue that is kept at `length`: one packet arrives, one leaves. `full`: this is also the limit, so every
/// second arrival pushes out a packet.
fn cost(order: &OrderSpec, length: u32, full: bool) -> f64 {
    let limit = if full { Limit::Packets(length) } else { Limit::Unlimited };
    let threshold = Length::Packets(65);
    let stage = step_ecn::Params { threshold, at: MarkAt::Arrival, include_self: false }.into();
    let spec = DisciplineSpec { order: order.clone(), limit, front: Vec::new(), stage, preemptive: false };
    let mut queue = spec.make(Stream::new(1, "queue", 0), Rate::from_gbps(100)).expect("it can be made");
    let mut draw = Stream::new(2, "packets", 0);
    // One flow per four packets; remaining sizes fall as a flow's packets pass.
    let packets: Vec<Packet> = (0..65_536)
        .map(|i| Packet {
            flow: FlowId(draw.below(u64::from(length / 4 + 1)) as u32),
            rank: draw.below(2_000_000) as i64 - i,
            class: draw.below(8) as u8,
            wire: 1500,
            ..Packet::default()
        })
        .collect();
    let (mut out, mut next) = (Vec::with_capacity(16), 0u32);
    let mut arrive = |queue: &mut _, now: u32| {
        let queue: &mut thalweg_machines::schedule::Queue = queue;
        out.clear();
        let packet = &packets[next as usize % packets.len()];
        black_box(queue.enqueue(
            Time::from_ns(u64::from(now) * 120),
            packet,
            Handle(next % (1 << 20)),
            &mut out,
        ));
        next = next.wrapping_add(1);
    };
    for _ in 0..length {
        arrive(&mut queue, 0);
    }
    let mut run = |pairs: u32, from: u32| {
        let start = Instant::now();
        for i in 0..pairs {
            let now = from + i;
            arrive(&mut queue, now);
            if full {
                arrive(&mut queue, now);
            }
            black_box(queue.dequeue(Time::from_ns(u64::from(now) * 120), &mut vec![]));
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(pairs)
    };
    run(PAIRS / 4, 0);
    run(PAIRS, PAIRS / 4)
}

fn main() {
    // A user's own are not here; of policies, the plain one.
    let orders = OrderSpec::all().into_iter().filter(|order| !order.needs().anything());
    let fifo = OrderSpec::from(policy::Params::of("q = Queue(1000000 pkts); out = Port(q);"));
    let known = |order| if order == OrderSpec::policy() { fifo.clone() } else { order };
    let orders: Vec<OrderSpec> = orders.map(known).collect();
    let lengths = [1, 10, 100, 1000, 10_000, 100_000];
    for (title, full) in [
        ("ns per enqueue + dequeue at a steady length", false),
        ("ns per two enqueues + dequeue at a full queue (one is given up)", true),
    ] {
        println!("{title}");
        print!("{:<20}", "length");
        lengths.iter().for_each(|n| print!("{n:>9}"));
        println!();
        for order in &orders {
            print!("{:<20}", order.key());
            lengths.iter().for_each(|&n| print!("{:>9.1}", cost(order, n, full)));
            println!();
        }
    }
}
