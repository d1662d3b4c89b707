//! What an order of service costs by itself: the hold model (Jones, "An Empirical Comparison of Priority-Queue and
//! Event-Set Implementations", CACM 29(4), 1986). A queue is filled to a length; then, again and again, a packet leaves
//! and one with a fresh key joins.

use std::hint::black_box;
use std::time::Instant;
use thalweg_machines::schedule::{Discipline, DisciplineSpec, Key, Limit, OrderSpec, srpt};
use thalweg_machines::stage::StageSpec;
use thalweg_units::{FlowId, Rate, Stream, Time};
use thalweg_wire::{Handle, Packet};

/// The queue lengths.
pub const LENGTHS: [u32; 5] = [10, 100, 1000, 10_000, 100_000];

/// The orders that are compared, by name.
pub fn orders() -> [(&'static str, OrderSpec); 7] {
    [
        ("fifo", OrderSpec::fifo()),
        ("srpt", OrderSpec::srpt()),
        ("sjf", srpt::Params { flow_order: false }.into()),
        ("lstf", OrderSpec::lstf()),
        ("priorities", OrderSpec::pifo()),
        ("fq", OrderSpec::fq()),
        ("round-robin", OrderSpec::round_robin()),
    ]
}

/// What ranks mean to the order.
#[derive(Clone, Copy, PartialEq)]
enum Ranks {
    /// Bytes: uniform, whenever the packet comes.
    Sizes,
    /// Slack after the hook: the present instant and a uniform slack of as many transmission times as packets wait.
    Slack,
}

/// Nanoseconds per packet that leaves and packet that joins, at a steady `length`: the median of five spells.
///
/// # Errors
/// If the order's parameters contradict each other.
#[allow(clippy::disallowed_methods)] // a benchmark is what looks at a clock
pub fn hold(order: &OrderSpec, length: u32, pairs: u32) -> Result<f64, String> {
    let stage = StageSpec::tail_drop();
    let spec = DisciplineSpec {
        order: order.clone(),
        limit: Limit::Unlimited,
        front: Vec::new(),
        stage,
        preemptive: false,
    };
    let rate = Rate::from_gbps(1);
    let mut queue = spec.make(Stream::new(1, "queue", 0), rate)?;
    let ranks = if order.needs().key == Key::Slack { Ranks::Slack } else { Ranks::Sizes };
    let mut draw = Stream::new(2, "packets", 0);
    // One flow per four packets; a power of two of different packets.
    let packets: Vec<Packet> = (0..1 << 16)
        .map(|_| Packet {
            flow: FlowId(draw.below(u64::from(length / 4 + 1)) as u32),
            rank: match ranks {
                Ranks::Sizes => draw.below(3_000_000) as i64,
                Ranks::Slack => draw.below(u64::from(length) * 11_680_000) as i64,
            },
            wire: 1460,
            ..Packet::default()
        })
        .collect();
    let (mut out, mut next) = (Vec::new(), 0u32);
    let mut arrive = |queue: &mut thalweg_machines::schedule::Queue, now: Time| {
        let mut packet = packets[next as usize % packets.len()];
        if ranks == Ranks::Slack {
            packet.rank += now.ps() as i64;
        }
        black_box(queue.enqueue(now, &packet, Handle(next % (1 << 20)), &mut out));
        next = next.wrapping_add(1);
    };
    (0..length).for_each(|_| arrive(&mut queue, Time::ZERO));
    let mut step = 0u64;
    let mut spell = |pairs: u32| {
        let start = Instant::now();
        for _ in 0..pairs {
            step += 1;
            let now = Time::from_ps(step * 11_680_000);
            black_box(queue.dequeue(now, &mut Vec::new()));
            arrive(&mut queue, now);
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(pairs.max(1))
    };
    spell(pairs.max(2 * length)); // away from the state after filling
    let mut spells = [(); 5].map(|()| spell(pairs));
    spells.sort_by(f64::total_cmp);
    Ok(spells[2])
}

/// The table of all orders and lengths; `quick` measures less.
///
/// # Errors
/// As [`hold`].
pub fn table(quick: bool) -> Result<String, String> {
    let pairs = if quick { 40_000 } else { 400_000 };
    let mut text = format!("{:<12}", "ns per pair");
    LENGTHS.iter().for_each(|n| text += &format!("{n:>9}"));
    for (name, order) in orders() {
        text += &format!("\n{name:<12}");
        for length in LENGTHS {
            text += &format!("{:>9.1}", hold(&order, length, pairs)?);
        }
    }
    Ok(text)
}
