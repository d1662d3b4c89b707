//! What one enqueue and one dequeue cost together, for every order at several queue lengths.
//!
//! `cargo run --release -p thalweg-machines --example queue_cost`
#![allow(clippy::disallowed_methods)] // a benchmark looks at the clock

use std::hint::black_box;
use std::time::Instant;
use thalweg_machines::schedule::{
    AdsMap, AdsSpec, Discipline, DisciplineSpec, FairOverflow, Limit, OrderSpec,
};
use thalweg_machines::stage::{StageSpec, StepEcnSpec, Threshold};
use thalweg_machines::{Handle, Packet};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};

const PAIRS: u32 = 1_000_000;

/// A queue that is kept at `length`: one packet arrives, one leaves. `full`: the limit is there too, so that every
/// second arrival pushes somebody out.
fn cost(order: &OrderSpec, length: u32, full: bool) -> f64 {
    let limit = if full { Limit::Packets(length) } else { Limit::Unlimited };
    let stage = StageSpec::StepEcn(StepEcnSpec {
        threshold: Threshold::Packets(65),
        at_departure: false,
        include_self: false,
    });
    let spec = DisciplineSpec { order: order.clone(), limit, stage, preemptive: false };
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
    let ads = |map| OrderSpec::Ads(AdsSpec { queues: 8, cap: Bytes::new(2_000_000), mtu: 1500, map });
    let longest = FairOverflow::LongestQueue;
    let orders = [
        ("fifo", OrderSpec::Fifo),
        ("drr", OrderSpec::Drr { quantum: 1500, overflow: longest }),
        ("fq", OrderSpec::Fq { overflow: longest }),
        ("priority", OrderSpec::Priority { classes: 8 }),
        ("sjf", OrderSpec::Rank { flow_order: false }),
        ("srpt", OrderSpec::Rank { flow_order: true }),
        ("lstf", OrderSpec::Pifo { add_transmission: true, bucket: Span::ZERO }),
        ("lifo", OrderSpec::Lifo),
        ("random", OrderSpec::Random),
        ("round robin", OrderSpec::RoundRobin { bins: None, codel: None }),
        ("ads static", ads(AdsMap::Static { counts: vec![1; 1335] })),
        ("ads dynamic", ads(AdsMap::Dynamic { interval: Span::from_ms(5), window: 10 })),
    ];
    let lengths = [1, 10, 100, 1000, 10_000, 100_000];
    for (title, full) in [
        ("ns per enqueue + dequeue at a steady length", false),
        ("ns per two enqueues + dequeue at a full queue (one is given up)", true),
    ] {
        println!("{title}");
        print!("{:<12}", "length");
        lengths.iter().for_each(|n| print!("{n:>9}"));
        println!();
        for (name, order) in &orders {
            print!("{name:<12}");
            lengths.iter().for_each(|&n| print!("{:>9.1}", cost(order, n, full)));
            println!();
        }
    }
}
