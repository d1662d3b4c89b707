//! All engines decide alike, bit by bit: the interpreter is the oracle.

use crate::common::{Course, compared, library, policy, trace};
use proptest::prelude::*;

/// In CI; the nightly run is longer (`THALWEG_POLICY_STEPS=1000000`).
fn steps() -> usize {
    std::env::var("THALWEG_POLICY_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

#[test]
fn the_bytecode_decides_as_the_interpreter_on_long_traces_of_every_policy() {
    for (name, text) in library() {
        let policy = policy(&text);
        println!("{name}");
        // In pieces: above, at and below what ports can serve. (The interpreter searches whole queues.)
        for (nth, arrivals) in [(0, 10), (1, 8), (2, 7), (3, 13)] {
            let course = Course { steps: steps() / 4, arrivals, cycles: false };
            compared(&policy, &trace(&policy, nth, course), nth);
        }
    }
}

#[test]
fn and_in_cycles_of_processing() {
    for (name, text) in library() {
        let policy = policy(&text);
        println!("{name}");
        for (nth, arrivals) in [(0, 5), (1, 3), (2, 9)] {
            let course = Course { steps: steps() / 12, arrivals, cycles: true };
            compared(&policy, &trace(&policy, nth, course), nth);
        }
    }
}

/// Comparators of packets: of arrival, of few values, of many, in chains, and without a key.
const PACKETS: [&str; 10] = [
    "p1.arrival < p2.arrival",
    "p1.arrival > p2.arrival",
    "p1.value < p2.value",
    "p1.value > p2.value",
    "p1.TOS % 4 < p2.TOS % 4",
    "p1.TOS % 4 > p2.TOS % 4",
    "p1.flow < p2.flow || p1.flow == p2.flow && p1.size > p2.size",
    "p1.value * p2.size > p2.value * p1.size",
    "p1.processing - p2.processing < 0",
    "p1.arrival + p1.slack / 2 > p2.arrival + p2.slack / 2",
];

/// Comparators of queues.
const QUEUES: [&str; 7] = [
    "q1.currSize > q2.currSize",
    "q1.currSize < q2.currSize",
    "q1.schedState < q2.schedState",
    "q1.getHOL().value > q2.getHOL().value",
    "q1.getHOL().arrival < q2.getHOL().arrival",
    "q1.length * q2.size < q2.length * q1.size",
    "false",
];

/// Conditions of queues.
const CONGESTION: [&str; 5] = [
    "(q.currSize >= q.size, drop(1))",
    "(q.currSize >= 0.95 * q.size, drop(1)).(q.currSize >= 0.5 * q.size, drop(0.25) & mark)",
    "(q.currSize + p.size > q.size / 2, drop(0.9) & modify(admState := admState + 1))",
    "(q.admState % 3 == 0 && p.value < 0, mark & notify).(q.length > 3, modify(admState := q.admState + 1) & drop(0.5))",
    "(p.TOS > 200 || !(q.currSize < q.size), drop(1))",
];

fn drawn(
    adm: usize,
    process: usize,
    congestion: usize,
    orders: (usize, usize),
    shape: (usize, bool, bool),
) -> String {
    let (queues, packets, is_buffered) = shape;
    let size = if packets { "6 pkts" } else { "7000 bytes" };
    let total = if packets { "11 pkts" } else { "12000 bytes" };
    let buffer = format!(
        "b = Buffer({total}, q[1..{queues}]); b.queuePrio = other; \
        b.congestion = (currSize >= 0.8 * size, drop(0.5) & mark);"
    );
    format!(
        "adm(p1, p2) = {};\nproc(p1, p2) = {};\nsched(q1, q2) = {};\nother(q1, q2) = {};\ncong(q, p) = {};\n\
         q[1..{queues}] = Queue({size});\nout = Port(q[1..{queues}]);\n{}\n\
         q[1..{queues}].admPrio = adm; q[1..{queues}].procPrio = proc; q[1..{queues}].congestion = cong;\n\
         out.schedPrio = sched; out.postSchedAct = (length > 2, modify(schedState := schedState + 1) & mark);",
        PACKETS[adm],
        PACKETS[process],
        QUEUES[orders.0],
        QUEUES[orders.1],
        CONGESTION[congestion],
        if is_buffered { buffer.as_str() } else { "" },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_two_orders_conditions_and_schedules_do(
        adm in 0..PACKETS.len(), process in 0..PACKETS.len(), congestion in 0..CONGESTION.len(),
        orders in (0..QUEUES.len(), 0..QUEUES.len()),
        shape in (prop_oneof![Just(1usize), Just(2), Just(3), Just(20)], any::<bool>(), any::<bool>()),
        seed in any::<u64>(), arrivals in 6u64..13, cycles in any::<bool>(),
    ) {
        let text = drawn(adm, process, congestion, orders, shape);
        let policy = policy(&text);
        compared(&policy, &trace(&policy, seed, Course { steps: 600, arrivals, cycles }), seed);
    }
}
